"""Tests that scikit-learn has of its `SVC` and `LinearSVC`, run with ours in their place.

Test files of the installed scikit-learn are executed while `sklearn.svm` has our classes. Each test that uses one of them is run,
with each of its parameters. Two fifths of them expect what we do not do, and stand in `DIFFERENT`, each with the reason.
"""

import importlib.util
import inspect
import itertools
import re
import sys
import types
from collections import Counter
from pathlib import Path

import pytest
import sklearn
import sklearn.svm

import maxmargin

VERSION = "1.9."
"""The scikit-learn that the list was made for; its tests change from version to version."""

OURS = {"SVC": maxmargin.SVC, "LinearSVC": maxmargin.LinearSVC}

ABOUT_US = ("svm/tests/test_svm.py",)
LATER_PROBABILITIES = "probability=True comes with a later version; the error names CalibratedClassifierCV"
LATER_CRAMMER_SINGER = "multi_class='crammer_singer' comes with a later version"
NEGATIVE = "a negative weight is refused: 0 leaves a sample out"
PRIVATE = "it reads or sets a private attribute"
MORE = "it expects an error for what we solve"

DIFFERENT = {
    "test_tweak_params": f"{PRIVATE}: _dual_coef_",
    "test_gamma_scale": f"{PRIVATE}: _gamma; here kernel_.gamma",
    "test_svc_raises_error_internal_representation": f"{PRIVATE}: _n_support",
    "test_probability": LATER_PROBABILITIES,
    "test_hasattr_predict_proba": LATER_PROBABILITIES,
    "test_probability_raises_futurewarning": LATER_PROBABILITIES,
    "test_svc_nusvc_probA_probB_deprecated": LATER_PROBABILITIES,
    "test_linearsvc_crammer_singer": LATER_CRAMMER_SINGER,
    "test_crammer_singer_binary": LATER_CRAMMER_SINGER,
    "test_negative_sample_weights_mask_all_samples": "it wants LIBSVM's words; we raise the error too, in others",
    "test_negative_weights_svc_leave_just_one_label": NEGATIVE,
    "test_negative_weights_svc_leave_two_labels": NEGATIVE,
    "test_negative_weight_equal_coeffs": NEGATIVE,
    "test_bad_input": f"{MORE}: dense training data, sparse data to predict",
    "test_sparse_precomputed": f"{MORE}: a sparse Gram matrix",
    "test_linearsvc_parameters": f"{MORE}: every combination of loss, penalty and dual",
    "test_svc_nonfinite_params": "values whose squares overflow are refused before the fit, not after it, in other words",
    "test_dense_liblinear_intercept_handling": "it begins with intercept_scaling == 1; ours is None, a free bias",
    "test_libsvm_convergence_warnings": "max_iter=2 is enough: our rounds do more",
    "test_linear_svm_convergence_warnings": "max_iter=2 is enough: our rounds do more",
    "test_custom_kernel_not_array_input": "its function is right for whole training sets only; ours is called for parts",
}
"""Tests of `ABOUT_US` that fail, and why."""

SOME = {
    "test_linearsvc_parameters": (0, 1, 4, 6),
    "test_negative_weights_svc_leave_two_labels": (0,),
    "test_negative_weight_equal_coeffs": (0,),
}
"""Which cases of a test fail, where not all do."""


def executed(file):
    """A test file of scikit-learn as a module in which our classes have the names of its own."""
    stand_in = types.ModuleType("sklearn.svm")
    stand_in.__dict__.update(vars(sklearn.svm) | OURS)
    path = Path(sklearn.__file__).parent / file
    spec = importlib.util.spec_from_file_location(f"of_scikit_learn_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sklearn, "svm", stand_in)
        patch.setitem(sys.modules, "sklearn.svm", stand_in)
        spec.loader.exec_module(module)
    return module


def given_by(mark):
    """The arguments of each case of a ``parametrize``."""
    names = re.findall(r"\w+", mark.args[0]) if isinstance(mark.args[0], str) else mark.args[0]
    for value in mark.args[1]:
        if hasattr(value, "marks"):  # pytest.param
            yield dict(zip(names, value.values, strict=True))
        else:
            yield dict(zip(names, value if len(names) > 1 else (value,), strict=True))


def is_about_us(function, given):
    """Whether a test uses our classes; one that takes an estimator as a parameter uses that one."""
    kinds = {value if inspect.isclass(value) else type(value) for value in given.values()}
    estimators = {kind for kind in kinds if hasattr(kind, "fit")}
    if estimators:
        return bool(estimators & set(OURS.values()))
    return re.search(r"\b(SVC|LinearSVC)\b", inspect.getsource(function)) is not None


def cases(files):
    """(name, function, arguments) of each test of some files that uses our classes, with each of its parameters."""
    if not sklearn.__version__.startswith(VERSION) or not all((Path(sklearn.__file__).parent / file).is_file() for file in files):
        return
    for file in files:
        for name, function in vars(executed(file)).items():
            if name.startswith("test_") and inspect.isfunction(function):
                marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
                for parts in itertools.product(*map(list, map(given_by, marks))):
                    given = {key: value for part in parts for key, value in part.items()}
                    if is_about_us(function, given):
                        yield name, function, given


def numbered(files):
    """The cases as parameters of a test, with how many of the same function came before."""
    seen = Counter()
    for name, function, given in cases(files):
        yield pytest.param(function, given, seen[name], id=f"{name}-{seen[name]}" if given else name)
        seen[name] += 1


def is_listed(name, k):
    return name in DIFFERENT and k in SOME.get(name, (k,))


def run(function, given, request):
    wanted = [name for name, value in inspect.signature(function).parameters.items() if value.default is value.empty]
    fixtures = {
        name: 0 if name == "global_random_seed" else request.getfixturevalue(name) for name in wanted if name not in given
    }
    function(**given, **fixtures)


OF_US = list(numbered(ABOUT_US))

needs_them = pytest.mark.skipif(
    not OF_US,
    reason=f"this scikit-learn is {sklearn.__version__} or came without its tests; the list is made for those of {VERSION}x",
)


@needs_them
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "given", "k"), OF_US)
def test_a_test_of_these_classes_passes_or_is_listed(function, given, k, request):
    if is_listed(function.__name__, k):
        with pytest.raises((Exception, pytest.fail.Exception)):
            run(function, given, request)
    else:
        run(function, given, request)


@needs_them
def test_no_listed_name_is_stale():
    ours = [(parameters.values[0].__name__, parameters.values[2]) for parameters in OF_US]
    different = [one for one in ours if is_listed(*one)]
    assert len(ours) >= 70
    assert {name for name, _ in different} == set(DIFFERENT)
    assert all((name, k) in ours for name, numbers in SOME.items() for k in numbers)
