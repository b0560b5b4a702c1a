"""``assay explain``: what the catalogue knows of a finding."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator

from assay.commands.output import print_json
from assay.errors import UsageError
from assay.judge.catalogue import CATALOGUE, Entry
from assay.model import Json, Severity

SCHEMA = "assay/explanation/1"

MEANING = {
    Severity.FAILURE: "the machine or the release is wrong: the run is rejected",
    Severity.ERROR: "the gate could not do its work: the run stays undecided",
    Severity.UNAVAILABLE: "the machine lacks a capability: the run stays undecided",
    Severity.WARNING: "worth a word, and the gate passes",
}
"""What a severity does to a run (DESIGN: Laws, 1)."""

_WIDTH = 100
_INDENT = " " * 12


def run(options: argparse.Namespace) -> int:
    """Explain a finding, or list all of them, and return 0.

    Raises:
        UsageError: no finding has the id.
    """
    if not options.id:
        for entry in CATALOGUE.values():
            print(f"{entry.id}: {entry.title}")
        return 0
    entry = entry_of(options.id)
    if options.json:
        print_json(to_json(entry), wanted=True)
    else:
        print("\n".join(lines(entry)))
    return 0


def entry_of(given: str) -> Entry:
    """Return the entry of an id, in whatever case it is written.

    Raises:
        UsageError: there is none; similar ids are named.
    """
    entry = CATALOGUE.get(given.upper())
    if entry is None:
        raise UsageError(f"no finding has the id {given}", "an id of the catalogue", _instead(given.upper()))
    return entry


def _instead(given: str) -> str:
    """Return what to do in the place of an id that there is not."""
    import difflib  # noqa: PLC0415  # only a mistake needs it

    near = difflib.get_close_matches(given, CATALOGUE, n=3)
    return f"did you mean {' or '.join(near)}?" if near else "`assay explain` lists every id"


def lines(entry: Entry) -> Iterator[str]:
    """Yield what people read of an entry."""
    yield f"{entry.id}: {entry.title}"
    yield from _row("severity", f"{entry.severity.value}: {MEANING[entry.severity]}")
    yield from _row("expected", entry.expected)
    yield from _row("remedy", entry.remedy)
    for platform, remedy in sorted(entry.remedies.items()):
        yield from _row(f"  {platform.value}", remedy)
    yield from _row("reference", entry.reference)
    for at, name in enumerate(entry.explains):
        yield from _row("explains" if not at else "", f"{name}: {CATALOGUE[name].title}")
    for at, cause in enumerate(causes_of(entry)):
        yield from _row("follows" if not at else "", f"{cause.id}: {cause.title}")


def causes_of(entry: Entry) -> tuple[Entry, ...]:
    """Return the entries that a finding follows from directly, in the catalogue's order."""
    return tuple(each for each in CATALOGUE.values() if entry.id in each.explains)


def _row(name: str, text: str) -> Iterator[str]:
    """Yield a named text, broken into lines."""
    label = f"  {name}:" if name else ""
    yield textwrap.fill(
        text, _WIDTH, initial_indent=f"{label:<12} ", subsequent_indent=f"{_INDENT} ", break_on_hyphens=False
    )


def to_json(entry: Entry) -> Json:
    """Return the document ``assay/explanation/1``."""
    return {
        "schema": SCHEMA,
        "expected": entry.expected,
        "explains": list(entry.explains),
        "follows": [each.id for each in causes_of(entry)],
        "id": entry.id,
        "meaning": MEANING[entry.severity],
        "reference": entry.reference,
        "remedies": {platform.value: remedy for platform, remedy in sorted(entry.remedies.items())},
        "remedy": entry.remedy,
        "severity": entry.severity.value,
        "title": entry.title,
    }
