"""The packages that the selected interpreter has: versions, records, and what would shadow them."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Iterator
from importlib import metadata

_TOLD = re.compile(r"numpy|pycuda|wgpu|cffi|pytools|cuda-.+|nvidia-.+")
"""Distributions that are told, by normalised name: those that the chain stands on."""

IMPORTED = ("numpy", "pycuda", "wgpu", "cuda", "pynvml")
"""What the chain imports, whose origin is told without importing it."""


def facts() -> dict[str, object]:
    """Return ``distributions``: name, version, location, and SHA-256 of RECORD (None where there is none)."""
    told = sorted(_distributions(), key=lambda one: (str(one["name"]), str(one["location"])))
    return {"distributions": told}


def shadow() -> dict[str, object]:
    """Return by name where each package would be imported from: file, folders (a namespace's) and loader.

    Nothing is imported: a file of that name in the working folder is seen, not run.
    """
    return {name: _origin(name) for name in IMPORTED}


def _distributions() -> Iterator[dict[str, object]]:
    """Yield the told distributions; the same one may lie in two folders of the path."""
    for one in metadata.distributions():
        name = re.sub(
            r"[-_.]+", "-", str(one.metadata["Name"] or "")
        ).lower()  # PyPA, "Names and normalization"
        if _TOLD.fullmatch(name):
            yield {
                "location": str(one.locate_file("")),
                "name": name,
                "record_sha256": _record(one),
                "version": one.version,
            }


def _record(one: metadata.Distribution) -> str | None:
    """Return the SHA-256 of a distribution's RECORD."""
    for file in one.files or ():
        if file.name == "RECORD" and file.parent.name.endswith(".dist-info"):
            try:
                return hashlib.sha256(file.locate().read_bytes()).hexdigest()  # type: ignore[attr-defined]  # a Path
            except OSError:
                return None
    return None


def _origin(name: str) -> dict[str, object] | None:
    """Return where a top-level package would come from, or None where there is none."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    return {
        "file": spec.origin,
        "folders": list(spec.submodule_search_locations or ()),
        "loader": type(spec.loader).__name__,
    }
