"""Receipts are read when they are needed, checked each time, and kept only while there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import BundleError, StorageError
from assay.evidence.journal import parse_journal
from assay.evidence.records import FolderSource, Records
from assay.model import Facts, Json
from tests.evidence.support import GATES, PASSING, Gate, make_run

LONG: Json = [f"{n:08x}" for n in range(1001)]


class Counting(FolderSource):
    """A run folder that notes what is read of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.read_names: list[str] = []

    def read(self, name: str, limit: int) -> bytes:
        self.read_names.append(name)
        return super().read(name, limit)


def records_of(folder: Path) -> tuple[Records, Counting]:
    source = Counting(folder)
    return Records(source, parse_journal((folder / "journal.jsonl").read_bytes()).entries), source


@pytest.mark.gate
def test_a_receipt_comes_with_its_lists_in_their_places(tmp_path: Path) -> None:
    records, _ = records_of(make_run(tmp_path, changed={"lint": Gate({"a": {"b": LONG}})}))
    assert records.gates == GATES
    assert records.receipt("lint").facts == {"a": {"b": LONG}}


def test_small_receipts_are_read_once_and_large_ones_again(tmp_path: Path) -> None:
    heavy: Facts = {f"a{n}": "x" * 1000 for n in range(900)}
    records, source = records_of(make_run(tmp_path, changed={"lint": Gate(heavy)}))
    for _ in range(3):
        records.receipt("environment")
    assert source.read_names == ["environment.json"]
    for _ in range(2):
        records.receipt("lint")
    assert source.read_names.count("lint.json") == 1
    heavier: Facts = {f"{n}": [[]] * 900 for n in range(60)}
    records, source = records_of(make_run(tmp_path / "heavier", changed={"lint": Gate(heavier)}))
    for _ in range(2):
        records.receipt("lint")
    assert source.read_names.count("lint.json") == 2


def test_facts_are_read_when_they_are_looked_at(tmp_path: Path) -> None:
    records, source = records_of(make_run(tmp_path))
    facts = records.facts(frozenset({"lint", "build", "nothing"}))
    assert (list(facts), len(facts), source.read_names) == (["build", "lint"], 2, [])
    assert facts["build"] == PASSING["build"].facts
    assert facts.get("chain") is None
    assert source.read_names == ["build.json"]


def test_every_reading_is_checked_against_the_digest_that_names_it(tmp_path: Path) -> None:
    folder = make_run(tmp_path, changed={"lint": Gate({"a": LONG})})
    records, _ = records_of(folder)
    data = (folder / "build.json").read_bytes()
    (folder / "build.json").write_bytes(data.replace(b"made", b"fake"))
    with pytest.raises(BundleError, match=r"^build\.json: has SHA-256"):
        records.receipt("build")
    (artifact,) = records.receipt("lint").artifacts
    (folder / "artifacts" / artifact.sha256).write_bytes(b"other")
    records, _ = records_of(folder)
    with pytest.raises(BundleError, match=f"^artifacts/{artifact.sha256}: has SHA-256"):
        records.receipt("lint")
    (folder / "chain.json").unlink()
    with pytest.raises(StorageError, match="No such file"):
        records.receipt("chain")
