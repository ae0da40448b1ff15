"""Data files, trained models, and the command line called in this process."""

import json
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris

from maxmargin import SVC, save
from maxmargin.cli import main


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out, parse_constant=lambda text: pytest.fail(f"{text} is no JSON"))

    @property
    def is_one_line(self):
        return self.err.startswith("maxmargin: ") and self.err.count("\n") == 1 and self.err.endswith("\n")


@pytest.fixture
def call(monkeypatch, capfd, tmp_path):
    """The program as installed, in a folder of its own: `call("fit", "data.csv")`."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=None):
        monkeypatch.setattr(sys, "argv", ["maxmargin", *map(str, arguments)])
        capfd.readouterr()
        before = warnings.showwarning
        with pytest.raises(SystemExit) as ended:
            main()
        assert warnings.showwarning is before
        done = Done(int(ended.value.code or 0), *capfd.readouterr())
        assert "Traceback" not in done.err
        if code is not None:
            assert done.code == code, done.err
        return done

    return run


@pytest.fixture
def flowers(tmp_path):
    """A CSV file with a header and text labels, three classes."""
    iris = load_iris()
    path = tmp_path / "flowers.csv"
    rows = [[*map(str, x), iris.target_names[label]] for x, label in zip(iris.data[::3], iris.target[::3], strict=True)]
    lines = [["sepal length", "sepal width", "petal length", "petal width", "species"], *rows]
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    return path


def two_clouds(n=60, d=4, seed=0):
    """Two overlapping classes, −1 and 1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return (rng.normal(size=(n, d)) + 0.8 * y[:, None]).round(6), y  # digits that svmlight files keep


@pytest.fixture
def clouds(tmp_path):
    """An svmlight file of two classes."""
    path = tmp_path / "clouds.svm"
    dump_svmlight_file(*two_clouds(), str(path), zero_based=False)
    return path


@pytest.fixture
def cloud_model(tmp_path):
    """A model of what `clouds` holds."""
    path = tmp_path / "clouds.maxmargin"
    save(SVC(C=2, kernel="linear").fit(*two_clouds()), path)
    return path
