"""The command line: commands in `app`, `fit` and `questions`; what several share in `options`, `estimator_options`, `screen`."""

from maxmargin.cli.app import main

__all__ = ["main"]
