"""Observes for gate ``environment``: the selection on this machine, or that there is none.

The facts are described in ``assay.judge.environment``.
"""

from __future__ import annotations

from collections.abc import Container

from assay.gates.context import Context
from assay.gates.disclosed import disclosed
from assay.gates.files import machine_facts
from assay.machine import Machine
from assay.model import Facts, Json

DEVICES = "CUDA_VISIBLE_DEVICES"
_NO_DEVICE = frozenset({"", "-1", "none", "void", "nodevfiles"})
"""Values that leave CUDA without a device (CUDA C++ Programming Guide, "CUDA Environment Variables")."""


def observe(context: Context) -> Facts:
    """Return the facts of the selection; where there is none there are no children to keep anything from."""
    if not context.selection.values:
        return {
            "disclosed": disclosed(context),
            "explicit": context.selection.explicit,
            "hidden": hidden(context.machine, context.plan.allow_environment),
            "ignored": list(context.selection.ignored),
            "kept_out": [],
            "machine": machine_facts(context.machine),
            "selected": {},
            "source": context.selection.source,
            "variables": {},
        }
    from assay.gates.environment_parts import observe_selected  # noqa: PLC0415  # only a selection needs it

    return observe_selected(context)


def hidden(machine: Machine, inside: Container[str]) -> Json:
    """Return that a variable leaves CUDA no device, null where none does.

    Args:
        machine: the machine.
        inside: the variables that the children get.
    """
    value = machine.env.get(DEVICES)
    if value is None or value.split(",")[0].strip().lower() not in _NO_DEVICE:
        return None
    return {"reaches": DEVICES in inside, "variable": DEVICES}
