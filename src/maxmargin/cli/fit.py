"""``maxmargin fit``: train, prove, save."""

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import maxmargin
from maxmargin.cli.estimator_options import Budgets, Learning, choose
from maxmargin.cli.options import OUTPUT, DataFile, Source, check_places, option, write_lines
from maxmargin.cli.screen import DONE, INTERRUPTED, NOT_REACHED, Screen, tell

SHOWN_WARNINGS = 3
PLACE = "Where to save the model. The suffixes .libsvm, .svmlight and .onnx choose those formats."
ALPHAS = "Also write the dual variables α·y, one line per sample, as SVM-light's -a does."


def fit(
    data: DataFile,
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
    check_places([data], [output, alphas])
    from maxmargin.cli import about

    found = source.labelled(data)
    model, reason = choose(learning, budgets, found.X, found.y)
    screen.remark(reason)
    started = time.perf_counter()
    code, ending = _train(model, found.X, found.y, screen)
    seconds = time.perf_counter() - started
    if found.feature_names is not None and len(found.feature_names) == model.n_features_in_:
        import numpy as np

        model.feature_names_in_ = np.array(found.feature_names, dtype=object)
    if output is not None:
        suffix = Path(output).suffix.removeprefix(".")
        maxmargin.export(model, output, format=suffix if suffix in maxmargin.io.FORMATS else "maxmargin")
    if alphas is not None:
        write_lines(alphas, signed_alphas(model, found.X, found.y))
    if code != DONE:
        kept = "it was not saved, because -o was not given" if output is None else f"it was saved to {output}"
        tell(f"{ending}. This is the best model so far; {kept}.")
    n, d = found.X.shape
    screen.show(f"{type(model).__name__}: {n} samples × {d} features, {len(model.classes_)} classes, {seconds:.2f} s")
    proved = about.proofs(model)
    shown = [about.sentence(proved), "", about.proof_table(proved)] if proved else [about.perceptron_sentence(model)]
    said = [f"{what}: {place}" for what, place in (("Model", output), ("Dual variables", alphas)) if place]
    screen.show(*shown, *(["", *said] if said else []))
    values = {"samples": n, "features": d, "seconds": seconds, "saved": output, "alphas": alphas, "exit_code": code}
    screen.answer(command="fit", **about.plain_model(model), **values)
    raise typer.Exit(code)


def _train(model: Any, X: Any, y: Any, screen: Screen) -> tuple[int, str]:
    """Fit; the exit code, and how a fit that is not done ended."""
    from maxmargin.cli.about import proofs

    code = DONE
    with warnings.catch_warnings(record=True) as caught, screen.watching_fits():
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            code = INTERRUPTED
    for warning in caught[:SHOWN_WARNINGS]:
        tell(str(warning.message))
    if len(caught) > SHOWN_WARNINGS:
        tell(f"… and {len(caught) - SHOWN_WARNINGS} more such messages, for other problems.")
    if not hasattr(model, "intercept_"):
        raise KeyboardInterrupt("Interrupted before there was a model; nothing was written.")
    if code == INTERRUPTED:
        return code, "Interrupted"
    if not all(proof.certificate.is_reached for proof in proofs(model)):
        return NOT_REACHED, "Not certified"
    is_short = any(issubclass(warning.category, maxmargin.ConvergenceWarning) for warning in caught)
    return NOT_REACHED if is_short else DONE, "The fit ended early"


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
