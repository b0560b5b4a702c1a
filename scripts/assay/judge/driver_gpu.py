"""NVIDIA's GPU generations by PCI device number: which firmware they load, which kernel module they need.

Device numbers are given out in the order of the chips.  Sources: the chips in the PCI ID Repository,
"Compatible GPUs" in the open kernel modules' README, their ``nv-firmware.h`` for the firmware's file by
family of chips, and the driver's README, "Open Linux Kernel Modules" (Grace Hopper, Blackwell and later need
the open module; what lacks a GSP needs the proprietary one).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from assay.judge.reading import MalformedFacts, text
from assay.model import Facts

OPEN = "open"
PROPRIETARY = "proprietary"

_TURING, _AMPERE = "gsp_tu10x.bin", "gsp_ga10x.bin"


@dataclass(frozen=True)
class Generation:
    """A generation of GPUs.

    Attributes:
        name: its name.
        firmware: the GSP firmware's file, ``""`` where it has no GSP.
        needs: the only flavour of the kernel module that drives it, ``""`` where both do.
    """

    name: str
    firmware: str = ""
    needs: str = ""


_FIRST: tuple[tuple[int, Generation], ...] = (
    (0x0000, Generation("before Volta", needs=PROPRIETARY)),
    (0x1D80, Generation("Volta", needs=PROPRIETARY)),
    (0x1E00, Generation("Turing", _TURING)),
    (0x2080, Generation("Ampere", _TURING)),
    (0x2180, Generation("Turing", _TURING)),
    (0x2200, Generation("Ampere", _AMPERE)),
    (0x2300, Generation("Hopper", _AMPERE)),
    (0x2340, Generation("Grace Hopper", _AMPERE, OPEN)),
    (0x2380, Generation("Hopper", _AMPERE)),
    (0x2400, Generation("Ampere", _AMPERE)),
    (0x2680, Generation("Ada", _AMPERE)),
    (0x2900, Generation("Blackwell or later", _AMPERE, OPEN)),
)
"""The first device number of each run of chips."""

_HEX, _LARGEST = 16, 0xFFFF


def generation(device: int) -> Generation:
    """Return the generation of a PCI device number."""
    return _FIRST[bisect_right([first for first, _ in _FIRST], device) - 1][1]


def generation_of(device: Facts) -> Generation:
    """Return the generation of a device among the facts, whose ``device`` is four hex digits.

    Raises:
        MalformedFacts: it is something else.
    """
    said = text(device, "device")
    try:
        number = int(said, _HEX)
    except ValueError:
        raise MalformedFacts("devices.device", "a PCI device number") from None
    if not 0 <= number <= _LARGEST:
        raise MalformedFacts("devices.device", "a PCI device number")
    return generation(number)
