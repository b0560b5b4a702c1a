"""The table of names that the CUDA driver library exports, and how it is read from CUDA's headers.

The table (``driver_names.txt``) is authored data: a program that is linked where no driver is installed needs
the names at hand.  ``python -m assay.provision.driver_names INCLUDE`` writes it anew from CUDA's headers.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

from assay.files import read_bounded, write_atomic

TABLE = Path(__file__).parent / "driver_names.txt"

HEADERS = ("cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h")
"""The headers that declare functions of libcuda (CUDA Driver API reference, "Modules")."""

_LIMIT = 8 << 20
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_PROTOTYPE = re.compile(r"\bCUDAAPI\s+(cu[A-Z]\w*)\s*\(")
_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+cu[A-Z]\w*[ \t]+(?:__CUDA_API_(PTDS|PTSZ)\()?(cu[A-Z]\w*)\)?[ \t]*$",
    re.MULTILINE,
)
_CUDA_VERSION = re.compile(r"^[ \t]*#[ \t]*define[ \t]+CUDA_VERSION[ \t]+(\d+)[ \t]*$", re.MULTILINE)


@cache
def driver_names() -> tuple[str, ...]:
    """Return the table: exported names of libcuda, in byte order.

    Raises:
        StorageError: the table cannot be read.
    """
    lines = read_bounded(TABLE, _LIMIT).decode().splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def declared_names(header: str) -> frozenset[str]:
    """Return the exported names that a header's text declares.

    A prototype ``cuMemAlloc`` stands for the name that its macro maps to (``cuMemAlloc_v2``) and, where older
    programs may still link against it, for itself; a macro through ``__CUDA_API_PTDS`` or ``…_PTSZ`` also
    stands for the per-thread-stream form (``_ptds``, ``_ptsz``).
    """
    text = _COMMENT.sub(" ", header)
    names = set(_PROTOTYPE.findall(text))
    for stream_form, target in _MACRO.findall(text):
        names.add(target)
        names |= {f"{target}_{stream_form.lower()}"} if stream_form else set()
    return frozenset(names)


def cuda_version(header: str) -> int | None:
    """Return ``CUDA_VERSION`` of the text of ``cuda.h``, such as 13000 for 13.0, or None."""
    found = _CUDA_VERSION.search(header)
    return int(found[1]) if found else None


def table_text(include: Path) -> str:
    """Return the table that the headers in ``include`` give.

    Raises:
        StorageError: a header is missing or cannot be read.
    """
    texts = {name: read_header(include / name) for name in HEADERS}
    names = sorted(frozenset().union(*map(declared_names, texts.values())))
    version = cuda_version(texts["cuda.h"])
    head = (
        "# Names that the CUDA driver library exports: what programs may link against, one a line.\n"
        f"# From the headers of CUDA_VERSION {version}: {', '.join(texts)}.\n"
    )
    return head + "".join(f"{name}\n" for name in names)


def read_header(path: Path) -> str:
    """Return a header's text; CUDA's are ASCII but for a few names of authors.

    Raises:
        StorageError: it cannot be read or is larger than any header of CUDA.
    """
    return read_bounded(path, _LIMIT).decode(errors="replace")


if __name__ == "__main__":
    write_atomic(TABLE, table_text(Path(sys.argv[1])).encode())
