"""Archives: content digests that no packer changes, and hostile zips and tars within bounds."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import archives
from assay.archives import Member, archive_members, content_digest, file_members, read_zip_member
from assay.errors import ArchiveError, StorageError

CONTENTS = {"pkg/__init__.py": b"x = 1\n", "pkg/data.bin": bytes(range(256)) * 300, "pkg/empty": b""}
Pack = Callable[[Mapping[str, bytes]], bytes]
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/\\:"), min_size=1, max_size=20).filter(
    lambda name: name.strip(".") and not name.endswith(" ")
)


def zipped(contents: Mapping[str, bytes], *, method: int = zipfile.ZIP_DEFLATED, level: int = 6) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=level) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(contents: Mapping[str, bytes], *, mtime: int = 0, level: int = 9) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), mtime
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(out.getvalue(), level, mtime=mtime)


PACKS: tuple[Pack, ...] = (zipped, tarred)


def members(data: bytes) -> tuple[Member, ...]:
    return archive_members(io.BytesIO(data))


@pytest.mark.gate
@pytest.mark.parametrize("pack", PACKS)
def test_members_have_the_digest_and_size_of_their_uncompressed_bytes(pack: Pack) -> None:
    expected = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in CONTENTS.items()}
    assert {member.name: (member.sha256, member.size) for member in members(pack(CONTENTS))} == expected


@pytest.mark.gate
def test_the_content_digest_is_written_out_as_a_stranger_would_compute_it() -> None:
    pairs = [[name, hashlib.sha256(CONTENTS[name]).hexdigest()] for name in sorted(CONTENTS)]
    by_hand = hashlib.sha256(json.dumps(pairs, separators=(",", ":")).encode()).hexdigest()
    assert content_digest(members(zipped(CONTENTS))) == by_hand


def test_packing_order_and_compression_do_not_change_the_content_digest() -> None:
    backwards = dict(reversed(CONTENTS.items()))
    packed = [
        zipped(CONTENTS),
        zipped(backwards, level=1),
        zipped(CONTENTS, method=zipfile.ZIP_STORED),
        tarred(CONTENTS),
        tarred(backwards, mtime=99, level=1),
    ]
    assert len(set(packed)) == len(packed)
    assert len({content_digest(members(data)) for data in packed}) == 1


@pytest.mark.parametrize(
    "changed",
    [{**CONTENTS, "pkg/empty": b" "}, {**CONTENTS, "more": b""}, {"pkg/__init__.py": b"x = 1\n"}],
)
def test_any_change_of_content_changes_the_content_digest(changed: dict[str, bytes]) -> None:
    assert content_digest(members(zipped(changed))) != content_digest(members(zipped(CONTENTS)))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, st.binary(max_size=2000), max_size=6))
def test_zip_and_tar_of_any_contents_read_back_the_same(contents: dict[str, bytes]) -> None:
    read = {member.name: member.sha256 for member in members(tarred(contents))}
    assert read == {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    assert content_digest(members(zipped(contents))) == content_digest(members(tarred(contents)))


def test_folders_are_members_without_bytes() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        folder = tarfile.TarInfo("pkg")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    assert members(out.getvalue()) == (Member("pkg/", hashlib.sha256(b"").hexdigest(), 0),)
    assert members(zipped({"pkg/": b""})) == members(out.getvalue())


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(PACKS), st.data())
def test_damage_is_an_archive_error_or_harmless(pack: Pack, data: st.DataObject) -> None:
    whole = bytearray(pack({"a/b": b"content" * 40, "c": b"\0" * 600}))
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[at:]
    else:
        whole[at] ^= data.draw(st.integers(1, 255))
    try:
        found = members(bytes(whole))
    except ArchiveError as error:
        assert error.observed  # noqa: PT017  # both ends are allowed; an exception of another kind fails the test
    else:
        assert all(len(member.sha256) == 64 for member in found)


@given(st.binary(max_size=300))
def test_noise_is_never_an_archive(noise: bytes) -> None:
    if not noise.startswith((b"PK\x05\x06", b"\x1f\x8b")):
        with pytest.raises(ArchiveError):
            members(noise)


def test_a_doubled_name_is_refused() -> None:
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"2")
    with pytest.raises(ArchiveError, match="'a' twice"):
        members(twice.getvalue())


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_refused(kind: bytes) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo("trap")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(ArchiveError, match="neither a file nor a folder"):
        members(out.getvalue())


def test_a_link_in_a_zip_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("trap")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ArchiveError, match="is a link"):
        members(out.getvalue())


def test_unusual_packing_is_refused() -> None:
    with pytest.raises(ArchiveError, match="packed by method 14"):
        members(zipped({"a": b"1"}, method=zipfile.ZIP_LZMA))


@pytest.mark.parametrize("pack", PACKS)
def test_a_bomb_stops_at_the_bound(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 1 << 20)
    with pytest.raises(ArchiveError, match="1048576 bytes"):
        members(pack({"bomb": bytes(8 << 20)}))


@pytest.mark.parametrize("pack", PACKS)
def test_members_are_counted(pack: Pack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    assert len(members(pack({str(n): b"" for n in range(3)}))) == 3
    with pytest.raises(ArchiveError, match="at most 3 members"):
        members(pack({str(n): b"" for n in range(4)}))


def test_a_pax_header_that_claims_gigabytes_is_refused() -> None:
    info = tarfile.TarInfo("huge")
    info.type, info.size = tarfile.XHDTYPE, 3 << 30
    with pytest.raises(ArchiveError, match="a header of the archive claims"):
        members(gzip.compress(info.tobuf() + bytes(1 << 20)))


def test_a_name_that_is_not_utf8_is_refused() -> None:
    info = tarfile.TarInfo("bad")
    header = bytearray(info.tobuf(format=tarfile.USTAR_FORMAT))
    header[0:3] = b"\xff\xfe!"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises(ArchiveError, match="not UTF-8"):
        members(gzip.compress(bytes(header) + bytes(1024)))


def test_one_zip_member_can_be_read_within_a_limit() -> None:
    data = zipped(CONTENTS)
    assert read_zip_member(io.BytesIO(data), "pkg/__init__.py", 6) == b"x = 1\n"
    with pytest.raises(ArchiveError, match="more than 5 bytes"):
        read_zip_member(io.BytesIO(data), "pkg/__init__.py", 5)
    with pytest.raises(ArchiveError, match="no member 'absent'"):
        read_zip_member(io.BytesIO(data), "absent", 5)


def test_files_are_read_by_path(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped(CONTENTS))
    assert file_members(tmp_path / "a.zip") == members(zipped(CONTENTS))
    with pytest.raises(StorageError, match="cannot read"):
        file_members(tmp_path / "absent.zip")
    with pytest.raises(StorageError, match="not a regular file"):
        file_members(tmp_path)
