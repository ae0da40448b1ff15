"""``maxmargin fit``: train, prove, save."""

import time
import warnings
from typing import Annotated, Any

import typer

from maxmargin.cli.estimator_options import Budgets, Learning, choose
from maxmargin.cli.exit_codes import DONE, INTERRUPTED, NOT_REACHED, refusing_bad_data, tell
from maxmargin.cli.files import DataFile, Source, check_places, write_lines
from maxmargin.cli.screen import PANEL, Screen

SHOWN_WARNINGS = 3

Place = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="Where to save the model. The suffixes .libsvm, .svmlight and .onnx choose those formats.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Alphas = Annotated[
    str | None,
    typer.Option(
        "--alphas",
        "-a",
        metavar="FILE",
        help="Also write the dual variables α·y, one line per sample, as SVM-light's -a does.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]


def fit(
    data: DataFile,
    learning: Learning,
    budgets: Budgets,
    source: Source,
    screen: Screen,
    output: Place = None,
    alphas: Alphas = None,
) -> None:
    """Train a classifier and prove how good it is.

    On a terminal, a bar shows the gap as it falls.
    If a budget runs out (exit code 3) or you press Ctrl-C (130), the best model so far is still saved.
    """
    check_places([data], [output, alphas])
    found = source.labelled(data)
    model, reason = choose(learning, budgets, found.X, found.y)
    if reason:
        screen.remark(reason)
    started = time.perf_counter()
    code = _train(model, found.X, found.y, screen)
    seconds = time.perf_counter() - started
    if not hasattr(model, "intercept_"):
        raise KeyboardInterrupt("Interrupted before there was a model; nothing was written.")
    if found.feature_names is not None:
        _name_features(model, found.feature_names)
    if output is not None:
        _save(model, output)
    if alphas is not None:
        write_lines(alphas, signed_alphas(model, found.X, found.y))
    code = _tell_ending(model, code, output)
    _show(model, found, seconds, code, output, alphas, screen)
    raise typer.Exit(code)


def _train(model: Any, X: Any, y: Any, screen: Screen) -> int:
    """Fit, and say how it ended."""
    from maxmargin.estimators import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught, screen.watching_fits(), refusing_bad_data():
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
            code = DONE
        except KeyboardInterrupt:
            code = INTERRUPTED
    for warning in caught[:SHOWN_WARNINGS]:
        tell(str(warning.message))
    if len(caught) > SHOWN_WARNINGS:
        tell(f"… and {len(caught) - SHOWN_WARNINGS} more such messages, for other problems.")
    is_short = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return NOT_REACHED if code == DONE and is_short else code


def _name_features(model: Any, names: tuple[str, ...]) -> None:
    import numpy as np

    if len(names) == model.n_features_in_:
        model.feature_names_in_ = np.array(names, dtype=object)


def _save(model: Any, place: str) -> None:
    from pathlib import Path

    from maxmargin.io import FORMATS, export, save

    if Path(place).suffix.removeprefix(".") in FORMATS:
        export(model, place)
    else:
        save(model, place)


def signed_alphas(model: Any, X: Any, y: Any) -> list[str]:
    """α·y of each sample, a line each in training order; for more than two classes a column a binary problem.

    Positive where the sample is of the problem's positive class: the second one of two, in sorted order (+1 of −1 and +1).
    """
    import numpy as np

    from maxmargin.estimators.per_sample import anatomies

    parts = anatomies(model, X, y)
    columns = np.zeros((len(y), len(parts)))
    for k, part in enumerate(parts):
        if part.alpha is not None:
            columns[part.rows, k] = part.alpha * part.y + 0.0  # no −0
    return [" ".join(map(repr, row)) for row in columns.tolist()]


def _tell_ending(model: Any, code: int, output: str | None) -> int:
    """Say what became of the best model so far, and return the exit code: not done where a gap was missed."""
    from maxmargin.cli.about import stored_proofs

    is_missed = not all(proof.certificate.is_reached for proof in stored_proofs(model))
    code = NOT_REACHED if code == DONE and is_missed else code
    kept = "it was not saved, because -o was not given" if output is None else f"it was saved to {output}"
    if code == INTERRUPTED:
        tell(f"Interrupted. This is the best model so far; {kept}.")
    elif code == NOT_REACHED:
        lead = "Not certified" if is_missed else "The fit ended early"
        tell(f"{lead}. This is the best model so far; {kept}.")
    return code


def _show(
    model: Any, found: Any, seconds: float, code: int, output: str | None, alphas: str | None, screen: Screen
) -> None:
    from maxmargin.cli.about import about_model, perceptron_sentence, proof_table, sentence, stored_proofs

    n, d = found.X.shape
    kinds = f"{len(model.classes_)} classes"
    screen.show(f"{type(model).__name__}: {n} samples × {d} features, {kinds}, {seconds:.2f} s")
    proofs = stored_proofs(model)
    screen.show(*([sentence(proofs), proof_table(proofs)] if proofs else [perceptron_sentence(model)]))
    places = {"Model": output, "Dual variables": alphas}
    said = [f"{what}: {place}" for what, place in places.items() if place is not None]
    screen.show(*(["", *said] if said else []))
    screen.answer(
        command="fit",
        **about_model(model),
        samples=n,
        features=d,
        seconds=seconds,
        saved=output,
        alphas=alphas,
        exit_code=code,
    )
