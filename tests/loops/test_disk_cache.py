"""Compiled loops on disk: what runs is what the sources say, and nothing is compiled twice."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin._loops import disk_cache
from maxmargin._loops.linear import csr

PACKAGE = Path(maxmargin.__file__).parent
SCRIPT = """
import json, sys
import numpy as np
from maxmargin._loops.linear import csr
from maxmargin._loops.probe import scaled
from maxmargin._loops.linear.proximal_newton import signed_scores_csr

out = np.zeros(1)
signed_scores_csr(np.array([0, 1]), np.array([0]), np.ones(1), np.ones(1), np.full(1, 2.0), 0.0, 0, 1, out)
half = scaled(1.0)
loops = (csr.dot_csr, signed_scores_csr, scaled)
misses = sum(sum(loop.stats.cache_misses.values()) for loop in loops)
print(json.dumps({"score": out[0], "half": half, "compiled": misses, "file": csr.__file__}))
"""

PROBE = """
from maxmargin._loops.jit import loop
from maxmargin._loops.probe_constant import FACTOR


@loop
def scaled(value):
    return FACTOR * value
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of what the loops need, to change, and a loop with a constant from another file."""
    place = tmp_path / "src" / "maxmargin"
    place.mkdir(parents=True)
    shutil.copy(PACKAGE / "__init__.py", place)
    shutil.copytree(PACKAGE / "_loops", place / "_loops", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "_loops" / "probe.py").write_text(PROBE, encoding="utf-8")
    (place / "_loops" / "probe_constant.py").write_text("FACTOR = 0.5\n", encoding="utf-8")
    return place


def run(copy, **environment):
    """What the script prints about a copy, and its stderr."""
    hidden = ("MAXMARGIN_QUIET", "MAXMARGIN_JIT", "NUMBA_CACHE_DIR", "PYTHONPYCACHEPREFIX")
    base = {name: value for name, value in os.environ.items() if name not in hidden}
    base |= {"PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(copy / "user")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=base | environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert Path(found.pop("file")).parent == copy / "_loops" / "linear"
    return found, done.stderr


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_changed_callees_and_imported_constants_never_run_stale_code(copy, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    found, stderr = run(copy, **cache)
    assert found == {"score": 2.0, "half": 0.5, "compiled": 3}
    assert stderr.count("maxmargin: compiling") == 1
    found, stderr = run(copy, **cache)
    assert found == {"score": 2.0, "half": 0.5, "compiled": 0}
    assert stderr == ""
    change(copy / "_loops" / "linear" / "csr.py", "return (a + b) + (c + d)", "return 1e3 * ((a + b) + (c + d))")
    change(copy / "_loops" / "probe_constant.py", "0.5", "2.5")
    found, _ = run(copy, **cache)
    assert found == {"score": 2000.0, "half": 2.5, "compiled": 3}
    assert len(list((tmp_path / "cache" / "maxmargin_loops").iterdir())) == 3  # in the place of the old code
    assert not (copy / "_loops" / "__pycache__").exists()


def test_the_package_keeps_its_loops_beside_itself_and_damaged_files_are_compiled_again(copy):
    run(copy)
    folder = copy / "_loops" / "__pycache__" / "maxmargin_loops"
    files = sorted(folder.glob("*.code"))
    assert len(files) == len(list(folder.iterdir())) == 3  # nothing is left aside
    files[0].write_bytes(files[0].read_bytes()[:-1])
    files[1].write_bytes(b"")
    found, _ = run(copy, MAXMARGIN_QUIET="1")
    assert 1 <= found["compiled"] <= 2
    found, stderr = run(copy)
    assert found == {"score": 2.0, "half": 0.5, "compiled": 0}
    assert stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of the user is named by XDG_CACHE_HOME on Linux")
def test_a_package_that_cannot_be_written_uses_the_folder_of_the_user(copy):
    (copy / "_loops" / "__pycache__").write_text("no folder")
    run(copy)
    assert run(copy)[0]["compiled"] == 0
    assert len(list((copy / "user" / "numba").glob("maxmargin_loops/*.code"))) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="the folder of the user is named by XDG_CACHE_HOME on Linux")
def test_it_is_said_once_that_nothing_can_be_kept_unless_silence_was_chosen(copy):
    (copy / "_loops" / "__pycache__").write_text("no folder")
    (copy / "user").write_text("no folder")
    found, stderr = run(copy)
    assert found["compiled"] == 3
    assert stderr.count("\n") == 2
    assert stderr.count("cannot be written to disk, so that every process compiles them again") == 1
    assert run(copy, MAXMARGIN_QUIET="1")[1] == ""


def test_sources_that_changed_while_a_process_runs_are_not_saved(monkeypatch, tmp_path):
    import numba

    def compile_afresh():
        compiled = numba.njit(csr.dot_csr.py_func)
        compiled._cache = disk_cache.LoopCache(csr.dot_csr.py_func)
        compiled._cache._folders = [tmp_path / "folder"]
        monkeypatch.setattr(disk_cache, "source_hash", lambda: now)
        assert compiled(np.array([0]), np.ones(1), np.full(1, 3.0), 0, 1) == 3.0
        monkeypatch.undo()

    now = "changed"
    compile_afresh()
    assert not (tmp_path / "folder").exists()
    now = disk_cache.source_hash()
    compile_afresh()
    assert len(list((tmp_path / "folder").glob("linear.csr.dot_csr.*.code"))) == 1


def test_code_that_llvm_did_not_hand_over_runs_and_is_not_kept(monkeypatch, tmp_path):
    """Ctrl-C inside LLVM's callback leaves numba without the code that it would write: no reason to end a fit."""
    import numba
    from numba.core.codegen import CPUCodeLibrary

    def nothing(self):
        raise RuntimeError("no compiled object yet")

    compiled = numba.njit(csr.dot_csr.py_func)
    compiled._cache = disk_cache.LoopCache(csr.dot_csr.py_func)
    compiled._cache._folders = [tmp_path / "folder"]
    monkeypatch.setattr(CPUCodeLibrary, "_get_compiled_object", nothing)
    assert compiled(np.array([0]), np.ones(1), np.full(1, 3.0), 0, 1) == 3.0
    assert not (tmp_path / "folder").exists()


def test_a_function_from_elsewhere_is_not_kept():
    from maxmargin._loops.jit import loop

    def double(x):
        return 2 * x

    assert loop(double).stats.cache_path is None
    assert csr.dot_csr.stats.cache_path is not None


def test_settings_of_the_compiler_have_their_own_code(monkeypatch):
    import numba

    cache, codegen = disk_cache.LoopCache(csr.dot_csr.py_func), csr.dot_csr.targetctx.codegen()
    before = cache._file((), codegen)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert cache._file((), codegen) != before


def test_a_loop_can_be_sent_to_another_process():
    again = pickle.loads(pickle.dumps(csr.dot_csr))
    assert again(np.array([0]), np.ones(1), np.full(1, 3.0), 0, 1) == 3.0
