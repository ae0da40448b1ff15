"""``maxmargin predict``: labels as they were, decision values, accuracy, features that are there or not."""

import io
import sys

import numpy as np
import pytest

from maxmargin import SVC, Perceptron, load, save
from maxmargin.io import read_data
from tests.cli.conftest import two_clouds


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
