"""Tiny problems with answers worked out by hand; the working stands beside each."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Bias, Candidate, Problem, SquaredHinge
from maxmargin.kernels import Polynomial


@dataclass(frozen=True)
class Known:
    """A problem, its optimum (w, b, β), its value P = D, and the interval of all optimal biases."""

    name: str
    problem: Problem
    w: tuple[float, ...]
    b: float
    beta: tuple[float, ...]
    value: float
    biases: tuple[float, float] | None = None

    @property
    def best(self):
        return Candidate(np.array(self.w), self.b, np.array(self.beta))


def column(*values):
    return np.array(values, dtype=np.float64)[:, None]


def signs(text):
    """ "+-" becomes (1, −1)."""
    return np.array([1.0 if sign == "+" else -1.0 for sign in text])


def problem(X, labels, cost, **others):
    X = np.array(X, dtype=np.float64)
    return Problem(X, signs(labels), np.full(len(X), float(cost)), **others)


KNOWN = [
    # The gap between 1 and 2 has its middle at 1.5 and half-width ½ = 1/w; α₂ = α₃ = α with w = α(2 − 1).
    Known("a line, hard", problem([[0], [1], [2], [3]], "--++", np.inf), (2.0,), -3.0, (0, -2, 2, 0), 2.0),
    # The same with a cost above the α in use: a soft margin that is the hard one.
    Known("a line, soft", problem([[0], [1], [2], [3]], "--++", 10), (2.0,), -3.0, (0, -2, 2, 0), 2.0),
    # Two points at distance 5: w = 2(x₊ − x₋)/25, b = −1, α = 2/25, margin 2.5.
    Known("two points", problem([[0, 0], [3, 4]], "-+", np.inf), (0.24, 0.32), -1.0, (-0.08, 0.08), 0.08),
    # Both α at the cost ¼: w = ½, slacks ½ ∓ b while |b| ≤ ½; P = ⅛ + ¼·1.
    Known("cheap slacks", problem([[1], [-1]], "+-", 0.25), (0.5,), 0.0, (0.25, -0.25), 0.375, (-0.5, 0.5)),
    # MATH: w = 0.1(1 + 1); positive inside while b ≤ 0.8, first negative while b ≥ −0.8, second outside while b ≤ 0.6.
    Known(
        "a bias with room",
        problem([[1], [-1], [-8]], "+--", 0.1),
        (0.2,),
        -0.1,
        (0.1, -0.1, 0.0),
        0.18,
        (-0.8, 0.6),
    ),
    # The same point with both labels: nothing can be learned, each b in [−1, 1] pays 2c.
    Known("a contradiction", problem([[1], [1]], "+-", 3), (0.0,), 0.0, (3, -3), 6.0, (-1.0, 1.0)),
    # min ½w² + 2c(1 − w)²: w = 4c/(1 + 4c); c = ½: w = ⅔, ξ = ⅓, α = 2cξ = ⅓, P = 2/9 + 1/9.
    Known(
        "squared",
        problem([[1], [-1]], "+-", 0.5, loss=SquaredHinge()),
        (2 / 3,),
        0.0,
        (1 / 3, -1 / 3),
        1 / 3,
    ),
    # Through the origin: the closer point, x = 1, alone decides.
    Known("homogeneous", problem([[1], [-2]], "+-", np.inf, bias=Bias.none()), (1.0,), 0.0, (1, 0), 0.5),
    # Rows (0, 2) and (2, 2): −2v ≥ 1 and 2w + 2v ≥ 1 give v = −½, w = 1, b = 2v; Σβ·2 = −½ and 2β₂ = 1.
    Known(
        "penalized",
        problem([[0], [2]], "-+", np.inf, bias=Bias.penalized(2.0)),
        (1.0,),
        -1.0,
        (-0.75, 0.5),
        0.625,
    ),
    # XOR under (1 + ⟨u, v⟩)²: K = 9 on the diagonal, 1 elsewhere; α = 1/8 each gives yF = (9 + 1 − 1 − 1)/8 = 1.
    Known(
        "xor",
        problem([[1, 1], [-1, -1], [1, -1], [-1, 1]], "++--", np.inf, kernel=Polynomial(2, gamma=1.0, coef0=1.0)),
        (0.125, 0.125, -0.125, -0.125),
        0.0,
        (0.125, 0.125, -0.125, -0.125),
        0.25,
    ),
]


def bag_of_words(n=600, d=6000, longest=600, seed=0):
    """Texts of very different length, their labels as it comes; the ten longest occur with the other label, too."""
    rng = np.random.default_rng(seed)
    share = 1.0 / (1.0 + np.arange(d)) ** 0.9
    lengths = np.exp(rng.uniform(np.log(4), np.log(longest), n)).astype(int)
    rows = [np.unique(rng.choice(d, length, p=share / share.sum())) for length in lengths]
    y, twice = rng.choice([-1.0, 1.0], n), np.argsort(-lengths)[:10]
    rows += [rows[i] for i in twice]
    indices, ends = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
    return sp.csr_array((np.ones(len(indices)), indices, ends), shape=(len(rows), d)), np.append(y, -y[twice])


def clouds(seed=0, n=80, d=5, flips=8):
    """(X, labels, y): two clouds of d features, two of them useful; the first labels are flipped."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = rng.standard_normal((n, d))
    X[:, :2] += 1.5 * y[:, None]
    labels = y.copy()
    labels[:flips] *= -1
    return X, labels, y
