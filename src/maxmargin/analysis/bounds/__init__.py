"""What the margin promises about unseen data: the theorems, and their inverses, on plain numbers.

===============================  ========================================================  ===========
function                         value                                                     source
===============================  ========================================================  ===========
:func:`hard_margin`              √(4(ρ/γ)²/m) + √(2 ln(2/δ)/m)                             UML 15.4
:func:`hard_margin_samples`      the smallest m for which that is ≤ ε                      its inverses
:func:`hard_margin_gamma`        the smallest γ
:func:`hard_margin_delta`        the smallest δ
:func:`soft_margin`              L(u) + λ‖u‖² + 2ρ²/(λm)                                   UML 15.7
:func:`soft_margin_lambda`       √(2ρ²/(B²m))
:func:`soft_margin_best`         min_{‖w‖≤B} L(w) + √(8ρ²B²/m)
:func:`soft_margin_samples`      the smallest m for which √(8ρ²B²/m) ≤ ε                   its inverse
:func:`vc_rate`                  √(d/m): a rate, no bound                                  UML 15.2.2
:func:`perceptron_updates`       ⌊(ρ/γ)²⌋                                                  UML 15.1
:func:`perceptron_margin`        ρ/√updates                                                its inverse
:func:`leave_one_out_support`    E[support vectors]/m                                      Vapnik
===============================  ========================================================  ===========

UML is Shalev-Shwartz & Ben-David, *Understanding Machine Learning*, chapter 15. ρ, γ and B belong to the distribution
that the samples come from. Put in as measured on a sample they give plug-in figures, and the result says so.
"""

from maxmargin.analysis.bounds._bound import Bound, Kind
from maxmargin.analysis.bounds._counts import leave_one_out_support, perceptron_margin, perceptron_updates, vc_rate
from maxmargin.analysis.bounds._hard import hard_margin, hard_margin_delta, hard_margin_gamma, hard_margin_samples
from maxmargin.analysis.bounds._soft import soft_margin, soft_margin_best, soft_margin_lambda, soft_margin_samples

__all__ = [
    "Bound",
    "Kind",
    "hard_margin",
    "hard_margin_samples",
    "hard_margin_gamma",
    "hard_margin_delta",
    "soft_margin",
    "soft_margin_lambda",
    "soft_margin_best",
    "soft_margin_samples",
    "vc_rate",
    "perceptron_updates",
    "perceptron_margin",
    "leave_one_out_support",
]
