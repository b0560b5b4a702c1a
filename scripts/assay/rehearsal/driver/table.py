"""Fills the C half's table: the one place that knows every handler."""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Callable
from typing import Any

from . import (
    allocations,
    contexts,
    copies,
    devices,
    events,
    fills,
    functions,
    launches,
    lookup,
    modules,
    pointers,
    pools,
    streams,
)
from .call import NOT_SUPPORTED, WORDS, Calls, entry
from .report import VARIABLE, Report
from .state import KERNEL_SECONDS, KERNEL_SECONDS_VARIABLE, Driver

_PARTS = (
    *(devices, contexts, allocations, copies, fills, streams, events, modules, functions),
    *(launches, pools, pointers),
)

_STREAM_FORMS = ("_ptsz", "_ptds")
"""Suffixes of the forms whose null stream is the thread's own (cuda.h, ``__CUDA_API_PTSZ``)."""

_Handler = ctypes.CFUNCTYPE(ctypes.c_int, *(ctypes.c_uint64,) * WORDS)
_Missing = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64)


class Table(ctypes.Structure):
    """``table`` of libcuda.c."""

    _fields_ = (
        ("count", ctypes.c_uint64),
        ("names", ctypes.POINTER(ctypes.c_char_p)),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("handlers", ctypes.POINTER(_Handler)),
        ("missing", _Missing),
    )


def fill(address: int) -> None:
    """Give every name of the C half its handler.

    Args:
        address: of the C half's ``table``.
    """
    table = Table.from_address(address)
    names = [(table.names[number] or b"").decode() for number in range(table.count)]
    given = os.environ.get(KERNEL_SECONDS_VARIABLE, "")
    seconds = float(given) if given.isdecimal() else KERNEL_SECONDS
    driver = Driver(Report(os.environ.get(VARIABLE)), kernel_seconds=seconds)
    functions_at = {name: table.functions[number] or 0 for number, name in enumerate(names)}
    calls = {**calls_of_parts(), **lookup.calls(functions_at, frozenset(calls_of_parts()))}
    for number, name in enumerate(names):
        found = calls.get(plain_name(name, calls))
        if found:
            table.handlers[number] = _keep(_Handler(entry(driver, name, *found)))
    table.missing = _keep(_Missing(_missing(driver, names)))
    driver.report.begin(devices.UUID_TEXT)
    atexit.register(driver.report.end)


def calls_of_parts() -> Calls:
    """Return every handler but those of ``lookup``."""
    return {name: call for part in _PARTS for name, call in part.CALLS.items()}


def plain_name(name: str, calls: Calls) -> str:
    """Return the name whose handler serves ``name``: its own, or that of the form without its own stream."""
    for form in _STREAM_FORMS:
        if name not in calls and name.endswith(form):
            return name.removesuffix(form)
    return name


def _missing(driver: Driver, names: list[str]) -> Callable[[int], int]:
    """Return what answers a call without a handler, by its number."""

    def answer(number: int) -> int:
        driver.report.refused(names[number], NOT_SUPPORTED, "the CPU's driver does not have it")
        return NOT_SUPPORTED

    return answer


def _keep(callback: Any) -> Any:  # noqa: ANN401  # ctypes makes the type at run time
    """Keep a callback alive, also when modules are torn down: the C half cannot know that it has gone."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback
