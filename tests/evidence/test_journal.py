"""The journal is a linked list: its entries were written in that order, and only the last can be torn."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, NewerSchemaError, StorageError
from assay.evidence.journal import Journal, JournalWriter, parse_journal
from assay.evidence.names import ZEROS
from assay.model import Json

A, B = "a" * 64, "b" * 64
GATES = ["environment", "toolkit", "chain"]


def written(path: Path, gates: list[str]) -> bytes:
    writer = JournalWriter(path)
    writer.append("plan", A)
    for gate in gates:
        writer.append(gate, B, A)
    writer.close()
    return path.read_bytes()


@pytest.mark.gate
def test_each_line_is_canonical_and_names_the_one_before(tmp_path: Path) -> None:
    data = written(tmp_path / "journal.jsonl", GATES)
    lines = data.decode().splitlines()
    assert (
        lines[0]
        == f'{{"gate":"plan","log_sha256":"{ZEROS}","prev":"{ZEROS}","receipt_sha256":"{A}","seq":0}}'
    )
    for number in (1, 2, 3):
        before = hashlib.sha256(lines[number - 1].encode()).hexdigest()
        assert f'"prev":"{before}"' in lines[number]
        assert f'"seq":{number}' in lines[number]
    assert data.endswith(b"\n")


@given(st.lists(st.sampled_from([*GATES, "lint", "build"]), unique=True))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, gates: list[str]) -> None:
    data = written(tmp_path_factory.mktemp("run") / "journal.jsonl", gates)
    journal = parse_journal(data)
    assert [entry.gate for entry in journal.entries] == ["plan", *gates]
    assert journal.torn == 0
    assert journal.data() == data


@pytest.mark.gate
def test_a_journal_cut_anywhere_reads_to_its_last_whole_line(tmp_path: Path) -> None:
    data = written(tmp_path / "journal.jsonl", GATES)
    for at in range(len(data) + 1):
        whole = data[:at].count(b"\n")
        journal = parse_journal(data[:at])
        assert len(journal.entries) == whole
        assert journal.torn == at - len(journal.data())
        assert data.startswith(journal.data())


@pytest.mark.gate
def test_every_changed_byte_is_refused_or_tears_the_last_line(tmp_path: Path) -> None:
    data = written(tmp_path / "journal.jsonl", GATES)
    right = parse_journal(data)
    last = data.rstrip(b"\n").rindex(b"\n") + 1
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 0x01
        try:
            found = parse_journal(bytes(changed))
        except BundleError as error:
            assert error.member.startswith("journal.jsonl")  # noqa: PT017  # which of the two is right depends on the byte
            continue
        # what nothing follows is named by nothing: the last line's own fields, and its newline
        assert at >= last
        assert found != right


def _edited(entries: Journal, change: dict[str, Json]) -> bytes:
    lines = [entry.line() for entry in entries.entries]
    document = canonical.loads(lines[1])
    assert isinstance(document, dict)
    return b"\n".join([lines[0], canonical.dumps({**document, **change}), *lines[2:], b""])


EDITS: dict[str, tuple[dict[str, Json], str]] = {
    "number": ({"seq": 2}, "line 2: seq: is 2"),
    "number as text": ({"seq": "1"}, "line 2: seq: is not an integer"),
    "number as boolean": ({"seq": True}, "line 2: seq: is not an integer"),
    "link": ({"prev": ZEROS}, "line 2: prev: is 0000"),
    "link in capitals": ({"prev": "A" * 64}, "line 2: prev: is not a SHA-256"),
    "receipt": ({"receipt_sha256": A}, "line 3: prev"),
    "log": ({"log_sha256": None}, "line 2: log_sha256: is not a SHA-256"),
    "second plan": ({"gate": "plan"}, "line 2: gate: is plan"),
    "reserved name": ({"gate": "manifest"}, "line 2: gate: is not a gate's name"),
    "bad name": ({"gate": "../x"}, "line 2: gate: is not a gate's name"),
    "further field": ({"more": 1}, "line 2: has other fields"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("change", "problem"), EDITS.values(), ids=EDITS)
def test_an_edited_line_is_named(tmp_path: Path, change: dict[str, Json], problem: str) -> None:
    journal = parse_journal(written(tmp_path / "journal.jsonl", GATES))
    with pytest.raises(BundleError) as caught:
        parse_journal(_edited(journal, change))
    assert problem in caught.value.observed


def test_dropped_swapped_doubled_and_relinked_lines_are_refused(tmp_path: Path) -> None:
    lines = written(tmp_path / "journal.jsonl", GATES).splitlines(keepends=True)
    first, second, third, fourth = lines
    for wrong in (
        [first, third, fourth],
        [first, third, second, fourth],
        [first, second, second],
        [second, third],
    ):
        with pytest.raises(BundleError):
            parse_journal(b"".join(wrong))
    doubled = written(tmp_path / "doubled.jsonl", ["chain", "chain"])
    with pytest.raises(BundleError, match="is chain for the second time"):
        parse_journal(doubled)
    headless = written(tmp_path / "headless.jsonl", []).replace(b'"gate":"plan"', b'"gate":"chain"')
    with pytest.raises(BundleError, match="plan for line 1"):
        parse_journal(headless)


def test_lines_are_bounded() -> None:
    with pytest.raises(BundleError, match="lines"):
        parse_journal(b"\n" * 1000)
    with pytest.raises(BundleError, match="at most"):
        parse_journal(b"x" * (9 << 20))
    with pytest.raises(BundleError, match="at most 1024 bytes"):
        parse_journal(b'"' + b"x" * 5000 + b'"\n')


@given(st.binary(max_size=300))
def test_any_bytes_give_a_journal_or_a_bundle_error(data: bytes) -> None:
    try:
        journal = parse_journal(data)
    except BundleError as error:
        assert not isinstance(error, NewerSchemaError)  # noqa: PT017  # any bytes may be refused, but never as newer
        return
    assert data.startswith(journal.data())


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "journal.jsonl", [])
    with pytest.raises(StorageError, match="File exists"):
        JournalWriter(tmp_path / "journal.jsonl")


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_full_disk_takes_back_the_line_and_ends_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    path = tmp_path / "journal.jsonl"
    writer = JournalWriter(path)
    gates = ["plan", "environment", "toolkit"]
    for gate in gates[:at]:
        writer.append(gate, A)
    real = os.write

    def full(handle: int, data: bytes = b"") -> int:
        if call == "write":
            real(handle, bytes(data)[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full)
        with pytest.raises(StorageError, match="No space left"):
            writer.append(gates[at], A)
    with pytest.raises(StorageError, match="broke off"):
        writer.append("lint", A)
    writer.close()
    journal = parse_journal(path.read_bytes())
    assert [entry.gate for entry in journal.entries] == gates[:at]
    assert journal.torn == 0


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:7]))
    data = written(tmp_path / "journal.jsonl", GATES)
    assert len(parse_journal(data).entries) == 4


def test_each_line_is_synced_before_append_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = JournalWriter(tmp_path / "journal.jsonl")
    synced: list[int] = []
    real = os.fsync

    def noting(handle: int) -> None:
        synced.append(os.fstat(handle).st_size)
        real(handle)

    monkeypatch.setattr(os, "fsync", noting)
    for number, gate in enumerate(["plan", *GATES]):
        writer.append(gate, A)
        assert len(synced) == number + 1
        assert synced[-1] == (tmp_path / "journal.jsonl").stat().st_size
    writer.close()
