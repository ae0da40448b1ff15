"""``maxmargin certify``: judge a model anew, from its training data."""

from typing import Annotated

import typer

from maxmargin.cli.ending import DONE, NOT_REACHED, refusing_bad_data, tell
from maxmargin.cli.files import DataFile, ModelFile, Source, trained_model
from maxmargin.cli.screen import Screen

Tolerance = Annotated[
    float | None,
    typer.Option("--tol", metavar="NUMBER", help="Exit with 3 if the relative gap is larger.", show_default=False),
]


def certify(model: ModelFile, data: DataFile, source: Source, screen: Screen, tol: Tolerance = None) -> None:
    """Recompute, from the training data, how far a model is from the best possible.

    Nothing that the fit said is believed. DATA must be the training data, in their order.
    """
    from maxmargin import certify as judge
    from maxmargin.cli.about import plain_proofs, proof_table, proofs, sentence

    machine = trained_model(model)
    found = source.labelled(data, machine)
    with refusing_bad_data():
        judged = proofs(machine, judge(machine, found.X, found.y))
    screen.show(sentence(judged), proof_table(judged))
    gap = judged[0].certificate.relative_gap
    code = DONE if tol is None or gap <= tol else NOT_REACHED
    if code:
        tell(f"The relative gap {gap:.2g} is larger than {tol:g}.")
    screen.answer(
        command="certify",
        relative_gap=gap,
        sentence=sentence(judged),
        proofs=plain_proofs(judged),
        exit_code=code,
    )
    raise typer.Exit(code)
