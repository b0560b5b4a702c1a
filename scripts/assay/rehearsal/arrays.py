"""The one name for a NumPy array of any element type."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Addresses: TypeAlias = npt.NDArray[np.uint64]
