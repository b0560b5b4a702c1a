"""``toolchain.zip``: the package as it runs, put into every run folder before the first gate.

It is for reading.  Evidence is verified with the reader's own copy, which says whether the bundle's toolchain
equals itself or an earlier release; the bundle's is never run.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from assay.files import storage_errors
from assay.zipped import zip_bytes

PACKAGE = "assay"
MAIN = b"""\
import sys

if sys.version_info < (3, 11):
    sys.stderr.write("assay: this is Python %d.%d; run it with 3.11 or newer\\n" % sys.version_info[:2])
    raise SystemExit(2)

from assay.cli import main

raise SystemExit(main())
"""
"""The root ``__main__.py``: ``python toolchain.zip verify BUNDLE`` runs; any Python can read what it says."""

RELEASES: Mapping[str, str] = MappingProxyType(
    {"a1ca65b8daa21ef452232b6c518f593c4817fedfa57af7f838f7a24fcf8164c1": "0.1.0"}
)
"""Version by toolchain digest (SHA-256, hex) of earlier releases; a release cannot list itself."""

_ROOT = Path(__file__).parent.parent
_LEFT_OUT = (".pyc", ".pyo")


def toolchain_bytes() -> bytes:
    """Return ``toolchain.zip`` of the package that is running, from a folder or from such a zip.

    Raises:
        StorageError: a file of the package cannot be read.
    """
    archive = own_archive()
    members = _zipped(archive) if archive else _unzipped(_ROOT)
    return zip_bytes([("__main__.py", MAIN), *members])


@functools.cache
def own_digest() -> str:
    """Return the SHA-256 (hex) of this copy's ``toolchain.zip``.

    Raises:
        StorageError: a file of the package cannot be read.
    """
    return hashlib.sha256(toolchain_bytes()).hexdigest()


def toolchain_answer(sha256: str) -> str:
    """Say which toolchain a digest belongs to.

    Raises:
        StorageError: a file of the package cannot be read.
    """
    if sha256 == own_digest():
        return "equal to the reader's own"
    version = RELEASES.get(sha256)
    return f"release {version}" if version else "unknown to the reader"


def own_archive() -> Path | None:
    """Return the zip that this package was imported from, None where it lies in a folder."""
    spec = sys.modules[PACKAGE].__spec__
    archive = getattr(spec.loader, "archive", None) if spec else None
    return Path(archive) if isinstance(archive, str) else None


def _unzipped(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the package's files as (name, content), without what Python compiled from them."""
    with storage_errors("read", root):
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for path in (Path(folder, name) for name in names if not name.endswith(_LEFT_OUT)):
                yield f"{PACKAGE}/{path.relative_to(root).as_posix()}", path.read_bytes()


def _zipped(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the package's files as they lie in a zip."""
    import zipfile  # noqa: PLC0415  # only a copy that runs from a zip needs it, and it doubles the start-up

    with storage_errors("read", archive), zipfile.ZipFile(archive) as reading:
        for name in reading.namelist():
            if name.startswith(f"{PACKAGE}/") and not name.endswith(("/", *_LEFT_OUT)):
                yield name, reading.read(name)
