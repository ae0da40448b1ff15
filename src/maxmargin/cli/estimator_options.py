"""Which estimator is trained, with which parameters: the options that `fit` and `loo` share, and how their texts are read."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Annotated, Any

import typer

from maxmargin.cli.options import MODEL, STOP, Screen, option
from maxmargin.errors import InvalidInputError

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
TRADE_OFF = "The trade-off: 10, inf, mean:10, tikhonov:0.1, pegasos:1e-4, ridge:1."
WORDS: dict[str, Any] = {"true": True, "false": False, "none": None, "null": None}
WEIGHTS = "balanced|LABEL=NUMBER,…"


@dataclass(frozen=True)
class Learning:
    """The options of an estimator, by the names of its parameters; an option that is not given keeps the estimator's default."""

    estimator: Annotated[str, option("--estimator -e", "NAME", ESTIMATOR, MODEL)] = "auto"
    C: Annotated[str | None, option("-C --C", "NUMBER", TRADE_OFF, MODEL)] = None
    kernel: Annotated[str | None, option("--kernel -k", "linear|poly|rbf|sigmoid|precomputed", "The kernel.", MODEL)] = None
    gamma: Annotated[str | None, option("--gamma -g", "NUMBER|scale|auto", "γ of rbf, poly and sigmoid.", MODEL)] = None
    degree: Annotated[int | None, option("--degree -d", "NUMBER", "Degree of poly.", MODEL)] = None
    coef0: Annotated[float | None, option("--coef0", "NUMBER", "Constant term of poly and sigmoid.", MODEL)] = None
    loss: Annotated[str | None, option("--loss", "hinge|squared_hinge|ramp", "The loss.", MODEL)] = None
    penalty: Annotated[str | None, option("--penalty", "l2|l1", "Penalty on the weights; linear only.", MODEL)] = None
    class_weight: Annotated[str | None, option("--class-weight -w", WEIGHTS, "Factors of C, by class.", MODEL)] = None
    no_intercept: Annotated[bool, option("--no-intercept", None, "A hyperplane through the origin.", MODEL)] = False
    solver: Annotated[str | None, option("--solver", "NAME", "auto, smo, dual_cd, interior_point, …", MODEL)] = None
    settings: Annotated[list[str] | None, option("--set -s", "NAME=VALUE", "Any other parameter; may be repeated.", MODEL)] = None
    n_jobs: Annotated[int | None, option("--jobs -j", "NUMBER", "Number of threads.", MODEL)] = None
    tol: Annotated[float | None, option("--tol", "NUMBER", "The relative duality gap to prove.", STOP)] = None


@dataclass(frozen=True)
class Budgets:
    """The options that end a fit early; the best model so far is kept."""

    max_iter: Annotated[int | None, option("--max-iter", "NUMBER", "Maximum number of solver rounds.", STOP)] = None
    max_seconds: Annotated[float | None, option("--max-seconds", "NUMBER", "Maximum number of seconds.", STOP)] = None


def choose(learning: Learning, budgets: Budgets | None, X: Any, y: Any, screen: Screen) -> Any:
    """The estimator that the options describe, unfitted; a remark says why, if the data decided it.

    Parameters that it does not have are refused.
    """
    import maxmargin
    from maxmargin.io._model.parameters import check_parameters

    name = learning.estimator
    if name not in ("auto", *ESTIMATORS):
        raise typer.BadParameter(f"--estimator must be one of {', '.join(('auto', *ESTIMATORS))}, got {name!r}.")
    try:
        given = _given(learning, budgets, y)
        if name == "auto":
            name, reason = _by_data(X, set(given))
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
    return model


def _given(learning: Learning, budgets: Budgets | None, y: Any) -> dict[str, Any]:
    """Every parameter that was given, by the estimators' names for them."""
    import numpy as np

    options = asdict(learning) | ({} if budgets is None else asdict(budgets))
    settings = options.pop("settings") or ()
    options["fit_intercept"] = False if options.pop("no_intercept") else None
    given = {name: value for name, value in options.items() if value is not None and name != "estimator"}
    for pair in settings:
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise typer.BadParameter(f"--set must be NAME=VALUE, got {pair!r}.")
        if name in given:
            raise typer.BadParameter(f"{name} was given twice.")
        if budgets is None and name in {one.name for one in fields(Budgets)}:
            raise typer.BadParameter(f"{name} is not available: leave-one-out needs exact solutions, without a budget.")
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
            raise typer.BadParameter(f"class_weight must be balanced or label=weight,label=weight, got {pair!r}.")
        if label not in known:
            raise typer.BadParameter(f"class_weight names {label!r}; the labels are {', '.join(list(known)[:10])}.")
        weights[known[label]] = weight
    return weights
