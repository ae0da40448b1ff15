"""The certificate: how far a candidate is from the best possible, recomputed from the data, its own rounding included.

For any w, b and any feasible β, with m_j = r_j − y_j F_j (in classification r = 1),

    gap = P(w, b) − D(β) = Σ_j R_j + Ω(w) + Ω*(w(β)) − ⟨w, w(β)⟩,      R_j = c_j ℓ(m_j) + c_j ℓ*(α_j) − α_j m_j ≥ 0

(hinge and L2: Σ_j (c_j − α_j)[m_j]₊ + α_j[−m_j]₊ + ½‖w − w(β)‖²). Every term is non-negative, so nothing cancels. Each is bounded
from above: m_j by the bound of its error (`core.certificate.scores`), sums by the bound of theirs (`rounding`). So the gap is an
upper bound for the numbers that are stored, in exact arithmetic; `Certificate.rounding` says which part of it is arithmetic.

A free bias demands Σβ = τ (0 in classification). What the stored β leaves, s = Σβ − τ, is taken from a sample k that has room:
β' = β − s·e_k is feasible, and the gap changes by at most |s||m_k| + |s|·‖φ_k‖·‖w − w(β)‖ + ½s²(‖φ_k‖² + 1/(2c_k)), the last for
the squared hinge alone.

Samples add up (`Part`): on one machine there is one part, on many each has its own, and the certificate is made from the sum.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.candidate import Candidate, make_feasible
from maxmargin.core.certificate.joint import judged
from maxmargin.core.certificate.pairs import Pair, into_the_cube, lengths_of, of_coefficients, of_weights
from maxmargin.core.certificate.parts import TINY, Groups, Lengths, Part, Samples, Scale
from maxmargin.core.certificate.scores import Scores
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.core.joint import JointProblem
from maxmargin.core.penalties import L1
from maxmargin.core.problem import Problem
from maxmargin.errors import NotSupportedError
from maxmargin.notebook import box
from maxmargin.rounding import UNIT, gamma, raised, shown_above
from maxmargin.typing import Floats

FLOOR = 1e-8
"""Share of ½(Σ|β_j|‖φ_j‖)² that a gap is compared with at least: sums of that size round by 1e-16 of it, eight digits remain."""

FLOOR_OF_TARGETS = FLOOR * math.sqrt(FLOOR)
"""The same, as a share of Σ c_j|r_j|: 1e-12, some 9000 unit roundoffs. Constant targets have no loss that is larger."""

QUESTION = "Are these the training rows, in their order?"
"""What is asked about data that cannot be compared with those of the fit."""


@dataclass(frozen=True)
class Certificate:
    """Frozen numbers that prove how good a model is.

    Attributes
    ----------
    primal, dual : float
        An upper bound of P(w, b) and a lower bound of D(β): the optimum lies between them.
    gap, relative_gap : float
        An upper bound of P − D for the numbers as they are stored, without cancellation; and gap / max(|P|, |D|), whose
        denominator is bounded from below.
    kkt_violation : float
        The largest violation of complementary slackness, in units of the margin or of the cost, whichever is smaller.
    groups : Groups
        Samples outside, on, and inside the margin.
    margin : float
        A lower bound of the geometric margin min_j y_j F_j / ‖w‖; negative where a training sample may be misclassified.
    distance : float
        An upper bound of ‖w − w(β)‖.
    convex : bool
        False where the kernel is not positive semi-definite: then the gap tells stationarity, not optimality.
    assumed_psd : bool
        True where the kernel's positive semi-definiteness was taken on trust (a callable, a precomputed matrix).
    rounding : float
        The part of the gap that is due to the arithmetic: the gap without it is what the formulas gave. NaN in
        older model files, which do not tell.
    tol : float or None
        The relative gap that was asked for; None where none was.
    data : str or None
        In which way the data differ from those of the fit, or the question whether they do, in one sentence; None where the
        model was judged on the data that it was trained on.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core import Candidate, Problem, certify
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> problem = Problem(X, y, cost=np.full(4, 10.0))
    >>> best = Candidate(w=np.array([2.0]), b=-3.0, beta=np.array([0.0, -2.0, 2.0, 0.0]))
    >>> print(certify(problem, best, tol=1e-6))
    Optimal to rounding: the objective 2 is proved to be within a relative ... of the best possible. The closest sample is
    0.5 from the hyperplane, on its right side. Samples: 2 outside the margin, 2 on it, 0 inside it or wrong.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    groups: Groups
    margin: float
    distance: float
    convex: bool = True
    assumed_psd: bool = False
    rounding: float = 0.0
    tol: float | None = None
    data: str | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the relative gap is at most what was asked for; where nothing was, there is nothing to miss."""
        return self.tol is None or self.relative_gap <= self.tol < math.inf

    @property
    def is_certified(self) -> bool:
        """Whether a relative gap was asked for and reached; never where the kernel is known not to be positive semi-definite,
        or where the rounding is not known.
        """
        return self.tol is not None and self.is_reached and self.convex and not math.isnan(self.rounding)

    @property
    def is_optimal_to_rounding(self) -> bool:
        """Whether this is certified and at least half of its gap is arithmetic: seeing anything better takes more digits."""
        return self.is_certified and self._is_mostly_rounding

    @property
    def _is_mostly_rounding(self) -> bool:
        return math.isfinite(self.gap) and self.gap <= 2.0 * self.rounding

    @property
    def radius(self) -> float:
        """The optimum w* lies within this distance of w, for the L2 penalty: √(gap − ¼d²) + ½d with d = ‖w − w(β)‖.

        It grows with d as long as ½d² ≤ gap, so that an upper bound of d will do; and √(2 gap) is never exceeded.
        """
        if not self.convex or math.isnan(self.distance) or math.isinf(self.gap):
            return math.inf
        half = min(0.5 * self.distance, math.sqrt(0.5 * self.gap))
        return float(raised(math.sqrt(max(self.gap - half * half, 0.0)) + half, 8))

    def __str__(self) -> str:
        parts = (self._verdict(), self._advice(), self._margin_sentence(), self._groups_sentence())
        return " ".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        """The sentence and the numbers, for notebooks."""
        bounds = {"primal value": f"{self.primal:.8g}", "dual value": f"{self.dual:.8g}"}
        others = {"relative gap": self.relative_gap, "rounding, in the gap": self.rounding, "KKT violation": self.kkt_violation}
        return box(str(self), bounds | {name: shown_above(number, 2) for name, number in others.items()}, self.is_certified)

    def _verdict(self) -> str:
        gap = shown_above(self.relative_gap, 2)
        if not math.isfinite(self.gap):
            return "Not certified: the gap is infinite, as it is for a hard margin that does not separate the samples."
        if not self.is_reached:
            return f"Not certified: the gap is {gap}, and {self.tol:.2g} was asked for."
        if not self.convex:
            return (
                f"Stationary to a relative {gap} (objective {self.primal:.7g}); the kernel is not positive semi-definite, "
                "so a better optimum may exist."
            )
        if math.isnan(self.rounding):
            return f"Not certified: an earlier version found the gap {gap} and did not bound its rounding. Use certify."
        trust = "if the kernel is positive semi-definite" if self.assumed_psd else ""
        proved = f"the objective {self.primal:.7g} is proved to be within a relative {gap} of the best possible"
        if self.tol is None:
            return f"{proved[0].upper()}{proved[1:]}{', ' if trust else ''}{trust}."
        lead = "Optimal to rounding" if self.is_optimal_to_rounding else "Certified"
        return f"{lead}{' ' if trust else ''}{trust}: {proved}."

    def _advice(self) -> str:
        """What the data are, and what to do where the gap is not the one that was asked for."""
        are_other_data = self.data is not None and self.data != QUESTION
        if self.is_reached and math.isfinite(self.gap):
            return f"{self.data} What is proved is about the data given." if are_other_data else ""
        if are_other_data:
            return f"{self.data} Give the data of the fit, in their order."
        if not math.isfinite(self.gap):
            way = "allow more iterations or seconds"
        elif self._is_mostly_rounding:
            way = "scale the features, or relax tol: at least half of the gap is rounding"
        else:
            way = "allow more iterations or seconds, or relax tol"
        return f"{way[0].upper()}{way[1:]}." if self.data is None else f"{self.data} If so, {way}."

    def _margin_sentence(self) -> str:
        if not math.isfinite(self.margin):
            return ""
        if self.margin > 0:
            return f"The closest sample is {self.margin:.4g} from the hyperplane, on its right side."
        return f"The worst sample is {-self.margin:.4g} beyond the hyperplane, on its wrong side."

    def _groups_sentence(self) -> str:
        return (
            f"Samples: {self.groups.outside} outside the margin, {self.groups.on} on it, {self.groups.inside} inside it or wrong."
        )


@np.errstate(over="ignore")  # what leaves float64 is +∞, an upper bound
def certify(
    problem: Problem | JointProblem,
    candidate: Candidate,
    scores: Scores | None = None,
    *,
    tol: float | None = None,
    n_threads: int = 1,
) -> Certificate:
    """Judge a candidate from the data alone.

    β is made feasible first (clipped into the box, its heavier side scaled down). For the hard margin (w, b) is scaled so that
    the closest sample has margin 1. `tol` is the relative gap that was asked for: it decides how exactly things are computed,
    and the words, but no claim. Cost: O(nnz) for a linear problem; n × (support vectors) kernel values otherwise, in blocks of
    bounded size; `scores` spares that where they are known already.
    """
    if isinstance(problem, JointProblem):
        return _certify_joint(problem, candidate, tol)
    if not problem.loss.convex:
        raise NotSupportedError(f"{problem.loss!r} is not convex, so it has no duality gap. Certify its convex steps.")
    if problem.bias.kind == "none" and candidate.b != 0.0:
        raise NotSupportedError(f"The problem has no bias, but the candidate has b = {candidate.b!r}.")
    wanted, on = tol or 0.0, problem.counted
    scores = scores_of(problem, candidate, wanted, n_threads) if scores is None else scores
    scale = Scale.of(scores.slack[on], scores.slack_error[on]) if problem.is_hard else None
    beta, pair = make_feasible(problem, candidate.beta), None
    if isinstance(problem.penalty, L1):
        beta, pair = into_the_cube(problem, candidate, beta, scale, wanted)
    samples = Samples(scores.slack, scores.slack_error, beta * problem.y, problem.cost, problem.y, problem.target).some(on)
    lengths = _lengths_of_counted(problem) if problem.bias.is_free else None
    parts = _by_group(problem, samples, lengths)
    part = Part.of(problem.loss, samples, scale, lengths) if parts is None else sum(parts[1:], parts[0])
    if pair is None and problem.is_linear:
        pair = of_weights(problem, candidate, beta, scale, part, wanted)
    elif pair is None:
        pair = of_coefficients(problem, candidate, beta, scores, scale, part)
    if scale is not None and math.isfinite(scale.most):  # P = ½‖w‖²/min² lies between both
        share = scale.least / scale.most
        pair = pair._replace(value_below=pair.value_below * share * share * (1.0 - 16.0 * UNIT))
    linear = CLASSIFICATION if problem.is_classification else _linear(problem, candidate, beta, parts or [part])
    return assembled(part, pair, is_free=problem.bias.is_free, tol=tol, psd=problem.kernel.psd, linear=linear)


def _certify_joint(problem: JointProblem, candidate: Candidate, tol: float | None) -> Certificate:
    """Several classes at once; there is no one hyperplane, and so no margin."""
    from maxmargin._loops.certificate import assemble

    found = judged(problem, candidate)
    pair, plain = found.pair, found.plain + found.pair.plain
    primal, dual, gap, relative, margin, distance, rounding = assemble(
        found.residual, found.loss, found.loss_below, found.gain, math.nan, *pair[:4], pair.norm, pair.norm_below, pair.distance,
        plain, found.charge, found.lost, found.moved, 0.0, 0.0, TINY,
    )  # fmt: skip
    return _certificate(
        primal, dual, gap, relative, found.violation, found.groups, margin, distance, True, rounding, psd=True, tol=tol
    )


def _linear(problem: Problem, candidate: Candidate, beta: Floats, parts: list[Part]) -> "Linear":
    """What totals add; `parts` are those of the groups, or one for all samples."""
    totals = np.array([problem.total]) if problem.totals is None else problem.totals
    size = float(np.abs(totals * candidate.b).sum())
    return Linear(tuple(zip(parts, totals.tolist(), strict=True)), problem.biased(candidate.b), size, _floor(problem, beta))


def _by_group(problem: Problem, samples: Samples, lengths: Lengths | None) -> list[Part] | None:
    """A part for each group, where there are groups."""
    if problem.groups is None:
        return None
    assert problem.totals is not None
    assert lengths is not None
    own, parts = problem.groups[problem.counted], []
    for g in range(len(problem.totals)):
        at = np.flatnonzero(own == g)
        parts.append(Part.of(problem.loss, samples.some(at), None, lambda j, at=at: lengths(at[j])))  # type: ignore[misc]
    return parts


def _floor(problem: Problem, beta: Floats) -> float:
    """The least denominator of a relative gap where P* may be 0: a share of ½(Σ|β_j|‖φ_j‖)² ≥ ½‖w(β)‖².

    With totals, which might all be made by samples of length 0, also of ½(Σ|τ| · the mean length)²; with targets a multiple of
    the rounding of Σ c_j|r_j|, too, that the smallest losses are told from 0 by.
    """
    used, totals = np.flatnonzero(beta), abs(problem.total) if problem.totals is None else float(np.abs(problem.totals).sum())
    length = float(np.abs(beta[used]) @ np.sqrt(np.maximum(problem.diag(used), 0.0)))
    if totals > 0.0:
        mean = float(problem.cost @ np.sqrt(np.maximum(problem.diag(), 0.0))) / float(problem.cost.sum())
        length = max(length, totals * mean)
    losses = 0.0 if problem.target is None else FLOOR_OF_TARGETS * float(problem.cost @ np.abs(problem.target))
    return max(0.5 * FLOOR * length**2, losses)


def _lengths_of_counted(problem: Problem) -> Lengths:
    lengths, on = lengths_of(problem), problem.counted
    return lengths if isinstance(on, slice) else lambda j: lengths(on[j])


class Linear(NamedTuple):
    """What totals add: each part with the total of its β, Στb, Σ|τb|, and the least denominator of a relative gap."""

    totals: tuple[tuple[Part, float], ...] = ()
    value: float = 0.0
    size: float = 0.0
    floor: float = 0.0


CLASSIFICATION = Linear()
"""Σβ = 0, and no floor: P is 0 only where w is."""


def assembled(
    part: Part, pair: Pair, *, is_free: bool, tol: float | None, psd: bool | None = True, linear: Linear = CLASSIFICATION
) -> Certificate:
    """The certificate that the sums over all samples and the two vectors prove."""
    from maxmargin._loops.certificate import assemble, price_of_balance

    charge = lost = moved = 0.0
    if is_free:
        totals, prices = linear.totals or ((part, 0.0),), []
        for one, total in totals:
            s, giver = one.beyond(total)
            prices.append(price_of_balance(s, *giver, pair.distance, pair.conjugate, float(len(totals))))
        charge, lost, moved = (raised(sum(column), len(prices)) for column in zip(*prices, strict=True))
    primal, dual, gap, relative, margin, distance, rounding = assemble(
        part.residual, part.loss, part.loss_below, part.gain, part.closest, *pair[:4], pair.norm, pair.norm_below, pair.distance,
        part.plain + pair.plain, charge, lost, moved, linear.value, gamma(len(linear.totals) + 4) * linear.size,
        max(linear.floor, TINY),
    )  # fmt: skip
    numbers = primal, dual, gap, relative, part.violation
    return _certificate(*numbers, part.groups, margin, distance, pair.is_psd, rounding, psd, tol)


def of_each(numbers: Floats, psd: bool | None, tol: float) -> list[Certificate]:
    """The certificates of several problems, from the numbers of `_loops.certificate`: a row for each."""
    found = []
    for primal, dual, gap, relative, violation, *counts, margin, distance, is_psd, rounding in numbers.tolist():
        groups = Groups(*map(int, counts))
        found.append(_certificate(primal, dual, gap, relative, violation, groups, margin, distance, is_psd, rounding, psd, tol))
    return found


def _certificate(
    primal: float, dual: float, gap: float, relative: float, violation: float, groups: Groups, margin: float, distance: float,
    is_psd: Any, rounding: float, psd: bool | None, tol: float | None,
) -> Certificate:  # fmt: skip
    """One certificate; `is_psd` tells whether βᵀKβ ≥ 0, `psd` what is known of the kernel."""
    margin = math.nan if math.isnan(margin) else margin  # the one object, so that equal certificates are ==
    convex = psd is not False and bool(is_psd)
    return Certificate(primal, dual, gap, relative, violation, groups, margin, distance, convex, psd is None, rounding, tol)
