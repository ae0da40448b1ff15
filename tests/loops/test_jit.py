"""The decorator of compiled loops."""

from maxmargin._loops.jit import loop


def test_the_decorator_keeps_the_function_without_a_compiler(monkeypatch):
    def double(x):
        return 2 * x

    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    assert loop(double) is double
    monkeypatch.setenv("MAXMARGIN_JIT", "1")
    assert loop(double) is not double
    assert loop(double)(21) == 42
