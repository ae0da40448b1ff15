"""The linear kernel: the inner product."""

from dataclasses import dataclass

from maxmargin.kernels.inner import OfInnerProduct


@dataclass(frozen=True)
class Linear(OfInnerProduct):
    """k(u, v) = ⟨u, v⟩.

    Use it when features already say enough: text, many features, or when the weights of the features are to be read.

    Notes
    -----
    Positive semi-definite. A block costs one matrix product.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().block(X, X)
    array([[ 5., 11.],
           [11., 25.]])
    """

    @property
    def psd(self) -> bool:
        """True: a Gram matrix is positive semi-definite."""
        return True
