"""What the command line asks of a suite."""

from argparse import ArgumentTypeError
from dataclasses import dataclass

Case = tuple[float, float]
"""(C, relative gap)."""

ALL_CASES: tuple[Case, ...] = ((1.0, 1e-3), (1.0, 1e-6), (100.0, 1e-3), (100.0, 1e-6))


@dataclass(frozen=True)
class Options:
    """Repeats of each run; the rest narrows a suite down, and an empty selection is the suite's own."""

    repeats: int = 3
    seconds: float = 30.0
    data: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    contenders: tuple[str, ...] = ()
    merge: bool = False
    rows: int | None = None
    suites: tuple[str, ...] = ()
    other: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Whether less than the whole suite is asked for."""
        return bool(self.data or self.cases or self.contenders or self.rows or self.suites)


def case_name(C: float, gap: float) -> str:
    """As in "C=100, gap 1e-6"."""
    return f"C={C:g}, gap {gap:.0e}".replace("e-0", "e-")


def parse_names(text: str) -> tuple[str, ...]:
    """Read "a9a,covtype"."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_cases(text: str) -> tuple[Case, ...]:
    """Read "1:1e-3,100:1e-6": C and the relative gap."""
    pairs = [part.split(":") for part in parse_names(text)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ArgumentTypeError(f"cases are C:gap with commas between them, as in 1:1e-3,100:1e-6; got {text!r}")
    return tuple((float(C), float(gap)) for C, gap in pairs)


def select(wanted: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The wanted names, or all known ones if none is wanted; an unknown name is refused."""
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}. Choose from: {', '.join(known)}")
    return wanted or known
