"""A terminal's view: lines with outcomes in colours, and below them the gates that run, with their time.

Only what this package prints is coloured, by its place in a line; no markup is read, so that a string of a
machine or a bundle colours nothing and moves nothing.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

_GOOD, _BAD, _OPEN, _DIM = "green", "bold red", "yellow", "dim"
_STYLES = {
    "passed": _GOOD,
    "qualified": "bold green",
    "intact": _GOOD,
    "failed": _BAD,
    "failure": _BAD,
    "rejected": _BAD,
    "broken": _BAD,
    "error": _OPEN,
    "blocked": _OPEN,
    "unavailable": _OPEN,
    "undecided": _OPEN,
    "rehearsed": "cyan",
    "warning": _DIM,
    "not-applicable": _DIM,
}
_WORD, _NAME = f"(?P<word>{'|'.join(_STYLES)})", "[a-z][a-z0-9-]{0,30}"
_PLACES = tuple(
    map(
        re.compile,
        (
            rf"^ {{0,2}}{_NAME} +{_WORD}(?: |$)",
            rf"^{_NAME}: {_WORD}(?:$| \(|:)",
            rf"^ {{4}}{_WORD}: [A-Z0-9-]+: ",
            rf"^ {{4}}[A-Z0-9-]+ \({_WORD}\): ",
        ),
    )
)
"""Where an outcome stands in a line: behind a gate's name or a key, before or behind a finding's id."""

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PER_S = 8


def styled(line: str) -> Text:
    """Return a line with its outcome in colour."""
    text = Text(line)
    for place in _PLACES:
        found = place.search(line)
        if found is not None:
            text.stylize(_STYLES[found["word"]], *found.span("word"))
    return text


@dataclass
class LiveView:
    """Says lines above the gates that run now.

    Attributes:
        console: where it is shown.
        clock: monotonic seconds.
        running: when each gate began; gates begin on threads of their own, and each writes its own key.
    """

    console: Console
    clock: Callable[[], float] = time.monotonic
    running: dict[str, float] = field(default_factory=dict)

    def __call__(self, line: str) -> None:
        """Say a line."""
        self.console.print(styled(line), soft_wrap=True)

    def begun(self, gate: str) -> None:
        """Note that a gate begins."""
        self.running[gate] = self.clock()

    def ended(self, gate: str) -> None:
        """Note that a gate has ended."""
        self.running.pop(gate, None)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Show the gates that run."""
        del console, options  # the lines are short and have no width of their own
        now = self.clock()
        frame = _FRAMES[int(now * _PER_S) % len(_FRAMES)]
        for gate, began in sorted(self.running.copy().items(), key=lambda item: item[1]):
            yield Text(f"{gate:<14} {frame} running {now - began:7.1f} s", style="cyan")


@contextlib.contextmanager
def live_view(stream: TextIO) -> Iterator[LiveView]:
    """Yield what says a run's lines on a terminal; what runs is shown until the block ends."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    view = LiveView(console)
    with Live(
        view,
        console=console,
        refresh_per_second=_PER_S,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield view


def print_styled(lines: Sequence[str], stream: TextIO) -> None:
    """Print lines on a terminal."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(styled(line), soft_wrap=True)
