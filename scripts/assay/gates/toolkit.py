"""Observes for gate ``toolkit``: the selected toolkit's folder, and what is in it where it is there.

The facts are described in ``assay.judge.toolkit``.
"""

from __future__ import annotations

from assay.gates.context import Context
from assay.gates.files import is_quoted, record
from assay.judge.selected import FOLDER
from assay.model import Facts
from assay.selection import TOOLKIT


def observe(context: Context) -> Facts:
    """Return the facts of the selected toolkit on this machine."""
    given = context.selection.get(TOOLKIT)
    if given is None:
        return {"folder": {}}
    folder = record(context.machine, context.selection.toolkit or given, hashed=False, parsed=False)
    folder = {**folder, "given": given, "quoted": is_quoted(given)}
    if folder["state"] != FOLDER:
        return {"folder": folder}
    from assay.gates.toolkit_parts import inside  # noqa: PLC0415  # only a toolkit that is there needs it

    return {"folder": folder, **inside(context, str(folder["path"]))}
