"""What may be asked of a function and set on it.

CUDA driver API 13.0: "Execution Control", "Library Management" (kernels), "Occupancy".
"""

from __future__ import annotations

import ctypes
import math

from .. import ptx
from ..ptx.values import space_bytes
from .call import Calls
from .codes import DriverError
from .devices import ATTRIBUTES, CAPABILITY
from .modules import Function
from .raw import put_handle, put_int, put_size
from .state import Driver

MAX_THREADS, SHARED, CONSTANT, LOCAL, REGISTERS, PTX, BINARY, CACHE, MAX_DYNAMIC, CARVEOUT = range(10)
"""The first numbers of ``CUfunction_attribute``; those behind them are about clusters, which there are none of."""

LAST = 16
SETTABLE = frozenset({MAX_DYNAMIC, CARVEOUT, 10, 11, 12, 13, 14, 15})
REGISTERS_OF_A_THREAD = 32
"""An interpreter has no registers to run short of; what a small kernel takes on a GPU."""

_STATIC_SHARED = ATTRIBUTES[8]
_OPT_IN_SHARED = ATTRIBUTES[97]
_THREADS = ATTRIBUTES[39]
_BLOCKS = ATTRIBUTES[106]


def most_threads(entry: ptx.Function) -> int:
    """Return the most threads of a block that an entry may be launched with."""
    limit = entry.reqntid or entry.maxntid
    return min(ATTRIBUTES[1], math.prod(limit)) if limit else ATTRIBUTES[1]


def value_of(function: Function, number: int) -> int:
    """Return an attribute.

    Raises:
        DriverError: there is no such attribute.
    """
    entry, module = function.entry, function.module.parsed
    if number in function.settings:
        return function.settings[number]
    values = {
        MAX_THREADS: most_threads(entry),
        SHARED: entry.shared_bytes,
        CONSTANT: space_bytes(module.variables.values(), "const"),
        LOCAL: space_bytes(entry.variables.values(), "local"),
        REGISTERS: REGISTERS_OF_A_THREAD,
        PTX: int(module.version.replace(".", "")),
        BINARY: CAPABILITY[0] * 10 + CAPABILITY[1],
        MAX_DYNAMIC: max(0, _STATIC_SHARED - entry.shared_bytes),
        CARVEOUT: -1,
    }
    if not 0 <= number < LAST:
        raise DriverError("INVALID_VALUE", f"no attribute {number}")
    return values.get(number, 0)


def get_attribute(driver: Driver, out: int, number: int, handle: int) -> None:
    """``cuFuncGetAttribute``."""
    put_int(out, value_of(driver.get(handle, Function), number))


def kernel_attribute(driver: Driver, out: int, number: int, handle: int, _device: int) -> None:
    """``cuKernelGetAttribute``."""
    get_attribute(driver, out, number, handle)


def set_attribute(driver: Driver, handle: int, number: int, value: int) -> None:
    """``cuFuncSetAttribute``."""
    function = driver.get(handle, Function)
    too_much = number == MAX_DYNAMIC and not 0 <= value <= _OPT_IN_SHARED - function.entry.shared_bytes
    if number not in SETTABLE or too_much:
        raise DriverError("INVALID_VALUE", f"attribute {number} cannot be {value}")
    function.settings[number] = value


def set_kernel_attribute(driver: Driver, number: int, value: int, handle: int, _device: int) -> None:
    """``cuKernelSetAttribute``."""
    set_attribute(driver, handle, number, value)


def set_cache(driver: Driver, handle: int, _preference: int) -> None:
    """``cuFuncSetCacheConfig`` and ``cuFuncSetSharedMemConfig``: a hint without effect."""
    driver.get(handle, Function)


def get_module(driver: Driver, out: int, handle: int) -> None:
    """``cuFuncGetModule``."""
    module = driver.get(handle, Function).module
    known = next((each for each, thing in driver.all(type(module)) if thing is module), 0)
    put_handle(out, known or driver.handle(module))


_names: dict[str, ctypes.Array[ctypes.c_char]] = {}
"""Names that callers hold pointers to; the driver's live as long as the module, these to the end."""


def get_name(driver: Driver, out: int, handle: int) -> None:
    """``cuFuncGetName`` and ``cuKernelGetName``."""
    name = driver.get(handle, Function).entry.name
    text = _names.setdefault(name, ctypes.create_string_buffer(name.encode()))
    put_handle(out, ctypes.addressof(text))


def parameter(driver: Driver, handle: int, index: int, offset: int, size: int) -> None:
    """``cuFuncGetParamInfo`` and ``cuKernelGetParamInfo``."""
    parameters = driver.get(handle, Function).entry.parameters
    if index >= len(parameters):
        raise DriverError("INVALID_VALUE", f"no parameter {index}")
    put_size(offset, parameters[index].offset)
    put_size(size, parameters[index].size)


def same(driver: Driver, out: int, handle: int) -> None:
    """``cuKernelGetFunction``: a kernel and its function have one handle here."""
    driver.get(handle, Function)
    put_handle(out, handle)


def _resident(function: Function, threads: int, dynamic: int) -> int:
    """Return how many blocks of so many threads and bytes of shared memory a multiprocessor would hold."""
    if not 0 < threads <= most_threads(function.entry):
        return 0
    shared = function.entry.shared_bytes + dynamic
    by_shared = _OPT_IN_SHARED // shared if shared else _BLOCKS
    return min(_BLOCKS, _THREADS // threads, by_shared)


def occupancy(driver: Driver, out: int, handle: int, threads: int, dynamic: int, *_flags: int) -> None:
    """``cuOccupancyMaxActiveBlocksPerMultiprocessor``."""
    put_int(out, _resident(driver.get(handle, Function), threads, dynamic))


def best_block(driver: Driver, grid: int, block: int, handle: int, *more: int) -> None:
    """``cuOccupancyMaxPotentialBlockSize``: the largest block that is allowed."""
    function = driver.get(handle, Function)
    callback, dynamic, limit = more[:3]
    if callback:
        raise DriverError("NOT_SUPPORTED", "a function for the size of shared memory is not supported")
    threads = min(most_threads(function.entry), limit or ATTRIBUTES[1])
    put_int(block, threads)
    put_int(grid, max(1, _resident(function, threads, dynamic)) * ATTRIBUTES[16])


CALLS: Calls = {
    "cuFuncGetAttribute": (get_attribute, "pip"),
    "cuFuncSetAttribute": (set_attribute, "pii"),
    "cuFuncSetCacheConfig": (set_cache, "pi"),
    "cuFuncSetSharedMemConfig": (set_cache, "pi"),
    "cuFuncGetModule": (get_module, "pp"),
    "cuFuncGetName": (get_name, "pp"),
    "cuFuncGetParamInfo": (parameter, "pppp"),
    "cuKernelGetAttribute": (kernel_attribute, "pipi"),
    "cuKernelSetAttribute": (set_kernel_attribute, "iipi"),
    "cuKernelSetCacheConfig": (set_cache, "pii"),
    "cuKernelGetFunction": (same, "pp"),
    "cuKernelGetName": (get_name, "pp"),
    "cuKernelGetParamInfo": (parameter, "pppp"),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (occupancy, "ppip"),
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": (occupancy, "ppipu"),
    "cuOccupancyMaxPotentialBlockSize": (best_block, "pppppi"),
    "cuOccupancyMaxPotentialBlockSizeWithFlags": (best_block, "pppppiu"),
}
