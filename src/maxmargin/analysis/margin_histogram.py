"""The histogram of the margins z = yF, in which wrong samples, those inside the margin and those outside keep apart."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats, Indices

MOST_BINS = 40


@dataclass(frozen=True, eq=False)
class MarginHistogram:
    """Counts of margins by bins and zones.

    Attributes
    ----------
    edges : array (k + 1,)
        Of the bins; 1 is an edge, and so is 0 unless the bins are wider than 1.
    wrong, inside, outside : arrays (k,)
        The samples with z ≤ 0, 0 < z < 1 and z ≥ 1. A margin of 1 up to rounding is 1.
    n_beyond : int
        Samples beyond the outermost edges; they are counted in the first and last bin.

    Examples
    --------
    >>> from maxmargin.analysis.margin_histogram import margin_histogram
    >>> found = margin_histogram([-0.5, 0.5, 0.9, 1.0, 1.6, 2.0])
    >>> int(found.wrong.sum()), int(found.inside.sum()), int(found.outside.sum())
    (1, 2, 3)
    """

    edges: Floats
    wrong: Indices
    inside: Indices
    outside: Indices
    n_beyond: int

    def counts_of(self, margins: ArrayLike) -> Indices:
        """How many of some margins fall into each bin; those beyond the outermost edges are counted in the first and last.

        >>> margin_histogram([-0.5, 0.5, 0.9, 1.0, 1.6, 2.0]).counts_of([0.5, 1.6]).sum()
        np.int64(2)
        """
        return np.histogram(np.clip(margins, self.edges[0], self.edges[-1]), self.edges)[0]


def margin_histogram(margins: ArrayLike, rounding: float = 1e-6) -> MarginHistogram:
    """Bins of equal width over (nearly) all margins; O(n log n)."""
    z = np.asarray(margins, dtype=np.float64).ravel()
    if z.size == 0 or not np.isfinite(z).all():
        raise InvalidInputError(f"Margins must be finite numbers, at least one; got {z.size} of them.")
    z = np.where(np.abs(z - 1.0) <= rounding, 1.0, z)
    tail = 0.1 / MOST_BINS  # a share that may be drawn in the last bin instead of further out: a tenth of an even one
    low, high = np.quantile(z, [tail, 1.0 - tail], method="inverted_cdf")
    low, high = min(float(low), 0.0), max(float(high), 1.5)
    width = _width(high - low)
    first, last = -np.ceil((1.0 - low) / width), np.floor((high - 1.0) / width) + 1.0
    edges = np.asarray(1.0 + width * np.arange(first, last + 1.0))
    none = np.zeros(len(edges) - 1, dtype=np.intp)
    bins = MarginHistogram(edges, none, none, none, int(((z < edges[0]) | (z > edges[-1])).sum()))
    wrong, inside, outside = map(bins.counts_of, (z[z <= 0], z[(z > 0) & (z < 1)], z[z >= 1]))
    return replace(bins, wrong=wrong, inside=inside, outside=outside)


def _width(span: float) -> float:
    """The smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, … of which at most `MOST_BINS` cover the span (≥ 1.5)."""
    exponent = int(np.floor(np.log10(span / MOST_BINS)))
    widths = (digit * 10.0**power for power in (exponent, exponent + 1) for digit in (1.0, 2.0, 5.0))
    return next((width for width in widths if span <= MOST_BINS * width), span)
