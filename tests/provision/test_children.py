from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import DeadlineError, GateError, StorageError
from assay.provision.children import Children, clean_environment


def test_what_bends_a_python_or_a_program_is_kept_out() -> None:
    outside = {
        "HOME": "/home/x",
        "PIP_INDEX_URL": "x",
        "PIP_TARGET": "/elsewhere",
        "PYTHONPATH": "/elsewhere",
        "PYTHONHOME": "/elsewhere",
        "LD_PRELOAD": "evil.so",
        "VIRTUAL_ENV": "/venv",
    }
    inside = clean_environment(outside)
    assert inside["HOME"] == "/home/x"
    assert inside["PIP_INDEX_URL"] == "x"
    assert inside["PYTHONNOUSERSITE"] == "1"
    assert not {"PIP_TARGET", "PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "VIRTUAL_ENV"} & set(inside)


def test_command_output_and_exit_are_in_the_log(children: Children) -> None:
    ended = children.run("a greeting", ["sh", "-c", "echo hello; echo there >&2; exit 7"], deadline_s=10)
    assert ended.exit == 7
    log = children.log.read_text()
    assert log.startswith("== a greeting\n$ sh -c echo hello")
    assert "hello\n" in log
    assert "there\n" in log
    assert log.endswith("== a greeting: exit 7\n")


def test_the_last_words_are_the_end_and_name_the_log(children: Children) -> None:
    ended = children.run("words", ["sh", "-c", "seq 1000; exit 1"], deadline_s=10)
    said = children.last_words(ended)
    assert "exit 1" in said
    assert "1000" in said
    assert "\n900\n" not in said
    assert str(children.log) in said


def test_a_full_disk_is_said_to_be_full(children: Children) -> None:
    words = f"write error: {os.strerror(28)}"
    with pytest.raises(StorageError, match="the disk is full: a copy stopped"):
        children.run("a copy", ["sh", "-c", f"echo '{words}' >&2; exit 1"], deadline_s=10)


def test_the_word_alone_is_no_full_disk(children: Children) -> None:
    assert children.run("fine", ["sh", "-c", "echo No space left on device"], deadline_s=10).exit == 0


def test_a_child_that_never_ends_is_ended(children: Children) -> None:
    with pytest.raises(DeadlineError, match="waiting took longer"):
        children.run("waiting", ["sh", "-c", "while :; do read line < /dev/zero; done"], deadline_s=0.2)


def test_a_child_holds_what_it_is_given(children: Children, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        holding = replace(children, held=(lock.fileno(),))
        code = f"readlink /proc/self/fd/{lock.fileno()}"
        assert (
            holding.run("a look", ["sh", "-c", code], deadline_s=10).stdout.decode() == f"{tmp_path}/lock\n"
        )
        assert children.run("a look", ["sh", "-c", code], deadline_s=10).stdout == b""


def test_a_program_that_is_not_there_is_named(children: Children) -> None:
    with pytest.raises(GateError, match="absent-program"):
        children.run("nothing", ["absent-program"], deadline_s=10)


def test_a_log_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        Children({}, tmp_path / "absent" / "log").run("x", ["true"], deadline_s=10)
