"""Observes for gate ``hosted``: the chain's child once more, in a CPython that lives inside Bun.

Bun runs ``hosted/main.ts`` from private copies whose digests are recorded.  The chain reports over the same
descriptors as without Bun and is looked at in the same way; what only Bun's side knows comes from a report
that it writes step by step.  The facts are described in ``assay.judge.hosted``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from assay import canonical
from assay.errors import BundleError, GateError, StorageError
from assay.files import read_bounded, storage_errors, write_atomic
from assay.gates.chain import observe_child
from assay.gates.chain_request import NotRun, case_of, make_request, needs_wgpu, why_not_run
from assay.gates.chain_session import Deadlines
from assay.gates.childenv import ChildEnvironment, ChildSetup, prepare_child
from assay.gates.context import Context
from assay.gates.probes import probes_of
from assay.judge.chain import NO_SELECTION
from assay.judge.hosted import ABI_FUNCTIONS
from assay.judge.reading import text
from assay.model import Facts, Json
from assay.plan.values import WGPU_NATIVE
from assay.selection import BUN, EXECUTABLE, HOST_LIBRARY, LIBPYTHON

SOURCES = Path(__file__).resolve().parent.parent / "hosted"
"""Where Bun's side lies in this installation."""

SCRIPTS = ("errors.ts", "gpu.ts", "main.ts", "native.ts", "plugin.ts", "python.ts")

_QUIET = {"BUN_ENABLE_CRASH_REPORTING": "0", "DO_NOT_TRACK": "1"}
"""Bun sends no report of a crash anywhere (Bun: environment variables)."""

_NEEDED = (BUN, LIBPYTHON, HOST_LIBRARY)
_LIMIT = 1 << 20
_REPORT_LIMIT = 4 << 20


@dataclass(frozen=True)
class _Bun:
    """Bun's side, ready to be started: its command's beginning, its scripts as facts, and its report."""

    argv: tuple[str, ...]
    scripts: tuple[Json, ...]
    report: Path


def observe(context: Context, deadlines: Deadlines | None = None) -> Facts:
    """Return the facts of one Bun process.

    Args:
        context: the gate's view of the run.
        deadlines: of the child's events, the usual ones where None.

    Raises:
        GateError: a source cannot be read, or a part of assay is not installed whole.
        StorageError: a private folder or file cannot be written.
    """
    why = why_not_run(context) or _why_not_hosted(context)
    if why is not None:
        return {"chains": [], "lacking": list(why.lacking), "not_run": why.reason}
    wgpu = needs_wgpu(context.plan.planned_chains(context.platform))
    setup = prepare_child(context, interface=WGPU_NATIVE if wgpu else "", rehearsed=True)
    bun = _prepare(context, setup)
    hosted = replace(setup, argv=bun.argv, environment=_environment(context, setup))
    facts = observe_child(
        context, hosted, make_request(context, case_of(context)), probes_of(context), deadlines or Deadlines()
    )
    return {**facts, "hosted": _hosted(context, bun)}


def _why_not_hosted(context: Context) -> NotRun | None:
    """Return which of Bun's part of the selection lacks."""
    lacking = tuple(name for name in _NEEDED if not context.selection.get(name))
    return NotRun(NO_SELECTION, lacking) if lacking else None


def _prepare(context: Context, setup: ChildSetup) -> _Bun:
    """Copy the scripts into a private folder and return how Bun is started on them.

    Raises:
        GateError: a script is not installed.
        StorageError: a copy cannot be written.
    """
    folder = setup.folders.base / "hosted"
    with storage_errors("make", folder):
        folder.mkdir()
    scripts = tuple(_copied(name, folder) for name in SCRIPTS)
    report = folder / "report.jsonl"
    version = text(context.facts.get("environment", {}), "interpreter.version")
    started = (context.selection.bun or "", "--no-install", "--preload", str(folder / "plugin.ts"))
    told = (str(folder / "main.ts"), str(report), str(setup.zip.path), version)
    return _Bun((*started, *told), scripts, report)


def _copied(name: str, folder: Path) -> Json:
    """Copy one script and return its fact.

    Raises:
        GateError: it is not installed.
        StorageError: the copy cannot be written.
    """
    try:
        data = read_bounded(SOURCES / name, _LIMIT)
    except StorageError as error:
        raise GateError(error.observed, "the scripts beside the gates", "install assay anew") from error
    write_atomic(folder / name, data)
    return {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}


def _environment(context: Context, setup: ChildSetup) -> ChildEnvironment:
    """Return the child's environment with what Bun's side reads."""
    named = {name: context.selection.get(name) or "" for name in (EXECUTABLE, LIBPYTHON, HOST_LIBRARY)}
    values = {**setup.env, **named, **_QUIET}
    return replace(setup.environment, values=MappingProxyType(dict(sorted(values.items()))))


def _hosted(context: Context, bun: _Bun) -> Facts:
    """Return what Bun's side told, and what the host library offers without being asked."""
    steps, problem = _told(bun.report)
    exports = context.machine.binary(context.selection.host_library or "").exports
    return {
        "exports": sorted(exports & set(ABI_FUNCTIONS)),
        "problem": problem,
        "scripts": list(bun.scripts),
        "steps": steps,
    }


def _told(report: Path) -> tuple[dict[str, Json], str]:
    """Return what each step of a report says, and why there is nothing."""
    try:
        return dict(_steps(report)), ""
    except (BundleError, StorageError) as error:
        return {}, error.observed


def _steps(report: Path) -> Iterator[tuple[str, Json]]:
    """Yield each whole line of the report; a last one that breaks off is no step.

    Raises:
        BundleError: a line is no step.
        StorageError: the report cannot be read, or is too long.
    """
    if not report.is_file():
        return
    *lines, _ = read_bounded(report, _REPORT_LIMIT).split(b"\n")
    for line in lines:
        step = canonical.parse(line, member=report.name)
        if not isinstance(step, dict) or not isinstance(step.get("step"), str):
            raise BundleError("a line of Bun's report is no step", "a step and what it says", "see the log")
        yield str(step["step"]), step.get("said")
