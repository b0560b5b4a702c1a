"""Makes the zip that the chain child runs from: ``assay.chain`` alone, the same bytes for the same files.

Inside, the package lies at ``assay_chain/`` so that it can hide nothing that the selection has, and a root
``__main__.py`` starts it: ``python -s -B chain.zip ENTRY`` runs ``assay_chain/__main__.py`` as ``__main__``.
Entries are stored, sorted by name, of 1980-01-01, system 3 and mode 0644 (FORMATS, "Run folder", which
gives the toolchain's zip the same form), so that anybody can make the digest again from the sources.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from assay.errors import GateError
from assay.files import read_bounded, write_atomic
from assay.zipped import zip_bytes

PACKAGE = "assay_chain"
"""The folder of the package inside the zip, and its import name there."""

SOURCES = Path(__file__).resolve().parent.parent / "chain"
"""Where the package lies in this installation."""

NAME = "chain.zip"

_MAIN = f'import runpy\n\nrunpy.run_module("{PACKAGE}", run_name="__main__", alter_sys=True)\n'
_LIMIT = 1 << 20


@dataclass(frozen=True)
class ChildZip:
    """A zip that was made: where it lies, its SHA-256 (hex) and size in bytes, and its members' names."""

    path: Path
    sha256: str
    size: int
    members: tuple[str, ...]


def make_child_zip(folder: Path, sources: Path = SOURCES) -> ChildZip:
    """Write ``chain.zip`` into ``folder`` and return what it is.

    Args:
        folder: an existing folder, private to the run.
        sources: the chain package; only its ``*.py`` files are taken.

    Raises:
        GateError: the package is not where it should be.
        StorageError: a file cannot be read or written.
    """
    files = sorted(path for path in sources.rglob("*.py") if path.is_file())
    if sources / "__main__.py" not in files:
        raise GateError(
            f"{sources} has no __main__.py", "the chain package beside the gates", "install assay anew"
        )
    members = [
        (f"{PACKAGE}/{path.relative_to(sources).as_posix()}", read_bounded(path, _LIMIT)) for path in files
    ]
    data = zip_bytes([*members, ("__main__.py", _MAIN.encode())])
    path = folder / NAME
    write_atomic(path, data)
    names = tuple(sorted(name for name, _ in members))
    return ChildZip(path, hashlib.sha256(data).hexdigest(), len(data), ("__main__.py", *names))
