"""The commands that read files: ``fit``, ``predict``, ``certify``, ``loo``, ``bounds``, ``report`` and ``convert``."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import maxmargin
from maxmargin._loops.compile_time import Stopwatch, seconds_in_words
from maxmargin.cli import about
from maxmargin.cli.estimator_options import Budgets, Learning, choose
from maxmargin.cli.options import (
    DONE,
    INTERRUPTED,
    MODEL,
    NOT_REACHED,
    OUTPUT,
    ModelFile,
    Screen,
    Source,
    few_warnings,
    machine_of,
    option,
    tell,
)
from maxmargin.errors import NotSupportedError

PLACE = "Where to save the model. The suffixes .libsvm, .svmlight and .onnx choose those formats."
ALPHAS = "Also write the dual variables α·y, one line per sample, as SVM-light's -a does."


def fit(
    learning: Learning,
    budgets: Budgets,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "MODEL", PLACE, OUTPUT)] = None,
    alphas: Annotated[str | None, option("--alphas -a", "FILE", ALPHAS, OUTPUT)] = None,
) -> None:
    """Train a classifier and prove how good it is.

    On a terminal, a bar shows the gap as it falls.
    If a budget runs out (exit code 3) or you press Ctrl-C (130), the best model so far is still saved.
    """
    model, found = choose(learning, budgets, source.labelled(), screen)
    watch = Stopwatch()
    code, ending = train(model, found, screen)
    seconds, compile_seconds = watch.seconds, watch.compile_seconds
    if output is not None:
        keep(model, found, output)
    machine, right = machine_of(model), int((model.predict(found.X) == found.y).sum())
    if alphas is not None:
        write_lines(alphas, signed_alphas(model, found.X, found.y))
    if code != DONE:
        kept = "it was not saved, because -o was not given" if output is None else f"it was saved to {output}"
        tell(f"{ending}. This is the best model so far; {kept}.")
    n, d = found.X.shape
    took = seconds_in_words(seconds, compile_seconds)
    screen.show(f"{type(machine).__name__}: {n} samples × {d} features, {len(model.classes_)} classes, {took}")
    screen.show(f"Training accuracy: {right / n:.2%} ({right} of {n})")
    proved = about.proofs(machine)
    screen.show(*(about.proof_parts(proved) if proved else [about.perceptron_sentence(machine)]))
    screen.show(*saved_lines(output), *([f"Dual variables: {alphas}"] if alphas else []))
    values = {"samples": n, "features": d, "seconds": seconds, "compile_seconds": compile_seconds}
    values |= {"saved": output, "alphas": alphas, "exit_code": code}
    screen.answer(command="fit", **about.plain_model(model), training_accuracy=right / n, **values)
    raise typer.Exit(code)


def train(model: Any, data: Any, screen: Screen) -> tuple[int, str]:
    """Fit; the exit code, and how a fit that is not done ended."""
    screen.watch_fits()
    with few_warnings() as caught:
        try:
            model.fit(data.X, data.y)
            code, ending = DONE, "The fit ended early"
        except KeyboardInterrupt:
            code, ending = INTERRUPTED, "Interrupted"
    machine = machine_of(model)
    if not hasattr(machine, "intercept_"):
        raise KeyboardInterrupt("Interrupted before there was a model; nothing was written.")
    if code == DONE and not all(certificate.is_reached for _, certificate in about.proofs(machine)):
        code, ending = NOT_REACHED, "Not certified"
    if code == DONE and any(issubclass(warning.category, maxmargin.ConvergenceWarning) for warning in caught):
        code = NOT_REACHED
    return code, ending


def keep(model: Any, data: Any, place: str) -> None:
    """Save a fitted model with the names of its features, in the format of the suffix."""
    if data.feature_names is not None and len(data.feature_names) == model.n_features_in_:
        import numpy as np

        first = model if model is machine_of(model) else model[0]
        first.feature_names_in_ = np.array(data.feature_names, dtype=object)
    suffix = Path(place).suffix.removeprefix(".")
    maxmargin.export(model, place, format=suffix if suffix in maxmargin.io.FORMATS else "maxmargin")


def saved_lines(place: str | None) -> list[str]:
    """Where a model was saved, or how to save it."""
    return ["", "Not saved: use -o MODEL." if place is None else f"Model: {place}"]


def signed_alphas(model: Any, X: Any, y: Any) -> Iterator[str]:
    """α·y of the samples, one line for each, in training order; with one column for each binary problem.

    Positive where the sample is of the problem's positive class: the second one of two, in sorted order (+1 of −1 and +1).
    """
    import numpy as np

    from maxmargin.estimators.per_sample import anatomies

    parts = anatomies(model, X, y)
    columns = np.zeros((len(y), len(parts)))
    for k, part in enumerate(parts):
        if part.alpha is not None:
            columns[part.rows, k] = part.alpha * part.y + 0.0  # no −0
    return (" ".join(map(repr, row)) for row in columns.tolist())


CERTIFIED = "Write certain or open after the label; certain: the exact optimum gives the same label."


def predict(
    model: ModelFile,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "FILE", "Write to FILE instead of stdout.", OUTPUT)] = None,
    decision_values: Annotated[
        bool, option("--decision-values -v", None, "Add the decision values, separated by tabs.", OUTPUT)
    ] = False,
    certified: Annotated[bool, option("--certified", None, CERTIFIED, OUTPUT)] = False,
) -> None:
    """Predict the label of each sample, one per line.

    If the data have labels, stderr shows how many predictions are right.
    """
    from maxmargin.estimators.wrapped import unwrapped

    whole = maxmargin.load(model)
    found = source.read(whole)
    machine, X = unwrapped(whole).machine, unwrapped(whole).sees(found.X)
    if certified and not hasattr(machine, "certified_predictions"):
        raise NotSupportedError(f"{type(machine).__name__} has no certified predictions. Use SVC, LinearSVC or HardMarginSVC.")
    labels, certain = machine.certified_predictions(X) if certified else (machine.predict(X), None)
    names = [written(label) for label in labels.tolist()]
    values = machine.decision_function(X).reshape(len(names), -1) if decision_values else None
    columns = [names]
    if certain is not None:
        columns.append(["certain" if one else "open" for one in certain.tolist()])
    if values is not None:
        columns += [list(map(repr, column)) for column in values.T.tolist()]
    lines = ("\t".join(fields) for fields in zip(*columns, strict=True))
    if output is not None:
        write_lines(output, lines)
    elif not screen.json:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    answer = {"labels": labels if output is None else None, "certain": certain, "decision_values": values, "samples": len(names)}
    wanted = [] if found.y is None else [written(one) for one in found.y.tolist()]
    right = accuracy = None
    if not {written(one) for one in machine.classes_.tolist()}.isdisjoint(wanted):
        right = sum(one == other for one, other in zip(wanted, names, strict=True))
        accuracy = right / len(names)
        screen.remark(f"{right} of {len(names)} labels are right: {accuracy:.2%}.")
    elif wanted:
        screen.remark("None of the labels in the data is one of the model's classes, so they were not compared.")
    screen.answer(command="predict", **answer, right=right, accuracy=accuracy, saved=output)


def certify(
    model: ModelFile,
    source: Source,
    screen: Screen,
    tol: Annotated[float | None, option("--tol", "NUMBER", "The relative gap to check for. Default: the tol of the fit.")] = None,
) -> None:
    """Recompute, from the training data, how far a model is from the best possible.

    Nothing that the fit reported is used.
    DATA must be the training data, in the same order; a message tells you if they are not.
    Exit code 3: the gap is larger than requested.
    """
    from maxmargin.rounding import shown_above

    whole, found = source.training_data(model)
    certified = about.proofs(machine_of(whole), maxmargin.certify(whole, found.X, found.y, tol=tol))
    sentence, *_ = shown = about.proof_parts(certified)
    screen.show(*shown)
    worst = certified[0][1]
    code = DONE if worst.is_reached else NOT_REACHED
    if code:
        tell(f"Not certified: the relative gap {shown_above(worst.relative_gap, 2)} is larger than {worst.tol:g}.")
    screen.answer(command="certify", **about.plain_proofs(certified), sentence=sentence, exit_code=code)
    raise typer.Exit(code)


RESOLVE = (
    "How to set costs that depend on the samples (mean:, tikhonov:, pegasos:, balanced): once, from all samples (the default), "
    "or for each left-out sample from the others, as separate fits do."
)


REFIT = "With --scale: fit the scaling without each left-out sample, too. That takes one fit for each sample."


def loo(
    learning: Learning,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "FILE", "Write the leave-one-out labels, one per line.", OUTPUT)] = None,
    resolve: Annotated[str | None, option("--resolve", "once|each", RESOLVE, MODEL)] = None,
    refit_steps: Annotated[bool, option("--refit-steps", None, REFIT, MODEL)] = False,
) -> None:
    """Compute the exact leave-one-out error, with few retrainings.

    For svc, linear and hard-margin. Ctrl-C (exit code 130) shows the results so far.
    """
    if resolve not in (None, "once", "each"):
        raise typer.BadParameter(f"--resolve must be once or each, got {resolve!r}.")
    model, found = choose(learning, None, source.labelled(), screen)
    how: Any = {"resolve": resolve, "refit_steps": refit_steps, "verbose": screen.is_live}
    result = maxmargin.leave_one_out(model, found.X, found.y, **how)
    code, n_open = DONE, int((~result.is_certain).sum())
    if result.status is maxmargin.Status.STALLED:
        code = NOT_REACHED
        tell(f"{n_open} labels are too close to a tie to be certain; the error lies in the range shown.")
    elif result.status is not maxmargin.Status.SOLVED:
        code = INTERRUPTED
        tell(f"Interrupted: {n_open} of {result.n} labels are not known yet.")
    if output is not None:
        write_lines(output, (written(label) for label in result.predictions.tolist()))
    screen.show(*about.loo_tables(result), *([] if output is None else [f"Labels: {output}"]))
    screen.answer(command="loo", **about.plain_parameters(model), **about.plain_loo(result), saved=output, exit_code=code)
    raise typer.Exit(code)


def bounds(
    model: ModelFile,
    source: Source,
    screen: Screen,
    delta: Annotated[float, option("--delta", "NUMBER", "Probability that a bound fails. Default: 0.05.")] = 0.05,
) -> None:
    """Compute every bound that applies to a model of two classes; vacuous ones are marked.

    DATA must be the training data, in the same order.
    """
    if not 0 < delta < 1:
        raise typer.BadParameter(f"--delta must be between 0 and 1, got {delta:g}.")
    machine, found = source.training_data(model)
    known = maxmargin.bounds.of_model(machine, found.X, found.y, delta=delta)
    screen.show(*about.bounds_table(known))
    screen.answer(command="bounds", delta=delta, bounds={name: bound.as_dict() for name, bound in known.items()})


def report(
    model: ModelFile,
    source: Source,
    screen: Screen,
    output: Annotated[str, option("--output -o", "PAGE", "The HTML file.", OUTPUT)],
    loo: Annotated[bool, option("--loo", None, "Include exact leave-one-out, which may take a while.")] = False,
    title: Annotated[str | None, option("--title", "TEXT", "The heading of the page.")] = None,
) -> None:
    """Write one self-contained HTML page about a model: proof, pictures, bounds, how to reproduce.

    DATA must be the training data, in the same order.
    """
    machine, found = source.training_data(model)
    result = maxmargin.leave_one_out(machine, found.X, found.y, verbose=screen.is_live) if loo else None
    if result is not None and result.status is maxmargin.Status.INTERRUPTED:
        raise KeyboardInterrupt
    maxmargin.report(machine, found.X, found.y, output, feature_names=found.feature_names, leave_one_out=result, title=title)
    screen.show(f"Page: {output}")
    screen.answer(command="report", saved=output, leave_one_out=None if result is None else result.error)


OUT = "The new file: .maxmargin, .libsvm, .svmlight or .onnx."
FEATURES = "Number of features. LIBSVM's and SVM-light's files do not contain it."


def convert(
    model: ModelFile,
    out: Annotated[str, typer.Argument(metavar="OUT", help=OUT, show_default=False)],
    screen: Screen,
    to: Annotated[
        str | None, option("--to", "maxmargin|libsvm|svmlight|onnx", "The format. Default: by the suffix of OUT.")
    ] = None,
    features: Annotated[int | None, option("--features", "NUMBER", FEATURES)] = None,
) -> None:
    """Write a model in another format; what the format cannot hold is refused."""
    format = Path(out).suffix.removeprefix(".") if to is None else to
    if format not in maxmargin.io.FORMATS:
        raise typer.BadParameter(f"{format!r} is none of the formats {', '.join(maxmargin.io.FORMATS)}; use --to.")
    whole = maxmargin.load(model, n_features=features)
    maxmargin.export(whole, out, format=format)
    name = type(machine_of(whole)).__name__
    screen.show(f"{name}: {out}")
    screen.answer(command="convert", estimator=name, saved=out)


def write_lines(place: str, lines: Iterable[str]) -> None:
    """A text file, written whole or not at all."""
    from maxmargin.io._atomic import replacing

    with replacing(place) as file:
        for line in lines:
            file.write(f"{line}\n".encode())


def written(label: Any) -> str:
    """A label as it stands in files: whole numbers without a fraction.

    Examples
    --------
    >>> written("bird"), written(1), written(1.0), written(1.5)
    ('bird', '1', '1', '1.5')
    """
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
