"""The table of runtimes: one row each.  To add one: a module with a class ``Runtime``, and its row here.

A runtime's module imports nothing of the selection when it is imported; ``Runtime.open`` does.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from .spec import RunRequest
    from .values import Image, Ran
    from .words import Array


@dataclass(frozen=True)
class _Row:
    """One runtime: its module here, and whether it computes on the CUDA device."""

    module: str
    cuda: bool


_ROWS: Mapping[str, _Row] = {
    "pycuda": _Row("runtime_pycuda", cuda=True),
    "wgpu": _Row("runtime_wgpu", cuda=False),
    "nvrtc": _Row("runtime_nvrtc", cuda=True),
}

NAMES = tuple(_ROWS)


class Runtime(Protocol):
    """An open runtime; ``close`` must be called whatever happened."""

    def run(self, image: Image, entry: str, values: Array) -> Ran:
        """Run one kernel over ``values`` of shape (n,) and return n values, after all work is done."""

    def facts(self) -> dict[str, object]:
        """Return versions, libraries and device as seen by this runtime."""

    def close(self) -> None:
        """Release everything that ``open`` made."""


class Opener(Protocol):
    """What a runtime's module offers as ``Runtime``."""

    def open(self, request: RunRequest) -> Runtime:
        """Open the runtime.

        Raises:
            UnavailableError: the machine or the selection lacks something.
        """


def opener(name: str) -> Opener:
    """Return the opener of a runtime of the table."""
    module = importlib.import_module(f".{_ROWS[name].module}", __package__)
    return cast("Opener", module.Runtime)


def uses_cuda(name: str) -> bool:
    """Say whether a runtime of the table computes on the CUDA device."""
    return _ROWS[name].cuda
