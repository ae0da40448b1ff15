import numpy as np
import pytest

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import RBF, Custom, Linear, Polynomial, Precomputed, Sigmoid, kernel_from_name


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("linear", Linear()),
        ("poly", Polynomial(2, 0.5, 1.0)),
        ("rbf", RBF(0.5)),
        ("sigmoid", Sigmoid(0.5, 1.0)),
        ("precomputed", Precomputed()),
        (np.dot, Custom(np.dot)),
    ],
)
def test_names_and_functions_become_kernels(name, kernel):
    assert kernel_from_name(name, degree=2, gamma=0.5, coef0=1.0) == kernel


def test_a_kernel_is_returned_as_it_is():
    kernel = RBF(3.0)
    assert kernel_from_name(kernel, degree=2, gamma=0.5, coef0=1.0) is kernel


@pytest.mark.parametrize("name", ["gaussian", "", None, 3])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(InvalidInputError, match="'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'"):
        kernel_from_name(name, degree=3, gamma="scale", coef0=0.0)


def test_a_class_in_the_place_of_an_object_is_refused():
    with pytest.raises(InvalidInputError, match=r"kernel=RBF\(\)"):
        kernel_from_name(RBF, degree=3, gamma="scale", coef0=0.0)
