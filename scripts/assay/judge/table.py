"""The one authored table of gates; sessions, README, reader and engine derive from it."""

from __future__ import annotations

from assay.errors import PlanError
from assay.judge.row import GateRow
from assay.plan.values import Plan

GATES: tuple[GateRow, ...] = ()


def rows(plan: Plan) -> tuple[GateRow, ...]:
    """Return the rows of the plan's gates, in the plan's order, command gates included.

    Raises:
        PlanError: the plan names a gate that is neither in the table nor a command of the plan.
    """
    return tuple(row(plan, name) for name in plan.gates)


def row(plan: Plan, name: str) -> GateRow:
    """Return one gate's row.

    Raises:
        PlanError: there is no such gate.
    """
    for each in GATES:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in GATES)
    raise PlanError("tool.assay.gates", f"names {name!r}", f"one of {known}, or a [[tool.assay.command]]", "")
