"""What a kind of machines that go wrong is, and how its machines are made.

A machine is a description (``tests.machines.described``) without a file of its own: what it stands on, and
what is changed there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Layer = Mapping[str, Any]

UBUNTU = "healthy/ubuntu"
GL = "/usr/lib/x86_64-linux-gnu"
"""Where Debian and Ubuntu have their libraries."""

UNSELECTED = frozenset({"ENVIRONMENT-SELECTION-NONE"})
"""What is also said of a machine on which nothing is selected: nothing is wrong with it for that."""


@dataclass(frozen=True)
class Kind:
    """One kind of trouble.

    Attributes:
        number: its number; each stands once.
        title: what went wrong, in words.
        root: the finding that names it; "" for a healthy look-alike.
        machines: machines of the kind, by a word for what is particular.
        roots: the finding of those machines that have another one.
        follows: findings that must be listed beneath the root, by machine.
        also: roots of other kinds that the machine has at once, by machine.
    """

    number: int
    title: str
    root: str
    machines: Mapping[str, Layer]
    roots: Mapping[str, str] = field(default_factory=dict)
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    also: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def machine(*on: str, **changes: Any) -> Layer:  # noqa: ANN401  # JSON of any form
    """Return a description."""
    return {"on": list(on), **changes}


def driver(*more: str, on: str = UBUNTU, **keywords: Any) -> Layer:  # noqa: ANN401  # as above
    """Return a machine with a changed driver."""
    return {"on": [on, *more], "driver": keywords}


def chain(**parts: Any) -> Layer:  # noqa: ANN401  # as above
    """Return what the chain's probe answers, part by part."""
    return {"chain": parts}


def _log(*lines: str) -> Layer:
    """Return a kernel's log."""
    start = "[    0.000000] Linux version 6.8.0-85-generic (buildd@host) (gcc 13.3.0)"
    return {"exit": 0, "output": "".join(f"{line}\n" for line in (start, *lines))}


def client(name: str, old: str, new: str, *more: str, on: str = UBUNTU) -> Layer:
    """Return a machine on which the kernel refused a program with an older driver's libraries."""
    said = (
        f"[ 1494.8] NVRM: API mismatch: the client '{name}' (pid 812)",
        f"[ 1494.8] NVRM: has the version {old}, but this kernel module has",
        f"[ 1494.8] NVRM: the version {new}.  Please make sure that this",
    )
    return {**driver(on=on, version=new), "probes": {"dmesg": _log(*said, *more)}}


def icd(library: str) -> str:
    """Return a Vulkan driver's manifest."""
    return json.dumps(
        {"file_format_version": "1.0.0", "ICD": {"library_path": library, "api_version": "1.3.239"}}
    )
