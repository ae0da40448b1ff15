"""Coordinate descent with the L1 penalty, one column of the data at a time, compiled.

    min_w  Σ_k price_k |w_k| + Σ_j c_j ψ_j(z_j),     −ψ_j'(z) = θ_j = clip(centre_j + σ(1 − z), 0, top),     z_j = y_j ⟨w, x_j⟩

The one-dimensional Newton steps of Yuan, Chang, Hsieh & Lin (JMLR 2010, section 4); instead of their line search, a step that
went too far is drawn back to where its two slopes meet.
"""

from maxmargin._loops.jit import loop

DRAWN_BACK = 6
"""Lengths of a step that are tried at most: of one weight here, of all of them in `solvers/l1/smoothed_hinge.py`."""

FLATTEST = 0.01
"""Curvature is taken to be at least this share of what it is where all losses of the column are quadratic."""

ENOUGH = 0.1
"""A step is not shortened where the slope behind it is below this share of the slope before it."""


@loop
def sweep_csc(indptr, indices, data, y, cost, centre, sigma, top, price, square, columns, w, z):
    """Visit the listed columns once, keeping z in step with w."""
    for i in range(columns.shape[0]):
        k = columns[i]
        begin, end = indptr[k], indptr[k + 1]
        slope, bend = 0.0, 0.0
        for p in range(begin, end):
            j = indices[p]
            at = centre[j] + sigma * (1.0 - z[j])
            if at > 0.0:
                x = data[p]
                if at < top:
                    slope -= cost[j] * at * y[j] * x
                    bend += cost[j] * x * x
                else:
                    slope -= cost[j] * top * y[j] * x
        step, steep = newton(w[k], slope, sigma * max(bend, FLATTEST * square[k]), price[k])
        done = 0.0
        for _ in range(DRAWN_BACK):
            if step == done:
                break
            slope = 0.0
            move, done = step - done, step
            for p in range(begin, end):
                j = indices[p]
                x = data[p]
                z[j] += move * y[j] * x
                at = centre[j] + sigma * (1.0 - z[j])
                if at > 0.0:
                    slope -= cost[j] * min(at, top) * y[j] * x
            step = drawn_back(w[k], step, slope, steep, price[k])
        w[k] += done


@loop
def sweep_dense(columns_of, y, cost, centre, sigma, top, price, square, columns, w, z):
    """The same where row k of `columns_of` is column k of the data."""
    n = y.shape[0]
    for i in range(columns.shape[0]):
        k = columns[i]
        slope, bend = 0.0, 0.0
        for j in range(n):
            at = centre[j] + sigma * (1.0 - z[j])
            if at > 0.0:
                x = columns_of[k, j]
                if at < top:
                    slope -= cost[j] * at * y[j] * x
                    bend += cost[j] * x * x
                else:
                    slope -= cost[j] * top * y[j] * x
        step, steep = newton(w[k], slope, sigma * max(bend, FLATTEST * square[k]), price[k])
        done = 0.0
        for _ in range(DRAWN_BACK):
            if step == done:
                break
            slope = 0.0
            move, done = step - done, step
            for j in range(n):
                x = columns_of[k, j]
                z[j] += move * y[j] * x
                at = centre[j] + sigma * (1.0 - z[j])
                if at > 0.0:
                    slope -= cost[j] * min(at, top) * y[j] * x
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
    if slope * step <= 0.0 or abs(slope) <= ENOUGH * abs(steep) or steep * step >= 0.0:
        return step
    return step * steep / (steep - slope)
