"""Sweeps over samples whose dual variables are points of simplices, compiled.

    min_η  ½ Σ_m ‖w_m‖² − Σ_jm (e_jm + b_m) η_jm     s.t.  η_jm ≥ 0,  Σ_m η_jm = c_j

w_m = Σ_j (c_j [m = y_j] − η_jm) x̃_j is kept up to date, where x̃_j is x_j with a constant feature s behind it. One visit minimises
over the η of one sample, which is the projection of η + G/‖x̃_j‖² onto its simplex, with G_m = e_jm + b_m + ⟨w_m, x̃_j⟩: the
sequential dual method of Keerthi et al. (KDD 2008).

For CSR rows, a row of W holds a feature's weights of all classes, `width` of them: so many that blocks of four fill it. For dense
rows it holds a class's weights of all features, and classes that are `asleep` for a sample are not looked at.
"""

import numpy as np

from maxmargin._loops.jit import loop, loop_as_written
from maxmargin._loops.linear.csr import FOUR, ONE, THREE, TWO
from maxmargin._loops.linear.dual_cd import GAIN, HIGHEST, N_ACTIVE, RESIDUAL, shuffle


@loop_as_written
def add_scores_csr(indices, data, begin, end, W, width, G):
    """G += Σ_k x_k W_k, four classes at a time."""
    wide, first, last = np.uint64(width), np.uint64(begin), np.uint64(end)
    at = np.uint64(0)
    while at < wide:
        a, b, c, d = G[at], G[at + ONE], G[at + TWO], G[at + THREE]
        e, f, g, h = 0.0, 0.0, 0.0, 0.0
        k = first
        while k + ONE < last:
            x, z = np.float64(data[k]), np.float64(data[k + ONE])
            row, next_row = np.uint64(indices[k]) * wide + at, np.uint64(indices[k + ONE]) * wide + at
            a += x * W[row]
            b += x * W[row + ONE]
            c += x * W[row + TWO]
            d += x * W[row + THREE]
            e += z * W[next_row]
            f += z * W[next_row + ONE]
            g += z * W[next_row + TWO]
            h += z * W[next_row + THREE]
            k += TWO
        if k < last:
            x = np.float64(data[k])
            row = np.uint64(indices[k]) * wide + at
            a += x * W[row]
            b += x * W[row + ONE]
            c += x * W[row + TWO]
            d += x * W[row + THREE]
        G[at], G[at + ONE], G[at + TWO], G[at + THREE] = a + e, b + f, c + g, d + h
        at += FOUR


@loop
def project(v, n, total):
    """θ such that Σ_m max(v_m − θ, 0) = total: those below it leave, one pass after the other (Michelot, 1986)."""
    theta, count = -np.inf, n
    while True:
        size, left = 0.0, 0
        for m in range(n):
            if v[m] > theta:
                size += v[m]
                left += 1
        if left == 0:
            return theta
        new = (size - total) / left
        if left == count and theta > -np.inf:
            return new
        theta, count = max(new, theta), left


@loop
def visit(G, eta, asleep, cost, square, n_classes, threshold, step, v):
    """(whether the sample stays active, its violation, its share of the gap, the gain); fills `step` with η − its next η.

    G are its slacks: the wrong classes have their 1 already, and those asleep are −∞. Classes without η that are further behind
    than the threshold fall asleep.
    """
    top = G[0]
    for m in range(1, n_classes):
        top = max(top, G[m])
    lowest, share, positive, second = top, 0.0, 0, -np.inf
    for m in range(n_classes):
        if eta[m] > 0.0:
            lowest = min(lowest, G[m])
            share += eta[m] * (top - G[m])
            positive += 1
        else:
            second = max(second, G[m])
    violation = top - lowest
    if positive == 1 and violation == 0.0 and top - second > threshold:
        return False, 0.0, 0.0, 0.0
    if violation <= 0.0:
        for m in range(n_classes):
            asleep[m] = eta[m] == 0.0 and top - G[m] > threshold
        return True, 0.0, 0.0, 0.0
    if square <= 0.0:
        best = 0
        for m in range(n_classes):
            best = m if G[m] > G[best] else best
        for m in range(n_classes):
            new = cost if m == best else 0.0
            step[m] = eta[m] - new
            eta[m] = new
        return True, violation, share, share
    for m in range(n_classes):
        v[m] = eta[m] + (G[m] - top) / square
    theta, gain = project(v, n_classes, cost), 0.0
    for m in range(n_classes):
        new = min(max(v[m] - theta, 0.0), cost)
        move = new - eta[m]
        step[m] = -move
        eta[m] = new
        asleep[m] = new == 0.0 and top - G[m] > threshold
        if move != 0.0:
            gain += move * (G[m] - top) - 0.5 * square * move * move
    return True, violation, share, gain


@loop
def sweep_csr(
    indptr, indices, data, labels, cost, square, eta, asleep, W, width, s, offset,
    order, n_active, threshold, chunk, seed, visits, report,
):  # fmt: skip
    """Visit the active samples of a CSR matrix once; changes eta, W, order and seed in place, fills report."""
    shuffle(order, n_active, chunk, seed, visits)
    n_classes = eta.shape[1]
    G, step, v = np.empty(width), np.zeros(width), np.empty(width)
    last = W.shape[0] - width
    highest, total, gain, kept = 0.0, 0.0, 0.0, 0
    for i in range(n_active):
        j = visits[i]
        for m in range(width):
            G[m] = offset[m] + s * W[last + m] + 1.0
        add_scores_csr(indices, data, indptr[j], indptr[j + 1], W, width, G)
        G[labels[j]] -= 1.0
        stays, violation, share, gained = visit(G, eta[j], asleep[j], cost[j], square[j], n_classes, threshold, step, v)
        if stays:
            order[kept] = j
            kept += 1
            highest, total, gain = max(highest, violation), total + share, gain + gained
        if violation > 0.0:
            for k in range(indptr[j], indptr[j + 1]):
                row, x = np.uint64(indices[k]) * np.uint64(width), np.float64(data[k])
                for m in range(width):
                    W[row + np.uint64(m)] += x * step[m]
            for m in range(width):
                W[last + m] += s * step[m]
    report[HIGHEST], report[RESIDUAL], report[N_ACTIVE], report[GAIN] = highest, total, kept, gain


@loop
def sweep_dense(
    X, labels, cost, square, eta, asleep, W, s, offset,
    order, n_active, threshold, chunk, seed, visits, report,
):  # fmt: skip
    """The same for the rows of a dense matrix; W has a row for each class."""
    shuffle(order, n_active, chunk, seed, visits)
    n_classes = eta.shape[1]
    G, step, v = np.empty(n_classes), np.zeros(n_classes), np.empty(n_classes)
    last = X.shape[1]
    highest, total, gain, kept = 0.0, 0.0, 0.0, 0
    for i in range(n_active):
        j = visits[i]
        for m in range(n_classes):
            if asleep[j, m]:
                G[m] = -np.inf
            else:
                f = offset[m] + s * W[m, last] + 1.0
                for k in range(last):
                    f += W[m, k] * X[j, k]
                G[m] = f
        G[labels[j]] -= 1.0
        stays, violation, share, gained = visit(G, eta[j], asleep[j], cost[j], square[j], n_classes, threshold, step, v)
        if stays:
            order[kept] = j
            kept += 1
            highest, total, gain = max(highest, violation), total + share, gain + gained
        if violation > 0.0:
            for m in range(n_classes):
                if step[m] != 0.0:
                    for k in range(last):
                        W[m, k] += step[m] * X[j, k]
                    W[m, last] += s * step[m]
    report[HIGHEST], report[RESIDUAL], report[N_ACTIVE], report[GAIN] = highest, total, kept, gain
