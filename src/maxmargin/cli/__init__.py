"""The command line: commands in `app` and `commands`; what several share in `options`, `estimator_options`."""

from maxmargin.cli.app import main

__all__ = ["main"]
