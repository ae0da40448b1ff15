"""The command line: a file a command, options that several share in `learning`, `files` and `screen`."""

from maxmargin.cli.app import main

__all__ = ["main"]
