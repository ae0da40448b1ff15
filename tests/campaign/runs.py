"""One drawn problem from its fit to its verdict, and the table of many."""

import signal
import sys
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from maxmargin import MaxMarginError, NotSeparableError, Status
from tests.campaign import checks
from tests.campaign.checks import Failure
from tests.campaign.draws import SECONDS, Case, draw

GRACE = 90.0
"""Seconds beyond its budget after which a fit or a check hangs: several times what compiling all loops takes."""

LARGE_SECONDS = 1800.0
"""Seconds that judging one large problem may take: 20 000 samples have 4e8 kernel values of 0.2 µs, on a busy machine more."""

JUDGING = 10.0
"""Seconds that one other solver has to show that a stall was none."""

SHOWN = 5
"""Failures of one check in one family that are printed; the table counts all."""


class TookTooLongError(BaseException):
    """Raised by the alarm; no `except Exception` swallows it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End the block by an alarm after so many seconds."""

    def ring(signum: int, frame: Any) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcome:
    """What became of one problem."""

    case: Case
    ending: str = ""
    seconds: float = 0.0
    failures: list[tuple[str, Failure]] = field(default_factory=list)
    """Each with the lines that reproduce it."""


def run(family: str, seed: int, seconds_left: float = float("inf"), *, only_certificates: bool = False) -> Outcome:
    """Draw, fit, judge. Stalls are judged as long as the time that is left allows."""
    outcome = Outcome(draw(family, seed))
    started = time.perf_counter()
    model = _fitted(outcome)
    outcome.seconds = time.perf_counter() - started
    if model is None:
        return outcome
    named = {"judge": checks.judge}
    if not only_certificates:
        if family == "left_out":
            named["check_left_out"] = checks.check_left_out
        if seed % 5 == 0 or family == "left_out":
            named["check_file"] = checks.check_file
    for name, check in named.items():
        _check(outcome, name, check, model)
    if not only_certificates and seconds_left > JUDGING:
        seconds = round(min(JUDGING, checks.LONGER * SECONDS[family], seconds_left / 4), 1)
        _check(outcome, "check_progress", checks.check_progress, model, seconds)
    return outcome


def _fitted(outcome: Outcome) -> Any:
    """The fitted model; None where the problem was refused, or an error is a failure."""
    case, lines = outcome.case, outcome.case.reproduction()
    try:
        with limited(SECONDS[case.family] * 3 + GRACE):
            model = case.fit()
    except NotSeparableError as error:
        outcome.ending = "not separable"
        outcome.failures += [(lines, failure) for failure in checks.check_not_separable(case, error.witness)]
    except MaxMarginError as error:
        outcome.ending = f"refused: {type(error).__name__}"
    except TookTooLongError:
        outcome.ending = "hung"
        words = f"no end after {SECONDS[case.family] * 3 + GRACE:.0f} s with max_seconds={SECONDS[case.family]:g}"
        outcome.failures.append((lines, Failure("hang", words)))
    except Exception:
        outcome.ending = "crashed"
        outcome.failures.append((lines, Failure("crash", traceback.format_exc(limit=-3).strip())))
    else:
        statuses = set(checks.each(getattr(model, "status_", Status.SOLVED)))
        outcome.ending = next((s.name for s in Status if s in statuses and s is not Status.SOLVED), Status.SOLVED.name)
        return model
    return None


def _check(outcome: Outcome, name: str, check: Any, model: Any, *others: float) -> None:
    lines = outcome.case.reproduction(name, *others)
    seconds = GRACE + (LARGE_SECONDS if outcome.case.family == "large" else 0.0) + 30 * sum(others)
    try:
        with limited(seconds):
            outcome.failures += [(lines, failure) for failure in check(outcome.case, model, *others)]
    except MaxMarginError as error:
        outcome.ending += f", then {type(error).__name__}"
    except TookTooLongError:
        outcome.failures.append((lines, Failure("hang", f"{name} takes more than {seconds:.0f} s")))
    except Exception:
        outcome.failures.append((lines, Failure("crash", traceback.format_exc(limit=-3).strip())))


class Tally:
    """Counts of many outcomes; prints the first failures of each check as they come."""

    def __init__(self) -> None:
        self.drawn: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.endings: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[tuple[str, str]] = Counter()
        self.worst: dict[tuple[str, str], float] = {}
        self.n_failures = 0

    def add(self, outcome: Outcome) -> None:
        """Count an outcome, and print its failures."""
        family = outcome.case.family
        self.drawn[family] += 1
        self.seconds[family] += outcome.seconds
        self.endings[family, outcome.ending] += 1
        for lines, failure in outcome.failures:
            key = (family, failure.check)
            self.n_failures += 1
            self.failed[key] += 1
            worse = failure.share > 10 * self.worst.get(key, 0.0)
            self.worst[key] = max(self.worst.get(key, 0.0), failure.share)
            if self.failed[key] <= SHOWN or worse:
                sys.stdout.write(f"\nFAILED {failure}\n{lines}\n")
                sys.stdout.flush()

    def table(self) -> str:
        """How the fits ended, and what failed how often and by how much at worst."""
        lines = [f"{'family':<10} {'drawn':>7} {'fit s':>8}  endings"]
        for family, drawn in self.drawn.items():
            endings = ", ".join(f"{count} {end}" for (own, end), count in self.endings.most_common() if own == family)
            lines.append(f"{family:<10} {drawn:>7} {self.seconds[family]:>8.1f}  {endings}")
        if self.failed:
            lines += ["", f"{'family':<10} {'check':<14} {'failures':>8}  {'worst':>8}"]
            for (family, check), count in sorted(self.failed.items()):
                lines.append(f"{family:<10} {check:<14} {count:>8}  {self.worst[family, check]:>8.1g}")
        return "\n".join(lines)
