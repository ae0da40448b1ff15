"""What a notebook shows of a fitted estimator, of its certificate, and of leave-one-out."""

from html import escape

import pytest
import sklearn
from sklearn.datasets import load_iris

from maxmargin import SVC, LinearSVC, Perceptron, leave_one_out
from maxmargin.notebook import EDGES


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("model", [SVC(), LinearSVC()], ids=repr)
def test_the_certificate_stands_below_the_box_of_a_fitted_estimator(model, iris):
    assert EDGES[True] not in model._repr_html_()
    model.fit(*iris)
    bundle = model._repr_mimebundle_()
    for html in (model._repr_html_(), bundle["text/html"]):
        assert html.count(escape(str(model.certificate_))) == 1
        assert EDGES[True] in html
    assert bundle["text/plain"] == repr(model)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_a_perceptron_has_no_certificate_to_show(iris):
    model = Perceptron().fit(iris[0][:100], iris[1][:100])
    assert "maxmargin" not in model._repr_html_().rpartition("</style>")[2].replace("maxmargin.", "")


def test_the_link_leads_to_our_docs_where_they_are_known_and_nowhere_else(monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DOCS", raising=False)
    assert SVC()._get_doc_link() == ""
    monkeypatch.setenv("MAXMARGIN_DOCS", "file:///docs/_build/")
    assert SVC()._get_doc_link() == "file:///docs/_build/api.html#maxmargin.SVC"
    assert 'href="file:///docs/_build/api.html#maxmargin.SVC"' in SVC()._repr_html_()


def test_a_certificate_shows_its_sentence_and_numbers(iris):
    X, y = iris
    certificate = LinearSVC().fit(X[50:], y[50:]).certificate_
    html = certificate._repr_html_()
    assert escape(str(certificate)) in html
    assert f"{certificate.dual:.8g}" in html
    several = LinearSVC().fit(X, y).certificate_
    assert escape(str(several.worst)) in several._repr_html_()


def test_leave_one_out_shows_its_error_what_settled_the_labels_and_its_time(iris):
    X, y = iris
    result = leave_one_out(LinearSVC(), X[50:], y[50:])
    html = result._repr_html_()
    assert f"{result.error:.2%} of 100 samples" in html
    assert result.time in html
    for how, count in result.counts().items():
        assert escape(str(how)) in html
        assert f">{count}<" in html
