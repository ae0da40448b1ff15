"""The order in which samples are visited: a permutation an epoch, independent draws, or as they come."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.typing import Indices

MANY_VALUES = 100_000
"""Data of more stored values leave the fast memory, where a row after a random one costs several times its own length."""

NEIGHBOURS = 4
"""Neighbours that are visited together in large data. Where they are alike (covtype), 20 of them cost four times the epochs."""

KINDS = ("permuted", "uniform", "given")


@dataclass
class Visits:
    """Epoch after epoch, the samples to visit; the same seed gives the same visits.

    "permuted" puts all samples into a fresh random order; of large data (more than 100 000 stored values) 4 neighbours
    stay together, as memory is read fastest in order. "uniform" draws with replacement. "given" keeps the order of the samples.

    Examples
    --------
    >>> visits = Visits.of(np.arange(4), "given", seed=0)
    >>> visits.epoch()
    array([0, 1, 2, 3])
    >>> sorted(Visits.of(np.arange(4), "permuted", seed=0).epoch().tolist())
    [0, 1, 2, 3]
    """

    samples: Indices
    kind: str
    chunk: int
    random: Any  # a generator for uniform draws, else the state of `shuffle`

    @classmethod
    def of(cls, samples: Indices, kind: str, seed: int, n_values: int = 0) -> "Visits":
        """Visits of some samples, of data with so many stored values."""
        chunk = NEIGHBOURS if n_values > MANY_VALUES else 1
        state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        return cls(samples.astype(np.int64), kind, chunk, np.random.default_rng(state) if kind == "uniform" else state)

    def epoch(self) -> Indices:
        """As many visits as there are samples."""
        if self.kind == "given":
            return self.samples
        if self.kind == "uniform":
            return np.asarray(self.random.choice(self.samples, len(self.samples)))
        from maxmargin._loops.linear.dual_cd import shuffle

        out = np.empty_like(self.samples)
        shuffle(self.samples, len(self.samples), self.chunk, self.random, out)
        return out
