"""The commands that judge parameters on samples that were left out: ``cv`` and ``search``."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from maxmargin._loops.compile_time import Stopwatch, seconds_in_words
from maxmargin.cli import about
from maxmargin.cli.commands import PLACE, keep, saved_lines, train, written
from maxmargin.cli.estimator_options import GAMMA, KERNEL, TRADE_OFF, Budgets, Learning, choose, trade_off, typed
from maxmargin.cli.options import (
    DATA,
    DONE,
    MODEL,
    NOT_REACHED,
    OUTPUT,
    Screen,
    Source,
    few_warnings,
    machine_of,
    option,
    tell,
)

SEED = "Seed of the order in which samples are dealt to folds. Default: 0."


@dataclass(frozen=True)
class Folds:
    """The options of cross-validation."""

    k: Annotated[int, option("--folds -k", "NUMBER", "Number of folds, stratified by label. Default: 5.", DATA)] = 5
    seed: Annotated[int, option("--seed", "NUMBER", SEED, DATA)] = 0

    def split(self, y: Any) -> Any:
        """scikit-learn's way to deal samples with these labels to the folds."""
        import numpy as np
        from sklearn.model_selection import StratifiedKFold

        most = int(np.unique(y, return_counts=True)[1].max())
        if not 2 <= self.k <= most:
            raise typer.BadParameter(f"--folds must be from 2 to {most}, the samples of the largest class, got {self.k}.")
        return StratifiedKFold(self.k, shuffle=True, random_state=self.seed)


@dataclass(frozen=True)
class Validated(Learning):
    """The options of an estimator; -k is the number of folds."""

    kernel: Annotated[str | None, option("--kernel", "linear|poly|rbf|sigmoid|precomputed", KERNEL, MODEL)] = None


def cv(
    learning: Validated,
    budgets: Budgets,
    source: Source,
    folds: Folds,
    screen: Screen,
    per_fold: Annotated[bool, option("--per-fold", None, "Show each fold.", OUTPUT)] = False,
) -> None:
    """Estimate the accuracy on new data by k-fold cross-validation.

    Each fold is predicted by a model, and features are scaled, by the other folds alone.
    Exit code 3: a fit did not reach its gap.
    """
    from sklearn.model_selection import cross_validate

    model, data = choose(learning, budgets, source.labelled(), screen)
    split = folds.split(data.y)
    screen.watch_fits()
    watch = Stopwatch()
    with few_warnings():
        found = cross_validate(model, data.X, data.y, cv=split, return_estimator=True, return_indices=True, error_score="raise")
    seconds, compile_seconds = watch.seconds, watch.compile_seconds
    rows = []
    for k, machine in enumerate(machine_of(one) for one in found["estimator"]):
        proved, n = about.proofs(machine), len(found["indices"]["test"][k])
        row = {"fold": k + 1, "samples": n, "right": round(n * found["test_score"][k]), "accuracy": found["test_score"][k]}
        gap = proved[0][1].relative_gap if proved else None
        rows.append({**row, "relative_gap": gap, "reached": all(one.is_reached for _, one in proved)})
    accuracy, spread = found["test_score"].mean(), found["test_score"].std(ddof=1)
    n_short = sum(not row["reached"] for row in rows)
    if n_short:
        tell(f"{n_short} of {folds.k} fits did not reach their gap.")
    n, d = data.X.shape
    name = type(machine).__name__
    took = seconds_in_words(seconds, compile_seconds)
    screen.show(f"{name}: {n} samples × {d} features, {len(machine.classes_)} classes, {folds.k} folds, {took}")
    screen.show(f"Accuracy: {accuracy:.2%} ± {spread:.2%} (mean and standard deviation of the folds)")
    if per_fold:
        shown = [(row["fold"], row["samples"], row["right"], f"{row['accuracy']:.2%}") for row in rows]
        screen.show("", about.table("rrrr", shown, ("fold", "samples", "right", "accuracy")))
    code = NOT_REACHED if n_short else DONE
    told = {"samples": n, "features": d, "folds": rows, "seed": folds.seed}
    told |= {"seconds": seconds, "compile_seconds": compile_seconds, "exit_code": code}
    screen.answer(command="cv", **about.plain_parameters(model), accuracy=accuracy, spread=spread, **told)
    raise typer.Exit(code)


C_LIST = f"Values to try, with commas between them. {TRADE_OFF.partition(' Default')[0]} Default: powers of 2."
GAMMA_LIST = f"Values to try. {GAMMA.partition(' Default')[0]} Default for rbf: powers of 2."
BY = "Exact leave-one-out or k-fold cross-validation. Default: loo for svc and linear up to 2000 samples."
REFINE = "Rounds that halve the spacing around the best, where no values are given. Default: 2."
MANY_TO_LEAVE_OUT = 2000
"""Samples beyond which folds are the default: the time of leave-one-out over a grid grows faster than that of few fits."""

GRID: Mapping[str, Sequence[int]] = {"C": range(-5, 16, 4), "gamma": range(-15, 2, 4)}
"""The exponents of 2 that are tried first: the ends of LIBSVM's grid.py, at twice its spacing, as two rounds halve it."""


@dataclass(frozen=True)
class Searched(Validated):
    """The options of an estimator; C and γ are lists."""

    C: Annotated[str | None, option("-C -c --C", "LIST", C_LIST, MODEL)] = None
    gamma: Annotated[str | None, option("--gamma -g", "LIST", GAMMA_LIST, MODEL)] = None


Trial = dict[str, Any]
"""Parameters, "accuracy", and by folds "spread", the standard deviation between them."""


def search(
    learning: Searched,
    source: Source,
    folds: Folds,
    screen: Screen,
    by: Annotated[str | None, option("--by", "loo|cv", BY, MODEL)] = None,
    refine: Annotated[int, option("--refine", "NUMBER", REFINE, MODEL)] = 2,
    output: Annotated[str | None, option("--output -o", "MODEL", f"Train with the best. {PLACE}", OUTPUT)] = None,
) -> None:
    """Search C, and γ of an rbf kernel, by exact leave-one-out or cross-validation.

    By default it tries powers of 2, far apart first, then closer around the best.
    """
    if by not in (None, "loo", "cv"):
        raise typer.BadParameter(f"--by must be loo or cv, got {by!r}.")
    if refine < 0:
        raise typer.BadParameter(f"--refine must be 0 or more, got {refine}.")
    model, data = choose(replace(learning, C=None, gamma=None), None, source.labelled(), screen)
    machine = machine_of(model)
    axes, split = _axes(learning, machine), folds.split(data.y)
    by = by or _by(machine, data.X.shape[0])
    screen.watch_fits()
    watch = Stopwatch()
    trials: list[Trial] = []
    with few_warnings():
        for number in range(1 + refine):
            candidates = _round(axes, trials, number)
            trials += _tried(model, data, candidates, split if by == "cv" else None, screen.is_live) if candidates else []
    seconds, compile_seconds = watch.seconds, watch.compile_seconds
    best = max(trials, key=lambda trial: trial["accuracy"])
    chosen = {name: best[name] for name in axes}
    machine.set_params(**chosen)
    code = DONE
    if output is not None:
        code, _ = train(model, data, screen)
        keep(model, data, output)
    n, d = data.X.shape
    how = "exact leave-one-out" if by == "loo" else f"{folds.k} folds"
    took = seconds_in_words(seconds, compile_seconds)
    screen.show(f"{type(machine).__name__}: {n} samples × {d} features, {len(trials)} trials by {how}, {took}", "")
    screen.show(*_tables(trials, axes), "")
    words = " ".join(f"{'-C' if name == 'C' else f'--{name}'} {_spelled(value)}" for name, value in chosen.items())
    screen.show(f"Best: {words}, accuracy {best['accuracy']:.2%}. As the best of {len(trials)} this is optimistic.")
    if by == "loo" and machine is not model:
        screen.show("Features were scaled once, by all samples.")
    if output is not None:
        screen.show(*about.proof_parts(about.proofs(machine))[:1])
    screen.show(*saved_lines(output))
    told: dict[str, Any] = {"by": by, "best": _plain(best), "trials": list(map(_plain, trials)), "saved": output}
    told |= {"seconds": seconds, "compile_seconds": compile_seconds}
    screen.answer(command="search", **about.plain_parameters(model), samples=n, features=d, **told, exit_code=code)
    raise typer.Exit(code)


def _axes(learning: Searched, machine: Any) -> dict[str, list[Any] | None]:
    """The parameters that are searched, with their values; None stands for powers of 2."""
    known = machine.get_params(deep=False)
    axes: dict[str, list[Any] | None] = {}
    for name, text, read in (("C", learning.C, trade_off), ("gamma", learning.gamma, typed)):
        if text is not None and name not in known:
            raise typer.BadParameter(f"{type(machine).__name__} has no parameter {name}.")
        if text is not None:
            axes[name] = [read(one.strip()) for one in text.split(",")]
            for value in axes[name] or ():
                _checked(machine, name, value)
        elif name in known and (name == "C" or known["kernel"] == "rbf"):
            axes[name] = None
    if not axes:
        raise typer.BadParameter(f"{type(machine).__name__} has no C, and no γ of an rbf kernel, to search for.")
    return axes


def _checked(machine: Any, name: str, value: Any) -> None:
    """Refuse a value that the estimator would refuse."""
    from sklearn.base import clone

    from maxmargin.io._model.parameters import check_parameters

    try:
        check_parameters(clone(machine).set_params(**{name: value}))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _by(machine: Any, n: int) -> str:
    """Leave-one-out where it is exact and the samples are few."""
    exact = type(machine).__name__ in ("SVC", "LinearSVC") and machine.loss != "ramp"
    return "loo" if exact and getattr(machine, "penalty", "l2") == "l2" and n <= MANY_TO_LEAVE_OUT else "cv"


def _round(axes: Mapping[str, list[Any] | None], trials: Iterable[Trial], number: int) -> list[dict[str, Any]]:
    """What to try in this round: first all, then powers of 2 around the best so far, each time at half the distance."""
    tried = [{name: trial[name] for name in axes} for trial in trials]
    best = max(trials, key=lambda trial: trial["accuracy"], default={})
    values = []
    for name, given in axes.items():
        coarse = GRID[name]
        if not best:
            values.append([2.0**exponent for exponent in coarse] if given is None else given)
        else:
            factor = 2.0 ** ((coarse[1] - coarse[0]) / 2**number)
            around = [best[name] / factor, best[name], best[name] * factor] if given is None else [best[name]]
            values.append(around)
    found = [dict(zip(axes, one, strict=True)) for one in itertools.product(*values)]
    return [one for one in found if one not in tried]


def _tried(model: Any, data: Any, candidates: list[dict[str, Any]], split: Any, is_live: bool) -> list[Trial]:
    """The accuracy of each candidate, by exact leave-one-out or (with a split) by cross-validation."""
    from sklearn.model_selection import GridSearchCV

    from maxmargin import LeaveOneOutSearch
    from maxmargin.estimators.wrapped import unwrapped

    path = unwrapped(model).path
    grid = [{f"{path}{name}": [value] for name, value in one.items()} for one in candidates]
    if split is None:
        search = LeaveOneOutSearch(model, param_grid=grid, refit=False, verbose=is_live)
    else:
        search = GridSearchCV(model, grid, cv=split, refit=False, error_score="raise")
    found = search.fit(data.X, data.y).cv_results_
    other = ("undecided", "n_undecidable") if split is None else ("spread", "std_test_score")
    pairs = zip(candidates, found["mean_test_score"].tolist(), found[other[1]].tolist(), strict=True)
    return [{**one, "accuracy": accuracy, other[0]: value} for one, accuracy, value in pairs]


def _spelled(value: Any) -> str:
    """A value as the command line reads it."""
    return f"{value.spelling}:{written(value.value)}" if hasattr(value, "spelling") else written(value)


def _plain(trial: Trial) -> Trial:
    """A trial for JSON: spellings of C as the command line reads them."""
    return {name: _spelled(value) if hasattr(value, "spelling") else value for name, value in trial.items()}


def _tables(trials: Sequence[Trial], axes: Iterable[str]) -> list[Any]:
    """The best trials, one a line, and how many more there are."""
    shown = sorted(trials, key=lambda trial: -trial["accuracy"])[: about.SHOWN]
    others = [name for name in ("spread", "undecided") if any(trial.get(name) for trial in shown)]
    rows: list[Sequence[Any]] = [
        [*(_spelled(trial[name]) for name in axes), f"{trial['accuracy']:.2%}", *(_cell(trial[name]) for name in others)]
        for trial in shown
    ]
    heads = [*axes, "accuracy", *others]
    more = [f"  … and {len(trials) - len(shown)} more, none better"] if len(trials) > len(shown) else []
    return [about.table("r" * len(heads), rows, heads), *more]


def _cell(value: float | int) -> str:
    return f"± {value:.2%}" if isinstance(value, float) else str(value)
