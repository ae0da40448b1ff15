"""All two-way products of features."""

import numpy as np

from maxmargin.kernel_matrix.tiles import as_matrix, is_sparse
from maxmargin.kernels.inner import require_finite
from maxmargin.typing import Matrix


def interactions(X: Matrix) -> Matrix:
    """Map each row x to all products Φ(x) = (x_i x_j), i, j = 1..d, so that ⟨Φ(u), Φ(v)⟩ = ⟨u, v⟩².

    Parameters
    ----------
    X : dense or CSR of shape (n, d)

    Returns
    -------
    dense or CSR, as X, of shape (n, d²)
        Column i·d + j holds x_i x_j.

    Notes
    -----
    O(n d²) numbers; for CSR the sum of the squares of the row counts. ``Polynomial(degree=2, gamma=1)`` is the same
    kernel in O(d) a pair.

    Examples
    --------
    >>> import numpy as np
    >>> interactions(np.array([[2.0, 3.0]]))
    array([[4., 6., 6., 9.]])
    """
    X = as_matrix(X)
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_sparse(X):
            products = (X[:, :, np.newaxis] * X[:, np.newaxis, :]).reshape(n, d * d)
            require_finite(products, "A product of two features")
            return products
        counts = np.diff(X.indptr).astype(np.int64)
        of_row = np.repeat(np.arange(n), counts)
        # entry e of a row with c entries meets all c of them: pairs (left, right) row after row
        left = np.repeat(np.arange(X.indptr[-1]), counts[of_row])
        first_pair = np.concatenate([[0], np.cumsum(counts[of_row])])[:-1]
        right = np.arange(left.size) - first_pair[left] + X.indptr[:-1].astype(np.int64)[of_row[left]]
        data = X.data[left] * X.data[right]
    require_finite(data, "A product of two features")
    columns = X.indices[left].astype(np.int64) * d + X.indices[right]
    indptr = np.concatenate([[0], np.cumsum(counts**2)])
    return type(X)((data, columns, indptr), shape=(n, d * d))
