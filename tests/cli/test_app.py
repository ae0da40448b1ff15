"""The command line as a whole: it shows, it helps, it fails in one line."""

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

import maxmargin
from maxmargin import WarmUp
from maxmargin._loops import disk_cache
from maxmargin.cli import main
from maxmargin.cli.app import app, facts
from maxmargin.errors import InvalidInputError


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def call_main(monkeypatch, *arguments):
    """The exit code of the program as installed."""
    monkeypatch.setattr(sys, "argv", ["maxmargin", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


def test_without_a_command_there_is_help():
    result = run()
    assert "Usage" in result.output
    assert all(name in result.output for name in COMMANDS)
    assert "every answer carries its proof" in result.output


COMMANDS = ("demo", "fit", "predict", "certify", "loo", "cv", "search", "bounds", "report", "convert", "lab", "warm-up", "info")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_is_there_for_each_command(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.output


@pytest.mark.parametrize("arguments", [("nonsense",), ("demo", "--nonsense"), ("info", "extra")])
def test_wrong_usage_has_exit_code_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_wrong_usage_has_exit_code_2_in_the_program_too(monkeypatch, capfd):
    assert call_main(monkeypatch, "nonsense") == 2
    assert "nonsense" in capfd.readouterr().err


def test_an_error_of_ours_is_one_line_and_exit_code_1(monkeypatch, capfd):
    def refuse(page):
        raise InvalidInputError("The data are upside down. Turn them round.")

    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", refuse)
    assert call_main(monkeypatch, "demo") == 1
    out, err = capfd.readouterr()
    assert err == "maxmargin: The data are upside down. Turn them round.\n"
    assert out == ""


def test_an_interrupt_has_exit_code_130_and_no_traceback(monkeypatch, capfd):
    def interrupted(page):
        raise KeyboardInterrupt

    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", interrupted)
    assert call_main(monkeypatch, "demo") == 130
    assert capfd.readouterr().err == "maxmargin: Interrupted; nothing was written.\n"


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(page):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", broken)
    monkeypatch.setattr(sys, "argv", ["maxmargin", "demo"])
    with pytest.raises(ZeroDivisionError):
        main()


def test_an_error_that_is_not_ours_is_json_too(monkeypatch, capfd):
    monkeypatch.setattr("maxmargin.cli.app.facts", lambda: 1 // 0)
    monkeypatch.setattr(sys, "argv", ["maxmargin", "info", "--json"])
    with pytest.raises(ZeroDivisionError):
        main()
    found = json.loads(capfd.readouterr().out)
    assert (found["command"], found["exit_code"]) == ("info", 1)
    assert found["error"].startswith("ZeroDivisionError: ")


def test_success_has_exit_code_0(monkeypatch):
    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", lambda page: None)
    assert call_main(monkeypatch, "demo") == 0


def test_the_demo_replaces_no_page(call, tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", lambda report: None)
    (tmp_path / "maxmargin_demo.html").write_text("mine")
    assert "already exists" in call("demo", "--report", "maxmargin_demo.html", code=1).err
    assert (tmp_path / "maxmargin_demo.html").read_text() == "mine"


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


def test_warm_up_says_what_it_did_how_long_it_took_and_where_the_loops_are(call, monkeypatch):
    def warm_up(observe):
        observe("linear machines", 2.34)
        return WarmUp(3.0, compiled=7, loaded=2, folder="/somewhere")

    monkeypatch.setattr(maxmargin, "warm_up", warm_up, raising=False)
    assert call("warm-up", code=0).out == (
        "linear machines: 2.3 s\n\n3.0 s: 7 loops compiled, 2 loaded from disk. They are kept in /somewhere.\n"
    )
    told = json.loads(call("warm-up", "--json", code=0).out)
    assert told == {"command": "warm-up", "seconds": 3.0, "compiled": 7, "loaded": 2, "folder": "/somewhere"}


def test_the_lab_opens_a_page_that_answers_and_ends_with_ctrl_c():
    program = [sys.executable, "-c", "from maxmargin.cli import main; main()", "lab", "--no-browser"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = re.search(r"http://127\.0\.0\.1:\d+/\S{32,}/", process.stdout.readline())[0]
        with urlopen(address, timeout=60) as page:
            assert b"maxmargin lab" in page.read()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (0, "")


@pytest.mark.parametrize("wanted", [True, False])
def test_the_lab_opens_the_browser_unless_told_not_to(monkeypatch, wanted):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("maxmargin.lab.Lab.run", lambda self: self._socket.close())
    result = run("lab", *([] if wanted else ["--no-browser"]))
    assert result.exit_code == 0
    assert [address in result.output for address in opened] == [True] * wanted


def test_a_port_that_is_taken_is_one_line_and_exit_code_1(monkeypatch, capfd):
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert call_main(monkeypatch, "lab", "--no-browser", "--port", str(other.getsockname()[1])) == 1
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_without_the_extra_the_lab_says_which(monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert call_main(monkeypatch, "lab") == 1
    assert "pip install 'maxmargin[lab]'" in capfd.readouterr().err
