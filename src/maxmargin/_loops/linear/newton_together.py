"""The proximal Newton method for a small dense problem, in one call; compiled.

    min_w̃ ½w̃ᵀΛw̃ + Σ c_j max(0, 1 − z_j),    z_j = y_j ⟨w̃, x̃_j⟩

The steps are those of `solvers.linear.proximal_newton`, whose file explains them: x̃ is x with a constant feature behind it, Λ the
identity, with a zero for a free bias. The certificate is computed elsewhere, and decides.
"""

import math

from maxmargin._loops.hinge_sums import UNIT
from maxmargin._loops.jit import loop
from maxmargin._loops.linear.proximal_newton import add_rows_dense, fall, respond, signed_scores_dense


@loop
def add_outer(X, rows, weights, constant, out):
    """The lower half of out += Σ weight_i x̃_j x̃_jᵀ over the listed rows j."""
    d = X.shape[1]
    for i in range(rows.shape[0]):
        x = X[rows[i]]
        for a in range(d):
            scaled, line = weights[i] * x[a], out[a]
            for b in range(a + 1):
                line[b] += scaled * x[b]
        line, scaled = out[d], weights[i] * constant
        for b in range(d):
            line[b] += scaled * x[b]
        line[d] += scaled * constant


@loop
def factor(A):
    """Cholesky's factor in place of the lower half of A; False where A is not positive definite to rounding."""
    for i in range(A.shape[0]):
        row = A[i]
        for j in range(i):
            other, total = A[j], row[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total / other[j]
        total = row[i]
        for k in range(i):
            total -= row[k] * row[k]
        if not total > 0.0:
            return False
        row[i] = math.sqrt(total)
    return True


@loop
def solve_factored(L, right):
    """v with LLᵀv = right, in its place."""
    for i in range(L.shape[0]):
        total = right[i]
        for k in range(i):
            total -= L[i, k] * right[k]
        right[i] = total / L[i, i]
    for i in range(L.shape[0] - 1, -1, -1):
        value = right[i] / L[i, i]
        right[i] = value
        for k in range(i):
            right[k] -= L[i, k] * value


@loop
def direction_of(gram, sigma, held, ridge, w, made, H, direction):
    """Newton's direction, with a stronger diagonal where the matrix is singular to rounding; False where there is none.

    held : the last entry of Λ, or what holds a free bias in its place.
    """
    last = w.shape[0] - 1
    for power in range(4):
        jitter = 0.0 if power == 0 else 10.0 ** (3 * power - 15)
        for a in range(last + 1):
            for b in range(a + 1):
                H[a, b] = sigma * gram[a, b]
            H[a, a] *= 1.0 + jitter
            H[a, a] += 1.0 if a < last else held
        if factor(H):
            for a in range(last + 1):
                direction[a] = made[a] - (w[a] if a < last else ridge * w[a])
            solve_factored(H, direction)
            return True
    return False


@loop
def length_of_step(base, dz, cost, sigma, ridge, w, direction, inexact):
    """The step t ∈ (0, 1] that makes the slope small (regula falsi, Illinois); 0 where the direction does not lead down."""
    n, last, flat, bend = dz.shape[0], w.shape[0] - 1, 0.0, 0.0
    for a in range(last):
        flat += w[a] * direction[a]
        bend += direction[a] * direction[a]
    flat += ridge * w[last] * direction[last]
    bend += ridge * direction[last] * direction[last]
    low, at_low = 0.0, flat - fall(base, dz, cost, sigma, 0.0, 1.0, 0, n)
    if not at_low < 0.0:
        return 0.0
    high, at_high = 1.0, flat + bend - fall(base, dz, cost, sigma, 1.0, 1.0, 0, n)
    enough, t, was = -inexact * at_low, 1.0, math.nan
    if at_high <= enough:
        return 1.0
    for _ in range(60):
        t = (low * at_high - high * at_low) / (at_high - at_low)
        here = flat + t * bend - fall(base, dz, cost, sigma, t, 1.0, 0, n)
        if abs(here) <= enough or not low < t < high:
            break
        if here > 0.0:
            at_low *= 0.5 if at_high == was else 1.0
            high, at_high = t, here
        else:
            at_high *= 0.5 if at_low == was else 1.0
            low, at_low = t, here
        was = here
    return t


@loop
def take_in(X, y, cost, constant, theta, bent, made, gram, is_anew, moved, turned, change, counts):
    """Bring Σ c_jθ_jy_jx̃_j and the Hessian's sum up to date, after `respond` has listed what changed; with `is_anew` from all."""
    n = y.shape[0]
    if is_anew:
        for a in range(made.shape[0]):
            made[a] = 0.0
        for j in range(n):
            moved[j], change[j] = j, y[j] * cost[j] * theta[j]
    else:
        for i in range(counts[0]):
            change[i] *= y[moved[i]]
    n_moved = n if is_anew else counts[0]
    add_rows_dense(X, moved[:n_moved], change, constant, made)
    count = counts[1]
    if is_anew or count > counts[2]:
        count = 0
        for a in range(made.shape[0]):
            for b in range(a + 1):
                gram[a, b] = 0.0
        for j in range(n):
            if bent[j]:
                turned[count], change[count] = j, cost[j]
                count += 1
    else:
        for i in range(count):
            j = turned[i] if turned[i] >= 0 else ~turned[i]
            change[i] = cost[j] if turned[i] >= 0 else -cost[j]
            turned[i] = j
    add_outer(X, turned[:count], change, constant, gram)


@loop
def gap_of(w, made, ridge, residual, loss):
    """(the relative gap of w and θ, what keeps θ from being a dual point of w)."""
    last, apart, primal = w.shape[0] - 1, 0.0, loss
    for a in range(last):
        apart += 0.5 * (w[a] - made[a]) * (w[a] - made[a])
        primal += 0.5 * w[a] * w[a]
    off = ridge * w[last] - made[last]
    apart += abs(off) if ridge == 0.0 else 0.5 * off * off
    primal += 0.5 * ridge * w[last] * w[last]
    gap = residual + apart
    return gap / max(abs(primal), abs(primal - gap)), apart


@loop
def newton(
    X, whole, y, cost, constant, ridge, goal, most_steps, spare, inexact, growth, longest, floats, integers, bent, vectors,
    squares, best_w, best_theta,
):  # fmt: skip
    """Solve the problem of all rows of X; fills w̃ and θ = α/c, returns the steps.

    whole : Σ c_jx̃_jx̃_jᵀ over all rows. ridge : the last entry of Λ. goal : the relative gap to reach; the first `spare` steps
    may go beyond it. After `most_steps` the problem is left as it is, at its best. floats (7, n), integers (3, n), bent (n,),
    vectors (3, d + 1) and squares (2, d + 1, d + 1) : scratch memory.
    """
    n, d = X.shape
    z, dz, base, theta, centre, target = floats[0], floats[1], floats[2], floats[3], floats[4], floats[5]
    change, moved, turned, counts = floats[6], integers[0], integers[1], integers[2]
    w, made, direction, gram, H = vectors[0], vectors[1], vectors[2], squares[0], squares[1]
    for j in range(n):
        theta[j], centre[j], target[j] = 0.0, 0.5, 1.0
    for a in range(d + 1):
        w[a] = 0.0
    balance, typical = 0.0, 0.0
    for j in range(n):
        balance += cost[j] * y[j]
        typical += cost[j] / n
    if ridge == 0.0 and balance != 0.0:
        w[d] = math.copysign(1.0, balance)
    for j in range(n):
        z[j] = y[j] * constant * w[d]
    sigma, inner, least, most_bent, step, keep, is_anew = 1.0, 0, math.inf, n, 0, 0, 1
    while True:
        _, counts[0], counts[1], counts[2], residual, loss = respond(
            centre, sigma, z, target, cost, 1.0, keep, 0, n, base, theta, bent, moved, change, turned
        )
        if step == 0:
            for j in range(n):
                bent[j] = False
        take_in(X, y, cost, constant, theta, bent, made, gram, is_anew, moved, turned, change, counts)
        if step == 0:  # the first step is that of least squares: all samples count as bent
            counts[2] = n
            for j in range(n):
                bent[j] = True
            for a in range(d + 1):
                for k in range(a + 1):
                    gram[a, k] = whole[a, k]
        is_anew, most_bent = 0, max(most_bent, counts[2])
        if not keep:
            relative, apart = gap_of(w, made, ridge, residual, loss)
            if relative < least:
                least = relative
                for a in range(d + 1):
                    best_w[a] = w[a]
                for j in range(n):
                    best_theta[j] = theta[j]
            if (least <= goal and (step >= spare or least <= 128.0 * UNIT)) or step == most_steps:
                return step
            if inner > 0 and (apart <= inexact * residual or inner >= longest):
                # the next round, where the bent samples keep their linear model for the first step
                for j in range(n):
                    centre[j] = theta[j]
                sigma *= math.sqrt(growth) if 2 * inner > longest else growth
                inner, keep = 0, 1
                if 4 * counts[2] < most_bent:  # the sums have lost digits to samples that are no longer in them
                    most_bent, is_anew = 0, 1
                continue
        held = ridge if ridge > 0.0 or counts[2] > 0 else sigma * typical  # holds a free bias where no sample does
        if not direction_of(gram, sigma, held, ridge, w, made, H, direction):
            return step
        signed_scores_dense(X, y, direction, constant * direction[d], 0, n, dz)
        t = length_of_step(base, dz, cost, sigma, ridge, w, direction, inexact)
        if t > 0.0:
            inner += 1
        else:  # nothing left to gain, or not downhill by the linear model that was kept
            inner = 0 if keep else longest
        for a in range(d + 1):
            w[a] += t * direction[a]
        for j in range(n):
            z[j] += t * dz[j]
        step, keep = step + 1, 0
