"""Bad files and bad places: one line on stderr, exit code 1, nothing overwritten."""

import os

import numpy as np
import pytest

from tests.cli.conftest import two_clouds

BAD = {
    "missing.csv": None,
    "empty.csv": b"",
    "header.csv": b"a,b,label\n",
    "garbage.csv": bytes(range(256)) * 20,
    "garbage": np.random.default_rng(0).bytes(5000),
    "garbage.npz": b"PK\x03\x04" + bytes(100),
    "garbage.parquet": b"PAR1" + bytes(100),
    "nan.csv": b"a,b,label\n1,nan,u\n2,3,v\n",
    "hole.csv": b"a,b,label\n1,,u\n2,3,v\n",
    "no_label.csv": b"a,label\n1,u\n2,\n",
    "text.csv": b"a,b,label\n1,red,u\n2,3,v\n",
    "ragged.csv": b"1,2,u\n1,2,3,v\n",
    "one_class.csv": b"1,u\n2,u\n",
    "falling.svm": b"1 3:1 2:1\n-1 1:1\n",
    "huge.csv": b"1e300,u\n2,v\n",
    "fractions.csv": b"1,0.5\n2,0.7\n3,1.1\n",
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_data_are_one_line_and_nothing_is_overwritten(call, tmp_path, name):
    if BAD[name] is not None:
        (tmp_path / name).write_bytes(BAD[name])
    (tmp_path / "old.maxmargin").write_bytes(b"what was there")
    before = sorted(tmp_path.iterdir())
    done = call("fit", name, "-o", "old.maxmargin", "--alphas", "alphas.txt", code=1)
    assert done.is_one_line, done.err
    assert done.out == ""
    assert (tmp_path / "old.maxmargin").read_bytes() == b"what was there"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["missing.csv", "empty.csv", "garbage.csv", "garbage", "nan.csv"])
@pytest.mark.parametrize("command", ["predict", "certify", "report", "bounds"])
def test_bad_data_are_bad_for_every_command(call, tmp_path, cloud_model, name, command):
    if BAD[name] is not None:
        (tmp_path / name).write_bytes(BAD[name])
    output = ["-o", "out.html"] if command in ("predict", "report") else []
    done = call(command, cloud_model, name, *output, code=1)
    assert done.is_one_line, done.err
    assert not (tmp_path / "out.html").exists()


@pytest.mark.parametrize("model", ["missing", "empty", "garbage"])
@pytest.mark.parametrize("command", ["predict", "certify", "convert"])
def test_bad_models_are_one_line(call, clouds, tmp_path, model, command):
    if model != "missing":
        (tmp_path / model).write_bytes(b"" if model == "empty" else BAD["garbage"])
    last = "new.libsvm" if command == "convert" else clouds
    assert call(command, model, last, code=1).is_one_line


@pytest.mark.parametrize("column", ["colour", "9", "-9"])
def test_a_wrong_column_is_one_line(call, flowers, column):
    done = call("fit", flowers, "--target", column, code=1)
    assert done.is_one_line
    assert column in done.err


@pytest.mark.parametrize("place", ["clouds.svm", "./clouds.svm", "nowhere/m.maxmargin", "folder"])
def test_places_that_cannot_be_written_are_refused_before_the_work(call, clouds, tmp_path, place):
    (tmp_path / "folder").mkdir()
    before = clouds.read_bytes()
    assert call("fit", clouds, "-o", place, code=1).is_one_line
    assert call("fit", clouds, "--alphas", place, code=1).is_one_line
    assert clouds.read_bytes() == before


def test_two_outputs_need_two_places(call, clouds):
    assert call("fit", clouds, "-o", "same", "-a", "same", code=1).is_one_line


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_only_regular_files_are_replaced(call, clouds, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = call("fit", clouds, "-o", "pipe", code=1)
    assert "no regular file" in done.err
    assert not (tmp_path / "pipe").is_file()


def test_a_model_is_not_overwritten_by_its_own_answers(call, clouds, cloud_model):
    before = cloud_model.read_bytes()
    assert call("predict", cloud_model, clouds, "-o", cloud_model, code=1).is_one_line
    assert call("report", cloud_model, clouds, "-o", cloud_model, code=1).is_one_line
    assert call("convert", cloud_model, cloud_model, code=1).is_one_line
    assert cloud_model.read_bytes() == before


def test_samples_without_labels_cannot_be_learned_from(call, tmp_path):
    np.savez(tmp_path / "d.npz", X=two_clouds()[0])
    assert "--target" in call("fit", "d.npz", code=1).err


def test_memory_that_does_not_suffice_is_one_line(call, clouds, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr("maxmargin.io.read_data", greedy)
    done = call("fit", clouds, code=1)
    assert done.err == "maxmargin: Out of memory: Unable to allocate 7 TiB.\n"


def test_memory_that_ends_without_a_word_is_one_line(call, clouds, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError

    monkeypatch.setattr("maxmargin.io.read_data", greedy)
    assert call("fit", clouds, code=1).err == "maxmargin: Out of memory.\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fit", "missing.csv"), 1),
        (("certify", "missing.maxmargin", "clouds.svm"), 1),
        (("fit", "clouds.svm", "-C", "1e400"), 2),
        (("fit", "clouds.svm", "--colour", "red"), 2),
        (("fit",), 2),
    ],
)
def test_json_holds_the_error_too(call, clouds, arguments, code):
    done = call(*arguments, "--json", code=code)
    assert done.is_one_line
    assert done.json == {
        "command": arguments[0],
        "error": done.err.removeprefix("maxmargin: ").rstrip("\n"),
        "exit_code": code,
    }


def test_an_interruption_before_there_is_a_model_is_json_too(call, clouds, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.SVC.fit", interrupted)
    done = call("fit", clouds, "--json", code=130)
    assert done.json["error"] == "Interrupted before there was a model; nothing was written."


@pytest.mark.parametrize("asked", [("-C", "1e400"), ("-C", "mean:1e400"), ("--set", "C=1e400"), ("--gamma", "1e400")])
def test_numbers_beyond_float64_are_not_taken_for_infinity(call, clouds, asked):
    done = call("fit", clouds, *asked, code=2)
    assert "1e400 is out of range: the largest float64 number is 1.8e308" in done.err
