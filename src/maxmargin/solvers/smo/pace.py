"""What SMO does where its rounds are slow: larger working sets, then steps on the face of the box."""

from maxmargin.solvers.smo.face import along_the_face, is_worth_it
from maxmargin.solvers.smo.state import State, estimate, working_size

SLOW = 10
"""Rounds in which the gap must halve. Else the next working sets are twice as large; where they cannot be, a face is due."""


def look_back(state: State, n_threads: int) -> None:
    """After each round: every so often, see how fast the last ones were."""
    if state.rounds % SLOW:
        return
    pace, size = state.pace, working_size(state)
    is_slow = state.gap > 0.5 * pace.gap
    pace.growth += int(is_slow)
    is_due = state.rounds >= pace.next_face and (is_slow or pace.wait == SLOW)
    if is_due and working_size(state) < 2 * size and is_worth_it(state):
        pace.face, pace.rise = along_the_face(state, n_threads), state.dual - pace.dual
    pace.gap, pace.dual = state.gap, state.dual


def goes_along(state: State) -> bool:
    """Make the next piece of a step on the face; False where none is under way.

    A step that raises the dual by less than the rounds before it did makes the next one wait twice as long.
    """
    pace, before = state.pace, state.dual
    if pace.face is None:
        return False
    if next(pace.face, pace) is pace:  # that was the last piece
        pace.face = None
        pace.wait = SLOW if state.dual - before > pace.rise else max(2 * pace.wait, 2 * SLOW)
        pace.next_face = state.rounds + pace.wait
        estimate(state)
        pace.gap, pace.dual = state.gap, state.dual
    return True
