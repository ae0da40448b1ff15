"""PegasosSVC and Perceptron: vectors of the feature space, the state of a stream, mistakes and votes."""

import math
from dataclasses import fields as fields_of
from typing import Any

import numpy as np

from maxmargin.analysis.bounds import perceptron_updates
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.stochastic.perceptron import PerceptronStream
from maxmargin.io._model.fields import Input, Output, wrong
from maxmargin.io._model.proofs import read_proofs, write_proofs
from maxmargin.io._model.state_common import Sizes, read_common, read_support, write_common
from maxmargin.io._model.values import decode_float, decode_kernel, encode_float, encode_kernel
from maxmargin.kernels import Linear, Precomputed
from maxmargin.solvers.stochastic.iterates import AVERAGES, Iterates, Rule

STREAM_VECTORS = ("v", "u", "settled", "folded")
PERCEPTRON_STREAM = ("w", "u", "t")
STREAM_COUNTS = ("n_settled", "mark", "last_mark")


def write_pegasos(model: Any, out: Output) -> None:
    """Everything: a stream can go on where it was."""
    write_common(model, out)
    _write_vectors(model, out)
    out.values["n_iter"], out.values["t"] = int(model.n_iter_), int(model.t_)
    write_proofs(model, out)
    if model._stream is None:
        return
    rule = model._stream[0].rule
    out.values["stream_rule"] = {
        field.name: encode_float(value) if isinstance(value := getattr(rule, field.name), float) else value
        for field in fields_of(rule)
    }
    out.arrays["stream_numbers"] = np.array([iterates.numbers for iterates in model._stream])
    out.arrays["stream_counts"] = np.array(
        [[getattr(iterates, name) for name in STREAM_COUNTS] for iterates in model._stream], dtype=np.int64
    )
    for name in STREAM_VECTORS:
        out.arrays[f"stream_{name}"] = np.array([getattr(iterates, name) for iterates in model._stream])


def read_pegasos(model: Any, fields: Input) -> None:
    """The same, each field checked against the others."""
    sizes = read_common(model, fields)
    _read_vectors(model, fields, sizes)
    model.n_iter_, model.t_ = fields.whole("n_iter", 1), fields.whole("t", 0, 2**53)
    read_proofs(model, fields, sizes.n_rests)
    model._stream = _read_stream(fields, sizes, model.t_) if fields.has("stream_rule") else None
    if model._stream is not None and not isinstance(model.kernel_, Linear):
        raise wrong("stream_rule", "a stream is learned from with a linear kernel only")


def _read_stream(fields: Input, sizes: Sizes, t: int) -> list[Iterates]:
    rule = _rule(fields.value("stream_rule"))
    n_problems, size = sizes.n_rests, sizes.n_features + 1
    numbers = fields.floats("stream_numbers", (n_problems, 5))
    if (numbers[:, 0] != t).any() or (numbers[:, 3] <= 0).any():
        raise wrong("stream_numbers", f"each stream has made {t} steps, and its scale is positive")
    counts = fields.indices("stream_counts", "i8", (n_problems, 3), 2**60)
    if (counts[:, 1] <= t).any() or (counts[:, 2] > t).any() or (counts[:, 0] > t).any():
        raise wrong("stream_counts", "a mark is not where it should be")
    vectors = {name: fields.floats(f"stream_{name}", (n_problems, size)) for name in STREAM_VECTORS}
    return [
        Iterates(
            rule,
            numbers=numbers[k].copy(),
            **{name: vectors[name][k].copy() for name in STREAM_VECTORS},
            **dict(zip(STREAM_COUNTS, counts[k].tolist(), strict=True)),
        )
        for k in range(n_problems)
    ]


def _rule(said: Any) -> Rule:
    name = "stream_rule"
    if not isinstance(said, dict) or set(said) != {field.name for field in fields_of(Rule)}:
        raise wrong(name, f"its settings are {', '.join(field.name for field in fields_of(Rule))}")
    lam, radius = decode_float(name, said["lam"]), decode_float(name, said["radius"])
    if not 0 < lam < math.inf or not radius > 0:
        raise wrong(name, "lam and radius are positive")
    offset, batch, average, begin = said["offset"], said["batch"], said["average"], said["average_from"]
    if any(type(value) is not int for value in (offset, batch, begin)) or offset not in (-1, 0):
        raise wrong(name, "offset is −1 or 0, batch and average_from are whole numbers")
    if not 1 <= batch < 2**31 or not 0 <= begin < 2**53 or not any(average is a or average == a for a in AVERAGES):
        raise wrong(name, f"batch ≥ 1, average_from ≥ 0 and average one of {AVERAGES} are wanted")
    return Rule(lam, offset, batch, radius, average, begin)


def write_perceptron(model: Any, out: Output) -> None:
    """Everything but `witness_`, which refers to the training data."""
    write_common(model, out)
    _write_vectors(model, out)
    out.values["n_iter"], out.values["n_updates"] = int(model.n_iter_), int(model.n_updates_)
    out.values["bias_scale"], out.values["t"] = encode_float(model._bias_scale), int(model.t_)
    if model._stream is not None:
        for name, values in zip(PERCEPTRON_STREAM, model._stream, strict=True):
            out.arrays[f"stream_{name}"] = values
    if not hasattr(model, "mistakes_"):  # learned from a stream: its samples are gone
        return
    mistakes, bounds = _each(model.mistakes_), _each(model.mistake_bound_)
    out.arrays["mistake_lengths"] = np.array([len(sequence) for sequence in mistakes], dtype=np.int64)
    out.arrays["mistakes"] = np.concatenate(mistakes).astype(np.int64)
    out.values["mistake_bound"] = [
        None if bound is None else {key: encode_float(bound.inputs[key]) for key in ("rho", "gamma")}
        for bound in bounds
    ]
    if model._votes is not None:
        out.arrays["vote_signs"] = np.concatenate([signs for _, signs, _ in model._votes])
        out.arrays["vote_shares"] = np.concatenate([shares for _, _, shares in model._votes])


def read_perceptron(model: Any, fields: Input) -> None:
    """The same, each field checked against the others."""
    sizes = read_common(model, fields)
    _read_vectors(model, fields, sizes)
    model.n_iter_, model.n_updates_ = fields.whole("n_iter", 1), fields.whole("n_updates", 0)
    model._bias_scale = fields.number("bias_scale")
    if model._bias_scale not in (0.0, 1.0):
        raise wrong("bias_scale", "the constant feature is 1, or absent: 0")
    model._stream = _read_perceptron_stream(fields, sizes) if fields.has("stream_t") else None
    model.t_ = fields.whole("t", 0, 2**53) if fields.has("t") else 0
    model._votes = None
    if not fields.has("mistakes"):
        if model._stream is None or not isinstance(model.kernel_, Linear):
            raise wrong("mistakes", "they are missing, and so is the state of a stream with a linear kernel")
        nothing = None if sizes.n_rests == 1 else (None,) * sizes.n_rests
        model.mistake_bound_ = nothing
        return
    if sizes.n is None:
        raise wrong("shape_fit", "it is missing")
    lengths = fields.indices("mistake_lengths", "i8", (sizes.n_rests,), 2**40)
    mistakes = fields.indices("mistakes", "i8", (int(lengths.sum()),), sizes.n)
    if len(mistakes) != model.n_updates_:
        raise wrong("n_updates", f"{model.n_updates_} where {len(mistakes)} mistakes are listed")
    places = np.minimum(np.searchsorted(model.support_, mistakes), max(len(model.support_) - 1, 0))
    if len(mistakes) and (not len(model.support_) or (model.support_[places] != mistakes).any()):
        raise wrong("mistakes", "the sample of a mistake is not among the support vectors")
    cuts = np.cumsum(lengths)[:-1]
    bounds = [_bound(said) for said in fields.listed("mistake_bound", sizes.n_rests)]
    sequences = np.split(mistakes, cuts)
    model.mistakes_ = sequences[0] if sizes.n_rests == 1 else tuple(sequences)
    model.mistake_bound_ = bounds[0] if sizes.n_rests == 1 else tuple(bounds)
    if fields.has("vote_signs"):
        signs = fields.floats("vote_signs", (len(mistakes),))
        shares = fields.floats("vote_shares", (len(mistakes),), low=0.0)
        if (np.abs(signs) != 1.0).any():
            raise wrong("vote_signs", "a sign is neither −1 nor 1")
        parts = (np.split(values, cuts) for values in (places.astype(np.intp), signs, shares))
        model._votes = list(zip(*parts, strict=True))


def _read_perceptron_stream(fields: Input, sizes: Sizes) -> PerceptronStream:
    shape = (sizes.n_rests, sizes.n_features + 1)
    w, u = (fields.floats(f"stream_{name}", shape).copy() for name in ("w", "u"))
    return PerceptronStream(w, u, fields.indices("stream_t", "i8", (sizes.n_rests,), 2**53).copy())


def _bound(said: Any) -> Any:
    if said is None:
        return None
    if not isinstance(said, dict) or set(said) != {"rho", "gamma"}:
        raise wrong("mistake_bound", "rho and gamma are wanted, or null")
    try:
        return perceptron_updates(**{key: decode_float("mistake_bound", value) for key, value in said.items()})
    except InvalidInputError as error:
        raise wrong("mistake_bound", str(error)) from error


def _write_vectors(model: Any, out: Output) -> None:
    out.values["kernel"] = encode_kernel(model.kernel_)
    out.arrays["intercept"] = model.intercept_
    if model._weights is not None:
        out.arrays["coef"] = model._weights
    else:
        out.arrays["coefficients"] = model._coefficients
    if hasattr(model, "support_"):
        out.arrays["support"], out.arrays["dual_coef"] = model.support_, model.dual_coef_
    if hasattr(model, "support_vectors_") and not isinstance(model.kernel_, Precomputed):
        out.matrix("support_vectors", model.support_vectors_)


def _read_vectors(model: Any, fields: Input, sizes: Sizes) -> None:
    kernel = model.kernel_ = decode_kernel("kernel", fields.value("kernel"))
    if not kernel.is_resolved:
        raise wrong("kernel", f"{kernel!r} still depends on data")
    model.intercept_ = fields.floats("intercept", (sizes.n_rests,))
    is_linear, is_precomputed = isinstance(kernel, Linear), isinstance(kernel, Precomputed)
    if is_precomputed and sizes.n != sizes.n_features:
        raise wrong("shape_fit", f"a precomputed matrix is square, not {sizes.n} × {sizes.n_features}")
    model._weights = fields.floats("coef", (sizes.n_rests, sizes.n_features)) if is_linear else None
    model._coefficients = None
    if not is_linear or fields.has("support"):
        if sizes.n is None:
            raise wrong("shape_fit", "it is missing")
        model.support_ = read_support(fields, sizes.n)
        if (np.diff(model.support_) <= 0).any():
            raise wrong("support", "it does not rise")
        model.dual_coef_ = fields.floats("dual_coef", (sizes.n_rests, len(model.support_)))
    if not is_linear:
        model._coefficients = fields.floats("coefficients", (sizes.n_rests, len(model.support_)))
    if is_precomputed:
        model.support_vectors_ = np.empty((0, 0))
        model._reference = model.support_.astype(np.intp)[:, np.newaxis]
    elif not is_linear or fields.has("support_vectors"):
        model.support_vectors_ = fields.matrix("support_vectors", (_count(model), sizes.n_features))
        model._reference = model.support_vectors_


def _count(model: Any) -> int:
    if not hasattr(model, "support_"):
        raise wrong("support", "it is missing")
    return len(model.support_)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
