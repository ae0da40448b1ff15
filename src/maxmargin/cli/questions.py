"""What can be asked about data and models: ``predict``, ``certify``, ``loo``, ``bounds``, ``report``; and ``convert``."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import maxmargin
from maxmargin.cli.estimator_options import Learning, choose
from maxmargin.cli.options import MODEL, OUTPUT, DataFile, ModelFile, Source, check_places, option, write_lines, written
from maxmargin.cli.screen import DONE, INTERRUPTED, NOT_REACHED, Screen, tell
from maxmargin.errors import NotSupportedError

PLACE = "Write to FILE instead of stdout."
VALUES = "Write the decision values after the label, separated by tabs."
CERTIFIED = "Write certain or open after the label; certain: the exact optimum gives the same label."


def predict(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "FILE", PLACE, OUTPUT)] = None,
    decision_values: Annotated[bool, option("--decision-values -v", None, VALUES, OUTPUT)] = False,
    certified: Annotated[bool, option("--certified", None, CERTIFIED, OUTPUT)] = False,
) -> None:
    """Predict the label of each sample, one per line.

    If the data have labels, stderr shows how many predictions are right.
    """
    check_places([model, data], [output])
    machine = maxmargin.load(model)
    found = source.read(data, machine)
    if certified and not hasattr(machine, "certified_predictions"):
        raise NotSupportedError(f"{type(machine).__name__} has no certified predictions. Use SVC, LinearSVC or HardMarginSVC.")
    labels, certain = machine.certified_predictions(found.X) if certified else (machine.predict(found.X), None)
    names = [written(label) for label in labels.tolist()]
    values = machine.decision_function(found.X).reshape(len(names), -1) if decision_values else None
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
    right = _right(names, found.y, machine.classes_)
    if right is not None:
        screen.remark(f"{right} of {len(names)} labels are right: {right / len(names):.2%}.")
    elif found.y is not None:
        screen.remark("None of the labels in the data is one of the model's classes, so they were not compared.")
    screen.answer(
        command="predict",
        labels=labels if output is None else None,
        certain=certain,
        decision_values=values,
        samples=len(names),
        right=right,
        accuracy=None if right is None else right / len(names),
        saved=output,
    )


def _right(names: list[str], y: Any, classes: Any) -> int | None:
    """How many labels are those of the data, written as they are; None where the data have none that the model knows."""
    wanted = [] if y is None else [written(one) for one in y.tolist()]
    if {written(one) for one in classes.tolist()}.isdisjoint(wanted):
        return None
    return sum(one == other for one, other in zip(wanted, names, strict=True))


TOL = "The relative gap to check for. Default: the tol of the fit."
LABELS = "Write the leave-one-out label of each sample, one per line."
RESOLVE = (
    "How to set costs that depend on the samples (mean:, tikhonov:, pegasos:, balanced): once, from all samples (the default), "
    "or for each left-out sample from the others, as separate fits do."
)
LOO = "Include exact leave-one-out, which may take a while."
OUT = "The new file: .maxmargin, .libsvm, .svmlight or .onnx."
FORMATS_OF_MODELS = "maxmargin|libsvm|svmlight|onnx"
FEATURES = "Number of features. LIBSVM's and SVM-light's files do not contain it."


def certify(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    tol: Annotated[float | None, option("--tol", "NUMBER", TOL)] = None,
) -> None:
    """Recompute, from the training data, how far a model is from the best possible.

    Nothing that the fit reported is used.
    DATA must be the training data, in the same order; a message tells you if they are not.
    Exit code 3: the gap is larger than requested.
    """
    from maxmargin.cli.about import plain_proofs, proof_table, proofs, sentence
    from maxmargin.rounding import shown_above

    machine = maxmargin.load(model)
    found = source.labelled(data, machine)
    certified = proofs(machine, maxmargin.certify(machine, found.X, found.y, tol=tol))
    screen.show(sentence(certified), "", proof_table(certified))
    worst = certified[0][1]
    code = DONE if worst.is_reached else NOT_REACHED
    if code:
        tell(f"Not certified: the relative gap {shown_above(worst.relative_gap, 2)} is larger than {worst.tol:g}.")
    screen.answer(command="certify", **plain_proofs(certified), sentence=sentence(certified), exit_code=code)
    raise typer.Exit(code)


def loo(
    data: DataFile,
    learning: Learning,
    source: Source,
    screen: Screen,
    output: Annotated[str | None, option("--output -o", "FILE", LABELS, OUTPUT)] = None,
    resolve: Annotated[str, option("--resolve", "once|each", RESOLVE, MODEL)] = "once",
) -> None:
    """Compute the exact leave-one-out error, with few retrainings.

    For svc, linear and hard-margin. Ctrl-C (exit code 130) shows the results so far.
    """
    if resolve not in ("once", "each"):
        raise typer.BadParameter(f"--resolve must be once or each, got {resolve!r}.")
    check_places([data], [output])
    found = source.labelled(data)
    model, reason = choose(learning, None, found.X, found.y)
    screen.remark(reason)
    from maxmargin.cli.about import loo_tables

    result = maxmargin.leave_one_out(model, found.X, found.y, resolve=resolve, verbose=screen.is_live)
    code, n_open = DONE, int((~result.is_certain).sum())
    if result.status is maxmargin.Status.STALLED:
        code = NOT_REACHED
        tell(f"{n_open} labels are too close to a tie to be certain; the error lies in the range shown.")
    elif result.status is not maxmargin.Status.SOLVED:
        code = INTERRUPTED
        tell(f"Interrupted: {n_open} of {result.n} labels are not known yet.")
    if output is not None:
        write_lines(output, (written(label) for label in result.predictions.tolist()))
    screen.show(*loo_tables(result), *([] if output is None else [f"Labels: {output}"]))
    estimates = result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
    screen.answer(
        command="loo",
        estimator=type(model).__name__,
        parameters=model.get_params(deep=False),
        samples=result.n,
        retrained=result.n_retrained,
        **{name: getattr(result, name) for name in ("error", "seconds", "fit_seconds", "resolve")},
        error_range=result.error_range._asdict(),
        settled_by={how.name: count for how, count in result.counts().items()},
        xi_alpha=[{"error": one.error, "recall": one.recall, "precision": one.precision} for one in estimates],
        saved=output,
        exit_code=code,
    )
    raise typer.Exit(code)


def bounds(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    delta: Annotated[float, option("--delta", "NUMBER", "Probability that a bound fails. Default: 0.05.")] = 0.05,
) -> None:
    """Compute every bound that applies to a model of two classes; vacuous ones are marked.

    DATA must be the training data, in the same order.
    """
    if not 0 < delta < 1:
        raise typer.BadParameter(f"--delta must be between 0 and 1, got {delta:g}.")
    from maxmargin.cli.about import bounds_table

    machine = maxmargin.load(model)
    found = source.labelled(data, machine)
    known = maxmargin.bounds.of_model(machine, found.X, found.y, delta=delta)
    screen.show(*bounds_table(known))
    screen.answer(command="bounds", delta=delta, bounds={name: bound.as_dict() for name, bound in known.items()})


def report(
    model: ModelFile,
    data: DataFile,
    source: Source,
    screen: Screen,
    output: Annotated[str, option("--output -o", "PAGE", "The HTML file.", OUTPUT)],
    loo: Annotated[bool, option("--loo", None, LOO)] = False,
    title: Annotated[str | None, option("--title", "TEXT", "The heading of the page.")] = None,
) -> None:
    """Write one self-contained HTML page about a model: proof, pictures, bounds, how to reproduce.

    DATA must be the training data, in the same order.
    """
    check_places([model, data], [output])
    machine = maxmargin.load(model)
    found = source.labelled(data, machine)
    result = maxmargin.leave_one_out(machine, found.X, found.y, verbose=screen.is_live) if loo else None
    if result is not None and result.status is maxmargin.Status.INTERRUPTED:
        raise KeyboardInterrupt
    maxmargin.report(machine, found.X, found.y, output, feature_names=found.feature_names, leave_one_out=result, title=title)
    screen.show(f"Page: {output}")
    screen.answer(command="report", saved=output, leave_one_out=None if result is None else result.error)


def convert(
    model: ModelFile,
    out: Annotated[str, typer.Argument(metavar="OUT", help=OUT, show_default=False)],
    screen: Screen,
    to: Annotated[str, option("--to", FORMATS_OF_MODELS, "The format. Default: by the suffix of OUT.")] = "auto",
    features: Annotated[int | None, option("--features", "NUMBER", FEATURES)] = None,
) -> None:
    """Write a model in another format; what the format cannot hold is refused."""
    check_places([model], [out])
    formats = maxmargin.io.FORMATS
    if to == "auto" and Path(out).suffix.removeprefix(".") not in formats:
        suffixes = ", ".join(f".{one}" for one in formats)
        raise typer.BadParameter(f"{out!r} has none of the suffixes {suffixes}; use --to.")
    if to not in ("auto", *formats):
        raise typer.BadParameter(f"--to must be one of {', '.join(formats)}, got {to!r}.")
    machine = maxmargin.load(model, n_features=features)
    maxmargin.export(machine, out, format=to)
    screen.show(f"{type(machine).__name__}: {out}")
    screen.answer(command="convert", estimator=type(machine).__name__, saved=out)
