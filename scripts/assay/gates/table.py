"""Which function observes for which gate; ``judge.table`` has what is known of a gate without running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType

from assay.gates.context import Context
from assay.model import Facts
from assay.plan.values import CommandGate, Plan

Observe = Callable[[Context], Facts]


def _in(module: str, name: str = "observe") -> Observe:
    """Return what observes as a function of a module of this package does.

    The module is imported with the first observation: what one gate needs must not slow down the others.
    """

    def observe(context: Context) -> Facts:
        observer: Observe = getattr(import_module(f"assay.gates.{module}"), name)
        return observer(context)

    return observe


OBSERVE: Mapping[str, Observe] = MappingProxyType(
    {
        "environment": _in("environment"),
        "toolkit": _in("toolkit"),
        "driver": _in("driver"),
        "provider": _in("provider"),
        "abi": _in("abi"),
        "vulkan": _in("vulkan"),
        "build": _in("build"),
        "installed": _in("installed"),
        "chain": _in("chain"),
        "hosted": _in("hosted"),
        "shared-buffers": _in("measures", "observe_shared_buffers"),
        "throughput": _in("measures", "observe_throughput"),
        "references": _in("references"),
    }
)


def observers(plan: Plan, names: tuple[str, ...]) -> Mapping[str, Observe]:
    """Return what each of these gates observes with, command gates of the plan included."""
    return MappingProxyType({name: _observer(plan, name) for name in names})


def _observer(plan: Plan, name: str) -> Observe:
    """Return what one gate observes with."""
    own = plan.command(name)
    if name not in OBSERVE and own is not None:
        return partial(_command, own)
    return OBSERVE[name]


def _command(own: CommandGate, context: Context) -> Facts:
    """Observe for a gate that only runs a command."""
    observe: Callable[[CommandGate, Context], Facts] = import_module("assay.gates.command").observe
    return observe(own, context)
