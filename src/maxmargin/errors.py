"""Every exception and warning that maxmargin raises.

::

    Exception
     └── MaxMarginError                          catch this to catch them all
          ├── InvalidInputError (ValueError)      data or parameters that cannot be used
          │    └── ModelFileError (ValueError)     a model file that is damaged, or none
          ├── NotSupportedError (ValueError)      a combination that does not exist
          ├── NotSeparableError (ValueError)      no hyperplane separates the classes
          ├── UndecidedError (ArithmeticError)    too close to call at this precision
          ├── MemoryBudgetError (MemoryError)     more memory than was allowed
          └── MissingExtraError (ImportError)     a package of an extra is missing

Each of them also inherits the builtin exception in parentheses. The one warning, `maxmargin.ConvergenceWarning`, inherits
scikit-learn's of the same name and lives with the estimators.
"""

from typing import Any


class MaxMarginError(Exception):
    """Base of all errors that maxmargin raises on purpose."""


class InvalidInputError(MaxMarginError, ValueError):
    """Data or parameters that cannot be used; the message says what came, what was wanted, what to do."""


class ModelFileError(InvalidInputError):
    """A model file that is damaged or contradicts itself, or no model file at all.

    Attributes
    ----------
    part : str
        The name of the damaged part: a member of the archive, a field, a line.
    """

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part


class NotSupportedError(MaxMarginError, ValueError):
    """A combination of problem and solver that does not exist; the message names one that does."""


class NotSeparableError(MaxMarginError, ValueError):
    """The hard margin was asked for, and no hyperplane separates the classes.

    Attributes
    ----------
    witness : maxmargin.NotSeparable
        Convex weights that show why, with a ``check()`` that anyone can run.
    """

    def __init__(self, message: str, witness: Any = None) -> None:
        super().__init__(message)
        self.witness = witness


class UndecidedError(MaxMarginError, ArithmeticError):
    """Neither answer could be proved at the precision of the arithmetic.

    Attributes
    ----------
    verdict : maxmargin.Undecided
        What is known: the largest margin that is still possible.
    """

    def __init__(self, message: str, verdict: Any = None) -> None:
        super().__init__(message)
        self.verdict = verdict


class MemoryBudgetError(MemoryError, MaxMarginError):
    """The work would need more memory than was allowed."""

    # MemoryError comes first: tblib, which Dask brings along, makes an error by the first __new__ that it finds.


class MissingExtraError(MaxMarginError, ImportError):
    """Something needs a package that is not installed; the message names the extra that brings it."""
