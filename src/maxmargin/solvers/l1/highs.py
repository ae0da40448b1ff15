"""The L1 hinge problem on some columns and some rows as a linear program, on HiGHS.

    min_{w,ξ}  Σ_k price_k |w_k| − ⟨push, w⟩ + Σ_j c_j ξ_j
    s.t.       y_j⟨w, x̃_j⟩ + ξ_j ≥ 1,   ξ ≥ 0,   |w_k| ≤ reach/unit_k

`push` = Σ c_j y_j x̃_j of samples that are taken to lie inside the margin: their losses are linear there. The reach keeps the
weights back where the rows at hand do not. Through SciPy's public `linprog`, by its dual simplex, which ends in a corner: zero
weights are exactly zero. That interface cannot begin at a corner: where one nearby is known, `simplex_tableau` goes on from it.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.typing import Floats


class Way(NamedTuple):
    """How HiGHS is asked."""

    method: str
    presolve: bool
    accuracy: float | None = None
    """None: HiGHS's own, 1e-7 and with its interior point 1e-8."""


USUAL = Way("highs-ds", False, TUNING.accuracy)
"""The fastest on small programs."""

OTHERS = Way("highs-ds", True), Way("highs-ipm", True), Way("highs-ds", False)
"""For where that has no answer."""


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


def solve_small_program(
    A: Any,
    y: Floats,
    cost: Floats,
    price: Floats,
    push: Floats,
    units: Floats,
    reach: float,
    clock: Clock,
    way: Way = USUAL,
    most_work: float = np.inf,
) -> Corner:
    """Solve it; A is (rows, columns), dense or sparse, its columns' entries of the sizes `units`.

    The budget of seconds is heard inside, Ctrl-C when HiGHS is done.
    """
    from scipy.optimize import linprog

    n, d = A.shape
    # In units in which entries are at most 1, so that HiGHS's absolute tolerances mean the same for all data: w' = units · w, and
    # the objective is multiplied by the features' unit.
    unit, free = float(units[0]), price == 0.0
    signed = sp.csc_array(sp.diags_array(y) @ sp.csr_array(A).astype(np.float64) @ sp.diags_array(1.0 / units))
    price, push = price * (unit / units), push * (unit / units)
    constraints = -sp.hstack([signed, -signed[:, np.flatnonzero(~free)], sp.eye_array(n)], format="csc")
    n_split = int((~free).sum())
    objective = np.concatenate([price - push, (price + push)[~free], cost * unit])
    lower, upper = np.zeros((2, len(objective)))
    lower[:d][free] = -reach
    upper[: d + n_split], upper[d + n_split :] = reach, np.inf
    per_step = TUNING.simplex_work * (constraints.nnz + sum(constraints.shape))
    options: dict[str, Any] = {"presolve": way.presolve}
    if way.accuracy is not None:
        options |= {f"{side}_feasibility_tolerance": way.accuracy for side in ("primal", "dual")}
    if np.isfinite(most_work):
        options["maxiter"] = 1 + int(most_work / per_step)
    if np.isfinite(clock.seconds_left):
        options["time_limit"] = max(clock.seconds_left, 1e-3)
    bounds = np.column_stack([lower, upper])
    with deferred_interrupt():
        found = linprog(objective, A_ub=constraints, b_ub=-np.ones(n), bounds=bounds, method=way.method, options=options)
    work = per_step * float(found.nit or 0)
    if found.x is None or found.status != 0:
        is_late = clock.spent() is not None
        return Corner(np.zeros(d), np.zeros(n), was_stopped=is_late, has_failed=not is_late, work=work)
    w = found.x[:d].copy()
    w[~free] -= found.x[d : d + n_split]
    is_at_reach = bool((np.abs(w) >= reach * (1.0 - 1e-9)).any())
    return Corner(w / units, np.maximum(-found.ineqlin.marginals, 0.0) / unit, is_at_reach, work=work)
