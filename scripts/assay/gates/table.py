"""Which function observes for which gate; what is known of a gate without running it is in ``judge.table``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.gates import build, environment, provider, toolkit
from assay.gates.context import Context
from assay.model import Facts
from assay.plan import Plan

Observe = Callable[[Context], Facts]

OBSERVE: Mapping[str, Observe] = MappingProxyType(
    {
        "environment": environment.observe,
        "toolkit": toolkit.observe,
        "provider": provider.observe,
        "build": build.observe,
    }
)


def observers(plan: Plan, names: tuple[str, ...]) -> Mapping[str, Observe]:
    """Return what each of these gates observes with, command gates of the plan included."""
    return MappingProxyType({name: OBSERVE[name] for name in names})
