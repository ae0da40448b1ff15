"""What watches a fit: scikit-learn's callbacks (from its version 1.9 on), the display of ``verbose=True``, the command line.

How many steps a solver will take is not known beforehand, how many digits it shall prove is: a bar shows which share of the way
from the first gap to `tol` is behind, on a logarithmic scale. It is full only when the gap is certified.
A fit that ended before warns once.
"""

import math
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning
from sklearn.utils.metaestimators import available_if

from maxmargin.core import Certificate, Solution, Status
from maxmargin.errors import InvalidInputError
from maxmargin.rounding import shown_above
from maxmargin.solvers import Event
from maxmargin.typing import Floats, Matrix


def check_verbose(verbose: Any) -> bool:
    """Whether to show progress: `verbose` is true or false, or a level, as in scikit-learn; levels above 0 show the same."""
    if not isinstance(verbose, bool | np.bool_ | int | np.integer) or verbose < 0:
        raise InvalidInputError(f"verbose must be True, False or an integer ≥ 0, got {verbose!r}.")
    return bool(verbose)


HUNDREDTHS = 100
"""Subtasks of one problem: its bar moves in hundredths."""


class TakesCallbacks:
    """Mixin: scikit-learn's callbacks, where it has them. (Its own mixin is not inherited: importing it loads rich.)"""

    @available_if(lambda self: find_spec("sklearn.callback") is not None)  # type: ignore[untyped-decorator]
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that watch `fit`, such as scikit-learn's ``ProgressBar()``; none removes them.

        Needs scikit-learn 1.9. A fit is a task, each binary problem of several classes a subtask, each hundredth of the digits
        that `tol` asks for a subtask of these, named after the gap. A callback that returns True at the end of a hundredth stops
        that problem with the best model so far; at the end of a problem, the others too. The fitted estimator is there at the end
        of the fit only.
        """
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin.set_callbacks(self, *callbacks)  # type: ignore[no-any-return]


MakeWatcher = Callable[[str, Sequence[str], float], AbstractContextManager[Any]]
"""From the estimator's name, the names of its problems and `tol` to a watcher. It is told of each problem k of a fit: by
``begin(k)``; by ``see(k, event, share)`` of each step, with the share of the digits that is proved (True asks it to stop); by
``end(k, solution)``.
"""

WATCHER: ContextVar[MakeWatcher | None] = ContextVar("WATCHER", default=None)
"""While it is set, each fit of this thread has one more watcher, whatever its `verbose` says."""


class Watch:
    """The watchers of one fit. They hear one thing at a time, whichever threads solve its problems."""

    def __init__(self, watchers: Sequence[Any]) -> None:
        self._watchers, self._lock = watchers, threading.Lock()

    def observer(self, k: int, share: Callable[[Event], float]) -> Callable[[Event], bool]:
        """What the driver tells of each step of problem k, until somebody asks to stop; `share`: how much is behind."""
        return lambda event: any(self._tell("see", k, event, share(event)))

    def begin(self, k: int) -> None:
        """Problem k is begun."""
        self._tell("begin", k)

    def end(self, k: int, solution: Solution) -> None:
        """Problem k has ended."""
        self._tell("end", k, solution)

    def saw(self, solutions: Sequence[Solution], share: Callable[[], Callable[[Event], float]]) -> None:
        """All problems were solved at once: each tells of its end alone."""
        for k, solution in enumerate(solutions):
            self.begin(k)
            last = solution.trace[-1]
            self.observer(k, share())(Event(last.seconds, last.iteration, last.relative_gap, solution.certificate))
            self.end(k, solution)

    def _tell(self, what: str, *news: Any) -> list[Any]:
        with self._lock:
            return [getattr(watcher, what)(*news) for watcher in self._watchers]


@contextmanager
def watching(
    estimator: Any, X: Matrix, y: Callable[[], Any], weights: Floats, tol: float, names: Sequence[str]
) -> Iterator[Watch]:
    """The watch of one fit, which ends when the model is stored; `y` makes the targets, `names` has one entry a problem."""
    with ExitStack() as stack:
        makers = [WATCHER.get()]
        if estimator.verbose:
            from maxmargin.estimators.progress.display import Display

            makers.insert(0, Display)
        watchers = [make(type(estimator).__name__, names, tol) for make in makers if make is not None]
        if getattr(estimator, "_skl_callbacks", None):
            watchers.insert(0, _callbacks(estimator, X, y, weights, names))
        yield Watch([stack.enter_context(watcher) for watcher in watchers])


class Digits:
    """The share of the way from the first gap (1, that of w = 0, if it is less) to `tol`, in logarithms; it never falls.

    Examples
    --------
    >>> digits = Digits(1e-4)
    >>> [round(digits.share(Event(0.0, 1, gap, None)), 2) for gap in (math.inf, 1e4, 1.0, 1e-2, 1e-1, 1e-4)]
    [0.0, 0.0, 0.5, 0.75, 0.75, 0.99]
    """

    def __init__(self, tol: float) -> None:
        self._tol, self._first, self._share = tol, 0.0, 0.0

    def share(self, event: Event) -> float:
        """The share after one more step; 1 only if its gap is certified."""
        gap = event.relative_gap
        if not self._first and math.isfinite(gap):
            self._first = max(gap, 1.0)
        now = float(gap <= self._tol)
        if self._tol < gap < self._first:
            start, goal = math.log(self._first), math.log(max(self._tol, sys.float_info.epsilon))  # log 0 has no end
            now = (start - math.log(gap)) / (start - goal)
        self._share = max(self._share, min(now, 0.99 if event.certificate is None else 1.0))
        return self._share


@contextmanager
def _callbacks(estimator: Any, X: Matrix, y: Callable[[], Any], weights: Floats, names: Sequence[str]) -> Iterator["_Callbacks"]:
    """scikit-learn's order: setup, begin, …, end, teardown; an error or Ctrl-C goes straight to the teardown."""
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    metadata = None if (weights == 1).all() else {"sample_weight": weights}
    about = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
    is_one = len(names) == 1
    try:
        root = CallbackSupportMixin._init_callback_context(
            estimator, max_subtasks=HUNDREDTHS if is_one else len(names), sequential_subtasks=is_one
        )
        root.call_on_fit_task_begin(**about)
        callbacks = _Callbacks(estimator, root, names)
        yield callbacks
        if not callbacks.was_interrupted:
            root.call_on_fit_task_end(**about, reconstruction_attributes={})
    finally:
        with_callbacks(lambda estimator: None)(estimator)  # the public way to tear down what was set up


class _Callbacks:
    """Tells scikit-learn's callbacks: a single problem is the fit itself, several are its subtasks."""

    def __init__(self, estimator: Any, root: Any, names: Sequence[str]) -> None:
        self._estimator, self._root, self._names = estimator, root, names
        self._tasks: dict[int, Any] = {}
        self._done = [0] * len(names)
        self._stopped: set[int] = set()
        self.was_interrupted = False

    def begin(self, k: int) -> None:
        self._tasks[k] = self._root
        if len(self._names) > 1:
            name = self._names[k].replace("[", "(")  # rich would read markup
            self._tasks[k] = self._root.subcontext(task_name=name, task_id=k, max_subtasks=HUNDREDTHS)
            self._tasks[k].call_on_fit_task_begin(estimator=self._estimator)

    def see(self, k: int, event: Event, share: float) -> bool:
        self._reach(k, share, event.relative_gap)
        return k in self._stopped

    def end(self, k: int, solution: Solution) -> None:
        if solution.status is Status.SOLVED and solution.certificate is not None:
            self._reach(k, 1.0, solution.certificate.relative_gap)
        self.was_interrupted |= solution.status is Status.INTERRUPTED
        if len(self._names) > 1 and not self.was_interrupted and self._tasks[k].call_on_fit_task_end(estimator=self._estimator):
            self._stopped.update(range(len(self._names)))

    def _reach(self, k: int, share: float, gap: float) -> None:
        """A subtask for each hundredth that is new, until a callback has enough."""
        while self._done[k] < int(HUNDREDTHS * share) and k not in self._stopped:
            part = self._tasks[k].subcontext(task_name=f"gap {gap:.1e}")
            part.call_on_fit_task_begin(estimator=self._estimator)
            if part.call_on_fit_task_end(estimator=self._estimator):
                self._stopped.add(k)
            self._done[k] += 1


class ConvergenceWarning(_SklearnConvergenceWarning):  # type: ignore[misc]
    """The model is the best found, but its gap is above ``tol``: a budget ran out or progress stalled."""


def warn_of_gap(name: str, status: Status, certificate: Certificate, tol: float, rounds: str = "max_iter") -> None:
    """Say what ended the fit, the gap that was reached and what to try; `rounds` is the parameter that limits the iterations."""
    reason = str(status).replace("max_iter", rounds)
    gap = f"the gap is {shown_above(certificate.relative_gap, 2)}, and {tol:g} was asked for."
    is_reached = certificate.relative_gap <= tol  # of the last convex step of a ramp, whose steps had not ended
    said = f"{name}: {reason} {'Of the last convex step ' if is_reached else 'Not certified: '}{gap}"
    warnings.warn(said, ConvergenceWarning, stacklevel=5)


def warn_of_mistakes(name: str, mistakes: list[int], epochs: int) -> None:
    """Say that the last epoch of some problem was not clean."""
    worst = max(mistakes)
    if worst:
        still = f"still made {worst} mistakes" if worst > 0 else "did not end"
        advice = "Allow more with max_iter; ask separability(X, y) whether there is a hyperplane at all."
        warnings.warn(f"{name}: the last of {epochs} epochs {still}. {advice}", ConvergenceWarning, stacklevel=6)
