"""NVIDIA's GPUs as the PCI bus shows them, with the kernel driver that each is bound to.

Source: the kernel's "sysfs-bus-pci" ABI documentation; class codes are those of the PCI Code and ID
Assignment Specification.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import StorageError

if TYPE_CHECKING:
    from assay.machine.machine import Machine

DEVICES = "/sys/bus/pci/devices"
LIST = "/proc/bus/pci/devices"
NVIDIA = 0x10DE
DISPLAY = 0x03
"""Base class of display controllers: a VGA controller is 0x0300xx, a 3D controller 0x0302xx."""

MAX_DEVICES = 4096
"""Devices that are looked at; a server has some hundred."""

_LISTED = re.compile(r"^[0-9a-f]{4}\s10de", re.MULTILINE)
"""A line of the list: address, then vendor and device (the kernel's ``drivers/pci/proc.c``)."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]{1,8}")


@dataclass(frozen=True)
class PciGpu:
    """A GPU on the bus.

    Attributes:
        bus: its address, such as ``0000:1b:00.0``.
        device: its device number, such as 0x2335.
        driver: the kernel driver that is bound to it, ``""`` where none is.
    """

    bus: str
    device: int
    driver: str


def gpus(machine: Machine) -> tuple[PciGpu, ...]:
    """Return NVIDIA's display controllers in the order of their addresses, none where there is no bus.

    ``/proc/bus/pci/devices`` lists vendors in one file: where it has none of NVIDIA's, no folder is opened.
    """
    listed = machine.peek(LIST).text
    if listed and not _LISTED.search(listed):
        return ()
    try:
        names = machine.listdir(DEVICES)[:MAX_DEVICES]
    except StorageError:
        return ()
    found = (_gpu(machine, name) for name in names if _number(machine, name, "vendor") == NVIDIA)
    return tuple(gpu for gpu in found if gpu)


def _gpu(machine: Machine, name: str) -> PciGpu | None:
    """Return one of NVIDIA's devices, None where it is no display controller (sound, USB, switches)."""
    kind = _number(machine, name, "class")
    if kind is None or kind >> 16 != DISPLAY:
        return None
    return PciGpu(name, _number(machine, name, "device") or 0, _driver(machine, f"{DEVICES}/{name}/driver"))


def _number(machine: Machine, name: str, attribute: str) -> int | None:
    """Return a device's attribute, None where it is no number."""
    try:
        said = machine.read_text(f"{DEVICES}/{name}/{attribute}", 4096).strip()
    except StorageError:
        return None
    return int(said, 16) if _NUMBER.fullmatch(said) else None


def _driver(machine: Machine, link: str) -> str:
    """Return the name that a device's ``driver`` link ends with."""
    if not machine.is_link(link):
        return ""
    try:
        return machine.resolve(link).rpartition("/")[2]
    except StorageError:
        return ""
