"""A candidate judged as a distributed fit does it: on blocks with given dual variables, without a solver."""

import numpy as np

from maxmargin.distributed.certificate import Dual, judge
from maxmargin.distributed.partition import Held, Samples
from maxmargin.distributed.workers.block import Block, Plan
from maxmargin.distributed.workers.messages import Memory, Sums
from tests.distributed.collections_of import cuts


def blocks_of(problem, beta, sizes, X=None):
    """The samples of a problem, cut into blocks of one partition, which know their part of β."""
    plan = Plan(np.array([-1.0, 1.0]), 1.0, np.ones(2), (1,), problem.X.shape[1], problem.loss.name, problem.bias, True)
    at, X, blocks = cuts(problem.n, sizes), problem.X if X is None else X, []
    for k in range(len(at) - 1):
        some = slice(at[k], at[k + 1])
        block = Block([Held(Samples(X[some], problem.y[some], problem.cost[some]))], k, True)
        block.prepare(plan)
        block.memories[0, 0] = Memory(alpha=(beta * problem.y)[some].copy())
        blocks.append(block)
    return blocks


def judged(problem, candidate, sizes, tol, biases=None):
    """(b, certificate, how often the blocks were visited)."""
    blocks = blocks_of(problem, candidate.beta, sizes)
    biases = np.array([candidate.b]) if biases is None else biases
    course = judge(candidate.w, biases, Dual(1.0, 1.0), problem.bias, tol)
    command, n_visits = next(course), 0
    try:
        while True:
            n_visits += 1
            command = course.send(Sums.merged([block.answer({0: command})[0] for block in blocks]))
    except StopIteration as end:
        return *end.value, n_visits
