"""The command line: ``maxmargin demo``, ``maxmargin info``."""

from maxmargin.cli.app import main

__all__ = ["main"]
