"""The command line as a whole: it shows, it helps, it fails in one line."""

import sys

import pytest
from typer.testing import CliRunner

from maxmargin.cli import main
from maxmargin.cli.app import app
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


COMMANDS = ("demo", "fit", "predict", "certify", "loo", "bounds", "report", "convert", "info")


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


def test_success_has_exit_code_0(monkeypatch):
    monkeypatch.setattr("maxmargin.cli.demonstration.run_demo", lambda page: None)
    assert call_main(monkeypatch, "demo") == 0
