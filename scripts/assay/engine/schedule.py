"""Runs a graph of gates side by side and hands each result to one writer, in the order they end.

Every gate runs on a daemon thread of its own: one that is stuck in the kernel can be abandoned, and the
run still ends.  ``gpu``-exclusive gates wait for one another; a ``machine``-exclusive one runs alone.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from assay.judge.row import Exclusive, GateRow
from assay.judge.rules import standing
from assay.model import Outcome, Platform
from assay.plan import Plan

GRACE_S = 15.0
"""How much longer than its deadline a gate's thread may take to notice it and say so itself."""


class Ended(Protocol):
    """What a gate comes to; the scheduler only needs its outcome."""

    @property
    def outcome(self) -> Outcome:
        """Return how the gate ended."""


TURN_S = 0.2
"""Longest time that an interrupt may go unheeded."""

R = TypeVar("R", bound=Ended)


@dataclass(frozen=True)
class Actions(Generic[R]):
    """What the scheduler calls.

    Attributes:
        run: runs one gate on a thread of its own; what it raises ends the whole run.
        skip: makes the result of a gate that does not run.
        abandon: makes the result of a gate whose thread did not come back.
        record: writes a result; called on the scheduler's own thread, before a dependent gate starts.
        clock: monotonic seconds.
    """

    run: Callable[[GateRow], R]
    skip: Callable[[GateRow, Outcome], R]
    abandon: Callable[[GateRow], R]
    record: Callable[[GateRow, R], None]
    clock: Callable[[], float]


@dataclass
class _State(Generic[R]):
    """What has happened so far; local to one ``run_graph`` call."""

    waiting: list[GateRow]
    running: dict[str, tuple[GateRow, float]] = field(default_factory=dict)
    results: dict[str, R] = field(default_factory=dict)
    ended: queue.SimpleQueue[tuple[str, R | BaseException]] = field(default_factory=queue.SimpleQueue)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Return the outcomes so far."""
        return {name: result.outcome for name, result in self.results.items()}


def run_graph(
    rows: tuple[GateRow, ...],
    plan: Plan,
    platform: Platform,
    deadlines: Mapping[str, float],
    actions: Actions[R],
) -> dict[str, R]:
    """Run every gate once those it needs have ended; return the results by gate, in order of their end.

    Args:
        rows: the gates, in the plan's order.
        plan: says which needs are planned and what is not applicable.
        platform: the platform of the run.
        deadlines: seconds by gate.
        actions: what to call.

    Raises:
        BaseException: what ``run`` or ``record`` raised; what is still running is left to the caller.
    """
    state: _State[R] = _State(list(rows))
    while state.waiting or state.running:
        _start_ready(state, plan, platform, deadlines, actions)
        if state.running:
            _await_one(state, actions)
    return state.results


def _start_ready(
    state: _State[R], plan: Plan, platform: Platform, deadlines: Mapping[str, float], actions: Actions[R]
) -> None:
    """Start what can start; record at once what does not run at all."""
    for row in tuple(state.waiting):
        if not _needs_ended(row, state):
            continue
        outcome = standing(row, plan, platform, state.outcomes)
        if outcome is not None:
            state.waiting.remove(row)
            _record(state, row, actions.skip(row, outcome), actions)
        elif _may_run_beside(row, state):
            state.waiting.remove(row)
            _start(state, row, actions.clock() + deadlines[row.name] + GRACE_S, actions)


def _needs_ended(row: GateRow, state: _State[R]) -> bool:
    """Say whether every planned need of a gate has ended (a cycle or a foreign need cannot wait for ever)."""
    open_names = {each.name for each in state.waiting} | set(state.running)
    return not any(need in open_names for need in row.needs)


def _may_run_beside(row: GateRow, state: _State[R]) -> bool:
    """Say whether what runs now leaves the gate what it must have for itself."""
    running = [each.exclusive for each, _ in state.running.values()]
    if Exclusive.MACHINE in running or (row.exclusive is Exclusive.MACHINE and running):
        return False
    return not (row.exclusive is Exclusive.GPU and Exclusive.GPU in running)


def _start(state: _State[R], row: GateRow, until: float, actions: Actions[R]) -> None:
    """Run a gate on a daemon thread that reports through the queue."""
    state.running[row.name] = (row, until)
    ended = state.ended

    def work() -> None:
        try:
            ended.put((row.name, actions.run(row)))
        except BaseException as error:  # noqa: BLE001  # it is raised again on the scheduler's thread
            ended.put((row.name, error))

    threading.Thread(target=work, name=row.name, daemon=True).start()


def _await_one(state: _State[R], actions: Actions[R]) -> None:
    """Wait for one gate to end, or abandon the one whose time is over."""
    name, (row, until) = min(state.running.items(), key=lambda item: item[1][1])
    got = _next_ended(state, until, actions)
    if got is None:
        del state.running[name]
        _record(state, row, actions.abandon(row), actions)
        return
    ended, result = got
    if isinstance(result, BaseException):
        raise result
    if ended in state.running:
        row, _ = state.running.pop(ended)
        _record(state, row, result, actions)


def _next_ended(state: _State[R], until: float, actions: Actions[R]) -> tuple[str, R | BaseException] | None:
    """Return what ended next, None once the clock shows ``until``.

    It waits in short turns: a signal that arrives just before a long wait would be heeded only after it.
    """
    while True:
        left = until - actions.clock()
        with contextlib.suppress(queue.Empty):
            return state.ended.get(timeout=min(max(0.0, left), TURN_S))
        if left <= TURN_S:
            return None


def _record(state: _State[R], row: GateRow, result: R, actions: Actions[R]) -> None:
    """Keep a result and have it written before anything that depends on it starts."""
    state.results[row.name] = result
    actions.record(row, result)
