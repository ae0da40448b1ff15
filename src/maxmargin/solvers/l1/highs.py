"""The L1 hinge problem on some columns and some rows as a linear program, on HiGHS.

    min_{w,ξ}  Σ_k price_k |w_k| − ⟨push, w⟩ + Σ_j c_j ξ_j
    s.t.       A w + ξ ≥ 1,   ξ ≥ 0,   |w_k| ≤ reach

`push` = Σ c_j A_j of samples that are taken to lie inside the margin: their losses are linear there. The reach keeps the
weights back where the rows at hand do not. Through SciPy's public `linprog`, by its dual simplex, which ends in a corner: zero
weights are exactly zero. That interface cannot begin at a corner: where one is known, `simplex_tableau.py` goes on from it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.typing import Floats


@dataclass(frozen=True)
class LinearProgramTuning:
    """Numbers of the small programs, by HiGHS and by exchanges, and of those who join them."""

    first_columns: int = 200
    """Columns of the first program without a warm start; rows that join at a time, at least, and four times the columns."""
    near_price: float = 0.98
    """Slope of the loss along a column, as a share of its price, from which on it takes part without a weight."""
    near_margin: float = 0.05
    """Distance from the margin up to which rows take part from a warm start."""
    accuracy: float = 1e-10
    """What HiGHS may miss constraints by, and exchanges slopes; the finest that HiGHS takes."""
    entry_work: float = 3.0
    """Work of a simplex step for each entry of the constraints, in entries that a loop passes over; on `farm_ads`."""
    most_entries: int = 4_000_000
    """Entries of a tableau, at most; and those passed over between two looks at the clock: some 4 ms."""
    steps_a_column: int = 10
    """Exchanges for each column, at most."""
    less_likely: float = 1e-3
    """Factor by which pivots in rows that are not known to be on the margin must be larger, for the first corner."""
    smallest_pivot: float = 1e-7
    """Pivots below this are taken for zero."""

    @property
    def noticed(self) -> float:
        """What a row or a column must be wrong by in order to join."""
        return 10.0 * self.accuracy


PROGRAMS = LinearProgramTuning()


@dataclass(frozen=True)
class Corner:
    """The weights and the dual variables of the rows; zeros where there is no answer.

    `was_stopped`: for want of time; `has_failed`: HiGHS had none, or not within the steps it was given. `work` in entries.
    """

    w: Floats
    alpha: Floats
    is_at_reach: bool = False
    was_stopped: bool = False
    has_failed: bool = False
    work: float = 0.0


def objective_unit(price: Floats) -> float:
    """The factor of the objective that makes the smallest price 1, so that absolute tolerances mean the same for all data."""
    return 1.0 / float(price[price > 0.0].min()) if price.any() else 1.0


def solve_small_program(
    A: Any,
    cost: Floats,
    price: Floats,
    push: Floats,
    reach: float,
    clock: Clock,
    most_work: float = np.inf,
    is_usual: bool = True,
) -> Corner:
    """Solve it; A is (rows, columns), dense or sparse. Where it is not the usual way, the settings are HiGHS's own.

    The budget of seconds is heard inside, Ctrl-C when HiGHS is done.
    """
    from scipy.optimize import linprog

    n, d = A.shape
    unit, is_free = objective_unit(price), price == 0.0
    A, has_price = sp.csc_array(A, dtype=np.float64), np.flatnonzero(~is_free)
    constraints = -sp.hstack([A, -A[:, has_price], sp.eye_array(n)], format="csc")
    objective = unit * np.concatenate([price - push, (price + push)[has_price], cost])
    lower, upper = np.zeros(len(objective)), np.full(len(objective), np.inf)
    lower[:d][is_free], upper[: d + len(has_price)] = -reach, reach
    per_step = PROGRAMS.entry_work * (constraints.nnz + sum(constraints.shape))
    options: dict[str, Any] = {}
    if is_usual:  # the fastest on small programs, and the most accurate
        options = {f"{side}_feasibility_tolerance": PROGRAMS.accuracy for side in ("primal", "dual")}
        options["presolve"] = False
    if np.isfinite(most_work):
        options["maxiter"] = 1 + int(most_work / per_step)
    if np.isfinite(clock.seconds_left):
        options["time_limit"] = max(clock.seconds_left, 1e-3)
    bounds = np.column_stack([lower, upper])
    with deferred_interrupt():
        found = linprog(
            objective, A_ub=constraints, b_ub=-np.ones(n), bounds=bounds, method="highs-ds", options=options
        )
    work = per_step * float(found.nit or 0)
    if found.x is None or found.status != 0:
        is_late = clock.spent() is not None
        return Corner(np.zeros(d), np.zeros(n), was_stopped=is_late, has_failed=not is_late, work=work)
    w = found.x[:d].copy()
    w[has_price] -= found.x[d : d + len(has_price)]
    is_at_reach = bool((np.abs(w) >= reach * (1.0 - PROGRAMS.noticed)).any())
    return Corner(w, np.maximum(-found.ineqlin.marginals, 0.0) / unit, is_at_reach, work=work)
