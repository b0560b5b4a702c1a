"""Observes for gate ``provider``: the library's digest, and what it is where the plan pins that digest.

The facts are described in ``assay.judge.provider``.
"""

from __future__ import annotations

from assay.gates.context import Context
from assay.gates.files import record
from assay.judge.selected import FILE
from assay.model import Facts, Json
from assay.plan.values import ProviderPin


def observe(context: Context) -> Facts:
    """Return the facts of the selected provider on this machine."""
    machine, given = context.machine, context.selection.provider
    if given is None:
        return {"file": {}, "interface": None, "path": None, "pin": None, "sha256": None}
    file = record(machine, given, parsed=False)
    pin = _pin(context, file)
    facts: dict[str, Json] = {
        "file": file,
        "interface": pin.interface if pin else None,
        "path": file["path"],
        "pin": pin.name if pin else None,
        "sha256": file.get("sha256"),
        "size": file.get("size"),
    }
    if pin is None:
        return facts
    from assay.gates.provider_parts import pinned_facts  # noqa: PLC0415  # only a pinned library is opened

    return {**facts, **pinned_facts(context, pin, file)}


def _pin(context: Context, file: Facts) -> ProviderPin | None:
    """Return the pin of this platform that has the file's digest."""
    if file["state"] != FILE:
        return None
    return next(
        (
            pin
            for pin in context.plan.providers
            if pin.platform is context.platform and pin.sha256 == file["sha256"]
        ),
        None,
    )
