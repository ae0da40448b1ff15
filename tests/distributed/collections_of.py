"""The same data as Dask collections and as files, cut into partitions."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp


def cuts(n, sizes):
    """Where to cut n rows: into so many equal parts, or into parts of these sizes."""
    if isinstance(sizes, int):
        return np.linspace(0, n, sizes + 1).astype(int)
    assert sum(sizes) == n
    return np.concatenate(([0], np.cumsum(sizes)))


def rows_of(X, sizes):
    """The parts of a matrix."""
    at = cuts(X.shape[0], sizes)
    return [X[a:b] for a, b in pairwise(at)]


def dask_array(X, sizes):
    """A Dask array whose blocks are dense or CSR, as X is."""
    import dask
    import dask.array as da

    parts = [sp.csr_array(part) if sp.issparse(X) else part for part in rows_of(X, sizes)]
    blocks = [
        da.from_delayed(dask.delayed(part, pure=False, traverse=False), part.shape, dtype=X.dtype, meta=part[:0])
        for part in parts
    ]
    return da.concatenate(blocks)


def noisy(n, d, seed=0, n_classes=2):
    """Overlapping classes, told apart by random hyperplanes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1)


def wide(n=600, d=1500, seed=0):
    """Sparse rows with more features than the d × d equations are made for."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.02, format="csr", random_state=seed)
    X = sp.csr_array(X)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0, 1, 0)
    return X, y
