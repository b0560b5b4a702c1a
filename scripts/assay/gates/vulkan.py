"""Observes for gate ``vulkan``: what is there of it where a driver is, and little more than that none is.

The facts are described in ``assay.judge.vulkan``.
"""

from __future__ import annotations

from assay.gates.context import Context
from assay.gates.driver_signs import has_driver
from assay.judge.vulkan_drivers import SOFTWARE
from assay.machine import vulkan
from assay.model import Facts


def observe(context: Context) -> Facts:
    """Return the facts; without a driver only what programs would get in its place, and nobody is asked."""
    if not has_driver(context.machine):
        software = [
            {"kind": SOFTWARE, "path": each.path, "problem": each.problem}
            for each in vulkan.driver_manifests(context.machine)
            if vulkan.kind_of(each) == SOFTWARE
        ]
        return {"child": {"manifests": software}, "module": {"loaded": False, "version": ""}}
    from assay.gates.vulkan_parts import with_driver  # noqa: PLC0415  # only where there is a driver to show

    return with_driver(context)
