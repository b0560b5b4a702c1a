"""What may be asked of a function and set on it.

CUDA driver API 13.0: "Execution Control", "Library Management" (kernels), "Occupancy".
"""

from __future__ import annotations

import ctypes

from .call import Calls
from .codes import DriverError
from .devices import ATTRIBUTES
from .modules import Function
from .raw import put_handle, put_int, put_size
from .state import Driver

MAX_THREADS, SHARED, CONSTANT, LOCAL, REGISTERS, PTX_VERSION, BINARY_VERSION, CACHE, MAX_DYNAMIC, CARVEOUT = (
    range(10)
)
"""The first numbers of ``CUfunction_attribute``; those behind them are about clusters."""

LAST = 16
SETTABLE = frozenset({MAX_DYNAMIC, CARVEOUT, 10, 11, 12, 13, 14, 15})
_STATIC_SHARED = ATTRIBUTES[8]
_OPT_IN_SHARED = ATTRIBUTES[97]
_THREADS = ATTRIBUTES[39]
_BLOCKS = ATTRIBUTES[106]


def value_of(function: Function, number: int) -> int:
    """Return an attribute.

    Raises:
        DriverError: there is no such attribute.
    """
    if number in function.settings:
        return function.settings[number]
    if not 0 <= number < LAST:
        raise DriverError("INVALID_VALUE", f"no attribute {number}")
    known = function.module.loaded.attributes(function.entry.name)
    values = {
        MAX_THREADS: known.max_threads_per_block,
        SHARED: known.shared_bytes,
        CONSTANT: known.constant_bytes,
        LOCAL: known.local_bytes,
        REGISTERS: known.registers,
        PTX_VERSION: known.ptx_version,
        BINARY_VERSION: known.binary_version,
        MAX_DYNAMIC: max(0, _STATIC_SHARED - known.shared_bytes),
        CARVEOUT: -1,
    }
    return values.get(number, 0)


def most_threads(function: Function) -> int:
    """Return the most threads of a block that a function may be launched with."""
    return value_of(function, MAX_THREADS)


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
    if not 0 < threads <= most_threads(function):
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
    threads = min(most_threads(function), limit or ATTRIBUTES[1])
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
