"""Starting a process, and what is said when it cannot be started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.errors import GateError
from assay.process.system import begin
from tests.process.scripted import ENV


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize(
    ("argv", "cwd", "says"),
    [
        (["assay-no-such-program"], None, "cannot start assay-no-such-program: No such file"),
        (["/dev/null"], None, "cannot start /dev/null: Permission denied"),
        (["/"], None, "cannot start /: Permission denied"),
        ([], None, "cannot start an empty command"),
        (["true", "a\0b"], None, "cannot start true: embedded null byte"),
        (["true"], Path("/assay/none"), "the working folder /assay/none is no folder"),
        (["true", "x" * (1 << 24)], None, "cannot start true: Argument list too long"),
    ],
)
def test_what_cannot_be_started_is_an_error_that_leaves_nothing_open(
    argv: Sequence[str], cwd: Path | None, says: str
) -> None:
    before = open_descriptors()
    with pytest.raises(GateError, match=says) as caught:
        begin(argv, ENV, cwd, subprocess.DEVNULL)
    assert caught.value.expected
    assert caught.value.remedy
    assert open_descriptors() == before


def test_a_file_that_is_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tool").write_bytes(b"\x00\x01\x02")
    (tmp_path / "tool").chmod(0o755)
    with pytest.raises(GateError, match="Exec format error"):
        begin([str(tmp_path / "tool")], ENV, None, subprocess.DEVNULL)


def test_a_started_process_has_two_pipes() -> None:
    running, pipes = begin(["true"], ENV, None, subprocess.DEVNULL)
    assert sorted(pipes) == ["stderr", "stdout"]
    for descriptor in pipes.values():
        assert os.read(descriptor, 10) == b""
        os.close(descriptor)
    while running.reap() is None:
        running.pump({}).wait(0.01)
    running.close()
