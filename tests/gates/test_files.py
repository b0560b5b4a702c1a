"""Records of selected files: what is there, and why something is not."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from assay.gates.files import is_quoted, record
from assay.machine import Machine
from tests.machines.build_elf import elf_bytes
from tests.machines.building import Builder


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def test_a_regular_file_has_digest_size_and_what_it_says_of_itself(builder: Builder) -> None:
    data = elf_bytes(soname="libthing.so.1", needed=["libc.so.6"], needs={"libc.so.6": ["GLIBC_2.28"]})
    builder.program("/opt/libthing.so", data)
    builder.link("/opt/link.so", "libthing.so")
    facts = record(builder.machine(stated={"os": "linux"}), "/opt/link.so")
    assert facts["state"] == "file"
    assert facts["sha256"] == hashlib.sha256(data).hexdigest()
    assert facts["size"] == len(data)
    assert facts["real"] == "/opt/libthing.so"
    assert facts["executable"] is True
    binary = facts["binary"]
    assert isinstance(binary, dict)
    assert (binary["soname"], binary["glibc_needed"], binary["arch"]) == ("libthing.so.1", "2.28", "x86_64")


def test_what_is_missing_is_told_from_what_may_not_be_read(builder: Builder) -> None:
    builder.file("/opt/secret", "x")
    builder.folder_at("/opt/folder")
    builder.folder_at("/opt/closed")
    builder.link("/opt/broken", "gone/away")
    builder.link("/opt/loop", "loop")
    machine = builder.machine(stated={"os": "linux", "denied": ["/opt/secret", "/opt/closed"]})
    states = {
        name: record(machine, f"/opt/{name}") for name in ("secret", "folder", "nothing", "broken", "loop")
    }
    assert {name: facts["state"] for name, facts in states.items()} == {
        "secret": "unreadable",
        "folder": "folder",
        "nothing": "missing",
        "broken": "missing",
        "loop": "missing",
    }
    assert "it is a link to /opt/gone/away, which is gone" in str(states["broken"]["problem"])
    assert "Permission denied" in str(states["secret"]["problem"])
    assert record(machine, "/opt/closed")["state"] == "unreadable"


def test_blanks_at_the_ends_of_a_value_are_named(builder: Builder) -> None:
    builder.file("/opt/file", "x")
    facts = record(builder.machine(stated={"os": "linux"}), "/opt/file ")
    assert facts["state"] == "missing"
    assert "begins or ends with a blank" in str(facts["problem"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_neither_read_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    facts = record(Machine(Path("/"), {}), str(tmp_path / "pipe"))
    assert facts["state"] == "other"
    assert "not a regular file" in str(facts["problem"])


def test_a_relative_path_is_read_from_the_working_folder_and_told(builder: Builder) -> None:
    builder.file("/home/user/file", "x")
    machine = builder.machine(stated={"os": "linux", "cwd": "/home/user"})
    facts = record(machine, "file")
    assert (facts["absolute"], facts["path"], facts["state"]) == (False, "/home/user/file", "file")


@pytest.mark.parametrize("value", ['"/opt/x"', "'/opt/x'", '/opt/x"', "'/opt/x"])
def test_a_quotation_mark_at_an_end_is_seen(value: str) -> None:
    assert is_quoted(value)


@pytest.mark.parametrize("value", ["/opt/a b", "/opt/o'neil/x", "", "/opt/x/"])
def test_spaces_separators_and_inner_marks_are_no_quotation(value: str) -> None:
    assert not is_quoted(value)
