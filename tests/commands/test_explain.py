"""``assay explain``: what is printed of a finding, and what happens to an id that there is not."""

from __future__ import annotations

import json

import pytest

from assay.cli import main
from assay.judge.catalogue import CATALOGUE
from assay.model import Platform


@pytest.mark.gate
def test_every_finding_is_explained_with_all_that_the_catalogue_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for entry in CATALOGUE.values():
        assert main(["explain", entry.id]) == 0
        said = " ".join(capsys.readouterr().out.split())
        told = (entry.title, entry.severity.value, entry.expected, entry.remedy, entry.reference)
        assert all(
            " ".join(text.split()) in said for text in (*told, *entry.remedies.values(), *entry.explains)
        )


def test_an_id_is_taken_in_any_case_and_the_document_says_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "driver-library-missing", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    entry = CATALOGUE["DRIVER-LIBRARY-MISSING"]
    assert told["schema"] == "assay/explanation/1"
    assert (told["id"], told["severity"], told["title"]) == (entry.id, "failure", entry.title)
    assert told["remedies"][Platform.WINDOWS.value] == entry.remedies[Platform.WINDOWS]
    assert "DRIVER-CUDA-FAILED" in told["explains"]
    assert "DRIVER-CONTAINER-CAPABILITIES" in told["follows"]


def test_without_an_id_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    listed = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(CATALOGUE)


@pytest.mark.parametrize(
    ("given", "words"), [("VULKAN-OVERIDE", "VULKAN-OVERRIDE"), ("xyz", "`assay explain` lists every id")]
)
def test_an_unknown_id_is_a_mistake_that_names_what_is_near(
    given: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", given]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
