"""Data sets to begin with: figures and exercises of the course texts, and the classics. Each says what there is to see."""

from typing import Any

import numpy as np

from maxmargin.lab.state import HALF
from maxmargin.typing import Floats

Points = list[list[float]]


def presets() -> list[dict[str, Any]]:
    """Name, source, what to look at, and the state, without the defaults of `State`."""
    return [
        _preset(
            "Largest margin",
            "Figure 1.1, Definition 8: many lines separate the classes; the hard margin takes the furthest from the samples.",
            [
                *([-3.6, 1.4, 0], [-3, -0.6, 0], [-2.2, 2.6, 0], [-1.6, 0.7, 0], [-2.6, -2.2, 0], [-0.8, 2.2, 0]),
                *([1.2, -2.6, 1], [1.4, 0.2, 1], [2.2, -1.2, 1], [2.6, 1.8, 1], [3.4, 0.1, 1], [0.2, -1.4, 1]),
            ],
            estimator="hard",
            kernel="linear",
        ),
        _preset(
            "Support vectors",
            "Figure 4.1, Note 30: the support vectors are 1/‖w‖ from the hyperplane. Select another point, make it a "
            "non-support vector and move it.",
            _clouds(12, 1.7, 0.7, 3),
            estimator="hard",
            kernel="linear",
        ),
        _preset(
            "Effect of C",
            "Small C to large C on data that no line separates: a wide margin with many slacks, then a narrow one with few.",
            _clouds(40, 1.1, 1.1, 4),
            kernel="linear",
            value=0.1,
        ),
        _preset(
            "Slacks 0, 1 and 3",
            "Slack in units of the margin: ξ = 1 on the hyperplane, ξ = 3 two margins beyond it. Hover over the points of "
            "class B.",
            [[-2, y, 0] for y in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)]
            + [[2, y, 1] for y in (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)]
            + [[0, 0, 1], [-4, 0, 1]],
            kernel="linear",
            value=0.15,
        ),
        _preset(
            "Leave-one-out cases",
            "A training error stays an error without it, a point outside the margin stays right, and those in between depend: "
            "select a point and leave it out.",
            _clouds(14, 0.9, 0.9, 8),
            kernel="linear",
            value=1.0,
        ),
        _preset(
            "XOR",
            "No line separates these corners. The hard margin shows weights of the points for which the weighted means of the "
            "classes meet; an RBF or polynomial kernel separates them.",
            [[-2, -2, 0], [2, 2, 0], [-2, 2, 1], [2, -2, 1]],
            estimator="hard",
            kernel="linear",
        ),
        _preset("Moons", "Two half moons and an RBF kernel: try γ from 0.01 to 100.", _moons(40), gamma=1.0, value=10.0),
        _preset(
            "Ring", "A disc in a ring: a polynomial kernel of degree 2 draws an ellipse.", _ring(20), kernel="poly", degree=2
        ),
        _preset(
            "An outlier",
            "One point of class B far on the wrong side: the hinge pays for all of its slack, the ramp pays 1 and forgets it.",
            [*_clouds(12, 2.0, 0.6, 6), [-4.4, -3.2, 1]],
            kernel="linear",
            value=1.0,
        ),
        _preset(
            "Exercise 3: hard and soft",
            "UML 15.8, through the origin: for points ±x with ‖x‖ = a hard-SVM has ‖w‖ = 1/a, soft-SVM a/(2λ) while λ > a²/2. "
            "Move the points closer to 0, and the same λ no longer gives the hard one.",
            [[-0.4, -0.3, 0], [0.4, 0.3, 1]],
            kernel="linear",
            spelling="tikhonov",
            value=0.25,
            intercept=False,
        ),
        _preset(
            "Three classes", "One machine for each pair of classes: the regions are those of the vote.", _three(18), gamma=0.5
        ),
        _preset(
            "Perceptron",
            "Step through it: each mistake turns w towards its sample, and an epoch without one ends it.",
            [[x + 1.5, y + 1.5, label] for x, y, label in _clouds(10, 1.3, 0.6, 6)],
            estimator="perceptron",
            kernel="linear",
        ),
        _preset(
            "Pegasos",
            "Step through it: w shrinks each time, and grows by a sample inside the margin; the objective is noisy.",
            _clouds(20, 1.2, 0.9, 5),
            estimator="pegasos",
            kernel="linear",
            spelling="pegasos",
            value=0.05,
        ),
        _preset("200 points", "Two clouds that overlap: does every slider still answer at once?", _clouds(100, 1.0, 1.1, 0)),
    ]


def _preset(name: str, words: str, points: Any, **state: Any) -> dict[str, Any]:
    return {"name": name, "words": words, "state": {"points": points, **state}}


def _clouds(n: int, centre: float, spread: float, seed: int) -> Points:
    """n points around each of ±(centre, centre)."""
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1], n)
    return _listed(rng.normal(size=(2 * n, 2)) * spread + centre * (2 * label - 1)[:, None], label)


def _moons(n: int) -> Points:
    rng = np.random.default_rng(1)
    angle, label = np.tile(np.linspace(0.0, np.pi, n), 2), np.repeat([0, 1], n)
    side = 1 - 2 * label
    places = np.column_stack([2 * side * np.cos(angle) - side, 2 * side * np.sin(angle) - 0.5 * side])
    return _listed(places + rng.normal(size=places.shape) * 0.3, label)


def _ring(n: int) -> Points:
    rng = np.random.default_rng(2)
    angle, label = rng.uniform(0, 2 * np.pi, 2 * n), np.repeat([0, 1], n)
    radius = np.where(label == 1, rng.uniform(2.6, 3.8, 2 * n), 1.7 * np.sqrt(rng.uniform(0, 1, 2 * n)))
    return _listed(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), label)


def _three(n: int) -> Points:
    rng = np.random.default_rng(3)
    label = np.repeat([0, 1, 2], n)
    centres = np.array([[-1.6, -1.2], [1.7, -1.0], [0.0, 1.9]])
    return _listed(centres[label] + rng.normal(size=(3 * n, 2)) * 0.95, label)


def _listed(places: Floats, label: Any) -> Points:
    """As [x, y, class], within the square, to two decimals."""
    inside = np.round(np.clip(places, -HALF, HALF), 2)
    return [[*place, k] for place, k in zip(inside.tolist(), np.asarray(label).tolist(), strict=True)]
