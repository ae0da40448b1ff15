"""The L1 problem with the squared hinge as one quadratic program, for where coordinate descent stalls.

min Σ_k price_k (w⁺_k + w⁻_k) + Σ c_j ξ_j²     s.t.  y_j ⟨w⁺ − w⁻, x̃_j⟩ + ξ_j ≥ 1,   w⁺, w⁻ ≥ 0
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.reduce import ConeProgram
from maxmargin.solvers.base import Clock
from maxmargin.solvers.cone import run_clarabel
from maxmargin.solvers.l1_smoothed import SmoothedL1
from maxmargin.typing import Floats

ZERO = 1e-7
"""A weight below this share of the largest is taken to be zero: an interior point has no zeros of its own."""


def solve_cone(smoothed: SmoothedL1, clock: Clock) -> Floats:
    """The weights, those of the visited columns being the variables; to what the arithmetic allows."""
    columns, chosen = smoothed.columns, smoothed.visited
    units, n, d = columns.units[chosen], len(smoothed.y), len(smoothed.visited)
    unit, price = float(units[0]), columns.price[chosen] * (units[0] / units)
    signed = (
        sp.diags_array(smoothed.y) @ sp.csr_array(columns.take(chosen)).astype(np.float64) @ sp.diags_array(1 / units)
    )
    A: Any = -sp.vstack(
        [sp.hstack([signed, -signed, sp.eye_array(n)]), sp.hstack([sp.eye_array(2 * d), sp.csr_array((2 * d, n))])]
    )
    P = sp.csc_array(sp.diags_array(np.concatenate([np.zeros(2 * d), 2.0 * smoothed.cost * unit])))
    q, right = np.concatenate([price, price, np.zeros(n)]), np.concatenate([-np.ones(n), np.zeros(2 * d)])
    program = ConeProgram(P, q, sp.csc_array(A), right, 0, lambda x, z: z[:n])
    x = run_clarabel(program, clock).x
    found = x[:d] - x[d : 2 * d]
    found[(price > 0.0) & (np.abs(found) <= ZERO * np.abs(found).max(initial=0.0))] = 0.0
    w = np.zeros(len(columns.price))
    w[chosen] = found / units
    return w
