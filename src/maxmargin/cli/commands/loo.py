"""``maxmargin loo``: exact leave-one-out errors."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from maxmargin.cli.estimator_options import MODEL, Learning, choose
from maxmargin.cli.exit_codes import DONE, INTERRUPTED, NOT_REACHED, refusing_bad_data, tell
from maxmargin.cli.files import DataFile, Source, check_places, write_lines
from maxmargin.cli.screen import PANEL, Screen
from maxmargin.cli.values import written

if TYPE_CHECKING:
    from maxmargin.estimators import LeaveOneOut

Place = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the leave-one-out label of each sample, one per line.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]

Resolve = Annotated[
    str,
    typer.Option(
        "--resolve",
        metavar="once|each",
        help="How to set costs that depend on the samples (mean:, tikhonov:, pegasos:, balanced): once, from all samples, or "
        "for each left-out sample from the others, as separate fits do.",
        rich_help_panel=MODEL,
    ),
]


def loo(
    data: DataFile,
    learning: Learning,
    source: Source,
    screen: Screen,
    output: Place = None,
    resolve: Resolve = "once",
) -> None:
    """Compute the exact leave-one-out error, with few retrainings.

    For svc, linear and hard-margin. Ctrl-C (exit code 130) shows the results so far.
    """
    if resolve not in ("once", "each"):
        raise typer.BadParameter(f"--resolve must be once or each, got {resolve!r}.")
    check_places([data], [output])
    found = source.labelled(data)
    model, reason = choose(learning, None, found.X, found.y)
    if reason:
        screen.remark(reason)
    from maxmargin import Status, leave_one_out

    with refusing_bad_data():
        result = leave_one_out(model, found.X, found.y, resolve=resolve, verbose=screen.is_live)
    code, n_open = DONE, int((~result.is_certain).sum())
    if result.status is Status.STALLED:
        code = NOT_REACHED
        tell(f"{n_open} labels are too close to a tie to be certain; the error lies in the range shown.")
    elif result.status is not Status.SOLVED:
        code = INTERRUPTED
        tell(f"Interrupted: {n_open} of {result.n} labels are not known yet.")
    if output is not None:
        write_lines(output, (written(label) for label in result.predictions.tolist()))
    _show(model, result, code, output, screen)
    raise typer.Exit(code)


def _show(model: Any, result: "LeaveOneOut", code: int, output: str | None, screen: Screen) -> None:
    from maxmargin.cli.loo_table import loo_tables

    screen.show(*loo_tables(result))
    if output is not None:
        screen.show(f"Labels: {output}")
    screen.answer(
        command="loo",
        estimator=type(model).__name__,
        parameters=model.get_params(deep=False),
        samples=result.n,
        error=result.error,
        error_range=result.error_range,
        retrained=result.n_retrained,
        seconds=result.seconds,
        fit_seconds=result.fit_seconds,
        resolve=result.resolve,
        settled_by={how.name: count for how, count in result.counts().items()},
        xi_alpha=[{"error": one.error, "recall": one.recall, "precision": one.precision} for one in estimates(result)],
        saved=output,
        exit_code=code,
    )


def estimates(result: "LeaveOneOut") -> tuple[Any, ...]:
    """The ξα estimates, one a binary problem."""
    return result.xi_alpha if isinstance(result.xi_alpha, tuple) else (result.xi_alpha,)
