"""The parameter space of a kernel, where it is read through an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from .access import Access, Update, misaligned
from .dtypes import RAW
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes


class ParameterSpace:
    """A kernel's parameters: the same bytes for all threads, read-only."""

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements: see ``access.Space``."""
        buffer = lanes.chunk.launch.parameters
        offset = address.view(np.int64)
        wrong = (offset < 0) | (offset > buffer.size - access.span)
        if wrong.any():
            mask = lanes.all(wrong)
            first = int(lanes.all(address)[mask][0])
            message = (
                f"an access of {access.span} bytes at offset {first:#x} of {buffer.size} bytes of parameters"
            )
            lanes.chunk.note("out-of-bounds", access.site, message, lanes.threads()[mask], first)
        odd = misaligned(lanes, address, access)
        if odd is not None:
            wrong = wrong | odd
        index = np.where(wrong, 0, offset) // access.size
        elements = buffer[: buffer.size // access.size * access.size].view(RAW[access.size])
        if not elements.size:
            return tuple(np.zeros(lanes.count, RAW[access.size]) for _ in range(access.count))
        return tuple(
            np.where(wrong, elements.dtype.type(0), elements[np.minimum(index + j, elements.size - 1)])
            for j in range(access.count)
        )

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Refuse: parameters are read-only."""
        del lanes, address, access, values
        raise UnsupportedError("a store to parameter memory")

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Refuse: parameters are read-only."""
        del lanes, address, access, update
        raise UnsupportedError("an atomic operation on parameter memory")
