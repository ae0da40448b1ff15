"""What must hold of every fitted model, each a theorem; what is found wrong is a `Failure`.

Of a certificate, with P and rivals (w', b') evaluated without rounding:

    P(w, b) ≤ primal,     dual ≤ P(w', b'),     P(w, b) − P(w', b') ≤ gap,     ≤ relative_gap · max(P(w, b), −dual)

for every rival, since the optimum is at most P(w', b'). No tolerance: one unit in the last place is a failure.
"""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import NotSupportedError, PegasosSVC, Perceptron, Status, certify, leave_one_out, load, save
from maxmargin.core import SquaredHinge
from maxmargin.core.penalties import L1
from maxmargin.estimators.inspect import stored_problems
from maxmargin.kernels import RBF, Custom, FeatureMap, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.solvers import SOLVERS, Budget, solve
from tests.campaign import large, oracles
from tests.campaign.draws import Case
from tests.campaign.oracles import Machine
from tests.campaign.rivals import Rival, rivals

LONGER = 10.0
"""Factor of a fit's seconds within which another solver may show that a stall was none."""

DENSE_ENTRIES = 30_000
"""Entries of X up to which another program looks for the optimum of a linear problem."""

FAR = 2.0
"""Factor and, with 1e-6 of P, allowance by which the gap of the stored β itself may exceed the claim: β may be moved to a
nearby feasible point, which is no theorem, so this check is loose. It needs no rival."""


@dataclass(frozen=True)
class Failure:
    """What was violated, and the numbers."""

    check: str
    words: str
    share: float = 1.0
    """By how much, relative to the objective or to the number that was claimed."""

    def __str__(self) -> str:
        return f"{self.check}: {self.words}"


class Stored(NamedTuple):
    """One binary problem of a fitted model: in exact numbers, as the library holds it, and what was claimed of it."""

    machine: Machine
    rows: Any
    w: Any
    b: float
    beta: Any
    certificate: Any
    status: Status
    problem: Any


def each(value: Any) -> tuple[Any, ...]:
    """The entries of an attribute that is a tuple for several classes."""
    return tuple(value) if isinstance(value, tuple) else (value,)


def judge(case: Case, model: Any) -> list[Failure]:
    """Check a fitted model's certificates, its witness, its file."""
    if isinstance(model, Perceptron):
        return list(check_perceptron(case, model))
    if case.family == "large":
        return list(check_large(case, model))
    failures: list[Failure] = []
    for one in stored(case, model):
        failures += check_costs(case, model, one)
        failures += check_certificate(one, one.certificate, model.tol)
    if isinstance(model.certificate_, tuple):
        gaps = [certificate.relative_gap for certificate in model.certificate_]
        if model.certificate_.worst.relative_gap != max(gaps):
            failures.append(Failure("worst", f"{model.certificate_.worst.relative_gap} of {gaps}"))
    return failures


def stored(case: Case, model: Any) -> Iterator[Stored]:
    """The binary problems of a model, with costs and kernel parameters as the library resolved them, in exact numbers."""
    found = stored_problems(model, case.X, case.y, case.sample_weight).problems
    claims = zip(each(model.certificate_), each(model.status_), strict=True)
    for (problem, candidate), (certificate, status) in zip(found, claims, strict=True):
        machine, rows = exact_machine(case.X, problem)
        yield Stored(machine, rows, candidate.w, float(candidate.b), candidate.beta, certificate, status, problem)


def exact_machine(X: Any, problem: Any) -> tuple[Machine, Any]:
    """(the problem in exact numbers, its rows or kernel values in doubles), from the data as given."""
    own = X if problem.rows is None else X[problem.rows]
    common: dict[str, Any] = {
        "y": problem.y,
        "cost": problem.cost,
        "is_squared": isinstance(problem.loss, SquaredHinge),
        "is_l1": isinstance(problem.penalty, L1),
        "bias": problem.bias.kind,
        "scale": problem.bias.scale,
    }
    kernel = problem.kernel
    match kernel:
        case Linear():
            return Machine(X=oracles.exact_rows(own), **common), own
        case RBF():
            gram = oracles.rbf(own, float(kernel.gamma))
        case Polynomial():
            gram = oracles.polynomial(own, kernel.degree, float(kernel.gamma), kernel.coef0)
        case Sigmoid():
            gram = oracles.sigmoid(own, float(kernel.gamma), kernel.coef0)
        case Precomputed():
            gram = oracles.given(own if problem.rows is None else own[:, problem.rows])
        case FeatureMap():
            mapped = oracles.dense(kernel.function(own))
            gram = oracles.given(mapped @ mapped.T)
        case Custom():
            gram = oracles.given(kernel.function(own, own))
        case _:
            raise AssertionError(kernel)
    return Machine(gram=gram, **common), gram.values.floats()


# -- certificates ----------------------------------------------------------------------------------------------------


def check_costs(case: Case, model: Any, one: Stored) -> Iterator[Failure]:
    """c_j = C · weight · class weight (1/(λΣweights) for the λ of Pegasos), and the attributes are what is judged."""
    weights = np.ones(len(case.y)) if case.sample_weight is None else case.sample_weight
    rows = slice(None) if one.problem.rows is None else one.problem.rows
    C = 1.0 / (model.C.value * weights.sum()) if isinstance(model, PegasosSVC) else getattr(model, "C", np.inf)
    if model.class_weight_ is not None and hasattr(model, "class_weight") and not np.isinf(C):
        factors = np.ones(len(model.classes_))
        if model.class_weight == "balanced":
            counts = np.array([weights[case.y == label].sum() for label in model.classes_])
            factors = weights.sum() / (len(counts) * counts)
        elif model.class_weight is not None:
            factors = np.array([model.class_weight[label] for label in model.classes_.tolist()])
        weights = weights * factors[np.searchsorted(model.classes_, case.y)]
    expected = np.where(weights > 0, np.inf, 0.0) if np.isinf(C) else C * weights
    expected = expected[rows].astype(float)
    if getattr(model, "loss", "") == "ramp":
        expected = np.where(one.machine.cost > 0, expected, 0.0)
    if not np.allclose(one.machine.cost, expected, rtol=1e-12, atol=0.0):
        yield Failure("costs", f"{one.machine.cost} where {expected} was meant")
    if len(model.classes_) == 2:
        beta = np.zeros(len(case.y))
        beta[model.support_] = oracles.dense(model.dual_coef_)[0]
        w = oracles.dense(model.coef_)[0] if one.problem.is_linear else beta
        same = one.b == model.intercept_[0] and np.array_equal(beta, one.beta)
        if not same or (not isinstance(model, PegasosSVC) and not np.array_equal(w, one.w)):
            yield Failure("attributes", "certify judges other numbers than coef_, intercept_ and dual_coef_")


def check_certificate(one: Stored, certificate: Any, tol: float) -> Iterator[Failure]:
    """The theorems, in rational arithmetic."""
    machine = one.machine
    point = machine.point(one.w)
    value = machine.primal(point, one.b)
    against: list[Rival] = []
    is_convex = not isinstance(one.problem.kernel, Sigmoid)  # the matrices and functions of `draws` are positive semi-definite
    if is_convex:
        if machine.X is not None and sp.issparse(one.rows):
            rows = one.rows.toarray() if math.prod(one.rows.shape) <= DENSE_ENTRIES else None
        else:
            rows = one.rows if len(machine.y) <= 100 else None
        rows = None if rows is None else np.asarray(rows, dtype=np.float64)
        against = rivals(machine, one.w, one.b, rows)
    low = None if value is None else value.low
    yield from theorems(certificate, low, [(rival.name, rival.value.high) for rival in against], is_convex)
    if one.status is Status.INFEASIBLE and value is not None:
        yield Failure("status", "INFEASIBLE, but the model separates the samples, or has finite costs")
    if one.status is Status.SOLVED and not certificate.relative_gap <= tol:
        yield Failure("status", f"SOLVED, but the relative gap {certificate.relative_gap:.3g} > tol {tol:g}")


def theorems(
    certificate: Any, low: Fraction | None, against: list[tuple[str, Fraction]], is_convex: bool = True
) -> Iterator[Failure]:
    """What a certificate claims, given a lower bound of P(w, b) (None: +∞) and upper bounds of P at rivals."""
    if certificate.convex != is_convex:
        yield Failure("convex", f"{certificate.convex} is claimed of a problem for which it is {is_convex}")
    numbers = (certificate.primal, certificate.dual, certificate.gap, certificate.relative_gap)
    if any(math.isnan(number) for number in numbers):
        yield Failure("not a number", f"primal, dual, gap, relative gap = {numbers}")
        return
    if low is None:
        if math.isfinite(certificate.gap):
            yield Failure("gap", f"{certificate.gap:.3g} is claimed of a point that does not separate the samples")
        return
    if math.isfinite(certificate.primal) and low > Fraction(certificate.primal):
        yield _excess("primal", "P(w, b)", low, "the claimed", Fraction(certificate.primal))
    if not is_convex or not against:
        return
    name, best = min(against, key=lambda rival: rival[1])
    if certificate.dual > best:
        yield _excess("dual", "the claimed", Fraction(certificate.dual), f"P of {name},", best)
    apart = low - best
    if math.isfinite(certificate.gap) and apart > Fraction(certificate.gap):
        yield _excess("gap", "P(w, b) less P of " + name, apart, "the claimed", Fraction(certificate.gap), low)
    largest = max(low, -Fraction(certificate.dual)) if math.isfinite(certificate.dual) else None
    if largest and math.isfinite(certificate.relative_gap) and apart > Fraction(certificate.relative_gap) * largest:
        claimed = Fraction(certificate.relative_gap)
        yield _excess("relative gap", f"that of P(w, b) to P of {name}", apart / largest, "the claimed", claimed, Fraction(1))


def _excess(check: str, what: str, larger: Fraction, than: str, smaller: Fraction, unit: Fraction | None = None) -> Failure:
    share = float((larger - smaller) / (unit or max(abs(larger), abs(smaller))))
    words = f"{what} {float(larger):.17g} > {than} {float(smaller):.17g}, by {share:.2g} of the objective"
    return Failure(check, words, share)


def check_large(case: Case, model: Any) -> Iterator[Failure]:
    """The theorems in extended precision; and the gap of the stored β."""
    problem, candidate = stored_problems(model, case.X, case.y, case.sample_weight).problems[0]
    gamma = float(model.kernel_.gamma)
    found = large.judged(case.X, problem.y, problem.cost, gamma, candidate.beta, float(candidate.b))
    certificate = model.certificate_
    yield from theorems(certificate, found.primal.low, [(rival.name, rival.value.high) for rival in found.rivals])
    gap, P = found.primal.low - found.dual.high, found.primal.high
    if gap > FAR * Fraction(certificate.gap) + P / 10**6:
        share = float(gap / P)
        words = f"P − D of the stored β is {share:.2g} of P, the claimed relative gap {certificate.relative_gap:.2g}"
        yield Failure("gap of β", words, share)


# -- progress --------------------------------------------------------------------------------------------------------


def check_progress(case: Case, model: Any, seconds: float) -> Iterator[Failure]:
    """A fit that gave up although a second run from its end, or a solver of the registry, proves tol, within so many seconds.

    A fit that ran out of time is made again with so many seconds, and judged by how that ends.
    A gap that is smaller by no more than its own rounding is the same gap: where numbers cannot be stored finely enough, it is
    chance which of two runs ends below tol.
    """
    if isinstance(model, Perceptron | PegasosSVC):
        return
    if Status.TIME_BUDGET in each(model.status_) and seconds > model.max_seconds:
        model = replace(case, estimator=clone(case.estimator).set_params(max_seconds=seconds)).fit()
    claims = zip(each(model.certificate_), each(model.status_), strict=True)
    found = stored_problems(model, case.X, case.y, case.sample_weight).problems
    for (problem, candidate), (certificate, status) in zip(found, claims, strict=True):
        if status in (Status.SOLVED, Status.TIME_BUDGET, Status.ITERATION_BUDGET):
            continue
        others: list[tuple[str, Any, Any]] = [("a second run from there", None, candidate)]
        others += [(name, solver(), None) for name, solver in SOLVERS.items() if name not in ("pegasos", "subgradient")]
        for name, solver, warm in others:
            if solver is not None and solver.accepts(problem) is not None:
                continue
            solution = solve(problem, solver, tol=model.tol, warm=warm, budget=Budget(seconds=seconds))
            other = solution.certificate
            if solution.status is not Status.SOLVED or other is None:
                continue
            is_same = math.isfinite(certificate.gap) and certificate.gap - other.gap <= other.rounding
            if not is_same:
                own = f"{status.name} at a relative gap of {certificate.relative_gap:.2g}"
                yield Failure("stall", f"{own}, but {name} proves {other.relative_gap:.2g}")
                break


# -- files and repetitions -------------------------------------------------------------------------------------------


def check_file(case: Case, model: Any) -> list[Failure]:
    """A saved and loaded model decides the same to the bit, and `certify` says the same of it; its claims are true."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mm"
        try:
            save(model, path)
        except NotSupportedError:  # functions are code
            return []
        again = load(path)
    if not np.array_equal(model.decision_function(case.X), again.decision_function(case.X)):
        failures.append(Failure("file", "a loaded model has other decision values"))
    if isinstance(model, Perceptron):
        return failures
    said = each(certify(model, case.X, case.y, case.sample_weight))
    repeated = each(certify(again, case.X, case.y, case.sample_weight))
    if repr(said) != repr(repeated):
        failures.append(Failure("file", f"certify says {repeated} of the loaded model, {said} of the saved one"))
    if case.family != "large":
        for one, certificate in zip(stored(case, model), said, strict=True):
            if repr(certificate) != repr(one.certificate):
                failures += [
                    Failure("certify", str(f)) for f in check_certificate(one._replace(status=Status.STALLED), certificate, 0.0)
                ]
    return failures


# -- separability ----------------------------------------------------------------------------------------------------


def check_perceptron(case: Case, model: Any) -> Iterator[Failure]:
    """A witness separates its class in rational arithmetic."""
    X = oracles.exact_rows(case.X)
    positives = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    for witness, positive in zip(each(model.witness_), positives, strict=True):
        if witness is None:
            continue
        y = np.where(case.y == model.classes_[positive], 1.0, -1.0)
        present = np.ones(len(y)) if case.sample_weight is None else (case.sample_weight > 0).astype(float)
        machine = Machine(y=y, cost=np.where(present > 0, np.inf, 0.0), X=X)
        if machine.primal(machine.point(witness.w), witness.b) is None:
            yield Failure("witness", "Separable, but a sample lies on its wrong side or on the hyperplane")


def check_not_separable(case: Case, witness: Any) -> Iterator[Failure]:
    """Rational weights make one point of both classes; others leave no more margin than they claim."""
    if not isinstance(witness.problem.kernel, Linear):
        return
    X, y = oracles.dense(case.X), witness.problem.y
    rows = np.arange(len(X)) if witness.problem.rows is None else witness.problem.rows
    is_free = witness.problem.bias.kind == "free"
    exact = witness.exact
    weights = exact if exact is not None else {j: Fraction(float(v)) for j, v in enumerate(witness.weights) if v}
    sums = {sign: sum((v for j, v in weights.items() if y[j] == sign), Fraction(0)) for sign in (1, -1)}
    if min(weights.values()) < 0 or (is_free and not sums[1] > 0 < sums[-1]):
        yield Failure("witness", "NotSeparable with weights that are not convex")
        return
    total = [
        sum(
            (int(y[j]) * v * Fraction(float(X[rows[j], k])) / (sums[int(y[j])] if is_free else 1) for j, v in weights.items()),
            Fraction(0),
        )
        for k in range(X.shape[1])
    ]
    square = sum((v * v for v in total), Fraction(0))
    if not is_free:
        square /= (sums[1] + sums[-1]) ** 2
    bound = Fraction(witness.margin_bound) * (2 if is_free else 1)
    if (exact is not None and square != 0) or square > bound * bound:
        yield Failure("witness", f"NotSeparable, but its weights leave a margin of {math.sqrt(float(square)):.3g}")


# -- leave-one-out ---------------------------------------------------------------------------------------------------


def check_left_out(case: Case, model: Any) -> list[Failure]:
    """Every label that is called certain, and every interval, agrees with a retraining whose optimum is enclosed.

    The machine without sample i is solved by another program; its exact gap G encloses the optimal scores in f ± √(G k_jj) and
    the optimal bias between the best biases of f + r and f − r. Where that decides the sign, the label must be this one.
    """
    result = leave_one_out(model, case.X, case.y, case.sample_weight, n_jobs=1)
    return contradictions(next(iter(stored(case, model))), model.classes_, result)


def contradictions(one: Stored, classes: Any, result: Any) -> list[Failure]:
    """The samples for which a `LeaveOneOut` claims what retraining without them disproves."""
    failures = []
    for i in one.machine.on:
        ends = left_out_interval(one, int(i))
        if ends is None:
            continue
        lower, upper = ends
        if upper < result.lower[i] or lower > result.upper[i]:
            claimed = f"[{result.lower[i]:.17g}, {result.upper[i]:.17g}]"
            failures.append(Failure("left out", f"F of sample {i} lies in [{lower:.17g}, {upper:.17g}], claimed {claimed}"))
        label = classes[1] if lower > 0 else classes[0] if upper < 0 else None
        if label is not None and result.is_certain[i] and result.predictions[i] != label:
            failures.append(Failure("left out", f"sample {i} is {label} after retraining, {result.predictions[i]} claimed"))
    return failures


def left_out_interval(one: Stored, i: int) -> tuple[float, float] | None:
    """The interval of F₋ᵢ(x_i), outward by 1e-9 for its own rounding in doubles; None where nothing is enclosed."""
    machine = one.machine
    cost = machine.cost.copy()
    cost[i] = 0.0
    left = machine.y[cost > 0]
    if len(set(left)) < 2:
        return (math.inf * left[0], math.inf * left[0]) if machine.bias == "free" else None
    smaller = Machine(**{**machine.__dict__, "cost": cost})
    w, b = np.zeros_like(one.w), 0.0
    found = [rival for rival in rivals(smaller, w, b, np.asarray(one.rows, dtype=np.float64)) if rival.beta is not None]
    beta = oracles.feasible(smaller, found[0].beta) if found else None
    if beta is None:
        return None
    gap = found[0].value.high - oracles.dual(smaller, beta).low
    # the ball: centre ½(w + w(β)), radius² ≤ gap; ‖w − w(β)‖² ≤ 2 gap, so f(w) is within (1 + √½)√gap √k of the optimum
    reach = 1.71 * math.sqrt(float(gap))
    rows = np.asarray(one.rows, dtype=np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1) if machine.X is not None else rows.diagonal())
    f, r = found[0].point.f.floats(), reach * lengths
    low, high = f[i] - r[i], f[i] + r[i]
    if machine.bias == "free":
        low += smaller_bias(smaller, f + r)
        high += larger_bias(smaller, f - r)
    slack = 1e-9 * (1.0 + abs(low) + abs(high) + float(np.abs(f).max()))
    return low - slack, high + slack


def smaller_bias(machine: Machine, f: Any) -> float:
    """The lower end of argmin_b Σ c ℓ(1 − y(f + b))."""
    return -_upper_end(-f, -machine.y, machine)


def larger_bias(machine: Machine, f: Any) -> float:
    """The upper end of argmin_b Σ c ℓ(1 − y(f + b))."""
    return _upper_end(f, machine.y, machine)


def _upper_end(f: Any, y: Any, machine: Machine) -> float:
    """The largest b at which the slope on the left is ≤ 0, by trying the kinks; squared hinge: by bisection."""
    on = machine.on
    f, y, c = f[on], y[on], machine.cost[on]
    kinks = np.sort(y - f)
    if machine.is_squared:
        low, high = kinks[0] - 1.0, kinks[-1] + 1.0
        for _ in range(200):
            b = 0.5 * (low + high)
            low, high = (b, high) if float((c * y * np.maximum(1 - y * (f + b), 0)).sum()) >= 0 else (low, b)
        return float(high)
    rounding = 1e-12 * float(c.sum())
    best = float(kinks[0])
    for b in kinks:
        kink = y - f
        slope = float(c[(y < 0) & (kink < b)].sum() - c[(y > 0) & (kink >= b)].sum())
        if slope <= rounding:
            best = float(b)
    return best
