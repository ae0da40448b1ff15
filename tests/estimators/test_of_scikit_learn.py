"""Tests that scikit-learn has of its `svm`, or that use it, run with our classes in their place.

Test files of the installed scikit-learn are executed while `sklearn.svm` has our classes. Each test is run with each of its
parameters, and counts if one of our classes was made or fitted in it. Those that fail stand in `DIFFERENT`, each with the reason.
"""

import functools
import importlib.util
import inspect
import itertools
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import sklearn
import sklearn.svm._bounds

import maxmargin

VERSION = "1.9."
"""The scikit-learn that the lists were made for; its tests change from version to version."""

OURS = {
    **{name: getattr(maxmargin, name) for name in ("SVC", "LinearSVC", "SVR", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM")},
    "l1_min_c": maxmargin.l1_min_c,
}


class Count(NamedTuple):
    """Cases of a file that pass, of those in which our classes take part."""

    passing: int
    total: int


OF_THE_CLASSES = {
    "svm/tests/test_svm.py": Count(86, 125),
    "svm/tests/test_sparse.py": Count(81, 158),
    "svm/tests/test_bounds.py": Count(0, 7),
}
"""Files about these classes."""

THAT_USE_THEM = {
    "ensemble/tests/test_bagging.py": Count(10, 10),
    "ensemble/tests/test_common.py": Count(2, 2),
    "ensemble/tests/test_forest.py": Count(1, 1),
    "ensemble/tests/test_stacking.py": Count(45, 45),
    "ensemble/tests/test_voting.py": Count(2, 2),
    "ensemble/tests/test_weight_boosting.py": Count(11, 11),
    "feature_extraction/tests/test_text.py": Count(3, 3),
    "feature_selection/tests/test_from_model.py": Count(1, 1),
    "feature_selection/tests/test_rfe.py": Count(33, 35),
    "linear_model/tests/test_common.py": Count(4, 4),
    "metrics/tests/test_classification.py": Count(15, 15),
    "metrics/tests/test_score_objects.py": Count(27, 27),
    "model_selection/tests/test_classification_threshold.py": Count(6, 6),
    "model_selection/tests/test_search.py": Count(46, 46),
    "model_selection/tests/test_split.py": Count(1, 1),
    "model_selection/tests/test_successive_halving.py": Count(3, 3),
    "model_selection/tests/test_validation.py": Count(21, 21),
    "semi_supervised/tests/test_self_training.py": Count(5, 5),
    "tests/test_base.py": Count(2, 3),
    "tests/test_calibration.py": Count(31, 31),
    "tests/test_multiclass.py": Count(43, 43),
    "tests/test_multioutput.py": Count(5, 5),
    "tests/test_pipeline.py": Count(4, 4),
    "utils/_repr_html/tests/test_estimator.py": Count(3, 3),
    "utils/tests/test_multiclass.py": Count(1, 1),
}
"""Files of searches, ensembles, calibration and so on."""

FILES = OF_THE_CLASSES | THAT_USE_THEM

LATER_PROBABILITIES = "probability=True comes with a later version; the error names CalibratedClassifierCV"
NEGATIVE = "a negative weight is refused: 0 leaves a sample out"
PRIVATE = "it sets a private attribute, which predictions do not read"
MORE = "it expects an error for what we solve"
EARLIER = "max_iter=1 or 2 is enough: our rounds do more, so that there is nothing to warn of"
FREE = "it begins with intercept_scaling == 1; ours is None, a free bias"
FREE_OF_REGRESSION = "LinearSVR leaves the bias free and chooses other features by its weights"
LAST_DIGITS = "it compares more digits than tol=1e-3 asks for: what is posed in two ways agrees within the proved gap"

DIFFERENT = {
    "svm/tests/test_svm.py": {
        "test_tweak_params": f"{PRIVATE}: _dual_coef_",
        "test_svc_raises_error_internal_representation": f"{PRIVATE}: _n_support",
        "test_probability": LATER_PROBABILITIES,
        "test_hasattr_predict_proba": LATER_PROBABILITIES,
        "test_probability_raises_futurewarning": LATER_PROBABILITIES,
        "test_svc_nusvc_probA_probB_deprecated": LATER_PROBABILITIES,
        "test_negative_sample_weights_mask_all_samples": "weights all 0: it wants LIBSVM's words, ours are scikit-learn's",
        "test_negative_weights_svc_leave_two_labels": NEGATIVE,
        "test_negative_weight_equal_coeffs": NEGATIVE,
        "test_bad_input": f"{MORE}: dense training data, sparse data to predict",
        "test_sparse_precomputed": f"{MORE}: a sparse Gram matrix",
        "test_linearsvc_parameters": f"{MORE}: every combination of loss, penalty and dual",
        "test_svc_nonfinite_params": "values whose squares overflow are refused before the fit, not after it, in other words",
        "test_dense_liblinear_intercept_handling": FREE,
        "test_libsvm_convergence_warnings": EARLIER,
        "test_linear_svm_convergence_warnings": EARLIER,
        "test_svr_errors": "its function is right for whole training sets only; ours is called for parts",
        "test_negative_weights_svc_leave_just_one_label": "it wants LIBSVM's words of NuSVC, ours are those of SVC",
        "test_svm_with_infinite_C": "SVR and NuSVR have no hard tube: a finite C is needed",
        "test_custom_kernel_not_array_input": "its function is right for whole training sets only; ours is called for parts",
    },
    "svm/tests/test_sparse.py": {
        "test_svc": LATER_PROBABILITIES,
        "test_unsorted_indices": LATER_PROBABILITIES,
        "test_sparse_svc_clone_with_callable_kernel": LATER_PROBABILITIES,
        "test_svc_iris": LAST_DIGITS,
        "test_sparse_oneclasssvm": LAST_DIGITS,
        "test_sparse_liblinear_intercept_handling": FREE,
        "test_timeout": EARLIER,
    },
    "svm/tests/test_bounds.py": {
        "test_l1_min_c": "a scaling of no intercept is refused; with one, ours says where a feature enters, not the bias",
        "test_ill_posed_min_c": f"{MORE}: where no feature ever enters, the answer is ∞",
    },
    "feature_selection/tests/test_rfe.py": {"test_rfe_wrapped_estimator": FREE_OF_REGRESSION},
    "tests/test_base.py": {"test_conditional_attrs_not_in_dir": LATER_PROBABILITIES},
}
"""Tests that fail, and why."""

SOME = {
    "test_linearsvc_parameters": (0, 1, 4, 6),
    "test_negative_sample_weights_mask_all_samples": (0, 1, 2, 3, 4),
    "test_negative_weights_svc_leave_just_one_label": (1, 3),
    "test_negative_weights_svc_leave_two_labels": (0, 1),
    "test_negative_weight_equal_coeffs": (0, 1, 2),
    "test_svm_with_infinite_C": (1, 3),
    "test_svc_iris": (4, 5),
    "test_rfe_wrapped_estimator": (2, 3),
    "test_sparse_oneclasssvm": (11, 27, 43, 59),
}
"""Which cases of a test fail, where not all do in which our classes take part."""

SLOW = {
    "ensemble/tests/test_bagging.py": {
        "test_oob_score_classification": 1,
        "test_parallel_classification": 1,
        "test_classification": 1,
    },
    "ensemble/tests/test_common.py": {"test_ensemble_heterogeneous_estimators_behavior": 2},
    "ensemble/tests/test_stacking.py": {
        "test_stacking_classifier_iris": 8,
        "test_stacking_classifier_sparse_passthrough": 6,
        "test_stacking_classifier_stratify_default": 1,
        "test_stacking_classifier_drop_column_binary_classification": 1,
        "test_stacking_with_sample_weight": 1,
        "test_stacking_randomness": 1,
        "test_stacking_cv_influence": 1,
        "test_get_feature_names_out": 4,
    },
    "feature_selection/tests/test_rfe.py": {
        "test_rfecv": 2,
        "test_rfe_cv_n_jobs": 1,
        "test_rfecv_verbose_output": 1,
        "test_rfecv_std_and_mean": 1,
    },
    "model_selection/tests/test_classification_threshold.py": {"test_threshold_classifier_estimator_response_methods": 6},
    "model_selection/tests/test_search.py": {"test_grid_search_sparse": 2, "test_grid_search_sparse_scoring": 2},
    "model_selection/tests/test_validation.py": {
        "test_permutation_score": 2,
        "test_cross_val_predict_decision_function_shape": 1,
        "test_cross_validate": 4,
        "test_cross_validate_many_jobs": 1,
    },
    "tests/test_calibration.py": {"test_calibration_multiclass": 8},
}
"""How many cases the tests have that take long; ``python -m tests explore`` runs them."""


def path_of(file):
    return Path(sklearn.__file__).parent / file


needs_them = pytest.mark.skipif(
    not sklearn.__version__.startswith(VERSION) or not all(path_of(file).is_file() for file in FILES),
    reason=f"this scikit-learn is {sklearn.__version__} or came without its tests; the lists are made for those of {VERSION}x",
)


def put_in_place(patch, taken):
    """Give our classes the names of scikit-learn's, and note in `taken` when one is made or fitted."""
    for name, ours in OURS.items():
        patch.setattr(sklearn.svm, name, ours)
        if hasattr(sklearn.svm._bounds, name):
            patch.setattr(sklearn.svm._bounds, name, ours)
    kinds = [ours for ours in OURS.values() if inspect.isclass(ours)]
    for kind, name in itertools.product(kinds, ("__init__", "fit")):
        patch.setattr(kind, name, noted(getattr(kind, name), taken))


def noted(method, taken):
    @functools.wraps(method)
    def call(*args, **options):
        taken.append(method)
        return method(*args, **options)

    return call


def executed(file, patch):
    """A test file of scikit-learn as a module; what it imports was imported before, with scikit-learn's own classes."""
    path = path_of(file)
    for name in re.findall(r"^ *from (sklearn[\w.]*) import", path.read_text(encoding="utf-8"), re.MULTILINE):
        importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(f"of_scikit_learn_{'_'.join(Path(file).with_suffix('').parts)}", path)
    module = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, spec.name, module)  # what is pickled is looked up there
    put_in_place(patch, [])
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


def mentions(thing, module, seen):
    """Whether the source of a test, or of what it uses of its file, names one of our classes; data of the file count too."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return isinstance(thing, list | tuple | dict | sklearn.base.BaseEstimator) and names_us(repr(thing))
    if thing.__module__ != module.__name__:
        return thing in OURS.values()
    source = source_of(thing)
    used = {name for name in re.findall(r"\w+", source) if name in vars(module) and name not in seen}
    seen |= used
    return names_us(source) or any(mentions(vars(module)[name], module, seen) for name in used)


source_of = functools.cache(inspect.getsource)


def names_us(text):
    return re.search(rf"\b({'|'.join(OURS)})\b", text) is not None


def fixture(name, module, request):
    own = getattr(module, name, None)
    if own is not None:
        return own._get_wrapped_function()()
    return 0 if name == "global_random_seed" else request.getfixturevalue(name)


def outcomes(file, slow, request):
    """{(name, number of the case): the error, or None} of the tests of a file in which our classes take part."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        module = executed(file, patch)
        for name, function in [*vars(module).items()]:
            is_test = name.startswith("test_") and inspect.isfunction(function) and function.__module__ == module.__name__
            if not is_test or (name in SLOW.get(file, ())) is not slow or not mentions(function, module, {name}):
                continue
            marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
            for k, parts in enumerate(itertools.product(*map(list, map(given_by, marks)))):
                given = {key: value for part in parts for key, value in part.items()}
                took_part, error = ended(function, given, module, request)
                if took_part:
                    found[name, k] = error
    return found


def ended(function, given, module, request):
    """Whether our classes took part in a case, and its error."""
    parameters = inspect.signature(function).parameters.items()
    wanted = [name for name, value in parameters if value.default is value.empty and name not in given]
    taken = []
    with pytest.MonkeyPatch.context() as patch:
        put_in_place(patch, taken)
        try:
            function(**given, **{name: fixture(name, module, request) for name in wanted})
        except (Exception, pytest.fail.Exception) as error:
            return bool(taken), error
    return bool(taken), None


def is_listed(file, name, k):
    return name in DIFFERENT.get(file, {}) and k in SOME.get(name, (k,))


def check(file, slow, request):
    """Compare how the cases of a file end with what the lists say."""
    found = outcomes(file, slow, request)
    assert {key: error for key, error in found.items() if (error is not None) is not is_listed(file, *key)} == {}
    lasting, different = SLOW.get(file, {}), set(DIFFERENT.get(file, {}))
    assert {name for name, k in found if is_listed(file, name, k)} == {name for name in different if (name in lasting) is slow}
    total = sum(lasting.values())
    passing = sum(cases for name, cases in lasting.items() if name not in different)
    expected = Count(passing, total) if slow else Count(FILES[file].passing - passing, FILES[file].total - total)
    assert Count(sum(error is None for error in found.values()), len(found)) == expected


@needs_them
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("file", FILES)
def test_the_tests_of_a_file_pass_or_are_listed(file, request):
    check(file, False, request)


@needs_them
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "explore", reason="slow; python -m tests explore runs it")
@pytest.mark.parametrize("file", SLOW)
def test_the_slow_tests_of_a_file_pass_or_are_listed(file, request):
    check(file, True, request)


def test_the_page_says_how_many_pass():
    page = (Path(__file__).parents[2] / "docs" / "from_scikit_learn.md").read_text(encoding="utf-8")
    for files in (OF_THE_CLASSES, THAT_USE_THEM):
        passing, total = (sum(numbers) for numbers in zip(*files.values(), strict=True))
        assert f"{passing} of {total}" in page


def test_what_is_listed_has_a_file():
    assert set(DIFFERENT) | set(SLOW) <= set(FILES)
    assert set(SOME) <= {name for names in DIFFERENT.values() for name in names}
