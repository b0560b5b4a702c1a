"""Which function observes for which gate; ``judge.table`` has what is known of a gate without running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from assay.gates import build, chain, command, driver, environment, installed, provider, references, toolkit
from assay.gates.context import Context
from assay.model import Facts
from assay.plan import Plan

Observe = Callable[[Context], Facts]

OBSERVE: Mapping[str, Observe] = MappingProxyType(
    {
        "environment": environment.observe,
        "toolkit": toolkit.observe,
        "driver": driver.observe,
        "provider": provider.observe,
        "build": build.observe,
        "installed": installed.observe,
        "chain": chain.observe,
        "references": references.observe,
    }
)


def observers(plan: Plan, names: tuple[str, ...]) -> Mapping[str, Observe]:
    """Return what each of these gates observes with, command gates of the plan included."""
    return MappingProxyType({name: _observer(plan, name) for name in names})


def _observer(plan: Plan, name: str) -> Observe:
    """Return what one gate observes with."""
    own = plan.command(name)
    if name not in OBSERVE and own is not None:
        return partial(command.observe, own)
    return OBSERVE[name]
