"""Float32 values as words of 8 hex digits (IEEE 754 binary32, big-endian bits), and as NumPy arrays.

Arrays are ``numpy.float32`` of shape (n,), native byte order, contiguous.  The bits pass through as unsigned
integers, so that no NaN is made quiet on the way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from .packages import load

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[np.float32]"

LISTED = 4096
"""Most values that are listed one by one; more are given by their digest (FORMATS, "Receipt")."""

WORD = re.compile(r"[0-9a-f]{8}")


def to_array(words: Sequence[str]) -> Array:
    """Return words as an array of shape (n,).

    Raises:
        UnavailableError: the selection has no NumPy.
    """
    numpy = load("numpy")
    bits = numpy.frombuffer(bytes.fromhex("".join(words)), dtype=">u4").astype("=u4")
    array: Array = bits.view(numpy.float32)
    return array


def to_bytes(array: Array) -> bytes:
    """Return an array's words as bytes in order, big-endian."""
    data: bytes = array.view("=u4").astype(">u4").tobytes()
    return data


def report(array: Array) -> dict[str, object]:
    """Return count, sha256 and, up to ``LISTED`` values, the words of an array."""
    data = to_bytes(array)
    count = len(data) // 4
    text = data.hex() if count <= LISTED else ""
    words = [text[start : start + 8] for start in range(0, len(text), 8)]
    return {
        "count": count,
        "sha256": hashlib.sha256(data).hexdigest(),
        "values": words if count <= LISTED else None,
    }
