"""The fitted attributes of each estimator, described once: `Fields` saves a model by its description, and loads it.

Each field is checked by itself and against the others. Left out are the memory of a warm start and a perceptron's `witness_`,
which refers to the training data.
"""

import math
import re
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.analysis.bounds import perceptron_updates
from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.errors import NotSupportedError
from maxmargin.estimators import SVC, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.estimators.multiclass.per_problem import alone
from maxmargin.estimators.stochastic.perceptron import PerceptronStream
from maxmargin.estimators.training_data import Fingerprint
from maxmargin.io._model.archive import Array, damaged, require
from maxmargin.io._model.fields import INDICES, Fields, describe_proofs
from maxmargin.io._model.parameters import decode, encode
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.solvers.stochastic.iterates import AVERAGES, Iterates, Rule

LABELS = ("b", "i", "u", "f", "U", "S")


def describe_linear(f: Fields) -> None:
    """LinearSVC."""
    _describe_common(f)
    f.matrix("coef", (f.n_problems, f.n_features))
    f.floats("intercept", (f.n_problems,))
    f.floats("dual_coef", (f.n_problems, _describe_support(f)))
    f.whole("n_iter", 1)
    f.n_problems = 1 if f.model.multi_class == "crammer_singer" else f.n_problems  # as far as proofs go
    _describe_convex_fit(f)


def describe_kernel_machine(f: Fields) -> None:
    """SVC and HardMarginSVC: one-vs-one in scikit-learn's layout, support vectors grouped by class."""
    _describe_common(f, is_pairwise=True)
    kernel, n_support_vectors = _describe_kernel(f), _describe_support(f)
    n_support = f.indices("n_support", "i4", (f.n_classes,), f.n + 1)
    is_sum = n_support.sum(dtype=np.int64) == n_support_vectors
    require(is_sum, "n_support", f"its sum is not the number of support vectors, {n_support_vectors}")
    f.floats("dual_coef", (f.n_classes - 1, n_support_vectors), "_dual")
    f.floats("intercept", (f.n_problems,))
    f.keep(_weights=None)
    if isinstance(kernel, Linear):
        f.floats("coef", (f.n_problems, f.n_features), "_weights")
    _describe_vectors(f, n_support_vectors)
    f.whole("fit_status", 0, 1)
    if f.has("n_iter"):
        f.indices("n_iter", "i4", (f.n_problems,))
    _describe_convex_fit(f)
    if f.is_reading:
        f.model._expansion = expansion_of(f.model)


def expansion_of(model: Any) -> Expansion | None:
    """The sums that a kernel machine with these fitted attributes predicts by; None where it has weights."""
    groups = None if len(model.n_support_) == 2 else model.n_support_
    is_linear = isinstance(model.kernel_, Linear)
    return None if is_linear else Expansion(model.kernel_, _reference(model), model._dual, groups)


def _reference(model: Any) -> Any:
    """What the kernel compares new samples with: support vectors, or their numbers where it is precomputed."""
    is_precomputed = isinstance(model.kernel_, Precomputed)
    return model.support_.astype(np.intp)[:, np.newaxis] if is_precomputed else model.support_vectors_


def describe_pegasos(f: Fields) -> None:
    """PegasosSVC: a stream can go on where it was."""
    _describe_one_vs_rest(f)
    f.whole("n_iter", 1)
    t = f.whole("t", 0, 2**53)
    describe_proofs(f)
    f.keep(_stream=None)
    if not f.has("stream_rule", "_stream"):
        return
    name = "stream_rule"
    rule = decode(name, f.value(name, source=lambda model: encode(name, model._stream[0].rule)), Rule)
    require(isinstance(f.model.kernel_, Linear), name, "a stream is learned from with a linear kernel only")
    are_positive = 0 < rule.lam < math.inf and rule.radius > 0
    require(are_positive and rule.average in AVERAGES, name, f"lam and radius are positive, average is one of {AVERAGES}")
    is_right = rule.offset in (-1, 0) and 1 <= rule.batch < 2**31 and 0 <= rule.average_from < 2**53
    require(is_right, name, "offset is −1 or 0, batch and average_from are whole numbers from 1 and 0 on")

    def stacked(*names: str) -> Callable[[Any], Array]:
        return lambda model: np.array([np.array(attrgetter(*names)(iterates)) for iterates in model._stream])

    numbers = f.floats("stream_numbers", (f.n_problems, 5), stacked("numbers"))
    is_right = (numbers[:, 0] == t).all() and (numbers[:, 3] > 0).all()
    require(is_right, "stream_numbers", f"each stream has made {t} steps, and its scale is positive")
    counts = f.indices("stream_counts", "i8", (f.n_problems, 3), 2**60, stacked("n_settled", "mark", "last_mark"))
    is_right = (counts[:, 1] > t).all() and (counts[:, [0, 2]] <= t).all()
    require(is_right, "stream_counts", "a mark is not where it should be")
    shape = (f.n_problems, f.n_features + 1)
    v, u, settled, folded = (f.floats(f"stream_{name}", shape, stacked(name)) for name in ("v", "u", "settled", "folded"))
    parts = zip(v.copy(), u.copy(), numbers.copy(), settled.copy(), folded.copy(), counts.tolist(), strict=True)
    f.keep(_stream=[Iterates(rule, *vectors, *marks) for *vectors, marks in parts])


def describe_perceptron(f: Fields) -> None:
    """Perceptron: its mistakes in order, the votes of its versions, or the state of a stream."""
    _describe_one_vs_rest(f)
    f.whole("n_iter", 1)
    n_updates = f.whole("n_updates")
    constant = f.value("bias_scale", float, "_bias_scale")
    require(constant in (0.0, 1.0), "bias_scale", "the constant feature is 1, or absent: 0")
    f.keep(t_=0, _votes=None, _stream=None)
    if f.has("t"):
        f.whole("t", 0, 2**53)
    if f.has("stream_t", "_stream"):
        shape = (f.n_problems, f.n_features + 1)
        w, u = (f.floats(f"stream_{name}", shape, attrgetter(f"_stream.{name}")).copy() for name in "wu")
        t = f.indices("stream_t", "i8", (f.n_problems,), 2**53, attrgetter("_stream.t"))
        f.keep(_stream=PerceptronStream(w, u, t.copy()))
    if f.has("mistakes"):
        _describe_mistakes(f, n_updates)
    elif f.model._stream is None or not isinstance(f.model.kernel_, Linear):
        raise damaged("mistakes", "they are missing, and so is the state of a stream with a linear kernel")
    else:
        f.keep(mistake_bound_=alone([None] * f.n_problems))


def _describe_mistakes(f: Fields, n_updates: int) -> None:
    mistakes = f.ragged("mistakes", INDICES)
    samples, ends = np.concatenate(mistakes), np.cumsum([len(each) for each in mistakes])[:-1]
    require(len(samples) == n_updates, "n_updates", f"{n_updates} where {len(samples)} mistakes are listed")
    support = getattr(f.model, "support_", np.empty(0, dtype=np.int32))
    places = np.searchsorted(support, samples)
    are_there = np.array_equal(support[places[places < len(support)]], samples)
    require(are_there, "mistakes", "the sample of a mistake is not among the support vectors")
    f.per_problem("mistake_bound", lambda said: decode("mistake_bound", said, perceptron_updates), _bound_inputs)
    if not f.has("vote_signs", "_votes"):
        return

    def joined(part: int) -> Callable[[Any], Array]:
        return lambda model: np.concatenate([votes[part] for votes in model._votes])

    signs = f.floats("vote_signs", (n_updates,), joined(1))
    require((np.abs(signs) == 1.0).all(), "vote_signs", "a sign is neither −1 nor 1")
    shares = f.floats("vote_shares", (n_updates,), joined(2), 0.0)
    parts = (np.split(values, ends) for values in (places.astype(np.intp), signs, shares))
    f.keep(_votes=list(zip(*parts, strict=True)))


def _bound_inputs(bound: Any) -> Any:
    return bound and {key: encode(key, float(bound.inputs[key])) for key in ("rho", "gamma")}


def _describe_common(f: Fields, is_pairwise: bool = False) -> None:
    """Classes, features and training data, and what follows from them: how many binary problems there are."""
    k = f.n_classes = len(f.texts("classes", LABELS, None))
    require(k >= 2, "classes", f"a classifier has at least two classes, not {k}")
    f.n_features = f.whole("n_features", 1, source="n_features_in_")
    f.n_problems = k * (k - 1) // 2 if is_pairwise or k == 2 else k
    if f.has("feature_names", "feature_names_in_"):
        f.texts("feature_names", ("U",), f.n_features, "feature_names_in_")
    if f.has("shape_fit"):
        shape = f.value("shape_fit", tuple)
        is_right = len(shape) == 2 and 0 < shape[0] < 2**31 and shape[1] == f.n_features
        require(is_right, "shape_fit", f"{shape} where samples and {f.n_features} features are wanted")
        f.n = int(shape[0])
    if f.has("fingerprint"):  # older files have none
        said = f.value("fingerprint", source=lambda model: [f"{number:016x}" for number in model.fingerprint_])
        found = re.findall("[0-9a-f]{16}", str(said))
        require(said == found and len(found) == 5, "fingerprint", "five numbers of 16 hexadecimal digits are wanted")
        f.keep(fingerprint_=Fingerprint(*(int(digits, 16) for digits in found)))
    if f.has("class_weight"):
        f.floats("class_weight", (k,), low=math.ulp(0.0))


def _describe_kernel(f: Fields) -> Any:
    kernel = f.value("kernel", Any)
    is_right = isinstance(kernel, Kernel) and kernel.is_resolved
    require(is_right, "kernel", f"{kernel!r} where a kernel is wanted that depends on no data any more")
    is_right = not isinstance(kernel, Precomputed) or f.n == f.n_features
    require(is_right, "shape_fit", f"a precomputed matrix is square, not {f.n} × {f.n_features}")
    return kernel


def _describe_support(f: Fields) -> int:
    """The numbers of different training samples; how many there are."""
    require(f.n, "shape_fit", "it is missing")
    support = f.indices("support", "i4", (None,), f.n)
    require(len(np.unique(support)) == len(support), "support", "a sample appears twice")
    return len(support)


def _describe_vectors(f: Fields, count: int) -> None:
    if isinstance(f.model.kernel_, Precomputed):
        f.keep(support_vectors_=np.empty((0, 0)))
    else:
        f.matrix("support_vectors", (count, f.n_features))


def _describe_one_vs_rest(f: Fields) -> None:
    """Vectors of the feature space: weights, or coefficients of support vectors."""
    _describe_common(f)
    is_linear = isinstance(_describe_kernel(f), Linear)
    f.floats("intercept", (f.n_problems,))
    f.keep(_weights=None, _coefficients=None)
    if is_linear:
        f.floats("coef", (f.n_problems, f.n_features), "_weights")
    if is_linear and not f.has("support"):
        return
    n_support_vectors = _describe_support(f)
    require((np.diff(f.model.support_) > 0).all(), "support", "its values must rise")
    f.floats("dual_coef", (f.n_problems, n_support_vectors))
    if not is_linear:
        f.floats("coefficients", (f.n_problems, n_support_vectors), "_coefficients")
    if not is_linear or f.has("support_vectors"):
        _describe_vectors(f, n_support_vectors)
        f.keep(_reference=_reference(f.model))


def _describe_convex_fit(f: Fields) -> None:
    """Where the exact optimum of each problem lies, if that is known; what the ramp loss leaves besides; proofs."""
    f.keep(_last_fit=None)
    name, shape = "optimum_balls", (None, len(OptimumBall._fields))
    balls = f.array(name, ("f8",), shape, lambda model: np.reshape(model._balls, (-1, shape[1])), is_finite=False)
    require(len(balls) in (0, f.n_problems), name, f"{len(balls)} where 0 or {f.n_problems} are wanted")
    is_right = not np.isnan(balls).any() and (balls[:, 0] >= 0).all() and np.isfinite(balls[:, 3]).all()
    require(is_right, name, "a radius is negative, or a number is NaN")
    f.keep(_balls=[OptimumBall(*row) for row in balls.tolist()])
    if f.has("outliers"):
        outliers = f.ragged("outliers", INDICES, f.n + 1)
        are_right = all((np.diff(rows, prepend=-1, append=f.n) > 0).all() for rows in outliers)
        require(are_right, "outliers", "the samples of a problem do not rise, or are no training samples")
        for value in ("objective", "objective_bound"):
            numbers = f.per_problem(value, partial(decode, value, kind=float))
            require(not np.isnan(numbers).any(), value, "a number is NaN")
    describe_proofs(f)


DESCRIPTIONS: dict[type[Any], Callable[[Fields], None]] = {
    SVC: describe_kernel_machine,
    HardMarginSVC: describe_kernel_machine,
    LinearSVC: describe_linear,
    PegasosSVC: describe_pegasos,
    Perceptron: describe_perceptron,
}


def check_estimator(estimator: Any) -> None:
    """Refuse what a file cannot hold: classes that are not ours, or models without a fit."""
    if type(estimator) not in DESCRIPTIONS:
        raise NotSupportedError(
            f"A file holds {', '.join(kind.__name__ for kind in DESCRIPTIONS)}, not {type(estimator).__qualname__}. "
            "Pass the fitted estimator itself, a Pipeline that ends with it, or a fitted search (refit=True) of one."
        )
    check_is_fitted(estimator, "intercept_")
