"""The interactive page: `serve` shows it on this machine only; ``maxmargin lab`` opens it."""

from maxmargin.lab.server import Lab

__all__ = ["Lab"]
