"""The plan: ``[tool.assay]`` of ``pyproject.toml`` and the kernels, as immutable values.

Each part is imported when it is first used: who has no plan does not wait for what reads one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.plan.checks import check_qualifies
    from assay.plan.load import load_plan
    from assay.plan.parse import parse_plan, plan_json
    from assay.plan.values import Chain, Claim, CommandGate, Plan, ProviderPin, Stage

__all__ = [
    "Chain",
    "Claim",
    "CommandGate",
    "Plan",
    "ProviderPin",
    "Stage",
    "check_qualifies",
    "load_plan",
    "parse_plan",
    "plan_json",
]

_MODULES = {
    "checks": ("check_qualifies",),
    "load": ("load_plan",),
    "parse": ("parse_plan", "plan_json"),
    "values": ("Chain", "Claim", "CommandGate", "Plan", "ProviderPin", "Stage"),
}


def __getattr__(name: str) -> object:
    """Return what this package offers under a name (PEP 562).

    Raises:
        AttributeError: it offers nothing of that name.
    """
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"assay.plan.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
