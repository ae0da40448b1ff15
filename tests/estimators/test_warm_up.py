"""What is compiled once need not be compiled on the day."""

import json
import subprocess
import sys

import pytest

from maxmargin import WarmUp, warm_up
from maxmargin.errors import NotSupportedError

DAY = """
import json, warnings
import numpy as np, scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from maxmargin import SVC, HardMarginSVC, LinearSVC, leave_one_out, warm_up
from maxmargin._loops.compile_time import COMPILE_TIME

parts = []
warm_up(lambda name, seconds: parts.append(name))
met = COMPILE_TIME.compiled + COMPILE_TIME.loaded
warnings.simplefilter("ignore")
for load in (load_iris, load_breast_cancer, load_digits):
    X, y = load(return_X_y=True)
    Z = (X - X.mean(0)) / (X.std(0) + 1e-9)
    for rows in (Z, Z.astype(np.float32)):
        for model in (SVC(), SVC(C=100.0), LinearSVC(), SVC(kernel="linear")):
            model.fit(rows, y).predict(rows[:1])
X, y = load_breast_cancer(return_X_y=True)
HardMarginSVC().fit(X, y)
for model in (SVC(C=10.0, gamma=1e-4), LinearSVC(C=0.01)):
    leave_one_out(model, X, y)
words = sp.random(3000, 5000, 0.01, format="csr", random_state=0)
LinearSVC().fit(words, np.arange(3000) % 2).predict(words)
print(json.dumps([parts, met, COMPILE_TIME.compiled + COMPILE_TIME.loaded]))
"""


def test_after_a_warm_up_a_typical_day_compiles_and_loads_nothing_more():
    done = subprocess.run([sys.executable, "-c", DAY], capture_output=True, text=True, check=True, timeout=300)
    parts, met, after = json.loads(done.stdout)
    assert len(parts) >= 4
    assert met > 20
    assert after == met


def test_where_no_folder_can_be_written_it_says_so():
    assert "kept in /home/ann" in str(WarmUp(1.0, 2, 3, "/home/ann"))
    assert "NUMBA_CACHE_DIR" in str(WarmUp(1.0, 2, 0, None))


def test_without_a_compiler_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    with pytest.raises(NotSupportedError, match="MAXMARGIN_JIT=0"):
        warm_up()
