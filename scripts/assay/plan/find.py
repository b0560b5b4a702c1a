"""Whether a folder has a plan at all; what reads one is imported only where there is one to read."""

from __future__ import annotations

from pathlib import Path

from assay.plan.values import Plan

FILE = "pyproject.toml"
"""The file that a plan stands in, as ``[tool.assay]``."""


def find_plan(project: Path) -> Plan | None:
    """Return the plan of a folder, None where it has no ``pyproject.toml`` or no ``[tool.assay]`` in it.

    Raises:
        PlanError: the plan is wrong, or the file is not TOML.
    """
    if not (project / FILE).is_file():
        return None
    from assay.plan.load import plan_if_any  # noqa: PLC0415  # reading TOML is slow to be imported

    return plan_if_any(project)
