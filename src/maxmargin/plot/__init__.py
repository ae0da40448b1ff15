"""Pictures of fitted models, in scikit-learn's Display style. Needs the extra "plot": ``pip install 'maxmargin[plot]'``.

Each class holds the numbers that it draws: ``from_estimator`` (or ``from_…``) finds them and draws, ``plot(ax=…)`` draws again
elsewhere, ``ax_`` and ``figure_`` are what was drawn on. Models may be pipelines, searches or `FrozenEstimator`, with the data
before their steps. The colours are told apart by the colour-blind, the marks in grey.
"""

from maxmargin.plot.boundary import CostEffectDisplay, DecisionBoundaryDisplay
from maxmargin.plot.curves import GapDisplay, L1PathDisplay, LossesDisplay
from maxmargin.plot.samples import LeaveOneOutDisplay, MarginsDisplay

__all__ = ["CostEffectDisplay", "DecisionBoundaryDisplay", "GapDisplay", "L1PathDisplay"]
__all__ += ["LeaveOneOutDisplay", "LossesDisplay", "MarginsDisplay"]
