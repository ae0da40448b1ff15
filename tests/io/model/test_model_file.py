"""Model files: what was saved is what is loaded, and nothing is lost, run or half written."""

import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import maxmargin
from maxmargin import (
    SVC,
    HardMarginSVC,
    InvalidInputError,
    LinearSVC,
    ModelFileError,
    NotSupportedError,
    PegasosSVC,
    Perceptron,
    certify,
    load,
    save,
)
from maxmargin.io._model.parameters import decode_estimator, encode
from maxmargin.kernels import Custom, Expansion, FeatureMap, interactions
from tests.io.models import MAKERS, model, new_samples, samples

VERSION_1 = Path(__file__).parents[2] / "data" / "version_1"
LEFT_OUT = {"witness_"}


def is_same(a, b):
    """Whether two attributes are the same in value and type."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.flags.f_contiguous == b.flags.f_contiguous and np.array_equal(a, b)
    if sp.issparse(a):
        return all(is_same(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr", "shape"))
    if isinstance(a, list | tuple):
        same_worst = getattr(a, "worst", None) == getattr(b, "worst", None)
        return same_worst and len(a) == len(b) and all(is_same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Expansion):
        return a == b
    if hasattr(a, "__dataclass_fields__"):
        return all(is_same(getattr(a, name), getattr(b, name)) for name in a.__dataclass_fields__)
    if isinstance(a, float) and np.isnan(a):
        return np.isnan(b)
    return a == b


def round_trip(fitted, folder):
    save(fitted, folder / "model.maxmargin")
    return load(folder / "model.maxmargin")


@pytest.mark.parametrize("name", MAKERS)
def test_a_loaded_model_has_every_attribute_of_the_saved_one(name, tmp_path):
    fitted, twin = model(name), round_trip(model(name), tmp_path)
    assert type(twin) is type(fitted)
    assert set(vars(twin)) == set(vars(fitted)) - LEFT_OUT
    for attribute, value in vars(fitted).items():
        if attribute not in LEFT_OUT:
            assert is_same(value, getattr(twin, attribute)), attribute


@pytest.mark.parametrize("name", MAKERS)
def test_a_loaded_model_answers_bit_for_bit(name, tmp_path):
    fitted, twin = model(name), round_trip(model(name), tmp_path)
    for dtype in (np.float64, np.float32):
        X = new_samples(fitted).astype(dtype)
        np.testing.assert_array_equal(twin.decision_function(X), fitted.decision_function(X))
        np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
        assert twin.predict(X).dtype == fitted.predict(X).dtype
    if hasattr(fitted, "certified_predictions"):
        assert is_same(twin.certified_predictions(X), fitted.certified_predictions(X))


@pytest.mark.parametrize("name", MAKERS)
def test_a_loaded_model_can_be_saved_pickled_and_cloned_again(name, tmp_path):
    twin = round_trip(model(name), tmp_path)
    first = (tmp_path / "model.maxmargin").read_bytes()
    save(twin, tmp_path / "again.maxmargin")
    assert (tmp_path / "again.maxmargin").read_bytes() == first
    X = new_samples(twin)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(twin)).predict(X), twin.predict(X))
    assert repr(clone(twin)) == repr(clone(model(name)))


def test_a_loaded_model_can_be_certified_again(tmp_path):
    X, y = samples(2)
    for fitted in (
        model("svc_hard"),
        SVC().fit(X, y),
        LinearSVC().fit(X, y),
        HardMarginSVC(gamma=2.0, kernel="rbf").fit(X, y),
    ):
        twin = round_trip(fitted, tmp_path)
        assert certify(twin, X, y) == certify(fitted, X, y)


def test_a_stream_goes_on_where_it_was(tmp_path):
    X, y = samples(3, 40, seed=4)
    twin = round_trip(model("pegasos_stream"), tmp_path)
    other = pickle.loads(pickle.dumps(model("pegasos_stream")))
    np.testing.assert_array_equal(twin.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-3, 7], dtype=np.int16),
        np.array([1, 2], dtype=np.uint64),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array(["no", "größer"]),
        np.array(["no", "yes"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_every_kind_are_kept(labels, tmp_path):
    X, y = samples(2)
    fitted = LinearSVC().fit(X, labels[y])
    assert is_same(round_trip(fitted, tmp_path).classes_, fitted.classes_)


def test_names_of_features_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = samples(2)
    fitted = LinearSVC().fit(pd.DataFrame(X, columns=["a", "b", "ç"]), y)
    assert is_same(round_trip(fitted, tmp_path).feature_names_in_, fitted.feature_names_in_)


def test_every_parameter_of_every_estimator_has_a_check():
    for kind in (SVC, LinearSVC, HardMarginSVC, PegasosSVC, Perceptron):
        for name, value in kind().get_params().items():
            decode_estimator(kind, {name: encode(name, value)})
            with pytest.raises(ModelFileError):
                decode_estimator(kind, {name: "neither"})


@pytest.mark.parametrize(
    ("fitted", "reason"),
    [
        (lambda X, y: SVC(kernel=lambda A, B: A @ B.T).fit(X, y), "is code"),
        (lambda X, y: SVC(kernel=Custom(np.dot, pairwise=True)).fit(X, y), "Python function"),
        (lambda X, y: HardMarginSVC(kernel=FeatureMap(interactions)).fit(X, y), "Polynomial"),
        (lambda X, y: LinearSVC(random_state=np.random.RandomState(0)).fit(X, y), "random_state"),
        (lambda X, y: LogisticRegression().fit(X, y), "LogisticRegression"),
        (lambda X, y: type("Mine", (SVC,), {})().fit(X, y), "Mine"),
    ],
)
def test_what_is_code_is_refused_with_a_reason(fitted, reason, tmp_path):
    with pytest.raises(NotSupportedError, match=reason):
        save(fitted(*samples(2)), tmp_path / "a.maxmargin")
    assert os.listdir(tmp_path) == []


def test_a_model_without_a_fit_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save(SVC(), tmp_path / "a.maxmargin")


def test_a_model_that_was_tampered_with_is_not_saved(tmp_path):
    fitted = SVC().fit(*samples(2))
    fitted.n_support_ = fitted.n_support_ + 1
    with pytest.raises(InvalidInputError, match="n_support"):
        save(fitted, tmp_path / "a.maxmargin")
    fitted = SVC().fit(*samples(2)).set_params(tol="tight")
    with pytest.raises(InvalidInputError, match="tol"):
        save(fitted, tmp_path / "a.maxmargin")
    assert os.listdir(tmp_path) == []


def test_an_error_leaves_the_old_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.maxmargin"
    save(model("linear"), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("maxmargin.io._model_files.write_archive", full)
    with pytest.raises(InvalidInputError, match="No space left"):
        save(model("pegasos"), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.maxmargin"]


def test_the_file_that_a_link_names_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a.maxmargin")
    save(model("linear"), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "a.maxmargin").n_features_in_ == 3


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="nowhere"):
        save(model("linear"), tmp_path / "nowhere" / "a.maxmargin")


def test_a_new_file_is_as_readable_as_any_other_and_an_old_one_keeps_its_mode(tmp_path):
    (tmp_path / "plain").write_text("")
    save(model("linear"), tmp_path / "a.maxmargin")
    assert (tmp_path / "a.maxmargin").stat().st_mode == (tmp_path / "plain").stat().st_mode
    os.chmod(tmp_path / "a.maxmargin", 0o600)
    save(model("linear"), tmp_path / "a.maxmargin")
    assert (tmp_path / "a.maxmargin").stat().st_mode & 0o777 == 0o600


def test_the_file_is_an_ordinary_zip_of_ordinary_arrays(tmp_path):
    save(model("svc_rbf_3"), tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.testzip() is None
        header = json.loads(archive.read("header.json"))
        assert set(archive.namelist()) == {"header.json"} | {f"{name}.npy" for name in header["arrays"]}
    arrays = np.load(tmp_path / "a.zip", allow_pickle=False)
    np.testing.assert_array_equal(arrays["dual_coef"], model("svc_rbf_3").dual_coef_)


def test_the_ten_lines_of_the_documentation_predict_the_same(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "model_files.md").read_text(encoding="utf-8")
    code = page.partition("```python\n# ten lines")[2].partition("```")[0].partition("\n")[2]
    assert len([line for line in code.splitlines() if line]) == 10
    fitted = model("svc_rbf")
    save(fitted, tmp_path / "model.maxmargin")
    X = new_samples(fitted)
    names = {"path": tmp_path / "model.maxmargin", "X": X}
    exec(code, names)
    np.testing.assert_array_equal(names["labels"], fitted.predict(X))
    np.testing.assert_allclose(names["F"], fitted.decision_function(X), rtol=1e-10, atol=1e-12)
    assert "maxmargin" not in code.replace("model.maxmargin", "")


@pytest.mark.parametrize("name", MAKERS)
def test_files_of_version_1_stay_readable(name):
    expected = json.loads((VERSION_1 / "expected.json").read_text(encoding="utf-8"))[name]
    twin, X = load(VERSION_1 / f"{name}.maxmargin"), np.array(expected["X"])
    np.testing.assert_allclose(twin.decision_function(X), expected["decisions"], rtol=1e-6, atol=1e-7)
    assert twin.predict(X).tolist() == expected["labels"]


def test_files_of_version_1_know_no_training_data_and_their_certificates_have_the_goal_of_the_fit():
    for name in MAKERS:
        twin = load(VERSION_1 / f"{name}.maxmargin")
        assert not hasattr(twin, "fingerprint_")
        for certificate in np.ravel([getattr(twin, "certificate_", ())]):
            assert certificate.tol == twin.tol
            assert not certificate.is_certified  # its gap was computed without a bound of the rounding
            assert str(certificate).startswith("Not certified" if certificate.convex else "Stationary")


def test_an_old_model_asks_whether_these_are_the_training_rows(tmp_path):
    X, y = samples(2)
    twin = round_trip(SVC(C=3).fit(X, y), tmp_path)
    assert certify(twin, X, y).data is None
    del twin.fingerprint_
    old = round_trip(twin, tmp_path)
    assert not hasattr(old, "fingerprint_")
    order = np.random.default_rng(0).permutation(len(y))
    judged = certify(old, X[order], np.asarray(y)[order])
    assert "Not certified: the gap is" in str(judged)
    assert "Are these the training rows, in their order? If so," in str(judged)


def test_the_version_of_the_format_is_the_newest_with_files_here():
    from maxmargin.io._model_files import VERSION

    assert (VERSION_1.parent / f"version_{VERSION}").is_dir()
    assert maxmargin.io.FORMATS[0] == "maxmargin"
