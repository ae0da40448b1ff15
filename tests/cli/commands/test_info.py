"""``maxmargin info``: what a bug report needs."""

import re
from pathlib import Path

import maxmargin
from maxmargin._loops import disk_cache
from maxmargin.cli.commands.info import facts


def test_info_tells_the_versions(call):
    done = call("info", code=0)
    for word in ("maxmargin", maxmargin.__version__, "Python", "numpy", "scipy", "clarabel", "cores", "BLAS"):
        assert word in done.out


def test_info_is_true():
    import numpy as np

    found = facts()
    assert found["numpy"] == np.__version__
    assert found["maxmargin"] == maxmargin.__version__
    assert int(found["cores"]) >= 1
    assert re.search(r"\d+ threads", found["BLAS"])
    assert "not installed" not in found.values()


def test_info_says_that_the_compiler_is_off_or_where_compiled_loops_are(monkeypatch, tmp_path):
    import numba

    monkeypatch.setenv("MAXMARGIN_JIT", "0")
    assert facts()["compiled loops"] == "compiler off (MAXMARGIN_JIT=0)"
    monkeypatch.setenv("MAXMARGIN_JIT", "1")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(disk_cache, "HERE", tmp_path)
    (tmp_path / "one.py").touch()
    assert Path(facts()["compiled loops"]).parent == tmp_path
    (tmp_path / "one.py").unlink()
    assert facts()["compiled loops"] == "not kept: every process compiles them"
