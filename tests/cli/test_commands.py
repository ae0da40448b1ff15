"""``predict``, ``certify``, ``loo``, ``bounds``, ``convert``, ``report``: what can be asked about a model."""

import io
import re
import sys
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
from maxmargin.io import read_data
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
        assert "training rows in another order" in call("report", cloud_model, "shuffled.svm", "-o", "p.html", code=0).err
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
    assert "leave-one-out and search need exact solutions" in call("loo", clouds, "--set", "max_seconds=3", code=2).err
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
    np.testing.assert_allclose(load(f"new.{suffix}").decision_function(X), load(cloud_model).decision_function(X), atol=1e-9)


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


def test_text_labels_come_back_as_texts(call, flowers):
    call("fit", flowers, "-o", "m.maxmargin", code=0)
    done = call("predict", "m.maxmargin", flowers, code=0)
    data = read_data(flowers)
    assert done.out.splitlines() == SVC().fit(data.X, data.y).predict(data.X).tolist()
    right = sum(one == other for one, other in zip(done.out.splitlines(), data.y, strict=True))
    assert done.err == f"maxmargin: {right} of 50 labels are right: {right / 50:.2%}.\n"


def test_numbers_come_back_as_they_were_written(call, tmp_path):
    (tmp_path / "d.csv").write_text("0,1\n1,1\n5,2\n6,2\n")
    call("fit", "d.csv", "-o", "m.maxmargin", code=0)
    assert call("predict", "m.maxmargin", "d.csv", code=0).out.split() == ["1", "1", "2", "2"]


def test_labels_that_are_numbers_in_one_file_and_texts_in_the_other_are_compared(call, tmp_path):
    (tmp_path / "d.csv").write_text("0,1\n1,1\n5,x\n6,x\n9,1.5\n10,1.5\n")
    (tmp_path / "new.csv").write_text("0.5,1\n9.5,1.5\n")
    call("fit", "d.csv", "-o", "m.maxmargin", "-C", "100", code=0)
    assert "2 of 2 labels are right" in call("predict", "m.maxmargin", "new.csv", code=0).err


def test_decision_values_and_certainty_follow_the_label(call, clouds, cloud_model):
    done = call("predict", cloud_model, clouds, "--decision-values", "--certified", code=0)
    X, _ = two_clouds()
    fields = [line.split("\t") for line in done.out.splitlines()]
    model = load(cloud_model)
    np.testing.assert_allclose([float(value) for _, _, value in fields], model.decision_function(X), atol=1e-12)
    labels, certain = model.certified_predictions(X)
    assert [(int(label), sure == "certain") for label, sure, _ in fields] == list(
        zip(labels.tolist(), certain.tolist(), strict=True)
    )


def test_a_perceptron_has_nothing_certified(call, clouds, tmp_path):
    save(Perceptron(max_iter=50).fit([[0.0, 0, 0, 0], [1.0, 1, 1, 1]], [-1, 1]), tmp_path / "p.maxmargin")
    assert "certified" in call("predict", "p.maxmargin", clouds, "--certified", code=1).err


def test_a_file_takes_the_labels(call, clouds, cloud_model, tmp_path):
    done = call("predict", cloud_model, clouds, "-o", "labels.txt", code=0)
    assert done.out == ""
    assert (tmp_path / "labels.txt").read_text() == call("predict", cloud_model, clouds, code=0).out


def test_json_has_labels_and_accuracy(call, clouds, cloud_model):
    done = call("predict", cloud_model, clouds, "--json", "-v", "-q", code=0)
    assert done.err == ""
    assert done.json["labels"] == load(cloud_model).predict(two_clouds()[0]).tolist()
    assert done.json["accuracy"] == done.json["right"] / 60
    assert len(done.json["decision_values"]) == 60


def test_standard_input_without_labels(call, flowers, monkeypatch):
    call("fit", flowers, "-o", "m.maxmargin", code=0)
    text = "\n".join(line.rpartition(",")[0] for line in flowers.read_text().splitlines())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    done = call("predict", "m.maxmargin", "-", code=0)
    assert len(done.out.splitlines()) == 50
    assert done.err == ""


def test_columns_are_found_by_name_in_any_order(call, flowers, tmp_path):
    call("fit", flowers, "--target", "species", "-o", "m.maxmargin", code=0)
    expected = call("predict", "m.maxmargin", flowers, code=0).out
    rows = [line.split(",") for line in flowers.read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("\n".join(",".join(row[::-1]) for row in rows))
    assert call("predict", "m.maxmargin", "turned.csv", "-t", "species", code=0).out == expected


def test_fewer_svmlight_features_are_padded_and_more_are_an_error(call, cloud_model, tmp_path):
    (tmp_path / "few.svm").write_text("1 1:0.5\n-1 2:1\n")
    assert len(call("predict", cloud_model, "few.svm", code=0).out.split()) == 2
    (tmp_path / "more.svm").write_text("1 1:0.5 9:1\n")
    done = call("predict", cloud_model, "more.svm", code=1)
    assert done.is_one_line
    assert "feature 9 appears in it where the model has 4 features" in done.err


def test_labels_that_the_model_never_saw_are_not_compared(call, cloud_model, tmp_path):
    (tmp_path / "new.svm").write_text("0 1:0.5\n0 2:1\n")
    assert "not compared" in call("predict", cloud_model, "new.svm", code=0).err


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_every_format_is_read(call, tmp_path, suffix):
    X, y = two_clouds()
    match suffix:
        case "csv":
            (tmp_path / "d.csv").write_text(
                "\n".join(",".join(map(repr, [*x, int(t)])) for x, t in zip(X.tolist(), y, strict=True))
            )
        case "npz":
            np.savez(tmp_path / "d.npz", X=X, y=y)
        case "parquet":
            pq = pytest.importorskip("pyarrow.parquet")
            pa = pytest.importorskip("pyarrow")
            pq.write_table(pa.table({**{f"x{k}": X[:, k] for k in range(4)}, "y": y}), tmp_path / "d.parquet")
    call("fit", f"d.{suffix}", "-o", "m.maxmargin", code=0)
    done = call("predict", "m.maxmargin", f"d.{suffix}", code=0)
    assert done.out.split() == [str(label) for label in SVC().fit(X, y).predict(X)]
