"""The index: what it lacks or what has changed is found anew, and it is never more than a copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.archive import holding, index
from assay.archive.folder import INDEX, FolderStore
from assay.archive.index import query
from tests.archive.shelves import NOW, put, signed_bundle


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    """Return an archive of two bundles."""
    found = FolderStore(tmp_path / "archive")
    for day in (1, 2):
        put(signed_bundle(tmp_path / f"run{day}", f"2026-12-0{day}T12:00:00Z"), found)
    return found


def asked(store: FolderStore) -> dict[str, index.Entry]:
    """Return what a query finds."""
    return query(store, store.listing(), NOW)


def test_an_entry_says_what_verifying_its_bundle_shows(store: FolderStore) -> None:
    entries = sorted(asked(store).values(), key=lambda entry: entry.started)
    assert [entry.started for entry in entries] == ["2026-12-01T12:00:00Z", "2026-12-02T12:00:00Z"]
    assert {(entry.verdict, entry.tier, entry.platform, entry.problem) for entry in entries} == {
        ("qualified", "physical", "linux", "")
    }
    assert "lint" in entries[0].claims


@pytest.mark.gate
def test_a_second_query_looks_at_no_bundle(store: FolderStore, monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked(store)
    looked: list[Path] = []
    monkeypatch.setattr(holding, "look", lambda path, _now: looked.append(path))
    assert asked(store) == first
    assert looked == []


@pytest.mark.parametrize(
    "damaged",
    ["", "[]", "{}", '{"schema": 1}', "nonsense", "[" * 100_000, '{"bundles": {"a": []}}'],
)
def test_a_missing_or_damaged_index_is_made_anew(store: FolderStore, damaged: str) -> None:
    first = asked(store)
    path = store.folder / INDEX
    right = path.read_bytes()
    path.write_text(damaged)
    assert asked(store) == first
    assert path.read_bytes() == right


def test_an_index_of_another_version_or_with_other_fields_is_made_anew(store: FolderStore) -> None:
    first = asked(store)
    path = store.folder / INDEX
    document = json.loads(path.read_bytes())
    one = next(iter(document["bundles"]))
    for change in ({"tool": "0.0.0"}, {"bundles": {one: {**document["bundles"][one], "verdict": 1}}}):
        path.write_text(json.dumps({**document, **change}))
        assert asked(store) == first


def test_a_changed_and_a_vanished_bundle_are_noticed(store: FolderStore) -> None:
    first, second = sorted(asked(store))
    path = store.folder / f"{first}.tar"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-512])
    (store.folder / f"{second}.tar").unlink()
    found = asked(store)
    assert set(found) == {first}
    assert found[first].problem


def test_a_bundle_under_anothers_name_is_told(store: FolderStore) -> None:
    first, second = sorted(asked(store))
    (store.folder / f"{first}.tar").unlink()
    (store.folder / f"{second}.tar").rename(store.folder / f"{first}.tar")
    assert asked(store)[first].problem == f"its bundle digest is {second}"


def test_a_folder_that_takes_no_index_is_answered_all_the_same(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise PermissionError

    monkeypatch.setattr(index, "write_atomic", refuse)
    assert len(asked(store)) == 2
    assert not (store.folder / INDEX).exists()
