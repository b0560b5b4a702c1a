"""Observes for gate ``driver``, on each platform in its own way: native Linux, WSL, Windows.

The facts are described in ``assay.judge.driver_linux``, ``driver_wsl`` and ``driver_windows``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from assay.gates.context import Context
from assay.gates.driver_signs import bare_facts, has_signs
from assay.model import Facts, Platform


def observe(context: Context) -> Facts:
    """Return the facts of the machine's NVIDIA driver; the gate's row says where it applies.

    Only this platform's module is imported, ``driver_<platform>`` with ``observe_<platform>``.
    """
    if context.platform is Platform.LINUX and not has_signs(context.machine):
        return bare_facts(context.machine)
    name = context.platform.value
    observer: Callable[[Context], Facts] = getattr(
        import_module(f"assay.gates.driver_{name}"), f"observe_{name}"
    )
    return observer(context)
