"""The report: one self-contained HTML page about a fitted model. Its pictures are SVG, written here: no matplotlib."""

from maxmargin.html_report.report import report

__all__ = ["report"]
