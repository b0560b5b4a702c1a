"""A gate's real context over a temporary run folder: commands run, logs are written, artifacts are kept."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.engine.context import GateContext
from assay.engine.roots import named_roots
from assay.engine.setup import Setup
from assay.gatelog import GateLog
from assay.gates.context import Context
from assay.judge.case import Case
from assay.judge.row import GateRow
from assay.judge.rules import judge_gate
from assay.machine import Machine
from assay.model import Facts, Finding, Platform
from assay.plan import parse_plan
from assay.redaction import make_redactor
from assay.selection import Selection

NOTHING: Mapping[str, str] = MappingProxyType({})
ZERO = "0" * 64


@dataclass(frozen=True)
class Bench:
    """A gate's context, and what a test looks at afterwards."""

    context: GateContext
    setup: Setup
    log: GateLog

    def observe(self, observe: Callable[[Context], Facts]) -> Facts:
        """Return a gate's facts as the judge sees them: rooted and redacted."""
        facts, _ = self.setup.redactor.json(observe(self.context))
        assert isinstance(facts, Mapping)
        return facts

    def case(self) -> Case:
        """Return what the judge of this gate knows."""
        return self.setup.case(self.context.facts)

    def logged(self) -> str:
        """Return the gate's log."""
        self.log.finish()
        return (self.setup.folder / "gate.log").read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def bench(  # noqa: PLR0913  # one keyword for each thing that a gate sees of the run
    folder: Path,
    *,
    plan: Mapping[str, Any],
    project: Path | None = None,
    selection: Mapping[str, str] = NOTHING,
    environ: Mapping[str, str] = NOTHING,
    facts: Mapping[str, Facts] | None = None,
    artifact: Path | None = None,
    deadline_s: int = 120,
) -> Iterator[Bench]:
    """Make a context below ``folder`` and close its log."""
    machine = Machine(
        Path("/"), MappingProxyType({"PATH": os.environ["PATH"], "HOME": str(folder), **environ})
    )
    chosen = Selection(explicit=True, source="test", values=MappingProxyType(dict(selection)))
    place = project or folder / "project"
    for needed in (folder / "run", folder / "scratch", place):
        needed.mkdir(parents=True, exist_ok=True)
    setup = Setup(
        machine=machine,
        selection=chosen,
        plan=parse_plan(plan),
        plan_digest=ZERO,
        platform=Platform.LINUX,
        project=place,
        folder=folder / "run",
        nonce="ab" * 16,
        challenge="",
        artifact=artifact,
        redactor=make_redactor(machine.env, named_roots(machine, chosen, place)),
        observe=MappingProxyType({}),
        monotonic_ns=time.monotonic_ns,
        now=lambda: dt.datetime(2026, 11, 30, tzinfo=dt.UTC),
    )
    log = GateLog(setup.folder / "gate.log", setup.redactor)
    try:
        yield Bench(GateContext(setup, facts or {}, folder / "scratch", log, deadline_s), setup, log)
    finally:
        log.discard()


def judged(row: GateRow, case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what the newest rules of a gate find."""
    return judge_gate(case, row, row.rules, facts)


def ids(findings: tuple[Finding, ...]) -> list[str]:
    """Return the ids of findings, in order."""
    return [finding.id for finding in findings]
