"""What the texts state about the perceptron and about subgradients at the corner of the hinge."""

from fractions import Fraction
from itertools import permutations

import numpy as np

from maxmargin import Perceptron

X = [(0, 0), (-1, 2), (-1, -1), (2, 0), (3, 1), (4, -2), (3, 0)]
Y = [-1, -1, -1, 1, 1, 1, -1]
"""The seven samples of docs/concordance.toml."""


def test_the_perceptrons_answer_depends_on_the_order_of_the_samples():
    # [NYU]: it returns some separating hyperplane, not one that the data determine
    rows, labels = np.array([[1, 2], [2, -1], [-1, -1], [3, 1]], dtype=float), np.array([1, 1, -1, 1])
    found = set()
    for order in permutations(range(4)):
        model = Perceptron(fit_intercept=False, shuffle=False).fit(rows[list(order)], labels[list(order)])
        assert (labels * (rows @ model.coef_[0]) > 0).all()
        found.add(tuple((model.coef_[0] / np.linalg.norm(model.coef_)).round(12)))
    assert len(found) > 1


def test_at_the_optimum_of_the_soft_margin_samples_sit_on_the_corner():
    # [NYU] asks whether yF = 1 is ever met. Here in rational numbers: the certificate of w = (3/5, 1/5), b = −1 at C = 1/2
    w, b, cost = (Fraction(3, 5), Fraction(1, 5)), Fraction(-1), Fraction(1, 2)
    alpha = [Fraction(7, 20), Fraction(0), Fraction(0), Fraction(1, 2), Fraction(3, 10), Fraction(1, 20), Fraction(1, 2)]
    z = [y * (w[0] * x[0] + w[1] * x[1] + b) for x, y in zip(X, Y, strict=True)]
    assert [sum(a * y * x[k] for a, x, y in zip(alpha, X, Y, strict=True)) for k in (0, 1)] == list(w)
    assert sum(a * y for a, y in zip(alpha, Y, strict=True)) == 0
    assert all(0 <= a <= cost for a in alpha)
    slack = [max(Fraction(0), 1 - value) for value in z]
    assert all(a == 0 or value <= 1 for a, value in zip(alpha, z, strict=True))
    assert all(a == cost for a, xi in zip(alpha, slack, strict=True) if xi)
    primal = (w[0] ** 2 + w[1] ** 2) / 2 + cost * sum(slack)
    assert primal == sum(alpha) - (w[0] ** 2 + w[1] ** 2) / 2 == Fraction(3, 2)
    on_the_corner = [k for k, value in enumerate(z) if value == 1]
    assert on_the_corner == [0, 4, 5]
    # and there only a choice between 0 and −1 for each of them makes a subgradient that vanishes: their shares α/C
    shares = [alpha[k] / cost for k in on_the_corner]
    assert all(0 < share < 1 for share in shares)
