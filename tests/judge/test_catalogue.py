"""The catalogue as a whole: every entry is complete, names only what there is, and is raised by a judge."""

from __future__ import annotations

import re

import pytest

from assay.judge.catalogue import CATALOGUE, Entry
from tests.project.files import PROJECT

JUDGES = "\n".join(path.read_text("utf-8") for path in sorted((PROJECT / "scripts/assay/judge").glob("*.py")))


@pytest.mark.gate
@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: str(entry.id))
def test_an_entry_is_complete_and_names_only_what_there_is(entry: Entry) -> None:
    assert re.fullmatch(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+", entry.id)
    texts = (entry.title, entry.expected, entry.remedy, entry.reference, *entry.remedies.values())
    assert all(text and text == text.strip() and "\n" not in text for text in texts)
    assert not entry.title.endswith(".")
    assert set(entry.explains) <= set(CATALOGUE)
    assert entry.id not in entry.explains


@pytest.mark.gate
def test_every_entry_is_raised_by_a_judge() -> None:
    raised = set(re.findall(r"\"([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+)\"", JUDGES))
    put_together = tuple(re.findall(r"f\"([A-Z][A-Z-]+)\{", JUDGES))
    assert sorted(each for each in set(CATALOGUE) - raised if not each.startswith(put_together)) == []


def test_no_two_findings_explain_one_another() -> None:
    mutual = {
        tuple(sorted((entry.id, other)))
        for entry in CATALOGUE.values()
        for other in entry.explains
        if entry.id in CATALOGUE[other].explains
    }
    assert mutual == set()
