"""The graph: order, exclusion, abandonment; every result is recorded before what depends on it starts."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from assay.engine.schedule import GRACE_S, Actions, run_graph
from assay.judge.row import Exclusive, GateRow
from assay.model import Outcome, Platform, Tier
from assay.plan import Plan, parse_plan
from tests.plan.support import changed

NAMES = tuple(f"gate-{letter}" for letter in "abcdef")


@dataclass(frozen=True)
class Result:
    """What the fake gates come to."""

    outcome: Outcome


def gate(name: str, *needs: str, **fields: object) -> GateRow:
    return GateRow(name, name, {1: lambda _c, _f: ()}, needs, lambda _c, _f: "", **fields)  # type: ignore[arg-type]  # tests name fields freely


def plan_of(*names: str) -> Plan:
    table = changed("gates", list(names))
    table |= {"command": [], "claim": [], "deadlines": {}}
    return parse_plan(table)


class Recorder:
    """Runs gates by a table of outcomes and notes what happened, in order."""

    def __init__(self, outcomes: dict[str, Outcome] | None = None) -> None:
        self.outcomes = outcomes or {}
        self.events: list[str] = []
        self.lock = threading.Lock()

    def note(self, event: str) -> None:
        with self.lock:
            self.events.append(event)

    def run(self, row: GateRow) -> Result:
        self.note(f"start {row.name}")
        return Result(self.outcomes.get(row.name, Outcome.PASSED))

    def actions(self, **changes: object) -> Actions[Result]:
        given = {
            "run": self.run,
            "skip": lambda _row, outcome: Result(outcome),
            "abandon": lambda _row: Result(Outcome.ERROR),
            "record": lambda row, result: self.note(f"record {row.name} {result.outcome.value}"),
            "clock": lambda: 0.0,
        }
        return Actions(**{**given, **changes})  # type: ignore[arg-type]  # tests replace single actions


def run(rows: tuple[GateRow, ...], recorder: Recorder, **changes: object) -> dict[str, Result]:
    plan = plan_of(*(row.name for row in rows))
    deadlines = {row.name: 60.0 for row in rows}
    return run_graph(rows, plan, Platform.LINUX, deadlines, recorder.actions(**changes))


def test_a_need_is_recorded_before_its_dependent_starts() -> None:
    recorder = Recorder()
    run((gate("late", "early"), gate("early")), recorder)
    assert recorder.events == ["start early", "record early passed", "start late", "record late passed"]


def test_what_needs_a_gate_that_did_not_pass_is_blocked_and_so_is_what_needs_that() -> None:
    for bad in (Outcome.FAILED, Outcome.ERROR, Outcome.UNAVAILABLE):
        recorder = Recorder({"a": bad})
        results = run((gate("a"), gate("b", "a"), gate("c", "b"), gate("d")), recorder)
        assert {name: result.outcome for name, result in results.items()} == {
            "a": bad,
            "b": Outcome.BLOCKED,
            "c": Outcome.BLOCKED,
            "d": Outcome.PASSED,
        }
        assert "start b" not in recorder.events


def test_platform_and_tier_make_a_gate_not_applicable_and_block_nobody() -> None:
    rows = (
        gate("windows-only", platforms=frozenset({Platform.WINDOWS})),
        gate("wsl-tier", tiers=frozenset({Tier.WSL})),
        gate("after", "windows-only", "wsl-tier"),
    )
    results = run(rows, Recorder())
    assert results["windows-only"].outcome is Outcome.NOT_APPLICABLE
    assert results["wsl-tier"].outcome is Outcome.NOT_APPLICABLE
    assert results["after"].outcome is Outcome.PASSED


def test_independent_gates_run_side_by_side() -> None:
    both = threading.Barrier(2, timeout=30)

    def meet(_row: GateRow) -> Result:
        both.wait()
        return Result(Outcome.PASSED)

    results = run((gate("a"), gate("b")), Recorder(), run=meet)
    assert [result.outcome for result in results.values()] == [Outcome.PASSED, Outcome.PASSED]


def overlap(kinds: tuple[Exclusive, ...]) -> int:
    """Return the largest number of gates of these kinds that ran at once."""
    active, most, lock = 0, 0, threading.Lock()
    first = threading.Event()

    def measure(_row: GateRow) -> Result:
        nonlocal active, most
        with lock:
            active += 1
            most = max(most, active)
            if active > 1:
                first.set()
        first.wait(0.05)
        with lock:
            active -= 1
        return Result(Outcome.PASSED)

    run(tuple(gate(f"g{n}", exclusive=kind) for n, kind in enumerate(kinds)), Recorder(), run=measure)
    return most


def test_exclusive_gates_wait_for_one_another() -> None:
    assert overlap((Exclusive.GPU, Exclusive.GPU)) == 1
    assert overlap((Exclusive.MACHINE, Exclusive.NONE)) == 1
    assert overlap((Exclusive.NONE, Exclusive.MACHINE)) == 1
    assert overlap((Exclusive.GPU, Exclusive.NONE)) == 2


def test_a_gate_that_does_not_come_back_is_abandoned_and_the_run_goes_on() -> None:
    release, now = threading.Event(), iter(range(0, 10_000, 1000))

    def stuck(row: GateRow) -> Result:
        if row.name == "stuck":
            release.wait(30)
        return Result(Outcome.PASSED)

    results = run(
        (gate("stuck"), gate("after", "stuck")), Recorder(), run=stuck, clock=lambda: float(next(now))
    )
    release.set()
    assert results["stuck"].outcome is Outcome.ERROR
    assert results["after"].outcome is Outcome.BLOCKED
    assert GRACE_S > 0


@given(
    st.lists(st.lists(st.sampled_from(NAMES), max_size=3), min_size=6, max_size=6),
    st.lists(st.sampled_from([Outcome.PASSED, Outcome.FAILED, Outcome.ERROR]), min_size=6, max_size=6),
)
def test_any_acyclic_graph_ends_with_every_gate_recorded_once(
    needs: list[list[str]], outcomes: list[Outcome]
) -> None:
    rows = tuple(gate(name, *(n for n in needs[k] if n < name)) for k, name in enumerate(NAMES))
    recorder = Recorder(dict(zip(NAMES, outcomes, strict=True)))
    results = run(rows, recorder)
    recorded = [event.split()[1] for event in recorder.events if event.startswith("record")]
    assert sorted(recorded) == sorted(NAMES) == sorted(results)
    for row in rows:
        assert all(recorded.index(need) < recorded.index(row.name) for need in row.needs)
        blocked = any(results[need].outcome is not Outcome.PASSED for need in row.needs)
        assert (results[row.name].outcome is Outcome.BLOCKED) is blocked
