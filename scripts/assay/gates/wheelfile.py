"""Reads a wheel and checks that it is one, without installing it.

Rules: Python packaging specifications, "Binary distribution format" (file name, ``.dist-info``, ``WHEEL``,
``RECORD``), "Core metadata" and "Names and normalization".  Signatures beside ``RECORD`` are not read.
"""

from __future__ import annotations

import base64
import binascii
import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from assay.archives import ZIP_MAGIC, Member, archive_members, content_digest, read_zip_member
from assay.errors import ArchiveError
from assay.files import regular_file, storage_errors
from assay.judge.packages import normal

_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)-(?P<version>[A-Za-z0-9_.!+]+)"
    r"(?:-[0-9][A-Za-z0-9_.]*)?-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+-[A-Za-z0-9_.]+\.whl"
)
_UNRECORDED = ("RECORD.jws", "RECORD.p7s")
_LIBRARIES = ("purelib", "platlib")
_METADATA_LIMIT = 4 << 20
_RECORD_LIMIT = 32 << 20
_VERSION = 1
_REMEDY = "build the wheel again with a current build backend"


@dataclass(frozen=True)
class Wheel:
    """What a wheel says of itself, checked against its bytes.

    Attributes:
        name: its file name.
        project: the project's name as its metadata spell it.
        version: its version.
        content_sha256: the content digest of ``assay.archives``.
        members: every member.
        installed: SHA-256 (hex) of each file by its path below site-packages, once it is installed.
    """

    name: str
    project: str
    version: str
    content_sha256: str
    members: tuple[Member, ...]
    installed: Mapping[str, str]


def read_wheel(path: Path) -> Wheel:
    """Return the wheel at ``path``.

    Raises:
        StorageError: it cannot be read.
        ArchiveError: it is not a wheel as the specification has it.
    """
    named = _parts_of(path.name)
    with storage_errors("read", path), regular_file(path) as stream:
        members = archive_members(stream)
        folder = _dist_info(members, named["name"], named["version"])
        _check_format(_headers(stream, f"{folder}/WHEEL"))
        metadata = _headers(stream, f"{folder}/METADATA")
        record = _record(read_zip_member(stream, f"{folder}/RECORD", _RECORD_LIMIT))
    project, version = _identity(metadata, named["name"], named["version"])
    files = {member.name: member.sha256 for member in members if not member.name.endswith("/")}
    _check_record(files, record, folder)
    installed = dict(_installed(files, folder.removesuffix(".dist-info")))
    return Wheel(path.name, project, version, content_digest(members), members, MappingProxyType(installed))


def check_wheel_like(path: Path) -> None:
    """Check name and first bytes, so that a large file that is no wheel is told before it is copied.

    Raises:
        StorageError: it cannot be read.
        ArchiveError: it is not named as a wheel, or does not begin as a zip.
    """
    _parts_of(path.name)
    with storage_errors("read", path), regular_file(path) as stream:
        magic = stream.read(4)
    if not magic.startswith(ZIP_MAGIC):
        raise ArchiveError(f"the wheel begins with {magic.hex() or 'nothing'}", "a zip", _REMEDY)


def _parts_of(name: str) -> re.Match[str]:
    """Return the parts of a wheel's file name."""
    named = _NAME.fullmatch(name)
    if named is None:
        raise ArchiveError(
            f"{name!r} is not a wheel's file name", "name-version-python-abi-platform.whl", _REMEDY
        )
    return named


def _dist_info(members: Iterable[Member], name: str, version: str) -> str:
    """Return the one ``.dist-info`` folder, after checking every member's name."""
    folders = set()
    for member in members:
        parts = member.name.rstrip("/").split("/")
        if ".." in parts or "." in parts or "" in parts or re.search(r"[\\:\0]", member.name):
            raise ArchiveError(
                f"the wheel has a member {member.name!r}", "relative names with forward slashes", _REMEDY
            )
        if parts[0].endswith(".dist-info"):
            folders.add(parts[0])
    if {normal(folder) for folder in folders} != {normal(f"{name}-{version}.dist-info")} or len(folders) != 1:
        found = ", ".join(sorted(folders)) or "none"
        raise ArchiveError(f"the wheel's .dist-info folders: {found}", f"{name}-{version}.dist-info", _REMEDY)
    return folders.pop()


def _headers(stream: BinaryIO, name: str) -> Mapping[str, str]:
    """Return the headers of ``WHEEL`` or ``METADATA``, names in lower case, the first of each."""
    parsed = BytesHeaderParser().parse(io.BytesIO(read_zip_member(stream, name, _METADATA_LIMIT)))
    found: dict[str, str] = {}
    for key, value in parsed.items():
        found.setdefault(key.lower(), str(value).strip())
    return found


def _check_format(headers: Mapping[str, str]) -> None:
    """Refuse a wheel of another major version: it may mean something else."""
    version = headers.get("wheel-version", "")
    if version.partition(".")[0] != str(_VERSION):
        raise ArchiveError(f"the wheel's format is {version!r}", f"{_VERSION}.x", _REMEDY)


def _identity(metadata: Mapping[str, str], name: str, version: str) -> tuple[str, str]:
    """Return name and version, which file name and metadata must give alike."""
    project, stated = metadata.get("name", ""), metadata.get("version", "")
    if normal(project) != normal(name) or normal(stated) != normal(version):
        raise ArchiveError(
            f"the metadata say {project!r} {stated!r}", f"{name} {version}, as the file name", _REMEDY
        )
    return project, stated


def _record(data: bytes) -> Mapping[str, str]:
    """Return SHA-256 (hex, or ``""`` where none stands) by path."""
    found: dict[str, str] = {}
    try:
        for row in csv.reader(io.StringIO(data.decode(), newline="")):
            if row:
                path, digest = row[0], row[1] if len(row) > 1 else ""
                if path in found:
                    raise ArchiveError(f"RECORD names {path!r} twice", "each file once", _REMEDY)
                found[path] = _hex(digest, path)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ArchiveError(f"RECORD cannot be read: {error}", "a table in UTF-8", _REMEDY) from error
    return found


def _hex(digest: str, path: str) -> str:
    """Return a recorded ``sha256=…`` (base64, URL alphabet, no padding) as hex."""
    if not digest:
        return ""
    kind, _, value = digest.partition("=")
    try:
        raw = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ArchiveError(
            f"RECORD gives {path!r} the digest {digest[:80]!r}", "sha256=…", _REMEDY
        ) from error
    if kind != "sha256":
        raise ArchiveError(f"RECORD gives {path!r} a digest by {kind[:20]!r}", "sha256=…", _REMEDY)
    return raw.hex()


def _check_record(files: Mapping[str, str], record: Mapping[str, str], folder: str) -> None:
    """Check that ``RECORD`` names every file with its digest, and nothing else."""
    unrecorded = {f"{folder}/{name}" for name in _UNRECORDED}
    for path in sorted({*files, *record} - unrecorded):
        if path not in files:
            raise ArchiveError(
                f"RECORD names {path!r}, which the wheel lacks", "what the wheel holds", _REMEDY
            )
        if path not in record:
            raise ArchiveError(f"RECORD lacks {path!r}", "every file of the wheel", _REMEDY)
        if path != f"{folder}/RECORD" and record[path] != files[path]:
            raise ArchiveError(
                f"{path!r} has another digest than RECORD says", record[path] or "a digest", _REMEDY
            )


def _installed(files: Mapping[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield path below site-packages and digest of what goes there; scripts and data go elsewhere."""
    data = f"{prefix}.data/"
    for name, digest in files.items():
        if not name.startswith(data):
            yield name, digest
            continue
        scheme, _, path = name.removeprefix(data).partition("/")
        if scheme in _LIBRARIES:
            yield path, digest
