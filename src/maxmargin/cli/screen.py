"""What is shown, where: answers on stdout, remarks and bars on stderr, or one JSON object."""

import json
import math
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, is_dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any

from maxmargin.cli.exit_codes import tell
from maxmargin.cli.options import OUTPUT, option


@dataclass(frozen=True)
class Screen:
    """The options of what is shown, and the ways to show it."""

    json: Annotated[bool, option("--json", None, "One JSON object on stdout instead of text.", OUTPUT)] = False
    quiet: Annotated[bool, option("--quiet -q", None, "No text and no bars, only errors.", OUTPUT)] = False

    @property
    def is_live(self) -> bool:
        """Whether bars are drawn: stderr is a terminal, and --quiet was not given."""
        return not self.quiet and sys.stderr.isatty()

    def show(self, *parts: Any, width: int | None = None) -> None:
        """Write texts and tables to stdout, unless --json or --quiet was given."""
        if self.json or self.quiet:
            return
        from rich.console import Console

        console = Console(highlight=False, width=width)
        with console.capture() as captured:  # written by hand, so that a closed pipe is seen
            for part in parts:
                console.print(part, markup=False)
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))

    def answer(self, **values: Any) -> None:
        """Write the JSON object, if --json was given."""
        if self.json:
            sys.stdout.write(json.dumps(plain(values), indent=1, allow_nan=False) + "\n")

    def remark(self, sentence: str) -> None:
        """One line on stderr that is no error."""
        if sentence and not self.quiet:
            tell(sentence)

    def watching_fits(self) -> AbstractContextManager[None]:
        """Within the block, fits draw how their gap falls and how long it will take, if there is a terminal."""
        if not self.is_live:
            return nullcontext()
        from maxmargin.estimators.progress.callbacks import watched_by
        from maxmargin.estimators.progress.display import Display

        return watched_by(partial(Display, lines=False))


def plain(value: Any) -> Any:
    """What JSON can hold: infinite and undefined numbers become the texts "inf", "-inf" and "nan".

    Examples
    --------
    >>> plain({"gap": float("inf"), "groups": (1, 2), "C": 10.0})
    {'gap': 'inf', 'groups': [1, 2], 'C': 10.0}
    """
    if hasattr(value, "tolist"):  # numpy's
        value = value.tolist()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    match value:
        case Enum():
            return value.name
        case float():
            return value if math.isfinite(value) else str(value)
        case None | bool() | int() | str():
            return value
        case dict():
            return {str(name): plain(one) for name, one in value.items()}
        case list() | tuple():
            return [plain(one) for one in value]
        case _:
            return str(value)
