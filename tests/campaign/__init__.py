"""Drawn problems, judged by independent code: see `tests.campaign.__main__`."""

from tests.campaign.checks import check_file, check_left_out, check_progress, judge
from tests.campaign.draws import FAMILIES, Case, draw

__all__ = ["FAMILIES", "Case", "check_file", "check_left_out", "check_progress", "draw", "judge"]
