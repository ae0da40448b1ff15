"""A candidate judged as a distributed fit does it: on blocks with given dual variables, without a solver."""

from functools import partial

import numpy as np

from maxmargin.distributed.certificate import Candidates, judge
from maxmargin.distributed.cocoa import Coordinates, Followed, alpha
from maxmargin.distributed.inputs import Samples
from maxmargin.distributed.workers.block import Block, Plan, added
from tests.distributed.collections_of import cuts

AT = Followed(0, 1.0)


def blocks_of(problem, beta, sizes, X=None):
    """The samples of a problem, cut into blocks of one partition, which know their part of β."""
    plan = Plan(np.array([-1.0, 1.0]), np.ones(2), (1,), problem.X.shape[1], problem.loss, problem.bias, True)
    at, X, blocks = cuts(problem.n, sizes), problem.X if X is None else X, []
    for k in range(len(at) - 1):
        some = slice(at[k], at[k + 1])
        block = Block([partial(Samples, X[some], problem.y[some], problem.cost[some])], k, True)
        block.prepare(plan)
        site = block.site(0, 0, block.piece(0), {})
        site.memory.sweeps = Coordinates(site, AT)
        site.memory.sweeps.alpha = (beta * problem.y)[some].copy()
        blocks.append(block)
    return blocks


def judged(problem, candidate, sizes, tol, biases=None):
    """(b, certificate, how often the blocks were visited)."""
    blocks = blocks_of(problem, candidate.beta, sizes)
    biases = np.array([candidate.b]) if biases is None else biases
    visits = []

    def ask(*command):
        visits.append(command)
        return added([block.answer({0: command})[0] for block in blocks])

    b, certificate = judge(ask, Candidates(candidate.w, biases, (alpha, AT), np.ones(2)), problem.bias, tol)
    return b, certificate, len(visits)
