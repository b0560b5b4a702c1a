"""What the memory spaces have in common: the description of an access, and how elements are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from ..arrays import Addresses, Array
from ..ptx.values import Instruction

if TYPE_CHECKING:
    from .lanes import Lanes


@dataclass(frozen=True)
class Access:
    """One memory instruction.

    Attributes:
        site: the instruction.
        size: bytes of an element: 1, 2, 4, 8.
        count: elements of a vector: 1, 2, 4, 8.
        strong: volatile, atomic or ordered: such accesses do not race with one another (PTX ISA 9.0, section
            8.7.1 "Conflict and Data-races").
    """

    site: Instruction
    size: int
    count: int = 1
    strong: bool = False

    @property
    def span(self) -> int:
        """Bytes of the whole access, to which it must be aligned."""
        return self.size * self.count


Update: TypeAlias = "Callable[[Array, Array, Array | None], Array]"
"""An atomic operation: (elements of a space, index, which active threads or None for all) -> old values."""


class Space(Protocol):
    """A state space.

    Values are raw bits, one array for each element of the vector; an address array has shape (count,) or,
    where
    all threads use the same address, (1,).
    """

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements; 0 where the access is wrong, which is recorded."""

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Write the elements where the access is right."""

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Apply an operation and return the old values, shape (count,); 0 where the access is wrong."""


def misaligned(lanes: Lanes, address: Addresses, access: Access) -> Array | None:
    """Record misaligned accesses and return which threads made them, or None if none did."""
    if access.span == 1:
        return None
    low = access.span - 1
    if not int(np.bitwise_or.reduce(address, initial=0)) & low:
        return None
    wrong = lanes.all((address & address.dtype.type(low)) != 0)
    first = int(lanes.all(address)[wrong][0])
    message = f"an access of {access.span} bytes at {first:#x}, which is no multiple of {access.span}"
    lanes.chunk.note("misaligned", access.site, message, lanes.threads()[wrong], first)
    return wrong
