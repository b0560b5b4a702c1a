"""Observes for gate ``abi``: the selected binaries on this machine; nothing more where none is selected.

The facts are described in ``assay.judge.abi``.
"""

from __future__ import annotations

from assay.gates.context import Context
from assay.gates.files import machine_facts
from assay.model import Facts


def observe(context: Context) -> Facts:
    """Return the facts; a system with musl is looked at for a driver, whatever is selected."""
    if not context.selection.values and context.machine.libc.kind != "musl":
        return {"arch": "", "driver": None, "files": [], "machine": machine_facts(context.machine)}
    from assay.gates.abi_parts import observe_selected  # noqa: PLC0415  # only what is selected needs it

    return observe_selected(context)
