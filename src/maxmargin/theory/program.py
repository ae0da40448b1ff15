"""Small programs in exact arithmetic: Lagrangian, dual function, KKT and Fritz John conditions, Slater points.

    min f(x)   s.t.   g_i(x) ≤ 0,   h_j(x) = 0        f, g quadratic, h affine, all numbers rational

Every answer is about the numbers as given, without rounding. Multipliers that exist are found, and where there are none a
direction proves it (Farkas). Meant for a handful of variables and constraints: for examples, exercises and counterexamples.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.theory.cone import Coefficients, Vector, in_cone
from maxmargin.theory.quadratic import Quadratic, rational_vector, solve_fractions

MOST_CONSTRAINTS = 16
"""Constraints of which `minimise` tries every set: 2^16 systems of equations."""


@dataclass(frozen=True)
class KKT:
    """The Karush–Kuhn–Tucker conditions at (x, α, β), one field each.

    In a convex program all of them together make x a minimum and (α, β) a maximum of the dual function.

    Examples
    --------
    >>> from maxmargin.theory import Program, Quadratic
    >>> program = Program(Quadratic.square(1), [Quadratic.affine([-1], 1)])
    >>> found = program.kkt([2], [4])
    >>> found.stationary, found.primal, found.dual, found.complementary, found.holds
    (True, True, True, False, False)
    """

    stationarity: Vector
    primal: bool
    dual: bool
    slackness: Vector

    @property
    def stationary(self) -> bool:
        """∇f + Σα_i∇g_i + Σβ_j∇h_j = 0."""
        return not any(self.stationarity)

    @property
    def complementary(self) -> bool:
        """α_ig_i(x) = 0 for each i."""
        return not any(self.slackness)

    @property
    def holds(self) -> bool:
        """All four: stationary, feasible on both sides, complementary."""
        return self.stationary and self.primal and self.dual and self.complementary

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Multipliers:
    """κ₀∇f + Σα_i∇g_i + Σβ_j∇h_j = 0 with κ₀, α ≥ 0, not all of κ₀ and α zero, and α_i = 0 where g_i(x) < 0.

    KKT multipliers have κ₀ = 1. Those of Fritz John may have κ₀ = 0, and then say nothing about f.
    """

    kappa: Fraction
    alpha: Vector
    beta: Vector


@dataclass(frozen=True)
class NoMultipliers:
    """A direction d that proves that there are none.

    For KKT: ⟨d, ∇f⟩ < 0, ⟨d, ∇g_i⟩ ≤ 0 where g_i(x) = 0, and ⟨d, ∇h_j⟩ = 0. For Fritz John ⟨d, ∇g_i⟩ < 0 too, so that x is no
    minimum.
    """

    direction: Vector


@dataclass(frozen=True)
class Solved:
    """A minimum x with its multipliers, which prove it; and its value."""

    x: Vector
    alpha: Vector
    beta: Vector
    value: Fraction


@dataclass(frozen=True)
class Program:
    """min f(x) s.t. g_i(x) ≤ 0 and h_j(x) = 0.

    Parameters
    ----------
    objective : Quadratic
    constraints : sequence of Quadratic
        The g_i.
    equalities : sequence of Quadratic
        The h_j: affine, with linearly independent gradients.

    Examples
    --------
    Minimise x² subject to x ≥ 1:

    >>> from maxmargin.theory import Program, Quadratic
    >>> program = Program(Quadratic.square(1), [Quadratic.affine([-1], 1)])
    >>> program.multipliers([1]).alpha, program.kkt([1], [2]).holds
    ((Fraction(2, 1),), True)
    >>> print(program.dual([2]), program.dual([1]), program.objective.value([1]))
    1 3/4 1
    """

    objective: Quadratic
    constraints: Any
    equalities: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "constraints", tuple(self.constraints))
        object.__setattr__(self, "equalities", tuple(self.equalities))
        if any(f.d != self.objective.d for f in (*self.constraints, *self.equalities)):
            raise InvalidInputError(f"All functions must have {self.objective.d} variables, as the objective has.")
        gradients = [h.b for h in self.equalities]
        if not all(h.is_affine for h in self.equalities) or _rank(gradients) < len(gradients):
            raise NotSupportedError("Equalities must be affine, with linearly independent gradients. Drop the redundant ones.")

    @property
    def is_convex(self) -> bool:
        """Whether f and all g_i are convex."""
        return all(f.is_convex for f in (self.objective, *self.constraints))

    def is_feasible(self, x: Any) -> bool:
        """Whether x meets every constraint."""
        return all(g.value(x) <= 0 for g in self.constraints) and not any(h.value(x) for h in self.equalities)

    def active(self, x: Any) -> tuple[int, ...]:
        """I = {i : g_i(x) = 0}."""
        return tuple(i for i, g in enumerate(self.constraints) if g.value(x) == 0)

    def lagrangian(self, x: Any, alpha: Any, beta: Any = ()) -> Fraction:
        """L(x, α, β) = f(x) + Σα_ig_i(x) + Σβ_jh_j(x), with α ≥ 0."""
        return self._combined(alpha, beta).value(x)

    def dual(self, alpha: Any, beta: Any = ()) -> Fraction | float:
        """The dual function, inf_x L(x, α, β): −∞ where L has no least value. At most f(x) for every feasible x."""
        return self._combined(alpha, beta).minimum().value

    def kkt(self, x: Any, alpha: Any, beta: Any = ()) -> KKT:
        """The KKT conditions at a point with multipliers, which need not be ≥ 0 here."""
        alpha, beta = self._multipliers(alpha, beta, any_sign=True)
        functions = (self.objective, *self.constraints, *self.equalities)
        sums = Quadratic.combination((Fraction(1), *alpha, *beta), functions).gradient(x)
        slackness = tuple(a * g.value(x) for a, g in zip(alpha, self.constraints, strict=True))
        return KKT(sums, self.is_feasible(x), all(a >= 0 for a in alpha), slackness)

    def multipliers(self, x: Any) -> Multipliers | NoMultipliers:
        """Find KKT multipliers at a feasible x, or the direction that proves that it has none.

        A minimum has them if a constraint qualification holds: all constraints affine, or convex with a Slater point. In a convex
        program every feasible x that has them is a minimum.
        """
        active = self._active_of_feasible(x)
        columns = [self.constraints[i].gradient(x) for i in active] + self._signed_equalities()
        found = in_cone(columns, tuple(-v for v in self.objective.gradient(x)))
        if not isinstance(found, Coefficients):
            return NoMultipliers(found.d)
        return self._spread(Fraction(1), active, found.x)

    def fritz_john(self, x: Any) -> Multipliers | NoMultipliers:
        """Find Fritz John multipliers, κ₀ + Σα_i = 1, at a feasible x, or the direction that proves that x is no minimum.

        Every minimum has them, without any qualification, but κ₀ may be 0.
        """
        active = self._active_of_feasible(x)
        gradients = [self.objective.gradient(x), *(self.constraints[i].gradient(x) for i in active)]
        one, zero = Fraction(1), Fraction(0)
        columns = [(*g, one) for g in gradients] + [(*h, zero) for h in self._signed_equalities()]
        found = in_cone(columns, (zero,) * self.objective.d + (one,))
        if not isinstance(found, Coefficients):
            return NoMultipliers(found.d[:-1])
        return self._spread(found.x[0], active, found.x[1:])

    def is_slater_point(self, x: Any) -> bool:
        """Whether g_i(x) < 0 for each i and h_j(x) = 0 for each j."""
        return all(g.value(x) < 0 for g in self.constraints) and not any(h.value(x) for h in self.equalities)

    def refutes_slater(self, kappa: Any, beta: Any = ()) -> bool:
        """Whether these weights prove that no Slater point exists: κ ≥ 0, not all 0, and Σκ_ig_i + Σβ_jh_j ≥ 0 everywhere.

        At a Slater point that sum would be negative.
        """
        kappa, beta = self._multipliers(kappa, beta)
        if not any(kappa):
            return False
        return Quadratic.combination((*kappa, *beta), (*self.constraints, *self.equalities)).minimum().value >= 0

    def minimise(self) -> Solved:
        """A minimum of a convex program with affine constraints, by trying every set of active ones: 2^constraints systems.

        Raises
        ------
        NotSupportedError
            If a constraint is not affine, the program is not convex or has more than 16 constraints, or if no set of constraints
            determines the minimum: then it is infeasible, unbounded, or has a whole line of minima.
        """
        if not self.is_convex or not all(g.is_affine for g in self.constraints) or len(self.constraints) > MOST_CONSTRAINTS:
            raise NotSupportedError(f"minimise takes convex programs with at most {MOST_CONSTRAINTS} affine constraints.")
        for active in _subsets(len(self.constraints)):
            found = self._stationary(active)
            if found is not None and self.kkt(found.x, found.alpha, found.beta).holds:
                return found
        raise NotSupportedError("No set of active constraints determines a minimum: infeasible, unbounded, or not unique.")

    def _stationary(self, active: tuple[int, ...]) -> Solved | None:
        """The stationary point of f on g_i = 0 (i active) and h = 0; None where it is not unique."""
        functions = [*(self.constraints[i] for i in active), *self.equalities]
        d, k = self.objective.d, len(functions)
        rows = [[*self.objective.A[i], *(g.b[i] for g in functions)] for i in range(d)]
        rows += [[*g.b, *[Fraction(0)] * k] for g in functions]
        if _rank([tuple(row) for row in rows]) < d + k:
            return None
        found = solve_fractions(rows, [*(-v for v in self.objective.b), *(-g.c for g in functions)])
        assert found is not None
        spread = self._spread(Fraction(1), active, found[d : d + len(active)])
        return Solved(found[:d], spread.alpha, found[d + len(active) :], self.objective.value(found[:d]))

    def _combined(self, alpha: Any, beta: Any) -> Quadratic:
        alpha, beta = self._multipliers(alpha, beta)
        return Quadratic.combination((Fraction(1), *alpha, *beta), (self.objective, *self.constraints, *self.equalities))

    def _multipliers(self, alpha: Any, beta: Any, any_sign: bool = False) -> tuple[Vector, Vector]:
        alpha, beta = rational_vector(alpha), rational_vector(beta)
        wanted = len(self.constraints), len(self.equalities)
        if (len(alpha), len(beta)) != wanted:
            raise InvalidInputError(f"Got {len(alpha)} and {len(beta)} multipliers where {wanted[0]} and {wanted[1]} are wanted.")
        if not any_sign and any(a < 0 for a in alpha):
            raise InvalidInputError("A multiplier of an inequality is ≥ 0, got a negative one.")
        return alpha, beta

    def _active_of_feasible(self, x: Any) -> tuple[int, ...]:
        if not self.is_feasible(x):
            raise InvalidInputError("x is not feasible. The conditions are about feasible points.")
        return self.active(x)

    def _signed_equalities(self) -> list[Vector]:
        """∇h_j and −∇h_j."""
        return [tuple(s * v for v in h.b) for h in self.equalities for s in (1, -1)]

    def _spread(self, kappa: Fraction, active: tuple[int, ...], found: Vector) -> Multipliers:
        """Coefficients of active gradients, then of ±∇h_j, as multipliers of all constraints."""
        known = dict(zip(active, found, strict=False))
        pairs = found[len(active) :]
        beta = tuple(plus - minus for plus, minus in zip(pairs[::2], pairs[1::2], strict=True))
        return Multipliers(kappa, tuple(known.get(i, Fraction(0)) for i in range(len(self.constraints))), beta)


def hard_margin_program(X: Any, y: Any, homogeneous: bool = False) -> Program:
    """The hard margin as a program in (w, b), or in w: min ½‖w‖² s.t. 1 − y_i(⟨w, x_i⟩ + b) ≤ 0, exactly.

    Parameters
    ----------
    X : matrix (n, d)
        Dense.
    y : array (n,)
        Labels −1 and +1.
    homogeneous : bool
        Without b.

    Examples
    --------
    >>> from maxmargin import theory
    >>> solved = theory.hard_margin_program([[0], [1], [3]], [-1, -1, 1]).minimise()
    >>> [str(v) for v in solved.x], [str(a) for a in solved.alpha]
    (['1', '-2'], ['0', '1/2', '1/2'])
    """
    rows = [rational_vector(row) for row in np.asarray(X, dtype=object).tolist()]
    labels = [int(label) for label in np.asarray(y).tolist()]
    if len(rows) != len(labels) or not rows or any(label not in (-1, 1) for label in labels):
        raise InvalidInputError("X needs a row, and y a label −1 or +1, for each sample.")
    d = len(rows[0])
    points = rows if homogeneous else [(*row, Fraction(1)) for row in rows]
    A = [[int(i == j < d) for j in range(len(points[0]))] for i in range(len(points[0]))]
    constraints = [Quadratic.affine([-label * v for v in row], 1) for row, label in zip(points, labels, strict=True)]
    return Program(Quadratic(A, [0] * len(points[0])), constraints)


def no_qualification() -> Program:
    """min w s.t. w² ≤ 0: its minimum w = 0 has no KKT multipliers, as no Slater point exists.

    f' = 1 and g' = 0 there, so no α makes f' + αg' vanish. Those of Fritz John are κ₀ = 0, α = 1.

    Examples
    --------
    >>> from maxmargin import theory
    >>> program = theory.no_qualification()
    >>> program.multipliers([0])
    NoMultipliers(direction=(Fraction(-1, 1),))
    >>> program.fritz_john([0]).kappa, program.refutes_slater([1])
    (Fraction(0, 1), True)
    """
    return Program(Quadratic.affine([1]), [Quadratic.square(1)])


def _subsets(n: int) -> Iterator[tuple[int, ...]]:
    """Of 0 … n − 1, the small ones first."""
    for size in range(n + 1):
        yield from combinations(range(n), size)


def _rank(rows: list[Vector]) -> int:
    """The number of linearly independent rows."""
    left, rank = [list(row) for row in rows], 0
    while left:
        row = left.pop()
        k = next((i for i, v in enumerate(row) if v), None)
        if k is None:
            continue
        rank += 1
        left = [[v - other[k] / row[k] * t for v, t in zip(other, row, strict=True)] for other in left]
    return rank
