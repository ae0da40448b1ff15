"""The decorator of compiled loops."""

import numpy as np

from maxmargin._loops.compile_time import COMPILE_TIME, Stopwatch
from maxmargin._loops.jit import loop


def test_the_decorator_keeps_the_function_without_a_compiler(monkeypatch):
    def double(x):
        return 2 * x

    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    assert loop(double) is double
    monkeypatch.setenv("MAXMARGIN_JIT", "1")
    assert loop(double) is not double
    assert loop(double)(21) == 42


def test_compiling_is_counted_once_for_each_type_and_calls_are_not(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_JIT", "1")

    @loop
    def total(x):
        s = x[0]
        for v in x[1:]:
            s += v
        return s

    for dtype in (np.float64, np.float32):
        watch, x = Stopwatch(), np.ones(10, dtype=dtype)
        assert total(x) == 10
        compiling = watch.compile_seconds
        assert compiling > watch.seconds >= 0.0  # calling takes microseconds
        before = COMPILE_TIME.seconds
        for _ in range(100):
            total(x)
        assert COMPILE_TIME.seconds == before
