"""The engine's own share: a whole run over twelve gates that do nothing, bundle and verification included."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from unittest.mock import patch

from assay.canonical import digest
from assay.engine.prepare import Prepared, Request
from assay.engine.roots import named_roots
from assay.engine.run import run_plan
from assay.evidence.bundle import write_bundle
from assay.evidence.verify import verify_bundle
from assay.gates import table as gate_table
from assay.judge import table as judge_table
from assay.judge.row import GateRow
from assay.judge.table import rows
from assay.machine import Machine
from assay.model import Outcome
from assay.plan import Plan, parse_plan, plan_json
from assay.redaction import make_redactor
from assay.selection import Selection
from tests.bench.measure import Line, alternate, bounded

GATES = 12
TURNS = 15
LIMIT_S = 0.3


def engine_share(folder: Path) -> Line:
    """Measure runs into ``folder``, each in a place of its own."""
    places = (folder / str(turn) for turn in itertools.count())
    with idle_gates(folder) as run:
        (share,) = alternate(TURNS, lambda: run(next(places)))
    return bounded(f"engine's own share, {GATES} gates", share, LIMIT_S)


@contextmanager
def idle_gates(project: Path) -> Iterator[Callable[[Path], Path]]:
    """Yield what makes a whole run over gates that do nothing, in a place, and returns its bundle."""
    with prepared_idle(project) as prepared:
        yield lambda place: _run(prepared, rows(prepared.plan), place)


@contextmanager
def prepared_idle(project: Path) -> Iterator[Prepared]:
    """Yield what a run over gates that do nothing stands on, while they are all the gates that there are."""
    plan = parse_plan(_plan_table())
    gates = tuple(_rows(plan.gates))
    observe = MappingProxyType(dict.fromkeys(plan.gates, lambda context: {"seen": context.nonce}))
    with patch.object(judge_table, "GATES", gates), patch.object(gate_table, "OBSERVE", observe):
        yield _prepared(plan, project)


def _run(prepared: Prepared, gates: tuple[GateRow, ...], place: Path) -> Path:
    """Make one run, its bundle, and verify it as ``qualify`` does; return the bundle.

    Raises:
        RuntimeError: it did not do what it is measured for.
    """
    ran = run_plan(prepared, gates, place, lambda _: None)
    bundle = write_bundle(ran.folder.path)
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    passed = [name for name, outcome in verified.outcomes.items() if outcome is Outcome.PASSED]
    if not verified.intact or len(passed) != GATES:
        raise RuntimeError(f"only {len(passed)} of {GATES} gates passed, or the bundle is broken")
    return bundle.path


def _rows(names: tuple[str, ...]) -> Iterator[GateRow]:
    """Yield gates that do nothing: pairs, the second of which needs the first."""
    for number, name in enumerate(names):
        needs = (names[number - 1],) if number % 2 else ()
        yield GateRow(name, "Nothing.", {1: lambda _case, _facts: ()}, needs, lambda _case, _facts: "nothing")


def _plan_table() -> Mapping[str, object]:
    """Return the smallest plan with so many gates."""
    return {
        "project": "bench",
        "modules": ["bench"],
        "architectures": ["sm_75"],
        "gates": [f"nothing-{number}" for number in range(GATES)],
        "smoke": ["python", "-c", "pass"],
    }


def _prepared(plan: Plan, project: Path) -> Prepared:
    """Return what a run of the plan stands on, on this machine, with nothing selected."""
    machine = Machine.real()
    selection = Selection(explicit=False, source="none", values=MappingProxyType({}))
    redactor = make_redactor(machine.env, named_roots(machine, selection, project))
    plan_digest = digest(plan_json(plan))
    return Prepared(Request(project), plan, plan_digest, machine, machine.platform, selection, redactor)
