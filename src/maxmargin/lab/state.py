"""What the page sends, checked: points of the plane with their classes, and the machine to train on them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats

HALF = 5.0
"""Half the side of the square that the page shows, around 0."""

MOST_POINTS = 500
"""Points of a page: of so many leave-one-out still takes no more than seconds."""

NAMES = ("A", "B", "C")
"""The labels of the classes. Of two classes F > 0 predicts the second."""

ESTIMATORS = ("hard", "soft", "squared", "ramp", "l1", "perceptron", "pegasos")
KERNELS = ("linear", "poly", "rbf", "sigmoid")
SPELLINGS = ("sum", "mean", "tikhonov", "pegasos", "ridge")

MOST_REPEATED = 40
"""Letters of what came that a refusal repeats."""

LEAST, MOST = 1e-9, 1e9
"""Ends of C, λ and γ: beyond, costs and kernel values leave what float64 can tell apart."""

HIGHEST_DEGREE = 10
"""Degree of the polynomial kernel, at most: 50¹⁰ is still a harmless number."""


@dataclass(frozen=True)
class Point:
    """A place in the plane and the number of its class."""

    x: float
    y: float
    label: int

    @classmethod
    def of(cls, given: Any, what: str) -> Self:
        """From [x, y, class]."""
        if not isinstance(given, list) or len(given) != 3:
            raise InvalidInputError(f"{what} must be [x, y, class], got {_short(given)}.")
        x, y = (_number(value, what, -HALF, HALF) for value in given[:2])
        return cls(x, y, _integer(given[2], f"The class of {what}", 0, len(NAMES) - 1))


@dataclass(frozen=True)
class State:
    """Everything that a link to the page holds, and that an answer depends on."""

    points: tuple[Point, ...]
    estimator: str = "soft"
    kernel: str = "rbf"
    spelling: str = "sum"
    value: float = 1.0
    gamma: float = 0.5
    degree: int = 3
    coef0: float = 1.0
    intercept: bool = True

    @classmethod
    def of(cls, given: Any) -> Self:
        """From what JSON held; what is missing takes its default, what is unknown or impossible is refused.

        Examples
        --------
        >>> State.of({"points": [[0, 1, 0], [2, 1, 1]], "kernel": "linear"}).places.tolist()
        [[0.0, 1.0], [2.0, 1.0]]
        >>> State.of({"points": [[0, 1, 7]]})
        Traceback (most recent call last):
        ...
        maxmargin.errors.InvalidInputError: The class of point 0 must be an integer from 0 to 2, got 7.
        """
        if not isinstance(given, Mapping):
            raise InvalidInputError(f"A state must be an object, got {_short(given)}.")
        strange = set(given) - {field.name for field in fields(cls)}
        if strange:
            raise InvalidInputError(f"A state has no {_short(sorted(strange)[0])}.")
        points = given.get("points")
        if not isinstance(points, list) or len(points) > MOST_POINTS:
            got = f"{len(points)} points" if isinstance(points, list) else _short(points)
            raise InvalidInputError(f"The points must be a list of at most {MOST_POINTS}, got {got}.")
        rules = {
            "estimator": lambda value: _choice(value, "estimator", ESTIMATORS),
            "kernel": lambda value: _choice(value, "kernel", KERNELS),
            "spelling": lambda value: _choice(value, "spelling", SPELLINGS),
            "value": lambda value: _number(value, "C or λ", LEAST, MOST),
            "gamma": lambda value: _number(value, "γ", LEAST, MOST),
            "degree": lambda value: _integer(value, "The degree", 1, HIGHEST_DEGREE),
            "coef0": lambda value: _number(value, "coef0", -100.0, 100.0),
            "intercept": _flag,
        }
        checked: dict[str, Any] = {name: rule(given[name]) for name, rule in rules.items() if name in given}
        return cls(tuple(Point.of(point, f"point {i}") for i, point in enumerate(points)), **checked)

    @property
    def places(self) -> Floats:
        """The places, (n, 2)."""
        return np.array([[point.x, point.y] for point in self.points], dtype=np.float64).reshape(-1, 2)

    @property
    def labels(self) -> Any:
        """The labels, as texts."""
        return np.array([NAMES[point.label] for point in self.points])

    @property
    def is_linear(self) -> bool:
        """Whether a hyperplane of the plane itself is looked for: that is all that the L1 penalty knows."""
        return self.kernel == "linear" or self.estimator == "l1"

    def without(self, i: int) -> Self:
        """All points but one."""
        return replace(self, points=self.points[:i] + self.points[i + 1 :])

    def moved(self, i: int, place: tuple[float, float]) -> Self:
        """One point elsewhere."""
        there = replace(self.points[i], x=place[0], y=place[1])
        return replace(self, points=(*self.points[:i], there, *self.points[i + 1 :]))


@dataclass(frozen=True)
class Comparison:
    """A second machine to draw beside the first: that of all points where one is left out, or with that point elsewhere.

    `place` is None where the point is left out, and where it was before where it was moved.
    """

    point: int
    place: tuple[float, float] | None

    @classmethod
    def of(cls, given: Any, state: State) -> Self | None:
        """From {"point": i, "place": null or [x, y]}."""
        if given is None:
            return None
        if not isinstance(given, Mapping) or set(given) != {"point", "place"}:
            raise InvalidInputError(f"A comparison must have a point and a place, got {_short(given)}.")
        place = given["place"]
        if place is not None:
            before = Point.of([*place, 0] if isinstance(place, list) else place, "The place")
            place = before.x, before.y
        return cls(index_of(given["point"], state), place)


def index_of(given: Any, state: State) -> int:
    """The number of a point that is there."""
    return _integer(given, "The number of a point", 0, len(state.points) - 1)


def _number(value: Any, what: str, low: float, high: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= value <= high:  # NaN compares as false
        raise InvalidInputError(f"{what} must be from {low:g} to {high:g}, got {_short(value)}.")
    return float(value)


def _integer(value: Any, what: str, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInputError(f"{what} must be an integer from {low} to {high}, got {_short(value)}.")
    return value


def _choice(value: Any, what: str, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        raise InvalidInputError(f"The {what} must be one of {', '.join(known)}, got {_short(value)}.")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInputError(f"intercept must be true or false, got {_short(value)}.")
    return value


def _short(value: Any) -> str:
    """What came, in a few letters: it may be anything."""
    if isinstance(value, list | dict):
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    words = repr(value)
    return words if len(words) <= MOST_REPEATED else f"{words[:MOST_REPEATED]}…"
