"""The report: complete for every kind of model, escaped, small, and written as a whole or not at all."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from maxmargin import (
    SVC,
    HardMarginSVC,
    LinearSVC,
    PegasosSVC,
    Perceptron,
    Regularization,
    certify,
    export,
    leave_one_out,
    load,
    report,
)
from maxmargin.errors import InvalidInputError, NotSupportedError
from tests.html_report.pages import MODELS, clouds, iris

pytestmark = pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
VOID = {"meta", "line", "rect", "circle", "path", "polyline"}


class Reader(HTMLParser):
    """Checks that tags close in order; collects tags, attributes and the text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts, self.broken = [], [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def read(model, X, y, **settings):
    return Reader(report(model.fit(X, y), X, y, **settings))


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model, data = MODELS[request.param]
    X, y = data()
    return model.fit(X, y), X, y


def test_the_page_of_every_model_is_sound(fitted):
    html = report(*fitted)
    page = Reader(html)
    assert page.broken == []
    assert page.open == []
    assert not re.search(r"\b(nan|inf)\b", html.lower())
    assert not page.named("script")
    for _, attrs in page.tags:
        assert not {"src", "srcset", "onload", "onclick"} & set(attrs)
        assert attrs.get("href", "#").startswith("#")
    assert "url(" not in html
    assert "@import" not in html
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for attrs in page.named("a")} <= set(ids)
    assert len(html) < 500_000


def test_every_picture_has_words_and_every_table_headers(fitted):
    page = Reader(report(*fitted))
    pictures = [attrs for attrs in page.named("svg") if attrs.get("role") == "img"]
    assert pictures
    assert all(attrs["aria-label"] for attrs in pictures)
    assert all(a.get("role") == "img" or a.get("aria-hidden") == "true" for a in page.named("svg"))
    assert len(page.named("table")) == len(page.named("caption")) == len(page.named("thead"))
    assert all(attrs.get("scope") in ("row", "col") for attrs in page.named("th"))


def test_every_page_says_what_is_proved(fitted):
    model, X, y = fitted
    text = Reader(report(model, X, y)).text
    if isinstance(model, Perceptron):
        assert "There is no certificate of optimality: a perceptron minimises nothing" in text
        assert "A perceptron minimises nothing: it visits the samples" in text
        assert "Minimised:" not in text
        return
    judged = certify(model, X, y)
    worst = judged if len(model.classes_) == 2 else judged.worst
    assert ("is proved to be within a relative" in text) == worst.is_reached
    assert ("Not certified: the gap is" in text) != worst.is_reached
    outside, on, inside = worst.groups
    assert f"Samples: {outside} outside the margin, {on} on it, {inside} inside it or wrong." in text
    assert str(model.status_ if len(model.classes_) == 2 else model.status_.worst) in text


LOOSE = [
    SVC(C=1.0, tol=0.05),
    LinearSVC(C=1.0, tol=1e-2),
    LinearSVC(loss="squared_hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(loss="ramp", C=2.0),
    PegasosSVC(C=Regularization.pegasos(0.1), tol=0.1),
]


@pytest.mark.parametrize("model", LOOSE, ids=repr)
def test_one_report_has_one_count_of_the_samples_inside_the_margin(model):
    """A sample on the margin by its α may have yF = 0.99 as far as the tolerance goes: it is counted once."""
    X, y = clouds(apart=0.5)
    text = Reader(report(model.fit(X, y), X, y)).text
    outside, on, inside = certify(model, X, y).groups
    assert f"Samples: {outside} outside the margin, {on} on it, {inside} inside it or wrong." in text
    for words, count in (("outside the margin", outside), ("on it", on), ("inside it or wrong", inside)):
        assert (f"{words} ({count})" in text) is (count > 0)
    outliers = len(getattr(model, "outliers_", ()))
    assert ("outliers of the ramp, left out (" in text) is (outliers > 0)
    assert outside + on + inside + outliers == len(y)
    assert "inside the margin (" not in text


@pytest.mark.parametrize("name", [name for name in MODELS if "three" not in name and "perceptron" not in name])
def test_the_number_of_support_vectors_does_not_contradict_the_certificate(name):
    model, data = MODELS[name]
    X, y = data()
    text = Reader(report(model.fit(X, y), X, y)).text
    _, on, inside = certify(model, X, y).groups
    n_support = len(model.support_)
    assert f"{n_support} of {len(y)} samples are support vectors" in text
    assert (f"The certificate counts {on + inside}, because" in text) is (on + inside != n_support)


def test_the_gap_of_the_table_is_that_of_the_sentence(fitted):
    model, X, y = fitted
    if isinstance(model, Perceptron):
        return
    html = report(model, X, y)
    said = re.search(r"(?:a relative|the gap is) ([0-9.e-]+[0-9])", Reader(html).text).group(1)
    assert f"<td>{said.replace('-', '−')}</td>" in html


def test_a_gap_that_was_computed_once_is_a_sentence_and_not_a_dot():
    X, y = clouds(apart=1.0)
    for model in (SVC(), PegasosSVC(tol=1e-2, n_epochs=1000)):
        html = report(model.fit(X, y), X, y)
        is_sentence = len(model.trace_) == 1
        assert ("was computed once, from the data" in html) is is_sentence
        assert ("Relative duality gap against time" in html) is not is_sentence


def test_the_same_model_gives_the_same_bytes(fitted):
    assert report(*fitted) == report(*fitted)


def test_a_stream_has_no_certificate_and_says_so():
    X, y = clouds()
    html = report(PegasosSVC().partial_fit(X, y, classes=["no", "yes"]), X, y)
    assert "learned from a stream, whose samples are gone" in html


# -- what it says ------------------------------------------------------------------------------------------------


def test_names_of_classes_features_and_titles_are_escaped():
    X, _ = clouds()
    bad = "<script>alert('&')</script>"
    y = np.where(np.arange(60) % 2, bad, "\"><img src=x onerror='1'>")
    html = report(LinearSVC().fit(X, y), X, y, feature_names=[f"{bad}0", "</td></table>"], title=bad)
    page = Reader(html)
    assert not page.named("script")
    assert not page.named("img")
    assert page.broken == []
    assert bad in page.text


def test_the_parameters_are_listed_and_the_chosen_ones_marked():
    X, y = clouds()
    model = SVC(C=7.5, kernel="linear").fit(X, y)
    rows = re.findall(r'<tr><th scope="row">(\w+)</th><td><code>(.*?)</code></td><td>(.*?)</td>', report(model, X, y))
    listed = {name: (value, mark) for name, value, mark in rows}
    assert set(listed) == set(model.get_params())
    assert listed["C"] == ("7.5", "chosen")
    assert listed["degree"] == ("3", "")


def test_vacuous_bounds_are_marked_and_others_are_not():
    X, y = clouds(20)
    assert "vacuous: says nothing" in report(HardMarginSVC().fit(X, y), X, y)
    X, y = clouds(20_000, apart=40.0)
    html = report(HardMarginSVC().fit(X, y), X, y)
    hard = re.search(r'<th scope="row">hard margin</th>.*?</tr>', html).group()
    assert "vacuous" not in hard


def test_strongest_features_are_ordered_by_weight_times_deviation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * [1.0, 100.0, 1.0]
    y = np.where(X @ [1.0, 0.05, 0.0] > 0, 1, 0)
    model = LinearSVC().fit(X, y)
    html = report(model, X, y, feature_names=["small", "large", "nothing"])
    table = html[html.index("<caption>Strongest features") :]
    names = re.findall(r'<th scope="row">(\w+)</th>', table[: table.index("</table>")])
    effects = np.abs(model.coef_[0]) * X.std(axis=0)
    assert names == [["small", "large", "nothing"][k] for k in np.argsort(-effects)]


def test_where_no_feature_has_a_weight_none_is_drawn():
    X, y = clouds(d=3)
    html = report(LinearSVC("l1", C=1e-6).fit(X, y), X, y)
    assert "0 of 3 features have a weight." in html
    assert "Strongest features" not in html


def test_the_projection_is_said():
    X, y = clouds(d=5, apart=1.0)
    assert "A projection of the space of the features onto a plane" in read(LinearSVC(), X, y).text
    assert "A projection of the kernel's feature space onto a plane" in read(SVC(), X, y).text
    assert "principal components of the samples that are shown" in read(SVC(), *iris()).text
    assert "A projection" not in read(SVC(), *clouds()).text


def test_the_code_reproduces_the_model():
    X, y = clouds()
    model = SVC(C=7.5, gamma=0.25).fit(X, y)
    code = Reader(report(model, X, y)).text
    made = re.search(r"model = (SVC\(.*?\))\.fit\(X, y\)", code).group(1)
    assert eval(made, {"SVC": SVC}).get_params() == model.get_params()


def test_the_fingerprint_follows_the_data():
    X, y = clouds()
    other = X.copy()
    other[0, 0] += 1e-12
    found = [re.search(r"[0-9a-f]{64}", report(LinearSVC().fit(Z, y), Z, y)).group() for Z in (X, X.copy(), other)]
    assert found[0] == found[1] != found[2]


def test_weighted_models_are_judged_with_their_weights():
    X, y = clouds(apart=1.0)
    weight = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    model = LinearSVC(tol=1e-8).fit(X, y, weight)
    page = Reader(report(model, X, y, sample_weight=weight))
    assert "The samples were weighted." in page.text
    assert str(certify(model, X, y, weight))[:60] in page.text
    assert "nothing is claimed" in page.text


def test_leave_one_out_is_shown_if_it_was_run():
    X, y = clouds(apart=1.0)
    model = LinearSVC().fit(X, y)
    result = leave_one_out(model, X, y)
    page = Reader(report(model, X, y, leave_one_out=result))
    assert page.broken == []
    assert f"Leave-one-out error: {result.error:.2%}" in page.text
    for how, count in result.counts().items():
        assert f"{how} {count} " in page.text
    assert f"≈ {result.xi_alpha.error:.2%}" in page.text
    assert "error at most" not in page.text  # the estimate is no bound
    assert "the lemma" in page.text
    assert "Leave-one-out error" not in Reader(report(model, X, y)).text


def test_leave_one_out_of_more_classes_has_an_estimate_for_each_problem():
    X, y = iris()
    model = SVC().fit(X, y)
    page = Reader(report(model, X, y, leave_one_out=leave_one_out(model, X, y)))
    table = page.text[page.text.index("ξα estimates") :]
    assert all(name in table for name in ("setosa against versicolor", "versicolor against virginica"))


@pytest.mark.parametrize(
    ("settings", "formula"),
    [
        ({"penalty": "l1"}, "λ‖w‖₁ + Σξ with λ = 0.5"),
        ({"penalty": "l1", "loss": "squared_hinge"}, "λ‖w‖₁ + Σξ² with λ = 0.5"),
        ({"loss": "squared_hinge"}, "λ‖w‖² + Σξ² with λ = 0.5"),
        ({"loss": "ramp"}, "λ‖w‖² + Σ min(1, ξ) with λ = 0.5"),
        ({}, "λ‖w‖² + Σξ with λ = 0.5"),
    ],
)
def test_the_formula_of_the_trade_off_is_not_that_of_another_penalty_or_loss(settings, formula):
    X, y = clouds(apart=1.0)
    page = Reader(report(LinearSVC(C=Regularization.ridge(0.5), **settings).fit(X, y), X, y))
    assert f"The trade-off: {formula}." in page.text


def test_a_model_of_another_program_has_no_report_and_is_told_why(tmp_path):
    X, y = clouds(apart=1.0)
    y = np.where(y == "yes", 1, 0)
    export(SVC(kernel="linear").fit(X, y), tmp_path / "m.libsvm")
    with pytest.raises(NotSupportedError, match="was not trained here"):
        report(load(tmp_path / "m.libsvm"), X, y)


def test_a_result_of_other_data_is_refused():
    X, y = clouds(apart=1.0)
    result = leave_one_out(LinearSVC(), X[:50], y[:50])
    with pytest.raises(InvalidInputError, match="50 samples"):
        report(LinearSVC().fit(X, y), X, y, leave_one_out=result)


def test_the_certificate_of_a_ramp_says_what_it_is_about():
    X, y = clouds(apart=1.0)
    model = LinearSVC(loss="ramp").fit(X, y)
    assert f"its last convex step, which leaves {len(model.outliers_)} outliers out" in report(model, X, y)


def test_wrong_numbers_of_names_are_refused():
    X, y = clouds()
    with pytest.raises(InvalidInputError, match="2 feature names"):
        report(LinearSVC().fit(X, y), X, y, feature_names=["one"])


# -- size and files ----------------------------------------------------------------------------------------------


def test_a_hundred_thousand_samples_make_a_small_page():
    X, y = clouds(100_000, 3, apart=1.0)
    html = report(LinearSVC(tol=1e-2).fit(X, y), X, y)
    assert len(html.encode()) < 300_000
    assert "samples are shown, evenly chosen" in html


def test_many_classes_make_a_small_page():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 40
    X = rng.standard_normal((400, 2)) + 6.0 * rng.standard_normal((40, 2))[y]
    html = report(LinearSVC(tol=1e-1).fit(X, y), X, y)
    assert len(html.encode()) < 1_000_000


def full_disk(*_):
    raise OSError("the disk is full")


def test_the_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    X, y = clouds()
    model = LinearSVC().fit(X, y)
    path = tmp_path / "page.html"
    assert report(model, X, y, path) == path
    assert path.read_text(encoding="utf-8") == report(model, X, y)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", full_disk)
        with pytest.raises(InvalidInputError, match="disk"):
            report(model, X, y, path, title="other")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipeline_is_reported_as_its_machine_and_names_its_steps_and_features():
    X, y = clouds(d=2, apart=2.0)
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), LinearSVC()).fit(X * 100.0, y)
    page = Reader(report(model, X * 100.0, y, feature_names=["age", "income"], leave_one_out=leave_one_out(model, X * 100.0, y)))
    assert not page.broken
    assert "LinearSVC: no against yes" in page.text
    assert "Before the machine: StandardScaler() → PolynomialFeatures(include_bias=False) ." in page.text
    assert "# X: the samples after StandardScaler()" in page.text
    assert "age income" in page.text  # a product
    assert "the left-out sample included" in page.text
    assert "Before the machine" not in report(LinearSVC().fit(X, y), X, y)
