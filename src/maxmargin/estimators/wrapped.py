"""What holds a machine: a pipeline, a search, a frozen estimator. All functions that take a model open it here."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.estimators.base import Machine
from maxmargin.estimators.training_data import READABLE, Fingerprint, checked_rows

SEARCHES = {"BaseSearchCV", "LeaveOneOutSearch"}
"""Classes, or their bases, that hold a `best_estimator_`. They are known by name, so that nothing is imported for them."""


class Wrapped(NamedTuple):
    """A machine and what it stands in.

    Attributes
    ----------
    machine
        The estimator of this library.
    outer
        The pipeline that ends in it, of a search the best one; the machine itself where there is none.
    steps : tuple
        What X goes through before it, in order. Pipelines within pipelines are one chain; "passthrough" is left out.
    path : str
        What the names of its parameters begin with in those of `outer`, such as "svc__".
    chosen_by : str
        The search that chose the parameters, or "".
    """

    machine: Any
    outer: Any
    steps: tuple[Any, ...] = ()
    path: str = ""
    chosen_by: str = ""

    @property
    def before(self) -> Any:
        """The steps as a pipeline of their own."""
        from sklearn.pipeline import make_pipeline

        return make_pipeline(*self.steps)

    def sees(self, X: Any) -> Any:
        """X as the fitted machine sees it."""
        check_is_fitted(self.machine, "intercept_")
        return self.before.transform(X) if self.steps else X

    def saw(self, X: Any, y: Any) -> Any:
        """Training data as the fitted machine saw them: where these are not what the steps make of X, but what copies of them do
        in `fit_transform`, as PCA with other rounding or encoders by cross-fitting, and the copies are otherwise the same steps.
        """
        rows, kept = self.sees(X), getattr(self.machine, "fingerprint_", None)
        if kept is None or not self.learners or _are_of(kept, rows):
            return rows
        copies = clone(self.before)
        again = copies.fit_transform(X, y)
        return again if _are_of(kept, again) and _agree(copies.transform(X), rows) else rows

    def prepared(self, X: Any, y: Any) -> Any:
        """X as the machine sees it; steps that are not fitted yet are, as copies, on all rows."""
        if not self.steps:
            return X
        return self.saw(X, y) if hasattr(self.machine, "intercept_") else clone(self.before).fit_transform(X, y)

    def prepared_without(self, i: int, X: Any, y: Any) -> Any:
        """All rows as the machine sees them after steps that are fitted without row i, as copies."""
        if not self.steps:
            return X
        others, before = np.delete(np.arange(len(y)), i), clone(self.before)
        rows = [before.fit_transform(_safe_indexing(X, others), np.asarray(y)[others]), before.transform(_safe_indexing(X, [i]))]
        stacked = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.vstack(rows)
        return stacked[np.argsort(np.append(others, i))]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """`outer`, fitted; the weights are the machine's."""
        return self.outer.fit(X, y, **({} if sample_weight is None else {f"{self.path}sample_weight": sample_weight}))

    def feature_names(self, given: Any, X: Any) -> Any:
        """Names of the columns that the machine sees, from those of X; None where the steps have none."""
        if not self.steps:
            return given if given is not None else getattr(self.machine, "feature_names_in_", None)
        try:
            return self.before.get_feature_names_out(column_names(given, X))
        except (AttributeError, ValueError):
            return given

    @property
    def words(self) -> str:
        """The steps in one line."""
        return " → ".join(" ".join(repr(step).split()) for step in self.steps)

    @property
    def learners(self) -> str:
        """The names of the steps that a fit changes."""
        return ", ".join(type(step).__name__ for step in self.steps if _learns(step))

    def told(self, is_refitted: bool, are_these_rows: bool) -> str:
        """What samples that are left out of the machine still count in, in a sentence; "" where there is nothing."""
        learn = self.learners
        words = [f"{self.chosen_by} chose the parameters before any sample was left out."] if self.chosen_by else []
        if is_refitted:
            words.append(f"Each sample was left out of {learn + ' and ' if learn else ''}the machine by a fit of its own.")
        elif learn and are_these_rows:
            words.append(f"{learn}: fitted on all rows, the left-out sample included; refit_steps=True leaves it out there too.")
        elif learn:
            words.append(f"{learn}: as fitted before, perhaps on other rows; refit_steps=True fits anew without each sample.")
        return " ".join(words)


def unwrapped(estimator: Any) -> Wrapped:
    """Find the machine in what was given; cheap, nothing is fitted or transformed.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> from maxmargin import SVC
    >>> found = unwrapped(make_pipeline("passthrough", MaxAbsScaler(), SVC()))
    >>> found.machine, found.words, found.path
    (SVC(), 'MaxAbsScaler()', 'svc__')
    """
    if isinstance(estimator, Machine):
        return Wrapped(estimator, estimator)
    kinds = _kinds(estimator)
    if "FrozenEstimator" in kinds:
        return unwrapped(estimator.estimator)
    if kinds & SEARCHES:
        return unwrapped(_best_of(estimator))._replace(chosen_by=type(estimator).__name__)
    if "Pipeline" in kinds:
        *earlier, (name, last) = estimator.steps
        if last is None or isinstance(last, str):
            raise InvalidInputError(f"This Pipeline ends in {last!r}; a maxmargin estimator must be its last step.")
        found = unwrapped(last)
        steps = (*(one for _, step in earlier for one in _chain(step)), *found.steps)
        return Wrapped(found.machine, estimator, steps, f"{name}__{found.path}", found.chosen_by)
    raise InvalidInputError(_refusal(estimator))


def opened(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """(machine, X as it saw it) of something fitted and its training data."""
    whole = unwrapped(estimator)
    return whole.machine, whole.saw(X, y)


def _are_of(kept: Fingerprint, rows: Any) -> bool:
    """Whether a fingerprint is that of these rows, in any order."""
    X = checked_rows(check_array(rows, **READABLE))
    own = Fingerprint.of(X, np.zeros(X.shape[0], dtype=np.intp), np.ones(X.shape[0]))
    return own is not None and own.rows_in_any_order == kept.rows_in_any_order


def _agree(left: Any, right: Any) -> bool:
    """Whether two matrices agree to half of their digits."""
    left, right = (check_array(rows, **READABLE) for rows in (left, right))
    if left.shape != right.shape:
        return False
    return bool(abs(left - right).max() <= np.sqrt(np.finfo(right.dtype).eps) * abs(right).max())


def column_names(given: Any, X: Any) -> Any:
    """Names of the columns of X: as given, a data frame's, or numbers; None where X has no columns."""
    if given is not None or hasattr(X, "columns"):
        return X.columns if given is None else given
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    return [f"feature {j}" for j in range(shape[1])] if len(shape) == 2 else None


def _kinds(estimator: Any) -> set[str]:
    return {kind.__name__ for kind in type(estimator).__mro__}


def _chain(step: Any) -> Iterator[Any]:
    """A step, or those that it is a chain of."""
    if step is None or isinstance(step, str):
        return
    if "Pipeline" in _kinds(step):
        for _, inner in step.steps:
            yield from _chain(inner)
    elif not hasattr(step, "transform"):
        raise NotSupportedError(
            f"{type(step).__name__} is a step of this Pipeline but has no transform, so it is not known which rows the machine "
            "was fitted on. Pass the last step with its own rows."
        )
    else:
        yield step


def _best_of(search: Any) -> Any:
    if hasattr(search, "best_estimator_"):
        return search.best_estimator_
    name = type(search).__name__
    if hasattr(search, "cv_results_"):
        raise InvalidInputError(f"This {name} holds no model: it was fitted with refit=False. Use refit=True.")
    raise NotFittedError(f"This {name} is not fitted yet: it has no best_estimator_. Call fit first.")


def _learns(step: Any) -> bool:
    """Whether a fit changes a step."""
    tags = getattr(step, "__sklearn_tags__", None)
    return "FrozenEstimator" not in _kinds(step) and (tags is None or tags().requires_fit)


def _refusal(estimator: Any) -> str:
    """Why there is no machine to find, and what to pass instead."""
    name = type(estimator).__name__
    if name in ("SVC", "LinearSVC"):
        return f"This {name} comes from {type(estimator).__module__.split('.')[0]}. Write: from maxmargin import {name}"
    parts = {"estimators": "estimators_[k]", "estimators_": "estimators_[k]", "estimator_": "estimator_"}
    which = next((part for attribute, part in parts.items() if hasattr(estimator, attribute)), "")
    which = "calibrated_classifiers_[k].estimator" if "CalibratedClassifierCV" in _kinds(estimator) else which
    if which:
        why = "holds several machines, or one, fitted on a part of the rows or on other labels"
        return f"{name} {why}. Pass {which} with the rows and labels that it was fitted on."
    return f"A maxmargin estimator is needed, or a Pipeline, a search or a FrozenEstimator that holds one; got {name}."
