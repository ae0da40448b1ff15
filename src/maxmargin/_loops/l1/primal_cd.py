"""Coordinate descent with the L1 penalty, one column of the data at a time, compiled.

    min_w  Σ_k price_k |w_k| + Σ_j c_j ψ_j(z_j),     −ψ_j'(z) = θ_j = clip(centre_j + σ(1 − z), 0, top),     z = A w

The one-dimensional Newton steps of Yuan, Chang, Hsieh & Lin (JMLR 2010, section 4); instead of their line search, a step that
went too far is drawn back to where its two slopes meet.
"""

from typing import Any

from maxmargin._loops.jit import loop

FLATTEST = 0.01
"""Least curvature, as a share of what it would be if all samples of the column were bent."""

STEEP_SHARE = 0.1
"""Slope behind a step, as a share of the one before it, from which on the step is shortened."""


@loop
def sweep(indptr, indices, data, cost, centre, sigma, top, price, square, columns, w, z, most):
    """Visit the listed columns once, keeping z in step with w; a step is shortened `most` times at most.

    `indices` is None where the columns are dense.
    """
    for i in range(columns.shape[0]):
        k = columns[i]
        x = data[indptr[k] : indptr[k + 1]]
        rows: Any = None if indices is None else indices[indptr[k] : indptr[k + 1]]
        slope, bend = 0.0, 0.0
        for p in range(x.shape[0]):
            j = p if indices is None else rows[p]
            at = centre[j] + sigma * (1.0 - z[j])
            if at > 0.0:
                if at < top:
                    slope -= cost[j] * at * x[p]
                    bend += cost[j] * x[p] * x[p]
                else:
                    slope -= cost[j] * top * x[p]
        step, steep = newton(w[k], slope, sigma * max(bend, FLATTEST * square[k]), price[k])
        done = 0.0
        for _ in range(most):
            if step == done:
                break
            slope = 0.0
            move, done = step - done, step
            for p in range(x.shape[0]):
                j = p if indices is None else rows[p]
                z[j] += move * x[p]
                at = centre[j] + sigma * (1.0 - z[j])
                if at > 0.0:
                    slope -= cost[j] * min(at, top) * x[p]
            step = drawn_back(w[k], step, slope, steep, price[k])
        w[k] += done


@loop
def newton(at, slope, bend, price):
    """(step, slope at its start): Newton's step of one weight, stopped at zero where the price keeps it there."""
    if bend <= 0.0:
        return 0.0, 0.0
    if slope + price <= bend * at:
        return -(slope + price) / bend, slope + (price if at >= 0.0 else -price)
    if slope - price >= bend * at:
        return -(slope - price) / bend, slope + (-price if at <= 0.0 else price)
    return -at, slope + (price if at > 0.0 else -price)


@loop
def drawn_back(at, step, slope, steep, price):
    """The step itself, or a shorter one where the slope behind it says that it went too far."""
    new = at + step
    if new == 0.0:
        slope += price if step < 0.0 else -price
    else:
        slope += price if new > 0.0 else -price
    if slope * step <= 0.0 or abs(slope) <= STEEP_SHARE * abs(steep) or steep * step >= 0.0:
        return step
    return step * steep / (steep - slope)
