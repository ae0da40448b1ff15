"""ONNX: onnxruntime gives our labels and decisions."""

import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from maxmargin import SVC, InvalidInputError, LinearSVC, MissingExtraError, NotSupportedError, PegasosSVC, export
from maxmargin.kernels import FeatureMap, interactions
from tests.io.models import MAKERS, model, new_samples, samples


def run(fitted, X, folder):
    """(labels, scores) by onnxruntime."""
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'maxmargin[onnx]'")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'maxmargin[onnx]'")
    export(fitted, folder / "a.onnx")
    session = runtime.InferenceSession(str(folder / "a.onnx"), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["label", "scores"]
    return session.run(None, {"X": np.asarray(X, dtype=np.float64)})


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "perceptron_voted"])
def test_onnxruntime_decides_as_we_do(name, tmp_path):
    fitted = model(name)
    X = new_samples(fitted, 300)
    labels, scores = run(fitted, X, tmp_path)
    np.testing.assert_array_equal(labels, fitted.predict(X))
    expected = fitted.decision_function(X)
    assert scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_votes_are_counted_as_here(kernel, shape, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(5, size=60)  # nothing to learn: many ties
    fitted = SVC(kernel=kernel, degree=0 if kernel == "poly" else 3, decision_function_shape=shape).fit(X, y)
    T = rng.normal(size=(500, 3))
    labels, scores = run(fitted, T, tmp_path)
    np.testing.assert_array_equal(labels, fitted.predict(T))
    np.testing.assert_allclose(scores, fitted.decision_function(T), rtol=1e-9, atol=1e-9)


def test_ties_are_broken_as_asked(tmp_path):
    rng = np.random.default_rng(1)
    fitted = SVC(break_ties=True).fit(rng.normal(size=(60, 3)), rng.integers(4, size=60))
    T = rng.normal(size=(500, 3))
    np.testing.assert_array_equal(run(fitted, T, tmp_path)[0], fitted.predict(T))
    assert (fitted.predict(T) != fitted.set_params(break_ties=False).predict(T)).any()


def test_a_decision_of_zero_is_the_first_class(tmp_path):
    fitted = LinearSVC(fit_intercept=False).fit([[-1.0], [1.0]], ["left", "right"])
    labels, scores = run(fitted, [[0.0], [1.0]], tmp_path)
    assert labels.tolist() == ["left", "right"]
    assert scores[0] == 0.0


def test_labels_of_every_kind_come_out(tmp_path):
    X, y = samples(2)
    for classes in (
        np.array([False, True]),
        np.array([2, 5], dtype=np.int8),
        np.array([1.0, 2.0]),
        np.array(["ä", "b"]),
    ):
        labels, _ = run(LinearSVC().fit(X, classes[y]), X, tmp_path)
        np.testing.assert_array_equal(labels, LinearSVC().fit(X, classes[y]).predict(X))


@pytest.mark.parametrize("fitted", [SVC(), SVC(kernel="poly"), LinearSVC()], ids=repr)
@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 1)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        make_pipeline(MaxAbsScaler(), "passthrough", RobustScaler()),
    ],
    ids=repr,
)
def test_scalers_before_the_model_are_part_of_it(scaler, fitted, tmp_path):
    X, y = samples(3)
    X = X * [1.0, 100.0, 0.01] + [0.0, 1e4, 0.0]
    whole = make_pipeline(scaler, fitted).fit(X, y)
    labels, scores = run(whole, X, tmp_path)
    np.testing.assert_array_equal(labels, whole.predict(X))
    np.testing.assert_allclose(scores, whole.decision_function(X), rtol=1e-9, atol=1e-9)


def test_steps_that_are_not_affine_are_refused_by_name(tmp_path):
    pytest.importorskip("onnx")
    X, y = samples(2)
    for step in (PCA(), Normalizer(), MinMaxScaler(clip=True), FunctionTransformer(np.abs)):
        with pytest.raises(NotSupportedError, match=rf"not {type(step).__name__}\(.*save\(\)"):
            export(make_pipeline(step, SVC()).fit(X, y), tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_what_the_format_cannot_hold_is_refused(tmp_path):
    pytest.importorskip("onnx")
    with pytest.raises(NotSupportedError, match="voted"):
        export(model("perceptron_voted"), tmp_path / "a.onnx")
    with pytest.raises(NotSupportedError, match="Python function"):
        export(PegasosSVC(kernel=FeatureMap(interactions), n_epochs=1, tol=None).fit(*samples(2)), tmp_path / "a.onnx")
    with pytest.raises(NotSupportedError, match="str"):
        export("a model", tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_without_onnx_the_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"maxmargin\[onnx\]"):
        export(model("linear"), tmp_path / "a.onnx")


def test_a_suffix_that_says_nothing_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"\.onnx"):
        export(model("linear"), tmp_path / "a.bin")
    with pytest.raises(InvalidInputError, match="format must be"):
        export(model("linear"), tmp_path / "a.bin", format="word")
    export(model("linear"), tmp_path / "a.bin", format="maxmargin")
    assert (tmp_path / "a.bin").read_bytes().startswith(b"PK")
