"""``rehearse``: the same run without a GPU, at tier ``rehearsal``; it qualifies nothing.

The CPU's driver and, where a stage needs one, a software adapter are made first (cached).  The plan that is
frozen into the run says tier ``rehearsal``, allows that adapter by name, and allows an unclean tree: who
rehearses is changing something.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from assay.canonical import digest
from assay.engine.console import Say
from assay.engine.prepare import Prepared, Request, prepare
from assay.engine.qualify import run_one_gate, run_to_verdict
from assay.errors import UsageError
from assay.files import storage_errors
from assay.gates.chain_request import needs_wgpu
from assay.gates.rehearsal import Rehearsal
from assay.model import Json, Platform, Tier
from assay.plan import Plan, check_qualifies, plan_json
from assay.provision.children import Children, clean_environment
from assay.provision.compiler import find_compiler
from assay.provision.cpu_driver import make_cpu_driver
from assay.provision.flow import provision
from assay.provision.job import Request as Provisioning
from assay.provision.software_adapter import NAME, find_software_adapter

ELSEWHERE: Mapping[str, str] = MappingProxyType(
    {
        "darwin": "run it in a Linux container or virtual machine: PyCUDA and cuda-python have no macOS form",
        "win32": "run it under WSL, or in a Linux container",
    }
)
"""By ``sys.platform``: what to do where no rehearsal can run."""

REHEARSAL_FOLDER = ".assay/rehearsal"


def rehearse(request: Request, say: Say) -> tuple[int, Json]:
    """Run every planned gate at tier ``rehearsal``; return the exit code and ``verdict.json``.

    Raises:
        UsageError: no rehearsal can run on this platform.
        PlanError: the plan may not be run.
        AssayError: something that takes a GPU's place cannot be made, or the run cannot be written.
    """
    prepared = prepare_rehearsal(request, say)
    check_qualifies(prepared.plan)
    return run_to_verdict(prepared, say)


def rehearse_gate(request: Request, name: str, say: Say) -> tuple[int, Json]:
    """Run one gate and those it needs at tier ``rehearsal``; an outcome and no verdict.

    Raises:
        PlanError: there is no such gate.
        AssayError: as ``rehearse`` raises it.
    """
    return run_one_gate(prepare_rehearsal(request, say), name, say)


def prepare_rehearsal(request: Request, say: Say) -> Prepared:
    """Return what a rehearsal stands on; the embedded selection is made first where none is chosen.

    Raises:
        UsageError: no rehearsal can run on this platform.
        AssayError: something cannot be made.
    """
    require_linux(sys.platform)
    prepared = prepare(request)
    if not prepared.selection.explicit and prepared.selection.source == "none":
        _provision(request, say)
        prepared = prepare(request)
    plan = rehearsal_plan(prepared.plan, prepared.platform)
    ready = replace(prepared, plan=plan, plan_digest=digest(plan_json(plan)))
    return replace(ready, rehearsal=make_rehearsal(ready, say))


def require_linux(platform: str) -> None:
    """Check the platform (``sys.platform``).

    Raises:
        UsageError: it is not Linux; the remedy says what to do there.
    """
    if platform != "linux":
        remedy = ELSEWHERE.get(platform, "run it in a Linux container or virtual machine")
        raise UsageError(
            f"a rehearsal runs on Linux, this is {platform}", "Linux (x86-64 or AArch64)", remedy
        )


def rehearsal_plan(plan: Plan, platform: Platform) -> Plan:
    """Return a plan as it is rehearsed."""
    allowed = (*plan.software_adapters.get(platform, ()), NAME)
    adapters = {**plan.software_adapters, platform: tuple(dict.fromkeys(allowed))}
    return replace(
        plan,
        tier=Tier.REHEARSAL,
        tiers=MappingProxyType({}),
        allow_unclean_tree=True,
        software_adapters=MappingProxyType(adapters),
    )


def make_rehearsal(prepared: Prepared, say: Say) -> Rehearsal:
    """Return what takes a GPU's place, made where it is not there yet.

    Raises:
        ProvisionError: there is no C compiler, or no software adapter.
        StorageError: a file cannot be written.
    """
    folder = (prepared.request.project / REHEARSAL_FOLDER).resolve()
    with storage_errors("make", folder):
        folder.mkdir(parents=True, exist_ok=True)
    children = Children(clean_environment(os.environ), folder / "rehearsal.log")
    driver = make_cpu_driver(children, find_compiler(children, os.environ), folder / "driver")
    wgpu = needs_wgpu(prepared.plan.planned_chains(prepared.platform))
    adapter = find_software_adapter(children, prepared.machine, folder / "vulkan", say) if wgpu else None
    return Rehearsal(driver.folder, driver.digest, driver.nvcc.parent, adapter)


def _provision(request: Request, say: Say) -> None:
    """Make the embedded selection."""
    jobs = len(os.sched_getaffinity(0))
    provision(Provisioning(request.project, sys.executable, os.environ, jobs), say)
