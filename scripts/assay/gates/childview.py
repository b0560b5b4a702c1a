"""The machine as the children see it: the same files, the environment that is built for them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.gates.childenv import ChildFolders, ChildInputs, child_environment
from assay.gates.childtools import loader_folders
from assay.gates.context import Context
from assay.machine import Machine


@dataclass(frozen=True)
class ChildView:
    """The machine with the children's environment, and the variables that were kept out of it."""

    machine: Machine
    kept_out: tuple[str, ...]


def child_view(context: Context) -> ChildView:
    """Return what the children will see.  Their private folders are named and not made."""
    inputs = ChildInputs(
        selection=context.selection,
        platform=context.platform,
        outside=context.machine.env,
        allow=context.plan.allow_environment,
        interface="",
        folders=ChildFolders.below(context.scratch / "none"),
        loader=loader_folders(context.machine, context.selection, context.platform),
    )
    child = child_environment(inputs)
    return ChildView(replace(context.machine, env=child.values), child.kept_out)
