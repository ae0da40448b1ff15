"""Steps of a Pipeline in a model file: a loaded pipeline takes raw samples, and answers as the saved one did."""

import json
import os
import subprocess
import sys
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

from maxmargin import SVC, LinearSVC, ModelFileError, NotSupportedError, load, save
from maxmargin.io._model.archive import describe, read_archive, read_array, write_archive
from maxmargin.io._model.steps import FITTED, MODULES, parts
from tests.io.pipelines import LABELS, NAMES, WHOLE, counts, holes, numbers, pipeline, rows, texts, words

VERSION_2 = Path(__file__).parents[2] / "data" / "version_2"


def round_trip(fitted, folder):
    save(fitted, folder / "model.maxmargin")
    return load(folder / "model.maxmargin")


def learned(step):
    """The public attributes that a step has learned."""
    return {name: value for name, value in vars(step).items() if name.endswith("_") and not name.startswith("_")}


def is_same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(is_same(one, other) for one, other in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and a.dtype.kind != "O":
        return a.dtype == np.asarray(b).dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(np.all(a == b))


def leaves(step):
    """Fitted steps without steps of their own."""
    inner = getattr(step, "transformers_", None) or getattr(step, "transformer_list", None)
    if inner is None:
        return [leaf for each in parts(step)[:-1] for leaf in leaves(each)] if isinstance(step, Pipeline) else [step]
    return [leaf for _, child, *_ in inner if not isinstance(child, str) for each in parts(child) for leaf in leaves(each)]


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_pipeline_answers_bit_for_bit(name, tmp_path):
    fitted, X = pipeline(name), rows(name)
    twin = round_trip(fitted, tmp_path)
    np.testing.assert_array_equal(twin.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
    assert isinstance(twin, Pipeline) == (name not in ("search_alone", "search_ours"))


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_step_has_the_parameters_of_the_saved_one_and_what_it_has_learned(name, tmp_path):
    twin, fitted = round_trip(pipeline(name), tmp_path), pipeline(name)
    fitted = getattr(fitted, "best_estimator_", fitted)
    for step, other in zip(leaves(fitted), leaves(twin), strict=True):
        assert type(step) is type(other)
        assert repr(step.get_params()) == repr(other.get_params())
        found = learned(other)
        assert set(found) == set(learned(step))
        for attribute, value in learned(step).items():
            if attribute in ("statistics_", "n_samples_seen_") and np.asarray(found[attribute]).dtype.kind == "f":
                value = np.asarray(value, dtype=float)  # whole numbers, and Python's, come back as float64
            assert is_same(value, found[attribute]), attribute


@pytest.mark.parametrize("name", ["columns", "columns_some", "one_hot", "pca", "standard", "tfidf", "union", "words"])
def test_loaded_steps_name_their_features(name, tmp_path):
    fitted, twin = pipeline(name)[:-1], round_trip(pipeline(name), tmp_path)[:-1]
    assert twin.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_pipeline_can_be_saved_again(name, tmp_path):
    twin = round_trip(pipeline(name), tmp_path)
    first = (tmp_path / "model.maxmargin").read_bytes()
    save(twin, tmp_path / "again.maxmargin")
    assert (tmp_path / "again.maxmargin").read_bytes() == first


def test_every_step_that_can_be_kept_is_tested():
    def kinds(said):
        if isinstance(said, dict):
            yield from [said["type"]] if "parameters" in said else []
            said = list(said.values())
        for each in said if isinstance(said, list) else []:
            yield from kinds(each)

    found = set()
    for name in NAMES:
        fitted = pipeline(name)
        found |= {type(step).__name__ for step in leaves(getattr(fitted, "best_estimator_", fitted))}
    assert found - {"SVC", "LinearSVC"} == set(MODULES) - {"Pipeline", "FeatureUnion", "ColumnTransformer"}
    assert {"union", "columns", "nested"} <= set(NAMES)
    assert sum(map(len, FITTED.values())) == len(MODULES)


READ = """
import pathlib, sys
import numpy as np
from maxmargin import load
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.maxmargin")):
    X, expected = (np.load(path.with_suffix(end), allow_pickle=True) for end in (".rows.npy", ".values.npy"))
    found = load(path).decision_function(X.tolist() if X.ndim == 1 else X)
    print(path.stem, np.abs(found - expected).max() <= 1e-12)
"""


def test_a_fresh_process_reads_every_pipeline(tmp_path):
    for name in NAMES:
        save(pipeline(name), tmp_path / f"{name}.maxmargin")
        np.save(tmp_path / f"{name}.rows.npy", rows(name))
        np.save(tmp_path / f"{name}.values.npy", pipeline(name).decision_function(rows(name)))
    command = [sys.executable, "-W", "ignore", "-c", READ, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "MAXMARGIN_QUIET": "1"})
    assert done.stdout.split() == [word for name in sorted(NAMES) for word in (name, "True")]


@pytest.mark.parametrize("name", sorted(path.stem for path in VERSION_2.glob("*.maxmargin")))
def test_files_of_version_2_stay_readable(name):
    said = json.loads((VERSION_2 / "expected.json").read_text(encoding="utf-8"))[name]
    X = np.array(said["X"], dtype=object if said["is_object"] else None)
    X = X.tolist() if X.ndim == 1 else X
    twin = load(VERSION_2 / f"{name}.maxmargin")
    np.testing.assert_allclose(twin.decision_function(X), said["decisions"], rtol=1e-9, atol=1e-9)
    assert twin.predict(X).tolist() == said["labels"]


def test_a_model_without_steps_is_a_file_that_older_readers_read(tmp_path):
    save(pipeline("search_alone"), tmp_path / "model.maxmargin")
    assert opened(tmp_path)[0]["version"] == 1
    save(pipeline("standard"), tmp_path / "model.maxmargin")
    assert opened(tmp_path)[0]["version"] == 2


def test_an_older_reader_says_that_it_is_too_old(tmp_path, monkeypatch):
    save(pipeline("standard"), tmp_path / "model.maxmargin")
    monkeypatch.setattr("maxmargin.io._model_files.VERSION", 1)
    with pytest.raises(ModelFileError, match="Install a newer maxmargin"):
        load(tmp_path / "model.maxmargin")


def test_tables_are_read_by_the_names_of_their_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(numbers(), columns=["long", "large", "small"]).assign(kind=words()[:, 0].astype(str), text=texts())
    frame["kind"] = frame["kind"].astype(object)
    steps = [
        ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
        ("kind", OneHotEncoder(), ["kind"]),
        ("text", TfidfVectorizer(), "text"),
    ]
    fitted = make_pipeline(ColumnTransformer(steps), SVC()).fit(frame, LABELS)
    twin = round_trip(fitted, tmp_path)
    shuffled = frame[frame.columns[::-1]].assign(more=1)
    np.testing.assert_array_equal(twin.decision_function(shuffled), fitted.decision_function(frame))
    assert twin.feature_names_in_.tolist() == frame.columns.tolist()


def test_steps_that_make_frames_go_on_making_them(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(numbers(), columns=["long", "large", "small"])
    fitted = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC()).fit(frame, LABELS)
    twin = round_trip(fitted, tmp_path)
    assert isinstance(twin[0].transform(frame), pd.DataFrame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(twin.decision_function(frame), fitted.decision_function(frame))


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_an_imputer_may_drop_columns(tmp_path):
    X = np.c_[np.full(len(LABELS), np.nan), holes()]
    fitted = make_pipeline(SimpleImputer(), StandardScaler(), SVC()).fit(X, LABELS)
    np.testing.assert_array_equal(round_trip(fitted, tmp_path).decision_function(X), fitted.decision_function(X))


def test_sparse_samples_pass(tmp_path):
    X = sp.csr_array(counts())
    fitted = make_pipeline(StandardScaler(with_mean=False), LinearSVC()).fit(X, LABELS)
    np.testing.assert_array_equal(round_trip(fitted, tmp_path).decision_function(X), fitted.decision_function(X))


class OwnScaler(StandardScaler):
    """Of the user: code."""


@pytest.mark.parametrize(
    ("step", "data", "reason"),
    [
        (OwnScaler(), numbers, r"'own', .*\.OwnScaler, cannot be kept.*StandardScaler"),
        (PolynomialFeatures(), numbers, "PolynomialFeatures.*before the pipeline"),
        (FunctionTransformer(np.abs), numbers, "own__func=<ufunc 'absolute'> is a function"),
        (FunctionTransformer(lambda X: X), numbers, "own__func=<function"),
        (CountVectorizer(tokenizer=str.split, token_pattern=None), texts, "own__tokenizer="),
        (CountVectorizer(analyzer=str.split), texts, "own__analyzer="),
        (CountVectorizer(token_pattern=r"(\w+)"), texts, r"'own' cannot be kept.*has a group"),
        (FunctionTransformer(inv_kw_args={"a": 1, "b": "c"}), numbers, "own__inv_kw_args="),
        (OneHotEncoder(min_frequency=2), words, "min_frequency=2 where only None"),
        (SimpleImputer(add_indicator=True), holes, "add_indicator=True where only False"),
        (StandardScaler().set_params(copy=np.ones((2, 2))), None, "own__copy="),
    ],
)
def test_a_step_that_is_code_or_unknown_is_refused_by_name(step, data, reason, tmp_path):
    fitted = Pipeline([("own", step), ("svc", SVC())])
    if data is None:  # a parameter that became something else after the fit
        fitted.set_params(own__copy=True).fit(numbers(), LABELS).set_params(own__copy=np.ones((2, 2)))
    else:
        fitted.fit(data(), LABELS)
    with pytest.raises(NotSupportedError, match=reason):
        save(fitted, tmp_path / "a.maxmargin")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("last", "name"),
    [
        (LogisticRegression(), "LogisticRegression"),
        (CalibratedClassifierCV(SVC(), cv=2), "CalibratedClassifierCV"),
        (GridSearchCV(SVC(), {"C": [1.0]}, cv=2, refit=False, scoring="accuracy"), "GridSearchCV"),
    ],
)
def test_a_pipeline_with_a_last_step_that_is_not_ours_is_refused_by_name(last, name, tmp_path):
    fitted = make_pipeline(StandardScaler(), last).fit(numbers(), LABELS)
    with pytest.raises(NotSupportedError, match=f"not {name}.*a Pipeline that ends with it"):
        save(fitted, tmp_path / "a.maxmargin")


def test_half_a_character_is_refused(tmp_path):
    documents = [f"{text} half\ud800" for text in texts()]
    fitted = make_pipeline(CountVectorizer(token_pattern=r"\S+"), LinearSVC()).fit(documents, LABELS)
    with pytest.raises(NotSupportedError, match="half a character"):
        save(fitted, tmp_path / "a.maxmargin")


def test_a_pipeline_without_a_fit_or_a_model_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save(make_pipeline(StandardScaler(), SVC()), tmp_path / "a.maxmargin")
    with pytest.raises(NotFittedError):
        save(make_pipeline(StandardScaler(), SVC().fit(numbers(), LABELS)), tmp_path / "a.maxmargin")
    for empty in (make_pipeline("passthrough"), make_pipeline(StandardScaler().fit(numbers()))):
        with pytest.raises(NotSupportedError):
            save(empty, tmp_path / "a.maxmargin")


def opened(folder):
    """(header, arrays) of the model file in a folder."""
    members = read_archive(BytesIO((folder / "model.maxmargin").read_bytes()))
    header = json.loads(members["header.json"])
    return header, {name: read_array(members, name, entry) for name, entry in header["arrays"].items()}


def refused(name, change, folder):
    """The error for a file that was changed and signed anew."""
    save(pipeline(name), folder / "model.maxmargin")
    header, arrays = opened(folder)
    change(header, arrays)
    described = {name: describe(name, array) for name, array in arrays.items()}
    header["arrays"] = {name: entry for name, (entry, _) in described.items()}
    with open(folder / "bad.maxmargin", "wb") as file:
        members = [("header.json", [json.dumps(header).encode()])]
        write_archive(file, members + [(f"{name}.npy", pieces) for name, (_, pieces) in described.items()])
    with pytest.raises(ModelFileError) as caught:
        load(folder / "bad.maxmargin")
    assert "\n" not in str(caught.value)
    return caught.value


def step(header, *path):
    """A step in a header, the first unless numbers say which."""
    said = header["pipeline"]
    for number in path or (0,):
        said = said["steps"][number][1]
    return said


def parameter(**values):
    return lambda h, a: step(h)["parameters"].update(values)


def fitted_value(**values):
    return lambda h, a: step(h)["fitted"].update(values)


CODE = {"type": "function", "name": "system"}


@pytest.mark.parametrize(
    ("name", "part", "change"),
    [
        ("standard", "pipeline", lambda h, a: h.pop("pipeline")),
        ("standard", "version", lambda h, a: h.update(version=3)),
        ("standard", "pipeline", lambda h, a: h.update(version=1)),
        ("standard", "pipeline", lambda h, a: h.update(pipeline=[])),
        ("standard", "step2_mean", lambda h, a: h.update(pipeline=step(h))),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"].reverse()),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"].pop()),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"].append(["again", "estimator"])),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"][0].__setitem__(0, "svc")),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"][0].__setitem__(0, "a__b")),
        ("standard", "pipeline", lambda h, a: h["pipeline"]["steps"][0].__setitem__(1, "drop")),
        ("standard", "pipeline", lambda h, a: step(h).update(type="os.system")),
        ("standard", "pipeline", lambda h, a: step(h).update(surprise=1)),
        ("standard", "n_samples_seen", lambda h, a: step(h).update(type="Normalizer")),
        ("standard", "output", lambda h, a: step(h).update(output="os")),
        ("standard", "step2_mean", lambda h, a: a.update(step2_mean=a["step2_mean"][:2])),
        ("standard", "step2_mean", lambda h, a: a.update(step2_mean=a["step2_mean"].astype(str))),
        ("standard", "step2_mean", lambda h, a: a["step2_mean"].__setitem__(0, np.nan)),
        ("standard", "scale", lambda h, a: a["step2_scale"].__setitem__(0, 0.0)),
        ("standard", "pipeline", lambda h, a: a.pop("step2_scale")),
        ("standard", "step9_mean", lambda h, a: a.update(step9_mean=a["step2_mean"])),
        ("standard", "n_features_in", fitted_value(n_features_in=10**12)),
        ("standard", "n_features_in", fitted_value(n_features_in=True)),
        ("standard", "surprise", fitted_value(surprise=1)),
        ("standard", "pipeline", parameter(with_mean="yes")),
        ("standard", "surprise", parameter(surprise=1)),
        ("standard", "copy", parameter(copy=CODE)),
        ("standard", "copy", parameter(copy={"type": "kernel", "name": "linear"})),
        ("minmax", "pipeline", parameter(feature_range={"type": "tuple", "items": [0, "b"]})),
        ("pca", "step2_explained_variance", lambda h, a: a.update(step2_components=a["step2_components"][:1].repeat(3, 0))),
        ("nested", "pipeline", lambda h, a: h["pipeline"]["steps"].pop(1)),
        ("one_hot", "categories", lambda h, a: step(h)["fitted"]["categories"].pop()),
        ("one_hot", "categories", fitted_value(categories=[[], [], []])),
        ("one_hot", "pipeline", lambda h, a: step(h)["fitted"]["categories"][0]["values"].append("ab")),
        ("one_hot", "categories", lambda h, a: step(h)["fitted"]["categories"][0]["values"].append([])),
        ("one_hot", "categories", lambda h, a: step(h)["fitted"]["categories"][0].update(dtype="<M8[s]")),
        ("one_hot_numbers", "pipeline", lambda h, a: step(h)["fitted"]["categories"][0]["values"].reverse()),
        ("one_hot", "min_frequency", parameter(min_frequency=2)),
        ("one_hot", "pipeline", parameter(dtype={"type": "dtype", "name": "os.system"})),
        ("one_hot", "dtype", parameter(dtype={"type": "dtype", "name": "object"})),
        ("words", "pipeline", lambda h, a: step(h)["fitted"]["vocabulary"]["terms"].append("zebra")),
        ("words", "vocabulary", lambda h, a: step(h)["fitted"]["vocabulary"]["terms"].append("ant")),
        ("words", "vocabulary", lambda h, a: step(h)["fitted"]["vocabulary"]["terms"].append(3)),
        ("words", "vocabulary", fitted_value(vocabulary=["ant"])),
        ("words", "token_pattern", parameter(token_pattern=r"(\w+)+$")),
        ("words", "pipeline", parameter(token_pattern="[")),
        ("words", "input", parameter(input="filename")),
        ("words", "pipeline", parameter(analyzer="os.system")),
        ("tfidf", "step2_idf", lambda h, a: a.update(step2_idf=a["step2_idf"][:3])),
        ("best", "score_func", parameter(score_func=CODE)),
        ("columns", "pipeline", lambda h, a: step(h)["steps"][0].__setitem__(2, [0, 99])),
        ("columns", "pipeline", lambda h, a: step(h)["steps"][0].__setitem__(2, [0])),
        ("columns", "pipeline", lambda h, a: step(h)["steps"][0].__setitem__(1, "estimator")),
        ("columns", "sparse_output", fitted_value(sparse_output=None)),
        ("union", "pipeline", lambda h, a: step(h)["steps"].pop()),
    ],
)  # fmt: skip
def test_steps_that_cannot_be_are_refused(name, part, change, tmp_path):
    assert refused(name, change, tmp_path).part == part


@pytest.mark.parametrize("depth", [20, 300])
def test_steps_that_are_nested_deeply_are_refused(depth, tmp_path):
    def nest(header, arrays):
        for _ in range(depth):
            header["pipeline"] = {"type": "Pipeline", "parameters": {}, "fitted": {}, "steps": [["a", header["pipeline"]]]}

    assert refused("alone", nest, tmp_path).part == "pipeline"


def test_the_number_of_features_is_that_of_raw_samples(tmp_path):
    save(pipeline("nested"), tmp_path / "a.maxmargin")
    assert load(tmp_path / "a.maxmargin", n_features=3).n_features_in_ == 3
    with pytest.raises(ModelFileError, match="3 features, not 2"):
        load(tmp_path / "a.maxmargin", n_features=2)
    save(pipeline("tfidf"), tmp_path / "a.maxmargin")
    with pytest.raises(ModelFileError, match="texts"):
        load(tmp_path / "a.maxmargin", n_features=2)


def test_parts_are_the_steps_in_a_row():
    assert [type(step).__name__ for step in parts(pipeline("nested"))] == ["SimpleImputer", "StandardScaler", "PCA", "SVC"]
    assert [type(step).__name__ for step in parts(pipeline("search"))] == ["StandardScaler", "SVC"]
    assert all(isinstance(parts(pipeline(name))[-1], SVC) for name in WHOLE)
    assert parts(pipeline("alone")[-1]) == [pipeline("alone")[-1]]


def test_what_scikit_learn_checks_is_said_in_its_words(tmp_path):
    error = refused("minmax", parameter(feature_range="wide"), tmp_path)
    assert "'feature_range' parameter of MinMaxScaler must be an instance of 'tuple'" in str(error)
    assert MinMaxScaler.__name__ in str(error)
