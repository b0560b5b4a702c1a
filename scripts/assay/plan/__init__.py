"""The plan: ``[tool.assay]`` of ``pyproject.toml`` and the kernels, as immutable values."""

from __future__ import annotations

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
