"""Which estimator is trained, with which parameters, on scaled features or as they are.

These are the options that `fit`, `loo`, `cv` and `search` share, and how their texts are read.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.letters import with_hint
from maxmargin.cli.options import MODEL, STOP, Screen, option
from maxmargin.errors import InvalidInputError

if TYPE_CHECKING:
    from maxmargin.io import Data

ESTIMATORS = {
    "svc": "SVC",
    "linear": "LinearSVC",
    "hard-margin": "HardMarginSVC",
    "pegasos": "PegasosSVC",
    "perceptron": "Perceptron",
}
MANY_SAMPLES, MANY_FEATURES = 50_000, 5_000
"""Beyond these a linear machine is the default: kernel values would cost too much, or add nothing."""

ESTIMATOR = f"{', '.join(ESTIMATORS)}. Default: svc, or linear for very many samples or features."
TRADE_OFF = "The trade-off: 10, inf, mean:10, tikhonov:0.1, pegasos:1e-4, ridge:1. Default: 1; pegasos: pegasos:1e-4."
KERNEL, GAMMA = (
    "The kernel. Default: rbf; hard-margin, perceptron, pegasos: linear.",
    "γ of rbf, poly and sigmoid. Default: scale.",
)
TOL = "The relative duality gap to prove. Default: 1e-3; hard-margin: 1e-6; pegasos: 0.01."
MAX_ITER = "Maximum number of solver rounds. Default: no limit; perceptron: 1000."
SCALE = (
    "Scale features first: to mean 0 and variance 1, to [0, 1], or samples to length 1. The scaling is saved in the model. "
    "Default: none."
)
SCALES = ("standard", "minmax", "unit", "none")
WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}
WEIGHTS = "balanced|LABEL=NUMBER,…"


@dataclass(frozen=True)
class Learning:
    """The options of an estimator, by the names of its parameters; an option that is not given keeps the estimator's default."""

    estimator: Annotated[str, option("--estimator -e", "NAME", ESTIMATOR, MODEL)] = "auto"
    scale: Annotated[str, option("--scale", "|".join(SCALES), SCALE, MODEL)] = "none"
    C: Annotated[str | None, option("-C -c --C", "NUMBER", TRADE_OFF, MODEL)] = None
    kernel: Annotated[str | None, option("--kernel -k", "linear|poly|rbf|sigmoid|precomputed", KERNEL, MODEL)] = None
    gamma: Annotated[str | None, option("--gamma -g", "NUMBER|scale|auto", GAMMA, MODEL)] = None
    degree: Annotated[int | None, option("--degree -d", "NUMBER", "Degree of poly. Default: 3.", MODEL)] = None
    coef0: Annotated[float | None, option("--coef0 -r", "NUMBER", "Constant term of poly, sigmoid. Default: 0.", MODEL)] = None
    loss: Annotated[str | None, option("--loss", "hinge|squared_hinge|ramp", "The loss. Default: hinge.", MODEL)] = None
    penalty: Annotated[str | None, option("--penalty", "l2|l1", "Penalty on w; linear only. Default: l2.", MODEL)] = None
    class_weight: Annotated[str | None, option("--class-weight -w", WEIGHTS, "Factors of C. Default: 1.", MODEL)] = None
    no_intercept: Annotated[bool, option("--no-intercept", None, "A hyperplane through the origin.", MODEL)] = False
    solver: Annotated[str | None, option("--solver", "NAME", "smo, dual_cd, interior_point, … Default: auto.", MODEL)] = None
    settings: Annotated[list[str] | None, option("--set -s", "NAME=VALUE", "Any other parameter; may be repeated.", MODEL)] = None
    n_jobs: Annotated[int | None, option("--jobs -j", "NUMBER", "Threads. Default: those that BLAS may use.", MODEL)] = None
    tol: Annotated[float | None, option("--tol", "NUMBER", TOL, STOP)] = None


@dataclass(frozen=True)
class Budgets:
    """The options that end a fit early; the best model so far is kept."""

    max_iter: Annotated[int | None, option("--max-iter", "NUMBER", MAX_ITER, STOP)] = None
    max_seconds: Annotated[float | None, option("--max-seconds", "NUMBER", "Maximum seconds. Default: no limit.", STOP)] = None


def choose(learning: Learning, budgets: Budgets | None, data: "Data", screen: Screen) -> "tuple[Any, Data]":
    """The estimator that the options describe, unfitted, in a pipeline if features are scaled; and the data as it takes them.

    A remark says why, if the data decided it. Parameters that it does not have are refused.
    """
    import maxmargin
    from maxmargin.io._model.parameters import check_parameters

    name = learning.estimator
    if name not in ("auto", *ESTIMATORS):
        raise typer.BadParameter(with_hint(f"--estimator must be one of {', '.join(('auto', *ESTIMATORS))}, got {name!r}.", "-e"))
    if learning.scale not in SCALES:
        raise typer.BadParameter(f"--scale must be one of {', '.join(SCALES)}, got {learning.scale!r}.")
    try:
        given = _given(learning, budgets, data.y)
        if name == "auto":
            name, reason = _by_data(data.X, set(given))
            screen.remark(reason)
        kind = getattr(maxmargin, ESTIMATORS[name])
        known = sorted(kind().get_params(deep=False))
        for parameter in given:
            if parameter not in known:
                raise InvalidInputError(f"{kind.__name__} has no parameter {parameter}; it has {', '.join(known)}.")
        model = kind(**given)
        check_parameters(model)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return (model, data) if learning.scale == "none" else _scaled(learning.scale, model, data, screen)


def _scaled(scale: str, model: Any, data: "Data", screen: Screen) -> "tuple[Any, Data]":
    """A pipeline of a scaler and a machine; sparse data stay so unless dense ones take no more memory."""
    from scipy.sparse import issparse
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

    X = data.X
    if issparse(X) and scale != "unit" and X.data.nbytes + X.indices.nbytes >= X.dtype.itemsize * math.prod(X.shape):
        X = X.toarray()
    stays_sparse = issparse(X) and scale != "unit"
    scaler = {
        "standard": StandardScaler(with_mean=not stays_sparse),
        "minmax": MaxAbsScaler() if stays_sparse else MinMaxScaler(),
        "unit": Normalizer(),
    }[scale]
    if stays_sparse:
        what = "divided by its standard deviation" if scale == "standard" else "divided by its largest absolute value"
        screen.remark(f"The data are sparse: each feature is {what}, and none is shifted, so that zeros stay zeros.")
    return make_pipeline(scaler, model), replace(data, X=X)


def _given(learning: Learning, budgets: Budgets | None, y: Any) -> dict[str, Any]:
    """Every parameter that was given, by the estimators' names for them."""
    import numpy as np

    options = asdict(learning) | ({} if budgets is None else asdict(budgets))
    settings = options.pop("settings") or ()
    options["fit_intercept"] = False if options.pop("no_intercept") else None
    given = {name: value for name, value in options.items() if value is not None and name not in ("estimator", "scale")}
    for pair in settings:
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise typer.BadParameter(with_hint(f"--set must be NAME=VALUE, got {pair!r}.", "-s"))
        if name in given:
            raise typer.BadParameter(f"{name} was given twice.")
        if budgets is None and name in {one.name for one in fields(Budgets)}:
            raise typer.BadParameter(f"{name} is not available: leave-one-out and search need exact solutions, without a budget.")
        given[name] = value.strip()
    read: dict[str, Any] = {"C": trade_off, "class_weight": partial(class_weights, classes=np.unique(y).tolist())}
    return {name: read.get(name, typed)(value) if isinstance(value, str) else value for name, value in given.items()}


def _by_data(X: Any, given: set[str]) -> tuple[str, str]:
    """An estimator for data of this shape, and the reason."""
    n, d = X.shape
    if "penalty" in given:
        return "linear", "LinearSVC was chosen, because a penalty was given."
    if (n > MANY_SAMPLES or d > MANY_FEATURES) and not given & {"kernel", "gamma", "degree", "coef0"}:
        size = f"{n} samples" if n > MANY_SAMPLES else f"{d} features"
        return "linear", f"LinearSVC was chosen, because there are {size}. Use --estimator svc for a kernel."
    return "svc", ""


def typed(text: str) -> Any:
    """The number, True, False or None that the text spells, else the text itself; beyond float64 it is refused.

    Examples
    --------
    >>> [typed(text) for text in ("3", "1e-4", "inf", "true", "none", "rbf")]
    [3, 0.0001, inf, True, None, 'rbf']
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    if math.isinf(number) and "inf" not in text.lower():
        raise typer.BadParameter(f"{text} is out of range: the largest float64 number is 1.8e308.")
    if math.isnan(number) or "_" in text:
        return text
    return int(text) if text.strip("+-").isdigit() else number


def trade_off(text: str) -> Any:
    """C as a number, or ``form:number`` in one of the spellings of `Regularization`.

    Examples
    --------
    >>> trade_off("10"), trade_off("inf"), trade_off("pegasos:1e-4")
    (10, inf, Regularization.pegasos(0.0001))
    """
    from maxmargin.core import Regularization

    form, colon, number = text.rpartition(":")
    return Regularization(form, typed(number)) if colon else typed(number)  # type: ignore[arg-type]


def class_weights(text: str, classes: Sequence[Any]) -> Any:
    """Balanced, none, or ``label=weight,label=weight`` for labels of the data.

    Examples
    --------
    >>> class_weights("spam=2,7=0.5", [7, 8, "spam"])
    {'spam': 2, 7: 0.5}
    """
    if text.lower() in ("balanced", "none"):
        return None if text.lower() == "none" else "balanced"
    known = {str(label): label for label in classes}
    weights = {}
    for pair in text.split(","):
        label, _, number = pair.rpartition("=")
        label, weight = label.strip(), typed(number)
        if not label or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            said = f"class_weight must be balanced or label=weight,label=weight, got {pair!r}."
            raise typer.BadParameter(with_hint(said, "-w"))
        if label not in known:
            raise typer.BadParameter(f"class_weight names {label!r}; the labels are {', '.join(list(known)[:10])}.")
        weights[known[label]] = weight
    return weights
