"""Observes for gate ``chain``: starts the child, collects its events, and looks at it while it holds still.

``assay.judge.chain`` describes the facts.  The child is not believed about anything that its parent can see
for itself: mapped files, open device nodes, digests, NVML's and the kernel's word on the device.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.files import write_atomic
from assay.gates.chain_events import Collector
from assay.gates.chain_machine import nvml_facts, proc_facts, virtualisation_facts
from assay.gates.chain_request import NotRun, Request, case_of, make_request, needs_wgpu, why_not_run
from assay.gates.chain_seen import mapped_facts, module_facts, startup_facts
from assay.gates.chain_session import Deadlines, Driven, Session, drive
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.context import Context
from assay.gates.probes import Probes, probes_of
from assay.gates.rehearsal import rehearsal_facts
from assay.judge.reading import mapping
from assay.model import Facts, Json
from assay.plan.values import WGPU_NATIVE
from assay.process import CONTROL, EVENTS

RESERVE_S = 30.0
"""Seconds of the gate's time that are kept for ending a child that does not end by itself."""


def observe(context: Context) -> Facts:
    """Return the facts of one run of the chains.

    Raises:
        GateError: a kernel's source cannot be read, or the chain package is not installed whole.
        StorageError: a private folder or file cannot be written.
    """
    not_run = why_not_run(context)
    if not_run is not None:
        return _not_run(not_run)
    wgpu = needs_wgpu(context.plan.planned_chains(context.platform))
    setup = prepare_child(context, interface=WGPU_NATIVE if wgpu else "", rehearsed=True)
    return observe_child(
        context, setup, make_request(context, case_of(context)), probes_of(context), Deadlines()
    )


def _not_run(why: NotRun) -> Facts:
    """Return the facts of a chain that was not started."""
    return {"chains": [], "lacking": list(why.lacking), "not_run": why.reason}


def observe_child(
    context: Context, setup: ChildSetup, request: Request, probes: Probes, deadlines: Deadlines
) -> Facts:
    """Return the facts of one child.

    Args:
        context: the gate's view of the run.
        setup: the child's command, environment and folders.
        request: what it is to run.
        probes: whom to ask about NVML.
        deadlines: of the child's events.
    """
    collector = Collector(context.plan.lowest_architecture)
    look = _Look(context, setup, probes, collector)
    before = look.device()
    driven = _drive(context, setup, request, collector, look, deadlines)
    for trace in collector.tracebacks:
        context.log(f"{trace}\n")
    told, looked = collector.facts(), driven.looked
    child = {**mapping(told, "child"), **mapping(looked, "child"), **_child_facts(setup, driven)}
    after = {name: looked.get(name) for name in before}
    return {
        **told,
        **{name: {"after": after[name], "before": before[name]} for name in before},
        **{name: looked.get(name) for name in _LOOKED},
        "child": child,
        "lacking": [],
        "not_run": "",
        "provider": _provider(context),
        "rehearsal": rehearsal_facts(context.rehearsal, setup.folders.base),
        "sources": list(request.sources),
        "virtualisation": virtualisation_facts(context.machine),
    }


def drive_child(context: Context, setup: ChildSetup, request: Request) -> Facts:
    """Return the facts of one child that is not looked at from outside: what it said, and how it ended.

    Args:
        context: the gate's view of the run.
        setup: the child's command, environment and folders.
        request: what it is to run.
    """
    collector = Collector(context.plan.lowest_architecture)
    driven = _drive(context, setup, request, collector, lambda _pid: {}, Deadlines())
    for trace in collector.tracebacks:
        context.log(f"{trace}\n")
    told = collector.facts()
    return {
        **told,
        "child": {**mapping(told, "child"), **_child_facts(setup, driven)},
        "sources": list(request.sources),
    }


_LOOKED = ("device_nodes", "layers", "libcuda", "mapped", "mapped_data", "preload", "unseen")
"""Facts that come from looking at the held child; null where it never came so far."""


@dataclass(frozen=True)
class _Look:
    """Looks at the child while it holds still."""

    context: Context
    setup: ChildSetup
    probes: Probes
    collector: Collector

    def device(self) -> dict[str, Json]:
        """Return NVML's and the kernel's word on the device."""
        return {"nvml": nvml_facts(self.probes), "proc": proc_facts(self.context.machine)}

    def __call__(self, pid: int) -> Facts:
        """Return all that is seen from outside, and the files of the modules that the child names."""
        machine, hello = self.context.machine, mapping(self.collector.facts(), "child.hello")
        startup = dict(startup_facts(machine, hello))
        modules = module_facts(self.collector.modules, self.setup)
        child: dict[str, Json] = {"modules": modules, "pth": startup.pop("pth")}
        return {**mapped_facts(pid, machine), **startup, **self.device(), "child": child}


def _drive(  # noqa: PLR0913, PLR0917  # what a child is started from, and who hears and looks
    context: Context,
    setup: ChildSetup,
    request: Request,
    collector: Collector,
    look: Callable[[int], Facts],
    deadlines: Deadlines,
) -> Driven:
    """Start the child with its request and drive it to its end."""
    file = context.scratch / "chain-request.json"
    write_atomic(file, request.data)
    argv = (*setup.argv, request.entry, "--request", str(file), "--events", EVENTS, "--control", CONTROL)
    context.log(f"$ {' '.join(argv)}\n")
    time_left = context.deadline_s - min(RESERVE_S, context.deadline_s / 4)
    driven = drive(
        Session(
            argv=argv,
            env=setup.env,
            cwd=setup.cwd,
            on_output=context.log_bytes,
            look=look,
            deadlines=deadlines,
            until=time.monotonic() + time_left,
        ),
        collector,
    )
    if driven.exit is not None:
        context.record(argv, driven.exit)
    return driven


def _child_facts(setup: ChildSetup, driven: Driven) -> dict[str, Json]:
    """Return what is known of the child without asking it."""
    return {
        "bytecode_folder": str(setup.folders.bytecode),
        "driver_folder": setup.driver_folder,
        "ended": driven.ended,
        "environment": sorted(setup.env),
        "kept_out": list(setup.environment.kept_out),
        "printed": driven.printed,
        "zip": {"sha256": setup.zip.sha256, "size": setup.zip.size},
    }


def _provider(context: Context) -> Json:
    """Return the selected provider's path, as given and with its links followed."""
    path = context.selection.provider
    if path is None:
        return None
    return {"path": path, "real": str(Path(path).resolve())}
