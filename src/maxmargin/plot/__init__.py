"""Pictures of fitted models, in scikit-learn's Display style. Needs the extra "plot": ``pip install 'maxmargin[plot]'``.

Each class holds the numbers that it draws: ``from_estimator`` (or ``from_…``) finds them and draws, ``plot(ax=…)`` draws again
elsewhere, ``ax_`` and ``figure_`` are what was drawn on. Models may be pipelines, searches or `FrozenEstimator`, with the data
before their steps. The colours are told apart by the colour-blind, the marks in grey.
"""

from maxmargin.plot.boundary import CostEffectDisplay, DecisionBoundaryDisplay
from maxmargin.plot.convexity import DualityDisplay, TangentsDisplay
from maxmargin.plot.curves import GapDisplay, L1PathDisplay, LossesDisplay
from maxmargin.plot.halfspaces import DistanceDisplay, HalfspacesDisplay, SlackDisplay
from maxmargin.plot.influence import InfluenceDisplay
from maxmargin.plot.samples import LeaveOneOutDisplay, MarginsDisplay

__all__ = ["CostEffectDisplay", "DecisionBoundaryDisplay", "DistanceDisplay", "DualityDisplay", "GapDisplay"]
__all__ += ["HalfspacesDisplay", "InfluenceDisplay", "L1PathDisplay", "LeaveOneOutDisplay", "LossesDisplay", "MarginsDisplay"]
__all__ += ["SlackDisplay", "TangentsDisplay"]
