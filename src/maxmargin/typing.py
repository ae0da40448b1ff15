"""Names for the few array types that travel through the library."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""A float64 array: solutions, certificates, everything that is claimed."""

Block: TypeAlias = NDArray[np.floating[Any]]
"""A block of kernel values, float32 or float64."""

Indices: TypeAlias = NDArray[np.intp]
"""Row numbers."""

Flags: TypeAlias = NDArray[np.bool_]
"""Yes or no for each sample."""

Matrix: TypeAlias = Any
"""A dense two-dimensional array or a SciPy CSR array, float32 or float64: the rows are the samples."""
