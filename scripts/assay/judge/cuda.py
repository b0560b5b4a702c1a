"""What is known of CUDA releases: the driver each needs, the CUDA a driver speaks, the devices it builds for.

One authored table a kind of fact; sources: CUDA Toolkit Release Notes (tables "minimum required driver
version" and "toolkit driver version", "Deprecated Architectures"), ``nvcc --list-gpu-arch`` of each release.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.plan.versions import release

MINIMUM_DRIVER: Mapping[int, int] = MappingProxyType({11: 450, 12: 525, 13: 580})
"""Driver branch that each major version needs (minor version compatibility)."""

DRIVER_CUDA: tuple[tuple[int, str], ...] = (
    (450, "11.0"),
    (455, "11.1"),
    (460, "11.2"),
    (465, "11.3"),
    (470, "11.4"),
    (495, "11.5"),
    (510, "11.6"),
    (515, "11.7"),
    (520, "11.8"),
    (525, "12.0"),
    (530, "12.1"),
    (535, "12.2"),
    (545, "12.3"),
    (550, "12.4"),
    (555, "12.5"),
    (560, "12.6"),
    (565, "12.7"),
    (570, "12.8"),
    (575, "12.9"),
    (580, "13.0"),
    (590, "13.1"),
    (595, "13.2"),
    (610, "13.3"),
    (616, "13.4"),
)
"""First driver branch of each CUDA version that a driver speaks, ascending; Windows' branches fall between
the same bounds."""

_MAXWELL_TO_HOPPER = ("50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87", "89", "90")
_BLACKWELL = ("100", "101", "120")
_SINCE_TURING = ("75", "80", "86", "87", "88", "89", "90", "100", "103", "110", "120", "121")

ARCHITECTURES: tuple[tuple[tuple[int, int], tuple[str, ...]], ...] = (
    ((11, 0), ("35", "37", "50", "52", "53", "60", "61", "62", "70", "72", "75", "80")),
    ((11, 1), ("35", "37", "50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86")),
    ((11, 4), ("35", "37", "50", "52", "53", "60", "61", "62", "70", "72", "75", "80", "86", "87")),
    ((11, 8), ("35", "37", *_MAXWELL_TO_HOPPER)),
    ((12, 0), _MAXWELL_TO_HOPPER),
    ((12, 8), (*_MAXWELL_TO_HOPPER, *_BLACKWELL)),
    ((12, 9), (*_MAXWELL_TO_HOPPER, *_BLACKWELL, "103", "121")),
    ((13, 0), _SINCE_TURING),
)
"""Compute capabilities that each release builds for, from that release to the one before the next row."""


def architectures_of(version: str) -> tuple[str, ...]:
    """Return the capabilities (``90`` for 9.0) that a toolkit builds for; none where the table has no row."""
    numbers = release(version)[:2]
    known: tuple[str, ...] = ()
    for first, built in ARCHITECTURES:
        if len(numbers) > 1 and first <= numbers and first[0] == numbers[0]:
            known = built
    return known


def cuda_of_driver(version: str) -> str:
    """Return the CUDA version that a driver speaks, ``""`` where the table cannot say.

    A driver newer than the last row speaks at least that row's version, which says nothing about the most.
    """
    numbers = release(version)
    if not numbers or numbers[0] < DRIVER_CUDA[0][0]:
        return ""
    rows = [(branch, cuda) for branch, cuda in DRIVER_CUDA if branch <= numbers[0]]
    return rows[-1][1] if rows[-1] != DRIVER_CUDA[-1] or numbers[0] == DRIVER_CUDA[-1][0] else ""


def minimum_driver(toolkit: str) -> int | None:
    """Return the driver branch that a toolkit's major version needs, None where the table has none."""
    numbers = release(toolkit)
    return MINIMUM_DRIVER.get(numbers[0]) if numbers else None


def joined(version: tuple[int, ...]) -> str:
    """Return release numbers as text."""
    return ".".join(map(str, version))
