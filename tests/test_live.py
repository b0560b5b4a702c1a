"""What a terminal shows: colours in known places alone, what runs below, and plain text elsewhere."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from assay.commands.live import LiveView, styled
from assay.commands.output import coloured
from assay.engine.console import Watcher
from assay.evidence.plain import plain
from tests.project.files import PROJECT, environment_of_children

QUALIFIED = PROJECT / "tests/data/bundles/1/qualified.tar"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("chain          failed            1.20 s", "failed"),
        ("  lint             passed             0.083 s", "passed"),
        ("verdict: qualified (tier: physical)", "qualified"),
        ("integrity: intact", "intact"),
        ("chain: unavailable", "unavailable"),
        ("    failure: CHAIN-WRONG: it is wrong", "failure"),
        ("    TOOLKIT-SHADOWED (warning): another comes first", "warning"),
    ],
)
def test_an_outcome_has_its_colour_where_it_stands(line: str, word: str) -> None:
    text = styled(line)
    assert text.plain == line
    (span,) = text.spans
    assert line[span.start : span.end] == word


@pytest.mark.parametrize(
    "line",
    [
        "      remedy:   passed",
        "run: passed/failed",
        "[bold red]qualified[/]",
        "bundle: /home/me/passed",
        "  established: it passed",
    ],
)
def test_elsewhere_there_is_none(line: str) -> None:
    assert styled(line).spans == []


@given(st.text(max_size=300))
def test_a_string_is_shown_as_it_is_and_steers_nothing(text: str) -> None:
    stream = Terminal()
    view = LiveView(Console(file=stream, highlight=False, markup=False, emoji=False, color_system=None))
    view(f"      remedy:   {plain(text)}")
    assert stream.getvalue() == f"      remedy:   {plain(text)}\n"


@pytest.mark.gate
def test_the_gates_that_run_are_shown_with_their_time() -> None:
    moment = [100.0]
    console = Console(file=io.StringIO(), width=80)
    view = LiveView(console, clock=lambda: moment[0])
    assert isinstance(view, Watcher)
    view.begun("chain")
    moment[0] = 101.0
    view.begun("build")
    moment[0] = 103.5
    with console.capture() as captured:
        console.print(view)
    lines = captured.get().splitlines()
    assert [(line.split()[0], line.split()[-2]) for line in lines] == [("chain", "3.5"), ("build", "2.5")]
    view.ended("chain")
    view.ended("chain")
    assert list(view.running) == ["build"]


@pytest.mark.parametrize(
    ("stream", "variables", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
        (None, {}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None, variables: dict[str, str], *, wanted: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert coloured(stream) is wanted


def shown(**variables: str) -> bytes:
    """Return what `assay show` writes to a terminal of its own."""
    ours, theirs = os.openpty()
    argv = [sys.executable, "-m", "assay.cli", "show", str(QUALIFIED)]
    environment = {
        **environment_of_children(),
        "PYTHONPATH": str(PROJECT / "scripts"),
        "TERM": "xterm-256color",
    }
    child = subprocess.Popen(argv, stdout=theirs, env={**environment, **variables})  # noqa: S603  # argv is ours
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 1 << 16):
            said += data
    except OSError:  # the terminal is gone with the child (Linux: EIO)
        pass
    os.close(ours)
    assert child.wait() == 0
    return said.replace(b"\r\n", b"\n")


def test_show_is_coloured_on_a_terminal_and_the_same_text_where_it_is_not(tmp_path: Path) -> None:
    del tmp_path
    argv = [sys.executable, "-m", "assay.cli", "show", str(QUALIFIED)]
    environment = {**environment_of_children(), "PYTHONPATH": str(PROJECT / "scripts")}
    piped = subprocess.run(argv, capture_output=True, env=environment, check=True).stdout  # noqa: S603  # argv is ours
    assert b"\x1b" not in piped
    assert shown(NO_COLOR="1") == piped
    coloured_ = shown()
    assert b"\x1b[" in coloured_
    text = coloured_
    for code in {part.split(b"m")[0] for part in coloured_.split(b"\x1b[")[1:]}:
        text = text.replace(b"\x1b[" + code + b"m", b"")
    assert text == piped
