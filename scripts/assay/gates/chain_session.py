"""Drives one chain child: a deadline for each event, a look at it while it holds still, and its end.

Whatever the child does (hang, flood, break off, close its descriptor, leave a process behind) comes out as
facts with a reason; nothing here raises for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from assay.errors import GateError
from assay.gates.chain_events import END, HOLDING, Collector, OrderError
from assay.judge.child import DONE
from assay.judge.reading import MalformedFacts
from assay.model import Facts, Json
from assay.process import Child, Ended, Ending, EventLimits, Patience
from assay.process.values import TIMEOUT

LIMITS = EventLimits(line=4 << 20, total=32 << 20, count=5000)
"""The known chains send under a hundred events and two megabytes; the longest line names modules."""

NOT_STARTED, ORDER = "not-started", "order"

_AWAITED: Mapping[str, str] = MappingProxyType(
    {
        "": "hello",
        "opening": "opened",
        "compiling": "compiled",
        "running": "result",
        "measuring": "measured",
        HOLDING: "closed",
        END: "the end of the process",
    }
)
"""By last event, the one that a child is expected to come to."""


@dataclass(frozen=True)
class Deadlines:
    """Seconds for the event that follows one of that name; ``rest`` for all others.

    Generous on purpose: modules are compiled anew in every run, and a driver's first start can be slow.
    """

    after: Mapping[str, float] = field(
        default_factory=lambda: MappingProxyType(
            {"": 60.0, "opening": 90.0, "compiling": 90.0, "running": 60.0, "measuring": 120.0}
        )
    )
    rest: float = 30.0
    end: float = 20.0

    def seconds(self, last: str, left: float) -> float:
        """Return how long the next event may take, within what is left of the gate's time."""
        return max(0.1, min(left, self.after.get(last, self.rest)))


@dataclass(frozen=True)
class Session:
    """How a child is driven.

    Attributes:
        argv: its whole command.
        env: its whole environment.
        cwd: its working folder.
        on_output: gets what it prints.
        look: looks at the held child (its process number) and returns facts.
        deadlines: of its events.
        until: when all must be over, by the monotonic clock in seconds.
        patience: what is waited for what should take no time.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    on_output: Callable[[bytes], None]
    look: Callable[[int], Facts]
    deadlines: Deadlines
    until: float
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class Driven:
    """What came of a child.

    Attributes:
        ended: the fact ``child.ended`` (``judge.child`` describes it).
        looked: what was seen while it held still; empty where it never did.
        printed: bytes that it wrote to standard output and error.
        exit: its exit, negative for a signal, ``timeout`` where it outlived a deadline; None: not started.
    """

    ended: Facts
    looked: Facts
    printed: int
    exit: int | str | None


class _Output:
    """Counts what passes to the log."""

    def __init__(self, pass_on: Callable[[bytes], None]) -> None:
        self._pass_on = pass_on
        self.size = 0

    def __call__(self, data: bytes) -> None:
        """Pass on a piece of output."""
        self.size += len(data)
        self._pass_on(data)


def drive(session: Session, collector: Collector) -> Driven:
    """Start a child, collect its events, look at it while it holds still, and end it.

    Args:
        session: how it is driven.
        collector: takes its events.
    """
    output = _Output(session.on_output)
    try:
        child = Child.start(
            session.argv,
            env=session.env,
            cwd=session.cwd,
            on_output=output,
            limits=LIMITS,
            patience=session.patience,
        )
    except GateError as error:
        return Driven(_fact(NOT_STARTED, error.observed, "hello"), {}, 0, None)
    with child:
        followed = _Following(child, session, collector)
        came = followed.to_the_end()
        finished = child.kill()
    ended = _fact(came.reason, came.detail, _AWAITED.get(collector.last, "the next event"), came.exit)
    facts = {**ended, "abandoned": finished.abandoned, "held": finished.held}
    code = TIMEOUT if came.reason == Ending.DEADLINE else finished.exit
    return Driven(facts, followed.looked, output.size, code)


@dataclass(frozen=True)
class _End:
    """Why a child's events ended, and its exit where it ended by itself."""

    reason: str
    detail: str
    exit: int | None = None


class _Following:
    """Follows one child's events to their end."""

    def __init__(self, child: Child, session: Session, collector: Collector) -> None:
        self._child, self._session, self._collector = child, session, collector
        self.looked: Facts = {}

    def to_the_end(self) -> _End:
        """Take events until there are no more."""
        while True:
            last = self._collector.last
            left = self._session.until - time.monotonic()
            came = self._child.next_event(self._session.deadlines.seconds(last, left))
            if isinstance(came, Ended):
                return self._ended(came)
            try:
                self._collector.take(came.value)
            except OrderError as error:
                return _End(ORDER, str(error))
            except MalformedFacts as error:
                return _End(Ending.MALFORMED, f"event {last or 'hello'} is followed by one whose {error}")
            if self._collector.last == HOLDING:
                self.looked = self._session.look(self._child.pid)
                self._child.release()

    def _ended(self, came: Ended) -> _End:
        """Return the end; after the last event only the process's own end is left to come.

        A process that tears down a GPU may close its descriptors seconds before it is gone.
        """
        if self._collector.last != END or came.reason not in {Ending.EXITED, Ending.CLOSED}:
            return _End(came.reason, came.detail, came.exit)
        finished = self._child.finish(self._session.deadlines.end)
        if not isinstance(finished.exit, int):
            return _End(Ending.DEADLINE, "it said `end` and did not end")
        return _End(DONE, "", finished.exit)


def _fact(reason: str, detail: str, awaiting: str, code: int | None = None) -> dict[str, Json]:
    """Return the fact ``child.ended`` of a child that left nothing behind."""
    return {
        "abandoned": False,
        "awaiting": "" if reason == DONE else awaiting,
        "detail": detail,
        "exit": code,
        "held": False,
        "reason": reason,
    }
