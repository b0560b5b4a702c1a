"""Logs are bounded, say what they leave out, and cannot steer anything."""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evidence.container import open_container, write_container
from assay.model import LogInfo, Outcome, Receipt
from assay.report.logs import HEAD_BYTES, LINE, TAIL_BYTES, log_of
from assay.report.view import Log
from tests.evidence.forging import member

WHOLE = HEAD_BYTES + TAIL_BYTES


def read(folder: Path, data: bytes, size: int | None = None, kept: tuple[int, int] | None = None) -> Log:
    """Return the view of a log, of which a bundle holds ``data``."""
    path = folder / "a bundle.tar"
    with path.open("wb") as stream:
        write_container(stream, [member("manifest.json", b"{}"), member("lint.log", data)])
    info = LogInfo(len(data) if size is None else size, hashlib.sha256(data).hexdigest(), kept)
    receipt = Receipt("lint", Outcome.PASSED, 1, "", 1, 1, log=info)
    with open_container(path) as container:
        log = log_of(container, path.name, receipt)
    assert log is not None
    return log


@pytest.mark.gate
def test_a_short_log_is_shown_whole(tmp_path: Path) -> None:
    log = read(tmp_path, b"one\n\ttwo \xe2\x9c\x93\n\nfour")
    assert log.head == ("one", "        two \N{CHECK MARK}", "", "four")
    assert (log.tail, log.left_out, log.size) == ((), "", "18 bytes")


def test_an_empty_log_has_no_line(tmp_path: Path) -> None:
    assert (read(tmp_path, b"").head, read(tmp_path, b"\n").head) == ((), ("",))


@pytest.mark.gate
def test_a_long_log_shows_its_ends_and_says_what_is_left_out(tmp_path: Path) -> None:
    data = b"".join(b"%07d\n" % number for number in range(100_000))
    log = read(tmp_path, data)
    assert log.head == tuple(f"{number:07d}" for number in range(HEAD_BYTES // 8))
    assert log.tail == tuple(f"{number:07d}" for number in range(100_000 - TAIL_BYTES // 8, 100_000))
    assert log.left_out == f"{len(data) - WHOLE:,} bytes are left out here"
    assert log.size == "800,000 bytes"


def test_what_the_bundle_itself_left_out_is_said(tmp_path: Path) -> None:
    log = read(tmp_path, b"x" * WHOLE, 5 << 20, (1 << 20, 1 << 20))
    assert log.left_out == f"the bundle keeps {WHOLE:,} bytes of it, its beginning and its end"


def test_the_command_that_is_told_reads_the_rest(tmp_path: Path) -> None:
    data = b"line\n" * 10_000
    argv = shlex.split(read(tmp_path, data).command)
    assert subprocess.run(argv, cwd=tmp_path, capture_output=True, check=True).stdout == data  # noqa: S603  # what the page says


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"\x1b[1;31mred\x1b[0m and \x1b[38:5:1mmore\x1b[m", ("red and more",)),
        (b"\x1b[2Jgone\x1b]0;t\x07", ("\x1b[2Jgone\x1b]0;t\x07",)),  # shown as escapes where it is written
        (b"a\r\nb\r\n", ("a", "b")),
        (b"\xff\xfe\n\xc3", ("\\xff\\xfe", "\\xc3")),
        (b"y" * (LINE + 1), ("y" * LINE + f"… ({LINE + 1} characters)",)),
    ],
)
def test_colours_go_and_what_is_no_text_stays_visible(
    tmp_path: Path, data: bytes, lines: tuple[str, ...]
) -> None:
    assert read(tmp_path, data).head == lines


LINES = st.text(st.characters(exclude_categories=["C"]), max_size=60).map(lambda line: line + "\n")


@given(st.lists(LINES, min_size=1, max_size=9), st.integers(0, 3 * WHOLE))
def test_what_is_shown_is_the_beginning_and_the_end_and_the_rest_is_counted_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], length: int
) -> None:
    text = ("".join(lines) * WHOLE)[:length]
    log = read(tmp_path_factory.mktemp("log"), text.encode())
    head, tail = "\n".join(log.head), "\n".join(log.tail)
    left = re.fullmatch(r"([0-9,]+) bytes? are left out here", log.left_out)
    size = len(text.encode())
    if size <= WHOLE:
        assert (head, log.tail, log.left_out) == (text.removesuffix("\n"), (), "")
    else:
        assert left is not None
        shown = size - int(left[1].replace(",", ""))
        assert WHOLE - 6 <= shown <= WHOLE  # a character of up to four bytes is not cut in two
        assert text.startswith(head)
        assert text.removesuffix("\n").endswith(tail)
        ends = head.endswith("\n"), text.endswith("\n")
        assert shown - len(f"{head}{tail}".encode()) in {0, 1, 2}, ends


@given(st.binary(max_size=4 * LINE))
def test_bytes_of_any_kind_become_lines_of_bounded_length(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    log = read(tmp_path_factory.mktemp("log"), data)
    assert len(log.head) <= data.count(b"\n") + 1
    assert all("\n" not in line and "\t" not in line for line in log.head)
    assert max(map(len, log.head), default=0) <= 8 * LINE + 40
