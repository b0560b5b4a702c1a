"""The short summary: what a run came to, and that nothing of a machine's is formatted, linked or run."""

from __future__ import annotations

from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.evidence.asking import Wanted
from assay.evidence.plain import plain
from assay.report.summary import escaped, summary
from assay.report.writing import write_rendering
from tests.report import worlds

WANTED = Wanted(datetime(2026, 12, 1, tzinfo=UTC))
READER = MarkdownIt("commonmark", {"html": True}).enable("table")


class Markup(HTMLParser):
    """Collects elements and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert attrs == []
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def told(bundle: Path) -> str:
    """Return a bundle's summary."""
    target = bundle.with_suffix(".md")
    assert write_rendering(bundle, WANTED, target, summary)[1]
    return target.read_text("utf-8")


@pytest.mark.gate
@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("kind", ["qualified", "rejected", "undecided", "rehearsed"])
def test_the_verdict_comes_first_and_every_gate_has_its_line(tmp_path: Path, kind: str) -> None:
    text = told(getattr(worlds, kind)(tmp_path))
    assert kind in text.splitlines()[0]
    assert [
        word
        for word in ("environment", "toolkit", "provider", "build", "chain", "lint")
        if f"| {word} |" not in text
    ] == []
    assert ("qualified" in text.splitlines()[0]) is (kind == "qualified")


@pytest.mark.usefixtures("world")
def test_a_hostile_bundle_formats_nothing(tmp_path: Path) -> None:
    read = Markup(READER.render(told(worlds.hostile(tmp_path))))
    assert read.elements <= {
        "h2",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "strong",
        "code",
    }
    assert "<script>hit()</script>" in read.text


@given(st.text(max_size=200))
def test_a_string_reads_as_it_is_and_as_nothing_else(text: str) -> None:
    read = Markup(READER.render(f"x{escaped(text)}x"))
    assert read.elements == {"p"}
    assert read.text.strip() == f"x{plain(text)}x"


def test_a_long_string_is_cut() -> None:
    assert len(escaped("a" * 10_000)) < 400
