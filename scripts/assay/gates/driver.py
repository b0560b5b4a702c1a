"""Observes for gate ``driver``, on each platform in its own way: native Linux, WSL, Windows.

The facts are described in ``assay.judge.driver_linux``, ``driver_wsl`` and ``driver_windows``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.gates.context import Context
from assay.gates.driver_linux import observe_linux
from assay.gates.driver_windows import observe_windows
from assay.gates.driver_wsl import observe_wsl
from assay.model import Facts, Platform

_OBSERVERS: Mapping[Platform, Callable[[Context], Facts]] = MappingProxyType(
    {
        Platform.LINUX: observe_linux,
        Platform.WINDOWS: observe_windows,
        Platform.WSL: observe_wsl,
    }
)


def observe(context: Context) -> Facts:
    """Return the facts of the machine's NVIDIA driver; the gate's row says where it applies."""
    return _OBSERVERS[context.platform](context)
