"""The seconds of compiling, apart from all others."""

import time
from threading import Barrier, Thread

import pytest

from maxmargin._loops import compile_time
from maxmargin._loops.compile_time import COMPILE_TIME, CompileTime, Stopwatch, seconds_in_words
from maxmargin.solvers.base import Budget, Clock


def test_what_threads_compile_at_one_time_counts_once_and_nested_loops_too():
    spent, start = CompileTime(), Barrier(3)

    def compile_something():
        start.wait()
        with spent, spent:
            time.sleep(0.05)

    threads = [Thread(target=compile_something) for _ in range(3)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.05 <= spent.seconds <= time.perf_counter() - began
    assert spent.seconds == spent.seconds  # the clock stands still outside


def test_seconds_go_on_while_something_is_compiled():
    spent = CompileTime()
    with spent:
        first = spent.seconds
        time.sleep(0.01)
        assert spent.seconds >= first + 0.01


def test_neither_a_stopwatch_nor_a_budget_counts_compiling():
    watch, clock = Stopwatch(), Clock(Budget(seconds=0.05))
    with COMPILE_TIME:
        time.sleep(0.1)
    assert watch.compile_seconds >= 0.1
    assert watch.seconds < 0.05
    assert clock.spent() is None
    time.sleep(0.06)
    assert clock.spent() is not None


@pytest.mark.parametrize(
    ("compiled", "not_kept", "words"),
    [
        (3, 0, "0.07 s (+ 14 s compiling, once)"),
        (3, 1, "0.07 s (+ 14 s compiling, in each process)"),
        (0, 0, "0.07 s (+ 14 s loading compiled loops)"),
    ],
)
def test_compiling_is_told_apart_in_words(monkeypatch, compiled, not_kept, words):
    spent = CompileTime()
    spent.compiled, spent.not_kept = compiled, not_kept
    monkeypatch.setattr(compile_time, "COMPILE_TIME", spent)
    assert seconds_in_words(0.0712, 14.2) == words
    assert seconds_in_words(0.0712, 0.01) == "0.07 s"
    assert seconds_in_words(0.00123) == "0.00123 s"
    assert seconds_in_words(123.4) == "123 s"
