"""What only a process of its own shows: Ctrl-C, closed pipes, terminals, the time of --help."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from maxmargin import LinearSVC, load, save
from maxmargin.core import Status
from tests.cli.conftest import two_clouds

MAIN = [sys.executable, "-c", "from maxmargin.cli import main; main()"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals and terminals of POSIX")


@pytest.fixture(scope="module")
def hard_work(tmp_path_factory):
    """Data that keep SMO busy for minutes at a small tolerance."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("work")
    X = rng.normal(size=(2500, 10))
    np.savez(folder / "work.npz", X=X, y=rng.integers(0, 2, size=2500))
    return folder


def fit(folder, *options, **settings):
    slow = ["--kernel", "rbf", "-C", "1e4", "--tol", "1e-12", "--solver", "smo"]
    return subprocess.Popen([*MAIN, "fit", "work.npz", *slow, *options], cwd=folder, text=True, **settings)


def read_terminal(terminal, until=r"$.", seconds=120.0):
    """What a program writes to a terminal, until it has written this, or has ended."""
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and not re.search(until, seen.decode(errors="replace")):
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux's way to say that the other side is closed
            break
        if not piece:
            break
        seen += piece
    return seen.decode(errors="replace")


@POSIX
def test_a_terminal_sees_the_gap_fall_and_an_interrupt_keeps_the_best_model(hard_work):
    import pty

    place = hard_work / "stopped.maxmargin"
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = fit(hard_work, "-o", place.name, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    bars = read_terminal(mine, until=r", round [1-9]")
    assert "SVC" in bars
    assert "goal 1e-12" in bars
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=120)[0]
    said = read_terminal(mine)
    os.close(mine)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "Interrupted. This is the best model so far; it was saved to stopped.maxmargin." in said
    assert "Not certified: the gap is" in " ".join(out.split())
    assert load(place).status_ is Status.INTERRUPTED
    place.unlink()
    assert [path.name for path in hard_work.iterdir()] == ["work.npz"]


def test_without_a_terminal_there_are_no_bars(hard_work):
    process = fit(hard_work, "--max-seconds", "0.5", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 3
    assert "goal" not in err
    assert all(line.startswith("maxmargin: ") for line in err.splitlines())


@POSIX
def test_a_reader_that_goes_away_is_no_error_to_trace(tmp_path):
    X, y = two_clouds(20_000, 2)
    np.savez(tmp_path / "d.npz", X=X, y=y)
    save(LinearSVC().fit(X[:50], y[:50]), tmp_path / "m.maxmargin")
    process = subprocess.Popen(
        [*MAIN, "predict", "m.maxmargin", "d.npz"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() in (b"-1\n", b"1\n")
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=120) in (0, 141)
    assert b"Traceback" not in err
    assert b"Exception" not in err


@POSIX
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--version >&-", 0),
        ("--version 2>&-", 0),
        *(
            pytest.param(words, 1, marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="none here"))
            for words in ("info >/dev/full", "--help >/dev/full", "--version >/dev/full")
        ),
    ],
)
def test_places_that_take_nothing_give_no_traceback(words, code):
    done = subprocess.run(f"{shlex.join(MAIN)} {words}", shell=True, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_a_terminal_without_greek_sees_something():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*MAIN, "fit", "--help"], capture_output=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"SVM-light" in done.stdout


@POSIX
def test_help_comes_at_once():
    seconds = []
    for _ in range(3):
        before = os.times()
        subprocess.run([*MAIN, "--help"], check=True, capture_output=True, timeout=60)
        after = os.times()
        seconds.append(sum(after[2:4]) - sum(before[2:4]))  # of its processor: others may be busy
    assert min(seconds) < 1.0, seconds


def test_asking_for_help_loads_nothing_heavy():
    code = "import sys, maxmargin.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()).isdisjoint({"numpy", "scipy", "sklearn", "numba", "matplotlib"})
