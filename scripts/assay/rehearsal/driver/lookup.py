"""Functions by name and version, as ``cuda.bindings`` asks for them; private tables, of which there are none.

CUDA driver API 13.0: "Driver Entry Point Access".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from .call import Calls
from .codes import DriverError
from .raw import put_handle, put_int, read_text
from .state import Driver

FOUND, NOT_FOUND = 0, 1
"""``CUdriverProcAddressQueryResult``."""

VERSIONS: Mapping[str, tuple[tuple[int, str], ...]] = MappingProxyType(
    {
        "cuCtxCreate": ((3020, "_v2"), (11040, "_v3"), (12050, "_v4")),
        "cuCtxGetDevice": ((2000, ""), (13000, "_v2")),
        "cuCtxSynchronize": ((2000, ""), (13000, "_v2")),
        "cuGetProcAddress": ((11030, ""), (12000, "_v2")),
        "cuStreamGetCtx": ((9020, ""), (12050, "_v2")),
    }
)
"""Forms whose parameters differ, by the CUDA version that a caller names (cudaTypedefs.h).

All other forms here differ in what 64-bit programs cannot see; the newest serves every version.
"""

_SUFFIXES = ("_v5", "_v4", "_v3", "_v2", "")
_VERSIONED = re.compile(r"_v\d$")


def form_of(name: str, version: int, handled: frozenset[str]) -> str | None:
    """Return the exported name that serves a caller of a CUDA version, None where none does."""
    if name in VERSIONS:
        fitting = [suffix for least, suffix in VERSIONS[name] if least <= version]
        return f"{name}{fitting[-1]}" if fitting and f"{name}{fitting[-1]}" in handled else None
    if _VERSIONED.search(name):
        return None
    return next((f"{name}{suffix}" for suffix in _SUFFIXES if f"{name}{suffix}" in handled), None)


def export_table(_driver: Driver, out: int, _id: int) -> None:
    """``cuGetExportTable``: none; NVRTC and the runtime ask, and do without."""
    put_handle(out, 0)
    raise DriverError("NOT_FOUND")


def calls(functions: Mapping[str, int], others: frozenset[str]) -> Calls:
    """Return the handlers, given the C half's functions by name and the names that have handlers."""
    handled = others | {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable"}

    def address(driver: Driver, name: int, out: int, version: int, _flags: int) -> None:
        """``cuGetProcAddress``."""
        address_v2(driver, name, out, version, 0, 0)

    def address_v2(_driver: Driver, name: int, out: int, version: int, _flags: int, status: int) -> None:
        """``cuGetProcAddress_v2``."""
        form = form_of(read_text(name), version, handled)
        put_handle(out, functions.get(form, 0) if form else 0)
        if status:
            put_int(status, FOUND if form else NOT_FOUND)
        if form is None:
            raise DriverError("NOT_FOUND")

    return {
        "cuGetProcAddress": (address, "ppip"),
        "cuGetProcAddress_v2": (address_v2, "ppipp"),
        "cuGetExportTable": (export_table, "pp"),
    }
