"""The inner loop: one chain on the CPU, from save to answer within seconds.

It runs the chain's own child and judges with the chain's own rules, and leaves out what cannot help at the
desk: the other gates, the hashing of what the child has mapped, NVML, and the run folder.  So it has an
outcome, and neither receipt nor verdict.
"""

from __future__ import annotations

import datetime as dt
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from assay.canonical import digest
from assay.engine.console import Say
from assay.engine.context import GateContext
from assay.engine.mistake import answer_lines
from assay.engine.prepare import Prepared, Request
from assay.engine.qualify import EXIT_BY_OUTCOME
from assay.engine.rehearse import REHEARSAL_FOLDER, prepare_rehearsal
from assay.engine.setup import Setup
from assay.errors import AssayError, UsageError
from assay.gatelog import GateLog
from assay.gates.chain import drive_child
from assay.gates.chain_request import make_request, needs_wgpu
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.rehearsal import rehearsal_facts
from assay.judge.chain import judge_inner
from assay.model import Facts, Finding, Json, outcome_of
from assay.plan import load_plan, plan_json
from assay.plan.values import WGPU_NATIVE

DEADLINE_S = 120

KERNEL_SECONDS = 5
"""A kernel that runs for longer is stopped, and named with its line: who waits at a desk has saved a loop."""

POLL_S = 0.1
"""How often the kernel's files are looked at; a save is noticed well before it is answered."""

_NONCE = "0" * 32
"""Fresh values are the same in every turn: the same mistake shows at the same place."""


def rehearse_chain(request: Request, name: str, say: Say) -> tuple[int, Json]:
    """Run one chain and say what is wrong with it; return the exit code and the findings as JSON.

    Raises:
        UsageError: there is no such chain.
        AssayError: the chain cannot be started.
    """
    return _turn(_prepared(request, name, say), name, say)


def watch_chain(request: Request, name: str, say: Say) -> int:
    """Run one chain now and after every change of its files, until interrupted; never returns before.

    Raises:
        UsageError: there is no such chain.
        KeyboardInterrupt: the user ended it.
    """
    prepared = _prepared(request, name, say)
    folder = prepared.request.project.resolve() / "kernels" / name
    for _ in _changes(folder):
        try:
            _turn(_planned(prepared, name), name, say)
        except AssayError as error:  # a file half-edited: say so, and wait for the next save
            say(f"{name}: {error}")
        say(f"watching {folder}")
    return 0


def _changes(folder: Path) -> Iterator[None]:
    """Yield now, and whenever a file of a folder has changed."""
    seen: object = None
    while True:
        state = sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file())
        if state != seen:
            seen = state
            yield
        else:
            time.sleep(POLL_S)


def _prepared(request: Request, name: str, say: Say) -> Prepared:
    prepared = prepare_rehearsal(request, say)
    if name not in prepared.plan.kernels:
        known = ", ".join(prepared.plan.kernels)
        raise UsageError(f"there is no chain {name!r}", f"one of {known}", "name a folder of kernels/")
    return _only(prepared, name)


def _planned(prepared: Prepared, name: str) -> Prepared:
    """Return the same with the plan's kernels read anew."""
    kernels = load_plan(prepared.request.project.resolve()).kernels
    return _only(replace(prepared, plan=replace(prepared.plan, kernels=kernels)), name)


def _only(prepared: Prepared, name: str) -> Prepared:
    """Return a plan with one chain."""
    chains = MappingProxyType({**prepared.plan.chains, prepared.platform: (name,)})
    rehearsal = prepared.rehearsal and replace(prepared.rehearsal, seconds=KERNEL_SECONDS)
    plan = replace(prepared.plan, chains=chains)
    return replace(prepared, plan=plan, plan_digest=digest(plan_json(plan)), rehearsal=rehearsal)


def _turn(prepared: Prepared, name: str, say: Say) -> tuple[int, Json]:
    """Run the chain once."""
    began = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix="assay-"))
    try:
        findings, log = _observed(prepared, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    outcome = outcome_of(findings)
    say(f"{name}: {outcome.value} in {time.monotonic() - began:.1f} s")
    for line in answer_lines(prepared, name, findings, log):
        say(line)
    document: Json = {
        "chain": name,
        "findings": [each.to_json() for each in findings],
        "outcome": outcome.value,
    }
    return EXIT_BY_OUTCOME.get(outcome, 3), document


def _observed(prepared: Prepared, scratch: Path) -> tuple[tuple[Finding, ...], str]:
    """Return the findings of one child, and what it printed."""
    setup = _setup(prepared, scratch)
    log = GateLog(scratch / "chain.log", prepared.redactor)
    try:
        context = GateContext(setup, {}, scratch, log, DEADLINE_S)
        facts = _facts(context, setup)
        log.finish()
        printed = (scratch / "chain.log").read_text("utf-8", "replace")
    except BaseException:
        log.discard()
        raise
    return judge_inner(setup.case({}), facts), printed


def _facts(context: GateContext, setup: Setup) -> Facts:
    """Return what came out of the child."""
    wgpu = needs_wgpu(context.plan.planned_chains(context.platform))
    child = _kept_warm(
        prepare_child(context, interface=WGPU_NATIVE if wgpu else "", rehearsed=True), context.project
    )
    told = drive_child(context, child, make_request(context, setup.case({})))
    return {**told, "rehearsal": rehearsal_facts(context.rehearsal, child.folders.base)}


def _kept_warm(child: ChildSetup, project: Path) -> ChildSetup:
    """Return a child that keeps bytecode from turn to turn: half of its time is compiling what it imports.

    A gate's child has a cache of its own, empty: this one is no evidence.
    """
    interpreter, *_, archive = child.argv
    values = {**child.env, "PYTHONPYCACHEPREFIX": str(project / REHEARSAL_FOLDER / "bytecode")}
    environment = replace(child.environment, values=MappingProxyType(values))
    return replace(child, argv=(interpreter, "-s", archive), environment=environment)


def _setup(prepared: Prepared, folder: Path) -> Setup:
    """Return what the child is started from."""
    return Setup(
        machine=prepared.machine,
        selection=prepared.selection,
        plan=prepared.plan,
        plan_digest=prepared.plan_digest,
        platform=prepared.platform,
        project=prepared.request.project.resolve(),
        folder=folder,
        nonce=_NONCE,
        challenge="",
        artifact=None,
        redactor=prepared.redactor,
        observe=MappingProxyType({}),
        monotonic_ns=time.monotonic_ns,
        now=lambda: dt.datetime.now(dt.UTC),
        rehearsal=prepared.rehearsal,
    )
