"""Which estimator is trained, with which parameters: the options that `fit` and `loo` share."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple

import typer

from maxmargin.cli.values import class_weights, trade_off, typed
from maxmargin.errors import InvalidInputError

MODEL, STOP = "Model", "When to stop"
ESTIMATORS = {
    "svc": "SVC",
    "linear": "LinearSVC",
    "hard-margin": "HardMarginSVC",
    "pegasos": "PegasosSVC",
    "perceptron": "Perceptron",
}
MANY_SAMPLES, MANY_FEATURES = 50_000, 5_000
"""Beyond these a linear machine is the default: kernel values would cost too much, or add nothing."""


def _option(*names: str, help: str, metavar: str, panel: str = MODEL) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, show_default=False)


@dataclass(frozen=True)
class Learning:
    """The options of an estimator; what was not said keeps the estimator's default."""

    estimator: Annotated[
        str,
        _option(
            "--estimator",
            "-e",
            metavar="NAME",
            help=f"{', '.join(ESTIMATORS)}. Default: svc, or linear for very many samples or features.",
        ),
    ] = "auto"
    C: Annotated[
        str | None,
        _option(
            "-C", "--C", metavar="NUMBER", help="The trade-off: 10, inf, mean:10, tikhonov:0.1, pegasos:1e-4, ridge:1."
        ),
    ] = None
    kernel: Annotated[
        str | None, _option("--kernel", "-k", metavar="linear|poly|rbf|sigmoid|precomputed", help="The kernel.")
    ] = None
    gamma: Annotated[
        str | None, _option("--gamma", "-g", metavar="NUMBER|scale|auto", help="γ of rbf, poly and sigmoid.")
    ] = None
    degree: Annotated[int | None, _option("--degree", "-d", metavar="NUMBER", help="Degree of poly.")] = None
    coef0: Annotated[float | None, _option("--coef0", metavar="NUMBER", help="Constant term of poly and sigmoid.")] = (
        None
    )
    loss: Annotated[str | None, _option("--loss", metavar="hinge|squared_hinge|ramp", help="The loss.")] = None
    penalty: Annotated[
        str | None, _option("--penalty", metavar="l2|l1", help="Penalty on the weights; linear only.")
    ] = None
    class_weight: Annotated[
        str | None, _option("--class-weight", "-w", metavar="balanced|LABEL=NUMBER,…", help="Factors of C, by class.")
    ] = None
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="A hyperplane through the origin.", rich_help_panel=MODEL)
    ] = False
    solver: Annotated[str | None, _option("--solver", metavar="NAME", help="auto, smo, dual_cd, interior_point, …")] = (
        None
    )
    settings: Annotated[
        list[str] | None,
        _option("--set", "-s", metavar="NAME=VALUE", help="Any other parameter of the estimator; may be repeated."),
    ] = None
    jobs: Annotated[int | None, _option("--jobs", "-j", metavar="NUMBER", help="Number of threads.")] = None
    tol: Annotated[
        float | None, _option("--tol", metavar="NUMBER", help="The relative duality gap to prove.", panel=STOP)
    ] = None


@dataclass(frozen=True)
class Budgets:
    """The options that end a fit early; the best model so far is kept."""

    max_iter: Annotated[
        int | None, _option("--max-iter", metavar="NUMBER", help="Maximum number of solver rounds.", panel=STOP)
    ] = None
    max_seconds: Annotated[
        float | None, _option("--max-seconds", metavar="NUMBER", help="Maximum number of seconds.", panel=STOP)
    ] = None


class Choice(NamedTuple):
    """An estimator, unfitted, and why it was chosen where nobody said which."""

    estimator: Any
    reason: str


def choose(learning: Learning, budgets: Budgets | None, X: Any, y: Any) -> Choice:
    """The estimator that the options describe, for these data; what it cannot use is refused."""
    import maxmargin

    asked = _asked(learning, budgets, y)
    name, reason = learning.estimator, ""
    if name not in ("auto", *ESTIMATORS):
        raise typer.BadParameter(f"--estimator must be one of {', '.join(('auto', *ESTIMATORS))}, got {name!r}.")
    if name == "auto":
        name, reason = _by_data(X, set(asked))
    kind = getattr(maxmargin, ESTIMATORS[name])
    _check(kind, asked)
    return Choice(kind(**asked), reason)


def _asked(learning: Learning, budgets: Budgets | None, y: Any) -> dict[str, Any]:
    """Every parameter that was said, by the estimators' names for them."""
    import numpy as np

    said = {
        one.name: getattr(learning, one.name) for one in fields(learning)[1:] if one.name not in ("settings", "jobs")
    }
    said |= {} if budgets is None else {one.name: getattr(budgets, one.name) for one in fields(budgets)}
    asked = {name: value for name, value in said.items() if value is not None and name != "no_intercept"}
    if learning.no_intercept:
        asked["fit_intercept"] = False
    if learning.jobs is not None:
        asked["n_jobs"] = learning.jobs
    for pair in learning.settings or ():
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise typer.BadParameter(f"--set must be NAME=VALUE, got {pair!r}.")
        if name in asked:
            raise typer.BadParameter(f"{name} was given twice.")
        if budgets is None and name in {one.name for one in fields(Budgets)}:
            raise typer.BadParameter(
                f"{name} is not available: leave-one-out needs exact solutions, so no budget may end a fit early."
            )
        asked[name] = value.strip() if name in ("C", "class_weight") else typed(value.strip())
    if "C" in asked:
        asked["C"] = trade_off(asked["C"])
    if "gamma" in asked and isinstance(asked["gamma"], str):
        asked["gamma"] = typed(asked["gamma"])
    if "class_weight" in asked:
        asked["class_weight"] = class_weights(asked["class_weight"], np.unique(y).tolist())
    return asked


def _by_data(X: Any, asked: set[str]) -> tuple[str, str]:
    """An estimator for data of this shape, and the reason."""
    n, d = X.shape
    if "penalty" in asked:
        return "linear", "LinearSVC was chosen, because a penalty was given."
    if asked & {"kernel", "gamma", "degree", "coef0"}:
        return "svc", ""
    if n > MANY_SAMPLES or d > MANY_FEATURES:
        size = f"{n} samples" if n > MANY_SAMPLES else f"{d} features"
        return "linear", f"LinearSVC was chosen, because there are {size}. Use --estimator svc for a kernel."
    return "svc", ""


def _check(kind: type[Any], asked: dict[str, Any]) -> None:
    """Refuse parameters that the estimator lacks, and values that no estimator takes."""
    from maxmargin.io._model.parameters import check_parameter

    known = set(kind().get_params(deep=False))
    for name, value in asked.items():
        if name not in known:
            raise typer.BadParameter(f"{kind.__name__} has no parameter {name}; it has {', '.join(sorted(known))}.")
        try:
            check_parameter(name, value)
        except InvalidInputError as error:
            raise typer.BadParameter(str(error)) from error
