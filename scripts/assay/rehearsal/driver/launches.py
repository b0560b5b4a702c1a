"""Launches: parameters from pointers or from one buffer, the interpreter, and what it came to.

CUDA driver API 13.0: "Execution Control".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .. import ptx, simt
from ..errors import LaunchError
from ..findings import Limits
from ..findings import Report as LaunchReport
from .call import Calls
from .codes import CODES, DriverError
from .functions import MAX_DYNAMIC, most_threads, value_of
from .modules import Function
from .raw import POINTER, read, unpack
from .state import Context, Driver

BUFFER_POINTER, BUFFER_SIZE, END = 1, 2, 0
"""``CU_LAUNCH_PARAM_BUFFER_POINTER``, ``…_BUFFER_SIZE``, ``…_END``."""

_CONFIG = "7I4xQQI"
"""``CUlaunchConfig``: grid, block, shared bytes, stream, attributes, their number."""

_ATTRIBUTE_BYTES = 72
_COOPERATIVE, _CLUSTER = 2, 4
"""``CUlaunchAttributeID``."""

_EXTRA_WORDS = 16

_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "invalid-value": "INVALID_VALUE",
        "not-found": "NOT_FOUND",
        "unsupported": "NOT_SUPPORTED",
        "memory": "LAUNCH_OUT_OF_RESOURCES",
    }
)
"""By reason of a ``LaunchError``: the launch itself fails, and nothing else is harmed."""

_FAULTS: Mapping[str, int] = MappingProxyType(
    {
        "deadline": CODES["CUDA_ERROR_LAUNCH_TIMEOUT"],
        "instructions": CODES["CUDA_ERROR_LAUNCH_TIMEOUT"],
        "deadlock": CODES["CUDA_ERROR_LAUNCH_TIMEOUT"],
        "output": CODES["CUDA_ERROR_LAUNCH_FAILED"],
        "trap": CODES["CUDA_ERROR_LAUNCH_FAILED"],
    }
)
"""By reason of a ``LaunchError``: the kernel began and ended badly, which ends its context."""

_FATAL: Mapping[str, int] = MappingProxyType(
    {
        "assertion": CODES["CUDA_ERROR_ASSERT"],
        "misaligned": CODES["CUDA_ERROR_MISALIGNED_ADDRESS"],
        "out-of-bounds": CODES["CUDA_ERROR_ILLEGAL_ADDRESS"],
        "use-after-free": CODES["CUDA_ERROR_ILLEGAL_ADDRESS"],
    }
)
"""By kind of a fatal finding."""


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched: blocks, threads of a block, bytes of dynamic shared memory."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int


def launch(driver: Driver, function: Function, shape: Shape, parameters: bytes) -> None:
    """Run a kernel to its end.

    Raises:
        DriverError: it cannot be started; a fault while it runs is told by the next call instead.
    """
    context = driver.usable()
    _check(function, shape)
    entry = function.entry.name
    try:
        seen = simt.launch(
            function.module.loaded,
            entry,
            shape.grid,
            shape.block,
            parameters,
            shape.shared,
            driver.memory,
            Limits(seconds=driver.kernel_seconds),
        )
    except LaunchError as error:
        _tell(driver, context, entry, shape, error.report)
        _failed(driver, context, error)
        return
    _tell(driver, context, entry, shape, seen)


def _check(function: Function, shape: Shape) -> None:
    """Refuse what no device of this kind can start."""
    threads = shape.block[0] * shape.block[1] * shape.block[2]
    if threads > most_threads(function) or not threads or 0 in shape.grid:
        raise DriverError("INVALID_VALUE", f"blocks of {threads} threads, a grid of {shape.grid}")
    if shape.shared > value_of(function, MAX_DYNAMIC):
        raise DriverError("INVALID_VALUE", f"{shape.shared} bytes of dynamic shared memory")


def _tell(driver: Driver, context: Context, entry: str, shape: Shape, seen: LaunchReport) -> None:
    """Tell what a launch left, and let a fatal finding end the context."""
    if seen.printed:
        _print(seen.printed)
    for finding in seen.findings:
        driver.report.finding(finding)
        if finding.fatal and not context.fault:
            context.fault = _FATAL[finding.kind]
    driver.report.launch(entry, shape.grid, shape.block, seen.instructions)


def _failed(driver: Driver, context: Context, error: LaunchError) -> None:
    """Turn a launch that was cut short into the launch's own error, or into its context's fault."""
    if error.reason in _REFUSED:
        raise DriverError(_REFUSED[error.reason], f"refused: {error.message}")
    code = _FAULTS.get(error.reason, CODES["CUDA_ERROR_LAUNCH_FAILED"])
    context.fault = context.fault or code
    if "endless" not in {found.kind for found in error.report.findings}:
        driver.report.refused("launch", code, error.message)


def _print(data: bytes) -> None:
    """Write what ``printf`` printed on standard output."""
    while data:
        data = data[os.write(1, data) :]


def gathered(entry: ptx.Function, pointers: int, extra: int) -> bytes:
    """Return the parameter buffer from ``kernelParams`` or from ``extra``.

    Raises:
        DriverError: both, or neither where there are parameters, or a buffer that is too short.
    """
    if not entry.parameters:
        return b""
    if bool(pointers) == bool(extra):
        raise DriverError("INVALID_VALUE", f"{len(entry.parameters)} parameters are wanted")
    return _from_pointers(entry, pointers) if pointers else _from_extra(entry, extra)


def _from_pointers(entry: ptx.Function, pointers: int) -> bytes:
    """Return the buffer with each parameter at its place."""
    buffer = bytearray(entry.parameter_bytes)
    given = unpack(f"{len(entry.parameters)}Q", pointers)
    for parameter, pointer in zip(entry.parameters, given, strict=True):
        buffer[parameter.offset : parameter.offset + parameter.size] = read(pointer, parameter.size)
    return bytes(buffer)


def _from_extra(entry: ptx.Function, extra: int) -> bytes:
    """Return the caller's own buffer."""
    buffer = size = 0
    for at in range(0, _EXTRA_WORDS * POINTER, 2 * POINTER):
        (key,) = unpack("Q", extra + at)
        if key == END:
            break
        (value,) = unpack("Q", extra + at + POINTER)
        buffer = value if key == BUFFER_POINTER else buffer
        size = unpack("Q", value)[0] if key == BUFFER_SIZE else size
    last = entry.parameters[-1]
    if size < last.offset + last.size:
        raise DriverError("INVALID_VALUE", f"{size} bytes of parameters, {last.offset + last.size} wanted")
    return read(buffer, min(size, entry.parameter_bytes)).ljust(entry.parameter_bytes, b"\0")


def launch_kernel(driver: Driver, handle: int, *arguments: int) -> None:
    """``cuLaunchKernel``."""
    function = driver.get(handle, Function)
    gx, gy, gz, bx, by, bz, shared, stream, pointers, extra = arguments
    driver.require_stream(stream)
    parameters = gathered(function.entry, pointers, extra)
    launch(driver, function, Shape((gx, gy, gz), (bx, by, bz), shared), parameters)


def launch_kernel_ex(driver: Driver, config: int, handle: int, pointers: int, extra: int) -> None:
    """``cuLaunchKernelEx``; clusters and cooperative grids are not supported, hints are without effect."""
    gx, gy, gz, bx, by, bz, shared, stream, attributes, count = unpack(_CONFIG, config)
    for number in range(count):
        _attribute(*unpack("I4x3I", attributes + number * _ATTRIBUTE_BYTES))
    launch_kernel(driver, handle, gx, gy, gz, bx, by, bz, shared, stream, pointers, extra)


def _attribute(number: int, *value: int) -> None:
    """Refuse an attribute that would change what a kernel does."""
    if number == _COOPERATIVE and value[0]:
        raise DriverError("NOT_SUPPORTED", "cooperative launches are not supported")
    if number == _CLUSTER and value not in {(0, 0, 0), (1, 1, 1)}:
        raise DriverError("NOT_SUPPORTED", f"clusters of {value} blocks are not supported")


def set_block(driver: Driver, handle: int, x: int, y: int, z: int) -> None:
    """``cuFuncSetBlockShape`` (deprecated)."""
    driver.get(handle, Function).block = (x, y, z)


def set_shared(driver: Driver, handle: int, size: int) -> None:
    """``cuFuncSetSharedSize`` (deprecated)."""
    driver.get(handle, Function).shared = size


def set_parameter_size(driver: Driver, handle: int, size: int) -> None:
    """``cuParamSetSize`` (deprecated)."""
    function = driver.get(handle, Function)
    function.parameters = function.parameters[:size].ljust(size, b"\0")


def set_parameter(driver: Driver, handle: int, offset: int, source: int, size: int) -> None:
    """``cuParamSetv`` (deprecated)."""
    _place(driver.get(handle, Function), offset, read(source, size))


def set_integer(driver: Driver, handle: int, offset: int, value: int) -> None:
    """``cuParamSeti`` (deprecated)."""
    _place(driver.get(handle, Function), offset, value.to_bytes(4, "little"))


def _place(function: Function, offset: int, data: bytes) -> None:
    buffer = bytearray(function.parameters.ljust(offset + len(data), b"\0"))
    buffer[offset : offset + len(data)] = data
    function.parameters = bytes(buffer)


def launch_one(driver: Driver, handle: int) -> None:
    """``cuLaunch`` (deprecated): one block."""
    launch_grid(driver, handle, 1, 1)


def launch_grid(driver: Driver, handle: int, width: int, height: int, stream: int = 0) -> None:
    """``cuLaunchGrid`` and ``cuLaunchGridAsync`` (deprecated)."""
    driver.require_stream(stream)
    function = driver.get(handle, Function)
    parameters = function.parameters.ljust(function.entry.parameter_bytes, b"\0")
    launch(driver, function, Shape((width, height, 1), function.block, function.shared), parameters)


CALLS: Calls = {
    "cuLaunchKernel": (launch_kernel, "puuuuuuuppp"),
    "cuLaunchKernelEx": (launch_kernel_ex, "pppp"),
    "cuFuncSetBlockShape": (set_block, "piii"),
    "cuFuncSetSharedSize": (set_shared, "pu"),
    "cuParamSetSize": (set_parameter_size, "pu"),
    "cuParamSetv": (set_parameter, "pipu"),
    "cuParamSeti": (set_integer, "piu"),
    "cuLaunch": (launch_one, "p"),
    "cuLaunchGrid": (launch_grid, "pii"),
    "cuLaunchGridAsync": (launch_grid, "piip"),
}
