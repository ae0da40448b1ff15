"""The exception tree: one root, a builtin beside it, proofs that travel with it."""

import inspect
import pickle
import re

import numpy as np
import pytest

import maxmargin
from maxmargin import ConvergenceWarning, HardMarginSVC, NotSeparableError, Undecided, UndecidedError, errors

CLASSES = {name: value for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
BUILTINS = {
    "InvalidInputError": ValueError,
    "NotSupportedError": ValueError,
    "NotSeparableError": ValueError,
    "UndecidedError": ArithmeticError,
    "MemoryBudgetError": MemoryError,
    "MissingExtraError": ImportError,
    "ModelFileError": ValueError,
}


def test_the_list_of_errors_is_complete():
    assert set(CLASSES) == {"MaxMarginError", *BUILTINS}


@pytest.mark.parametrize("name", BUILTINS)
def test_each_error_is_ours_and_a_builtin(name):
    error = CLASSES[name]
    assert issubclass(error, errors.MaxMarginError)
    assert issubclass(error, BUILTINS[name])
    assert BUILTINS[name].__module__ == "builtins"
    with pytest.raises(BUILTINS[name], match="the sentence"):
        raise error("the sentence")


@pytest.mark.parametrize("name", CLASSES)
def test_the_tree_in_the_docstring_lists_it_with_its_builtin(name):
    line = next(line for line in errors.__doc__.splitlines() if re.search(rf"\b{name}\b", line))
    if name in BUILTINS:
        assert f"{name} ({BUILTINS[name].__name__})" in line


def test_the_tree_in_the_docstring_lists_nothing_else():
    listed = set(re.findall(r"── (\w+)", errors.__doc__))
    assert listed == set(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_each_error_is_public_and_has_words(name):
    assert getattr(maxmargin, name) is CLASSES[name]
    assert CLASSES[name].__doc__


@pytest.mark.parametrize("name", CLASSES)
def test_each_error_survives_pickling(name):
    twin = pickle.loads(pickle.dumps(CLASSES[name]("what came, what was wanted")))
    assert type(twin) is CLASSES[name]
    assert str(twin) == "what came, what was wanted"


def test_a_proof_travels_with_its_error():
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    twin = pickle.loads(pickle.dumps(caught.value))
    assert str(twin) == str(caught.value)
    assert twin.witness.check()
    np.testing.assert_array_equal(twin.witness.weights, caught.value.witness.weights)
    assert twin.witness.exact == caught.value.witness.exact


def test_what_is_undecided_travels_with_its_error():
    twin = pickle.loads(pickle.dumps(UndecidedError("too close", Undecided(1e-12, 3.0))))
    assert (twin.verdict.margin_bound, twin.verdict.scale) == (1e-12, 3.0)
    assert NotSeparableError("no").witness is None
    assert UndecidedError("no").verdict is None


def test_the_one_warning_is_no_error():
    assert issubclass(ConvergenceWarning, UserWarning)
    assert not issubclass(ConvergenceWarning, errors.MaxMarginError)
    assert "ConvergenceWarning" in errors.__doc__
