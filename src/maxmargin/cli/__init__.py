"""The command line: commands in `commands`, options that several share in `estimator_options`, `files` and `screen`."""

from maxmargin.cli.app import main

__all__ = ["main"]
