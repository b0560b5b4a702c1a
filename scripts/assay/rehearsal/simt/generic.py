"""The generic space: windows of shared, local and parameter memory above the device's addresses.

An address outside the windows is a global one (PTX ISA 9.0, section 5.1.1 "Generic Addressing").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from ..memory import DEVICE_END
from .access import Access, Space, Update
from .dtypes import RAW

if TYPE_CHECKING:
    from .lanes import Lanes

WINDOW = 1 << 32
"""Bytes of a window."""

BASES = {"shared": DEVICE_END, "local": DEVICE_END + WINDOW, "param": DEVICE_END + 2 * WINDOW}
"""Where the window of a space begins."""


class GenericSpace:
    """Every access goes to the space in whose window its address lies.

    Args:
        spaces: by name: ``global`` and those of ``BASES``.
    """

    def __init__(self, spaces: dict[str, Space]) -> None:
        self._spaces = spaces

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements: see ``access.Space``."""
        name = only(address)
        if name is not None:
            return self._spaces[name].load(lanes, inside(address, name), access)
        found = tuple(np.zeros(lanes.count, RAW[access.size]) for _ in range(access.count))
        for which, mask in windows(address):
            part = self._spaces[which].load(lanes.narrow(mask), inside(address[mask], which), access)
            for whole, piece in zip(found, part, strict=True):
                whole[mask] = piece
        return found

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Write the elements: see ``access.Space``."""
        name = only(address)
        if name is not None:
            self._spaces[name].store(lanes, inside(address, name), access, values)
            return
        for which, mask in windows(address):
            part = tuple(lanes.all(value)[mask] for value in values)
            self._spaces[which].store(lanes.narrow(mask), inside(address[mask], which), access, part)

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Apply an operation: see ``access.Space``."""
        name = only(address)
        if name is not None:
            return self._spaces[name].atomic(lanes, inside(address, name), access, update)
        old = np.zeros(lanes.count, RAW[access.size])
        for which, mask in windows(address):
            chosen = np.flatnonzero(mask)
            old[mask] = self._spaces[which].atomic(
                lanes.narrow(mask), inside(address[mask], which), access, _part_of(update, chosen)
            )
        return old


def _part_of(update: Update, chosen: Array) -> Update:
    """Return an operation for some of the threads: their numbers lead back to all active ones."""
    return lambda elements, index, where: update(elements, index, chosen if where is None else chosen[where])


def only(address: Addresses) -> str | None:
    """Return the one space that all addresses lie in, None if there are several."""
    low, high = int(address.min()), int(address.max())
    if high < DEVICE_END:
        return "global"
    for name, base in BASES.items():
        if base <= low and high < base + WINDOW:
            return name
    return None


def windows(address: Addresses) -> list[tuple[str, Array]]:
    """Return (space, which addresses lie in it) for each space that has some."""
    found = []
    rest = np.ones(address.shape, np.bool_)
    for name, base in BASES.items():
        mask = (address >= base) & (address < base + WINDOW)
        rest &= ~mask
        if mask.any():
            found.append((name, mask))
    return [("global", rest), *found] if rest.any() else found


def inside(address: Addresses, name: str) -> Addresses:
    """Return addresses of a space itself, from generic ones."""
    return address if name == "global" else address - np.uint64(BASES[name])
