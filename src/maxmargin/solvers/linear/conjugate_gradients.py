"""Conjugate gradients, as far as they pay."""

from collections.abc import Callable

import numpy as np

from maxmargin.typing import Floats


def conjugate_gradients(
    times: Callable[[Floats], Floats],
    right: Floats,
    diagonal: Floats,
    *,
    precision: float,
    most_rounds: int,
    enough: float = 0.0,
    is_over: Callable[[], bool] = lambda: False,
    precondition: Callable[[Floats], Floats] | None = None,
) -> tuple[Floats, int]:
    """(x, rounds): some way from 0 to the solution of Ax = right, preconditioned by A's diagonal, or as `precondition` says.

    It ends when the residual is `precision` times what it was, after `most_rounds`, or with a round that gains less than `enough`
    times the best one. A direction in which A is flat, as duplicates make it, ends it too, and so does `is_over`.
    """
    if precondition is None:

        def precondition(r: Floats) -> Floats:
            return r / diagonal

    x, r = np.zeros_like(right), right.copy()
    z = precondition(r)
    p, rz = z.copy(), float(r @ z)
    largest, rounds, goal = 0.0, 0, precision**2 * rz
    while rounds < most_rounds and rz > goal and not (rounds and is_over()):
        rounds += 1
        Ap = times(p)
        curvature = float(p @ Ap)
        if not curvature > 1e-12 * float(p @ (diagonal * p)):
            break
        gain = rz * rz / curvature
        x += (rz / curvature) * p
        if gain < enough * largest:
            break
        largest = max(largest, gain)
        r -= (rz / curvature) * Ap
        z = precondition(r)
        rz, old = float(r @ z), rz
        p = z + (rz / old) * p
    return x, rounds
