"""One header for each name and size, the one that Python's own library writes, and no other is accepted."""

from __future__ import annotations

import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BundleError
from assay.evidence.ustar import BLOCK, LARGEST, check_name, check_order, header, padded, read_header

PARTS = st.text("abcXYZ019._+!-", min_size=1, max_size=20).filter(lambda part: part not in {".", ".."})
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
SIZES = st.integers(0, LARGEST)


@pytest.mark.gate
@given(NAMES, SIZES)
def test_a_header_is_the_one_that_tarfile_writes(name: str, size: int) -> None:
    info = tarfile.TarInfo(name)
    info.size = size
    assert header(name, size) == info.tobuf(tarfile.USTAR_FORMAT)


@given(NAMES, SIZES)
def test_what_is_written_is_read(name: str, size: int) -> None:
    assert read_header(header(name, size), 0) == (name, size)


@pytest.mark.gate
@given(NAMES, SIZES, st.integers(0, BLOCK - 1), st.integers(1, 255))
def test_any_other_byte_is_refused(name: str, size: int, at: int, flip: int) -> None:
    block = bytearray(header(name, size))
    block[at] ^= flip
    with pytest.raises(BundleError, match="header at byte 1024"):
        read_header(bytes(block), 1024)


def _typed(kind: bytes) -> bytes:
    info = tarfile.TarInfo("plan.json")
    info.type = kind
    return info.tobuf(tarfile.USTAR_FORMAT)[:BLOCK]


KINDS = {
    "hard link": (tarfile.LNKTYPE, "a hard link"),
    "symbolic link": (tarfile.SYMTYPE, "a symbolic link"),
    "character device": (tarfile.CHRTYPE, "a character device"),
    "block device": (tarfile.BLKTYPE, "a block device"),
    "folder": (tarfile.DIRTYPE, "a folder"),
    "FIFO": (tarfile.FIFOTYPE, "a FIFO"),
    "contiguous": (tarfile.CONTTYPE, "a contiguous file"),
    "old": (tarfile.AREGTYPE, "an old-style file"),
    "GNU long name": (tarfile.GNUTYPE_LONGNAME, "a GNU long name"),
    "GNU long link": (tarfile.GNUTYPE_LONGLINK, "a GNU long link name"),
    "GNU sparse": (tarfile.GNUTYPE_SPARSE, "a GNU sparse file"),
    "PAX": (tarfile.XHDTYPE, "a PAX header"),
    "PAX global": (tarfile.XGLTYPE, "a PAX global header"),
    "Solaris PAX": (tarfile.SOLARIS_XHDTYPE, "of type b'X'"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("kind", "problem"), KINDS.values(), ids=KINDS)
def test_whatever_is_no_plain_file_is_named(kind: bytes, problem: str) -> None:
    with pytest.raises(BundleError, match=r"header at byte 0: typeflag: ") as caught:
        read_header(_typed(kind), 0)
    assert problem in caught.value.observed


def test_gnu_magic_mode_owner_and_time_are_refused() -> None:
    gnu = tarfile.TarInfo("a").tobuf(tarfile.GNU_FORMAT)
    for field, value in (
        ("mode", 0o755),
        ("uid", 1),
        ("gid", 1),
        ("mtime", 1),
        ("uname", "root"),
        ("gname", "x"),
    ):
        info = tarfile.TarInfo("a")
        setattr(info, field, value)
        with pytest.raises(BundleError, match=f": {field}: "):
            read_header(info.tobuf(tarfile.USTAR_FORMAT), 0)
    with pytest.raises(BundleError, match=": magic: "):
        read_header(gnu, 0)


def test_a_size_in_another_spelling_is_refused() -> None:
    for size in (b"000000000 1\0", b"\x80" + bytes(11), b"1          \0", b"00000000001 ", b"-0000000001\0"):
        block = header("a", 1)[:124] + size + header("a", 1)[136:]
        with pytest.raises(BundleError, match=": size: "):
            read_header(block, 0)


BAD_NAMES = [
    "",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "./a",
    "a/..",
    "../a",
    "a/../b",
    "a\\b",
    "C:a",
    "a b",
    "a\n",
    "ä",
    "a\0b",
    "a" * 101,
    "~",
]


@pytest.mark.gate
@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_could_leave_a_folder_or_differ_between_systems_are_refused(name: str) -> None:
    with pytest.raises(BundleError, match=": name: "):
        check_name(name)


def test_a_name_of_exactly_100_bytes_has_no_terminator() -> None:
    name = "a" * 100
    assert read_header(header(name, 7), 0) == (name, 7)


def test_bytes_behind_a_name_that_ended_are_refused() -> None:
    block = bytearray(header("a", 0))
    block[50:54] = b"evil"
    with pytest.raises(BundleError, match="byte 50 of the header"):
        read_header(bytes(block), 0)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ([], "manifest.json: is not the first"),
        (["a", "manifest.json"], "manifest.json: is not the first"),
        (["manifest.json", "b", "a"], "a: follows b"),
        (["manifest.json", "a", "a"], "a: follows a"),
        (["manifest.json", "A", "a"], "a: collides with A"),
        (["manifest.json", "Manifest.json"], "Manifest.json: collides with manifest.json"),
        (["manifest.json", "a", "manifest.json"], "manifest.json: collides with manifest.json"),
    ],
)
def test_order_and_doubles(names: list[str], problem: str) -> None:
    with pytest.raises(BundleError) as caught:
        check_order(names, "manifest.json")
    assert caught.value.observed == problem or caught.value.observed.startswith(problem)


def test_byte_order_puts_capitals_and_signs_first() -> None:
    names = ["manifest.json", "B", "a!", "a+", "a-", "a.json", "a/b", "a0", "c"]
    assert check_order(names, "manifest.json") == tuple(names)


@given(SIZES)
def test_padding_fills_whole_blocks(size: int) -> None:
    assert padded(size) % BLOCK == 0
    assert 0 <= padded(size) - size < BLOCK
