"""What a sample costs, as a function of z = yF.

==================  ====================  ======  =========  ======  ================================
loss                ℓ(z)                  convex  Lipschitz  smooth  used by
==================  ====================  ======  =========  ======  ================================
`ZeroOne`           1 if z ≤ 0, else 0    no      no         no      the error that is meant
`Hinge`             max(0, 1 − z)         yes     1          no      SVC, LinearSVC, HardMarginSVC
`SquaredHinge`      max(0, 1 − z)²        yes     no         2       SVC, LinearSVC
`Ramp`              min(1, max(0, 1 − z)) no      1          no      SVC, LinearSVC
`PerceptronLoss`    max(0, −z)            yes     1          no      Perceptron descends it
`Logistic`          ln(1 + e^−z)          yes     1          ¼       evaluated only
`Squared`           (1 − z)²              yes     no         2       evaluated only
==================  ====================  ======  =========  ======  ================================

With ‖x‖ ≤ ρ, w ↦ ℓ(y⟨w, x⟩) is Lipschitz with `lipschitz` · ρ and smooth with `smoothness` · ρ²: Claim 15.6 of Shalev-Shwartz &
Ben-David says so of the hinge.
"""

from maxmargin.core.losses import (
    Hinge,
    Logistic,
    Loss,
    PerceptronLoss,
    Ramp,
    Squared,
    SquaredHinge,
    ZeroOne,
    loss_from_name,
)

__all__ = ["Hinge", "Logistic", "Loss", "PerceptronLoss", "Ramp", "Squared", "SquaredHinge", "ZeroOne", "loss_from_name"]
