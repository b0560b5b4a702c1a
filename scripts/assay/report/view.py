"""What a page shows, as immutable values: plain text that was verified, in the order in which it is read.

Strings may be a stranger's.  They stay as they are here; ``page`` makes each harmless where it is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How something looks; the words beside it always say the same."""

    GOOD = "good"
    OPEN = "open"
    BAD = "bad"
    PRACTICE = "practice"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Piece:
    """A piece of a text; ``kind`` is ``text``, ``code``, ``digest`` or ``em``."""

    kind: str
    text: str


@dataclass(frozen=True)
class Row:
    """A name and its value; ``code`` where the value is read letter by letter, as digests are."""

    name: str
    value: str
    code: bool = False


@dataclass(frozen=True)
class Group:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Origin:
    """Who rendered the page.

    Attributes:
        readers: whether it was the reader; else the sender of the bundle.
        heading: that in words.
        copy: which copy of assay rendered it.
        verified: what that copy verified.
        anchor: what ties the bundle to something that its sender does not control.
        advice: what the reader should know of such a page.
    """

    readers: bool
    heading: str
    copy: tuple[Piece, ...]
    verified: str
    anchor: str
    advice: str


@dataclass(frozen=True)
class Headline:
    """The verdict with tier and scope in one sentence, and why it is no better.

    ``rehearsal`` says whether a CPU stood in for the GPU, whatever the verdict.
    """

    word: str
    tone: Tone
    sentence: str
    reasons: tuple[str, ...]
    rehearsal: bool


@dataclass(frozen=True)
class Answer:
    """One of the separate answers of a verification."""

    name: str
    state: str
    detail: str
    tone: Tone


@dataclass(frozen=True)
class Claim:
    """A sentence that is established, with the gates that establish it."""

    text: tuple[Piece, ...]
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; ``omitted`` rows are not shown.  The columns of ``code`` hold digests and the like."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    code: frozenset[int] = frozenset()
    omitted: int = 0


@dataclass(frozen=True)
class Bar:
    """One gate on the time axis: where its bar begins and how long it is, in thousandths of the run."""

    gate: str
    title: tuple[Piece, ...]
    outcome: str
    tone: Tone
    start: str
    duration: str
    offset: int
    width: int
    findings: int


@dataclass(frozen=True)
class Timeline:
    """The gates in the order in which they started; ``span`` is the length of the axis in words."""

    span: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Found:
    """One finding, with what the reader's own catalogue says of its kind."""

    id: str
    severity: str
    tone: Tone
    title: str
    observed: str
    expected: str
    remedy: str
    where: tuple[str, ...]
    reference: str


@dataclass(frozen=True)
class Findings:
    """The findings of one gate; ``omitted`` more are counted only."""

    gate: str
    shown: tuple[Found, ...]
    omitted: int


@dataclass(frozen=True)
class Value:
    """One value: what came out, what should have, and whether it is right."""

    given: str
    expected: str
    right: bool


@dataclass(frozen=True)
class Count:
    """How many values are right, in words, and whether all are."""

    text: str
    right: bool


@dataclass(frozen=True)
class StageView:
    """One stage.

    Attributes:
        name: the stage.
        rule: what it must give, as the plan writes it.
        canonical: how many canonical values are right.
        fresh: how many fresh ones.
        rows: what ran, and from what bytes.
    """

    name: str
    rule: tuple[Piece, ...]
    canonical: Count
    fresh: Count
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ValueRow:
    """The canonical values of one index: what went in, and what each stage gave."""

    index: str
    input: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class ChainView:
    """One chain by stage; ``omitted`` canonical values are counted in its stages and not listed."""

    name: str
    stages: tuple[StageView, ...]
    rows: tuple[ValueRow, ...]
    omitted: int

    @property
    def wrong(self) -> bool:
        """Say whether any canonical value is wrong."""
        return any(not stage.canonical.right for stage in self.stages)


@dataclass(frozen=True)
class Tick:
    """A label of an axis, and where it lies."""

    at: int
    text: str


@dataclass(frozen=True)
class Line:
    """A line through points of a drawing; ``number`` tells it from the others by stroke and mark."""

    name: str
    number: int
    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Plot:
    """Lines with the labels of both axes; ``unit`` is what the upright one is in."""

    title: str
    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    unit: str


@dataclass(frozen=True)
class HopBar:
    """How long one hop took, in words and in thousandths of the longest."""

    name: str
    text: str
    width: int


@dataclass(frozen=True)
class Hops:
    """The hops of one path."""

    title: str
    bars: tuple[HopBar, ...]


@dataclass(frozen=True)
class SpeedView:
    """What was measured of speed and memory; tables without rows are not shown."""

    bounds: Table
    plot: Plot | None
    hops: tuple[Hops, ...]
    sizes: Table
    floors: Table
    memory: Table
    cold: Table


@dataclass(frozen=True)
class Log:
    """A log: its first and last lines, how much of it there is, and the member that has the rest."""

    member: str
    size: str
    head: tuple[str, ...]
    tail: tuple[str, ...]
    left_out: str
    command: str


@dataclass(frozen=True)
class GateView:
    """What one gate ran and left; ``summary`` counts it."""

    name: str
    outcome: str
    tone: Tone
    summary: str
    commands: Table
    artifacts: Table
    log: Log | None


@dataclass(frozen=True)
class Command:
    """A command that a reader runs, and what it shows."""

    purpose: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """A whole page."""

    title: str
    origin: Origin
    headline: Headline
    scope: tuple[str, ...]
    answers: tuple[Answer, ...]
    identity: tuple[Row, ...]
    established: tuple[Claim, ...]
    not_established: tuple[str, ...]
    machine: tuple[Group, ...]
    selection: tuple[Row, ...]
    tables: tuple[Table, ...]
    timeline: Timeline
    findings: tuple[Findings, ...]
    chains: tuple[ChainView, ...]
    speed: SpeedView | None
    gates: tuple[GateView, ...]
    commands: tuple[Command, ...]
    limits: tuple[tuple[Piece, ...], ...]
    proof: tuple[Answer, ...]
