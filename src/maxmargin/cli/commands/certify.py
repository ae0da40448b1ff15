"""``maxmargin certify``: judge a model anew, from its training data."""

from typing import Annotated

import typer

from maxmargin.cli.exit_codes import DONE, NOT_REACHED, refusing_bad_data, tell
from maxmargin.cli.files import DataFile, ModelFile, Source, trained_model
from maxmargin.cli.screen import Screen

Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tol",
        metavar="NUMBER",
        help="The relative gap to check for. Default: the tol of the fit.",
        show_default=False,
    ),
]


def certify(model: ModelFile, data: DataFile, source: Source, screen: Screen, tol: Tolerance = None) -> None:
    """Recompute, from the training data, how far a model is from the best possible.

    Nothing that the fit reported is used.
    DATA must be the training data, in the same order; a message tells you if they are not.
    Exit code 3: the gap is larger than requested.
    """
    from maxmargin import certify as judge
    from maxmargin.cli.about import plain_proofs, plain_verdict, proof_table, proofs, sentence
    from maxmargin.rounding import shown_above

    machine = trained_model(model)
    found = source.labelled(data, machine)
    with refusing_bad_data():
        judged = proofs(machine, judge(machine, found.X, found.y, tol=tol))
    screen.show(sentence(judged), proof_table(judged))
    worst = judged[0].certificate
    code = DONE if worst.is_reached else NOT_REACHED
    if code:
        tell(f"Not certified: the relative gap {shown_above(worst.relative_gap, 2)} is larger than {worst.tol:g}.")
    screen.answer(
        command="certify",
        **plain_verdict(judged),
        sentence=sentence(judged),
        proofs=plain_proofs(judged),
        exit_code=code,
    )
    raise typer.Exit(code)
