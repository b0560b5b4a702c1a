"""A run's surroundings with one gate whose observing is the test's own."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from assay.engine.setup import Observe, Setup
from assay.judge.row import GateRow, Judge
from assay.machine import Machine
from assay.model import Platform
from assay.plan import parse_plan
from assay.redaction import make_redactor
from assay.selection import Selection
from tests.plan.support import plan_table

GATE = "lint"
PLAN = parse_plan(plan_table())
NOW = dt.datetime(2026, 5, 4, 3, 2, 1, tzinfo=dt.UTC)


def gate_row(judge: Judge = lambda _case, _facts: (), deadline_s: int = 60) -> GateRow:
    """Return a row that judges as the test says."""
    return GateRow(
        GATE, "a gate of the tests", {3: judge}, (), lambda _case, _facts: "held", deadline_s=deadline_s
    )


def surroundings(folder: Path, observe: Observe, environ: Mapping[str, str] = MappingProxyType({})) -> Setup:
    """Return the surroundings of a run in ``folder``."""
    (folder / "artifacts").mkdir(parents=True)
    project = folder / "project"
    project.mkdir()
    return Setup(
        machine=Machine(folder, MappingProxyType({"PATH": "/usr/bin:/bin", **environ})),
        selection=Selection(explicit=False, source="none", values=MappingProxyType({})),
        plan=PLAN,
        plan_digest="cd" * 32,
        platform=Platform.LINUX,
        project=project,
        folder=folder,
        nonce="00" * 16,
        challenge="",
        artifact=None,
        redactor=make_redactor(environ, [("$PROJECT", str(project))]),
        observe={GATE: observe},
        monotonic_ns=time.monotonic_ns,
        now=lambda: NOW,
    )
