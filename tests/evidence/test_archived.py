"""Names of an archive's files: each has one spelling, and nothing else is a name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BundleError, NewerSchemaError, UsageError
from assay.evidence.archived import MAX_STATEMENTS, ArchiveFolder
from assay.evidence.filed import Kind, Name, Part, check_mark, mark, parse_name
from tests.evidence.lives import OLD, archive_of, said_of, state

DIGEST = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)


@given(bundle=DIGEST, sha256=DIGEST, part=st.sampled_from(Part))
def test_a_name_is_read_as_it_is_written(bundle: str, sha256: str, part: Part) -> None:
    name = Name(bundle, part, "" if part is Part.BUNDLE else sha256)
    assert parse_name(str(name)) == name


@given(st.text(alphabet="0123456789abcdefABC.tarintojsonlsupersedevok/-", max_size=160))
def test_whatever_is_read_as_a_name_is_spelt_so(text: str) -> None:
    name = parse_name(text)
    assert name is None or str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        f"{'a' * 64}.{'b' * 64}.tar",
        f"{'a' * 64}.intoto.jsonl",
        f"{'A' * 64}.tar",
        f"{'a' * 63}.tar",
        f"../{'a' * 64}.tar",
        f"{'a' * 64}.tar\n",
        f".{'a' * 64}.tar.1.part",
    ],
)
def test_other_files_have_no_name(text: str) -> None:
    assert parse_name(text) is None


def test_a_folder_without_its_mark_or_with_another_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no archive"):
        ArchiveFolder(tmp_path)
    with pytest.raises(NewerSchemaError):
        check_mark(mark().replace(b"/1", b"/2"), "mark")
    with pytest.raises(BundleError):
        check_mark(b"[]\n", "mark")


def test_a_statement_under_another_name_is_told_and_not_counted(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "archive")
    right = state(archive, said_of(Kind.REVOKE))
    right.rename(archive / right.name.replace("revoke", "supersede"))
    (archive / str(Name(OLD.bundle_digest, Part.REVOKE, "cc" * 32))).write_bytes(b"nothing\n")
    found = ArchiveFolder(archive).about(OLD.bundle_digest)
    assert found.statements == ()
    assert len(found.problems) == 2


def test_more_statements_than_are_read_are_a_problem(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "archive")
    for number in range(MAX_STATEMENTS + 1):
        (archive / str(Name(OLD.bundle_digest, Part.REVOKE, f"{number:064x}"))).touch()
    found = ArchiveFolder(archive).about(OLD.bundle_digest)
    assert (found.statements, len(found.problems)) == ((), 1)
