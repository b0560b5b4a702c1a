"""Wheels made by hand from the specification, sound or with one fault."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

VERSION = "1.0"
WHEEL = b"Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def metadata(name: str, version: str) -> bytes:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not a header\n".encode()


def recorded(files: Mapping[str, bytes], record: str) -> bytes:
    """Return RECORD for these files."""
    out = io.StringIO(newline="")
    table = csv.writer(out, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        table.writerow([name, f"sha256={digest}", len(data)])
    table.writerow([record, "", ""])
    return out.getvalue().encode()


def make_wheel(
    folder: Path,
    files: Mapping[str, bytes],
    *,
    name: str = "demo",
    changed: Mapping[str, bytes | None] | None = None,
    file_name: str = "",
) -> Path:
    """Write a wheel and return its path.

    Args:
        folder: where to write it.
        files: what it installs, by path; METADATA and WHEEL may be among them.
        name: the project's name, as the file name spells it; its version is ``VERSION``.
        changed: members put in, or (None) left out, after RECORD was written.
        file_name: another file name.
    """
    info = f"{name}-{VERSION}.dist-info"
    told = {f"{info}/METADATA": metadata(name.replace("_", "-"), VERSION), f"{info}/WHEEL": WHEEL}
    whole = {**told, **files}
    members = {**whole, f"{info}/RECORD": recorded(whole, f"{info}/RECORD"), **(changed or {})}
    path = folder / (file_name or f"{name}-{VERSION}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            if data is not None:
                archive.writestr(zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0)), data)
    return path
