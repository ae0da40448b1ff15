"""The report: one self-contained HTML page about a fitted model. Its pictures are SVG: no matplotlib is needed."""

from maxmargin.html_report.report import report

__all__ = ["report"]
