"""``certify``, ``loo``, ``bounds``, ``convert``, ``report``: what can be asked about a model."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from maxmargin import (
    SVC,
    ConvergenceWarning,
    HardMarginSVC,
    LinearSVC,
    Perceptron,
    Regularization,
    certify,
    leave_one_out,
    load,
    save,
)
from tests.cli.conftest import two_clouds


def without_gap(text):
    """In one line, without the gap: of one that is rounding, the digits depend on where the numbers stand in memory."""
    return re.sub(r"a relative [0-9.e-]+", "a relative gap", " ".join(text.split()))


def test_certify_says_what_the_library_says(call, clouds, cloud_model):
    done = call("certify", cloud_model, clouds, code=0)
    certificate = certify(load(cloud_model), *two_clouds())
    assert without_gap(str(certificate)) in without_gap(done.out)
    found = call("certify", cloud_model, clouds, "--json", code=0).json
    assert found["relative_gap"] == pytest.approx(certificate.relative_gap, abs=1e-12)
    assert found["proofs"][0]["primal"] == pytest.approx(certificate.primal)


def test_certify_with_a_tolerance_is_a_check(call, clouds, tmp_path):
    save(SVC(tol=0.5, max_iter=1, solver="smo").fit(*two_clouds()), tmp_path / "loose.maxmargin")
    gap = load(tmp_path / "loose.maxmargin").certificate_.relative_gap
    assert call("certify", "loose.maxmargin", clouds, "--tol", str(2 * gap + 1e-9)).code == 0
    if gap > 0:
        assert "Not certified" in call("certify", "loose.maxmargin", clouds, "--tol", str(gap / 2), code=3).err


def test_certify_ends_with_3_where_the_gap_of_the_fit_is_missed(call, clouds, tmp_path):
    X, y = two_clouds()
    with pytest.warns(ConvergenceWarning):
        save(LinearSVC(tol=1e-9, max_iter=1, solver="dual_cd").fit(X, y), tmp_path / "short.maxmargin")
    done = call("certify", "short.maxmargin", clouds, code=3)
    assert done.out.startswith("Not certified: the gap is ")
    assert done.err.startswith("maxmargin: Not certified: the relative gap ")
    found = call("certify", "short.maxmargin", clouds, "--json", code=3).json
    assert (found["certified"], found["tol"], found["data"], found["exit_code"]) == (False, 1e-9, None, 3)
    assert 0 < found["rounding"] < found["relative_gap"] * found["proofs"][0]["primal"]
    assert found["proofs"][0]["certified"] is False
    found = call("certify", "short.maxmargin", clouds, "--tol", str(2 * found["relative_gap"]), "--json", code=0).json
    assert (found["certified"], found["exit_code"]) == (True, 0)
    assert found["sentence"].startswith("Certified: ")


def test_certify_tells_training_rows_in_another_order_from_others(call, clouds, cloud_model, tmp_path):
    lines = clouds.read_text().splitlines()
    (tmp_path / "shuffled.svm").write_text("\n".join([*lines[7:], *lines[:7]]) + "\n")
    done = call("certify", cloud_model, "shuffled.svm", code=3)
    said = " ".join(done.out.split())
    assert said.startswith("Not certified: the gap is ")
    assert "These are the training rows in another order. Give the data of the fit, in their order." in said
    found = call("certify", cloud_model, "shuffled.svm", "--json", code=3).json
    assert found["data"] == "These are the training rows in another order."
    X, y = two_clouds()
    dump_svmlight_file(100 * X, y, str(tmp_path / "raw.svm"), zero_based=False)
    assert "their values differ" in call("certify", cloud_model, "raw.svm", "--json", code=3).json["data"]


def test_bounds_and_reports_say_that_these_are_other_data(call, clouds, cloud_model, tmp_path):
    lines = clouds.read_text().splitlines()
    (tmp_path / "shuffled.svm").write_text("\n".join([*lines[7:], *lines[:7]]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert "training rows in another order" in call("bounds", cloud_model, "shuffled.svm", code=0).err
        assert (
            "training rows in another order" in call("report", cloud_model, "shuffled.svm", "-o", "p.html", code=0).err
        )
    assert "training rows in another order" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_certify_wants_the_training_data(call, cloud_model, tmp_path):
    (tmp_path / "other.svm").write_text("1 1:0.5 4:1\n-1 2:1\n")
    done = call("certify", cloud_model, "other.svm", code=1)
    assert done.is_one_line
    assert "The training data are needed" in done.err


def test_models_without_a_certificate_say_so(call, clouds, cloud_model, tmp_path):
    call("convert", cloud_model, "m.svmlight", code=0)
    save(Perceptron().fit([[0.0, 0, 0, 0], [1.0, 1, 1, 1]], [-1, 1]), tmp_path / "p.maxmargin")
    for model, words in (("m.svmlight", "carries no certificate"), ("p.maxmargin", "it has no gap to certify")):
        done = call("certify", model, clouds, code=1)
        assert done.is_one_line
        assert words in done.err


def test_several_classes_have_a_table(call, flowers):
    call("fit", flowers, "-o", "m.maxmargin", code=0)
    done = call("certify", "m.maxmargin", flowers, code=0)
    assert "Of 3 problems, " in done.out
    assert "relative gap" in done.out


def test_leave_one_out_is_that_of_the_library(call, clouds):
    done = call("loo", clouds, "-k", "linear", "-C", "2", "-o", "labels.txt", code=0)
    exact = leave_one_out(SVC(C=2, kernel="linear"), *two_clouds())
    for heading in ("samples", "error", "retrained", "seconds", "ξα error"):
        assert heading in done.out
    assert f"{exact.error:.2%}" in done.out
    assert (clouds.parent / "labels.txt").read_text().split() == [str(label) for label in exact.predictions]
    found = call("loo", clouds, "-k", "linear", "-C", "2", "--json", code=0).json
    assert found["error"] == exact.error
    assert found["retrained"] <= exact.n // 4  # how many depends on how the rows are kept
    assert found["xi_alpha"][0]["error"] == exact.xi_alpha.error


def test_leave_one_out_says_which_costs_are_meant(call, clouds):
    for resolve in ("once", "each"):
        exact = leave_one_out(SVC(C=Regularization.mean(8), kernel="linear"), *two_clouds(), resolve=resolve)
        options = ("loo", clouds, "-k", "linear", "-C", "mean:8", "--resolve", resolve)
        assert exact.meaning in call(*options, code=0).out
        found = call(*options, "--json", code=0).json
        assert (found["resolve"], found["error"]) == (resolve, exact.error)
    assert "must be once or each" in call("loo", clouds, "--resolve", "never", code=2).err
    assert "gamma" in call("loo", clouds, "-C", "mean:8", "--resolve", "each", code=1).err


def test_an_estimate_is_not_shown_as_a_bound(call, tmp_path):
    """Its exact error is 100 %, the estimate 50 %."""
    rows = ["1 1:-0.9743 2:-0.0149", "1 1:0.9735 2:-0.0118", "-1 1:1.0908 2:-0.0025", "-1 1:1.0043 2:-0.0744"]
    (tmp_path / "four.svm").write_text("\n".join(rows) + "\n")
    shown = call("loo", tmp_path / "four.svm", "-k", "linear", "-C", "4.694", code=0).out
    assert "100.00%" in shown
    assert "≈ 50.00%" in shown
    assert not {"≤", "≥"} & set(shown.split())


def test_leave_one_out_has_no_budgets_and_not_every_estimator(call, clouds):
    assert "no such option" in call("loo", clouds, "--max-iter", "3", code=2).err.lower()
    assert "leave-one-out needs exact solutions" in call("loo", clouds, "--set", "max_seconds=3", code=2).err
    assert "leave_one_out takes" in call("loo", clouds, "-e", "pegasos", code=1).err


def test_bounds_mark_what_is_vacuous(call, clouds, cloud_model):
    done = call("bounds", cloud_model, clouds, code=0)
    assert "vacuous" in done.out
    assert "plug-in" in done.out
    found = call("bounds", cloud_model, clouds, "--delta", "0.1", "--json", code=0).json
    assert found["delta"] == 0.1
    assert found["bounds"]["soft_margin"]["vacuous"] is True
    assert call("bounds", cloud_model, clouds, "--delta", "7", code=2).is_one_line


def test_bounds_are_about_two_classes(call, flowers):
    call("fit", flowers, "-o", "m.maxmargin", code=0)
    assert "about two classes" in call("bounds", "m.maxmargin", flowers, code=1).err


@pytest.mark.parametrize("suffix", ["libsvm", "svmlight", "maxmargin"])
def test_convert_goes_by_the_suffix(call, clouds, cloud_model, suffix):
    call("convert", cloud_model, f"new.{suffix}", code=0)
    X, _ = two_clouds()
    np.testing.assert_allclose(
        load(f"new.{suffix}").decision_function(X), load(cloud_model).decision_function(X), atol=1e-9
    )


def test_convert_refuses_what_it_does_not_know(call, cloud_model):
    assert "use --to" in call("convert", cloud_model, "new.txt", code=2).err
    assert "libsvm" in call("convert", cloud_model, "new.txt", "--to", "pickle", code=2).err
    call("convert", cloud_model, "new.txt", "--to", "libsvm", code=0)
    assert call("convert", "new.txt", "again.maxmargin", "--features", "2", code=1).is_one_line


def test_a_report_is_a_page(call, flowers, tmp_path):
    call("fit", flowers, "-e", "linear", "-o", "m.maxmargin", code=0)
    done = call("report", "m.maxmargin", flowers, "-o", "page.html", "--title", "Three flowers", code=0)
    assert done.out == "Page: page.html\n"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Three flowers" in page
    assert "petal length" in page
    assert "Leave-one-out" not in page


def test_a_report_has_leave_one_out_on_request(call, clouds, cloud_model, tmp_path):
    found = call("report", cloud_model, clouds, "-o", "page.html", "--loo", "--json", code=0).json
    assert found["leave_one_out"] == leave_one_out(SVC(C=2, kernel="linear"), *two_clouds()).error
    assert "Leave-one-out" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_an_infinite_gap_is_valid_json(call, tmp_path):
    X, y = two_clouds(12, 2)
    y = np.where(X[:, 0] > 0, 1, -1)
    save(HardMarginSVC().fit(X, y), tmp_path / "m.maxmargin")
    np.savez(tmp_path / "d.npz", X=np.vstack([X[1:], X[:1]]), y=np.append(y[1:], y[:1]))
    found = call("certify", "m.maxmargin", "d.npz", "--json").json
    assert found["relative_gap"] == "inf" or found["relative_gap"] >= 0
