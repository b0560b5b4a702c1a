"""Copies between host and device, plain, two- and three-dimensional; asynchronous ones end at once, in order.

CUDA driver API 13.0: "Memory Management".
"""

from __future__ import annotations

from dataclasses import dataclass

from ..findings import Finding
from .call import Calls
from .callers import place
from .codes import DriverError
from .raw import host_view, unpack
from .state import Driver

HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4
"""``CUmemorytype``."""


def transfer(driver: Driver, target: int, source: int, size: int) -> None:
    """Copy ``size`` bytes, either end anywhere.

    Raises:
        DriverError: a pointer is null.
        BadAddressError: device memory that is not (or no longer) there.
    """
    if not size:
        return
    to_device, from_device = _is_device(driver, target), _is_device(driver, source)
    memory = driver.memory
    if to_device and from_device:
        memory.copy(target, source, size)
    elif to_device:
        memory.view(target, size)[:] = host_view(source, size)
        memory.mark(target, size)
    elif from_device:
        _tell_unwritten(driver, source, size)
        host_view(target, size)[:] = memory.view(source, size)
    else:
        host_view(target, size)[:] = host_view(source, size).copy()


def _tell_unwritten(driver: Driver, source: int, size: int) -> None:
    """Tell a copy to the host of memory that nothing wrote; one written byte makes it a buffer with room."""
    if not driver.memory.touched(source, size):
        message = f"a copy of {size} bytes to the host from {source:#x}, which nothing wrote{place()}"
        driver.report.finding(Finding("uninitialised", message, "", address=source))


def _is_device(driver: Driver, address: int) -> bool:
    """Say whether an address is the driver's to resolve; device addresses lie above all of a process's."""
    return address >> 48 != 0 or driver.memory.contains(address)


def to_device(driver: Driver, target: int, source: int, size: int) -> None:
    """``cuMemcpyHtoD``."""
    driver.usable()
    driver.memory.view(target, size or 1)
    transfer(driver, target, source, size)


def to_host(driver: Driver, target: int, source: int, size: int) -> None:
    """``cuMemcpyDtoH``."""
    driver.usable()
    driver.memory.view(source, size or 1)
    transfer(driver, target, source, size)


def on_device(driver: Driver, target: int, source: int, size: int) -> None:
    """``cuMemcpyDtoD``."""
    driver.usable()
    driver.memory.copy(target, source, size)


def anywhere(driver: Driver, target: int, source: int, size: int) -> None:
    """``cuMemcpy``: by the addresses themselves."""
    driver.usable()
    transfer(driver, target, source, size)


def to_device_async(driver: Driver, target: int, source: int, size: int, stream: int) -> None:
    """``cuMemcpyHtoDAsync``."""
    driver.require_stream(stream)
    to_device(driver, target, source, size)


def to_host_async(driver: Driver, target: int, source: int, size: int, stream: int) -> None:
    """``cuMemcpyDtoHAsync``."""
    driver.require_stream(stream)
    to_host(driver, target, source, size)


def on_device_async(driver: Driver, target: int, source: int, size: int, stream: int) -> None:
    """``cuMemcpyDtoDAsync``."""
    driver.require_stream(stream)
    on_device(driver, target, source, size)


def anywhere_async(driver: Driver, target: int, source: int, size: int, stream: int) -> None:
    """``cuMemcpyAsync``."""
    driver.require_stream(stream)
    anywhere(driver, target, source, size)


def peer(driver: Driver, target: int, _to: int, source: int, _of: int, size: int) -> None:
    """``cuMemcpyPeer``: between contexts of the one device."""
    on_device(driver, target, source, size)


def peer_async(driver: Driver, target: int, _to: int, source: int, _of: int, size: int, stream: int) -> None:
    """``cuMemcpyPeerAsync``."""
    on_device_async(driver, target, source, size, stream)


@dataclass(frozen=True)
class _End:
    """One end of a copy of rows: where the first byte lies, bytes from row to row and from slice to slice."""

    start: int
    pitch: int
    slice: int

    def at(self, row: int, layer: int) -> int:
        """Return where a row begins."""
        return self.start + row * self.pitch + layer * self.slice


def _end(words: tuple[int, ...], height: int, width: int) -> _End:
    """Return one end of a copy.

    Args:
        words: x, y, z, ``CUmemorytype``, host pointer, device pointer, pitch, rows of a slice.
        height: rows, where the words give none.
        width: bytes of a row.

    Raises:
        DriverError: it is an array, of which there are none, or out of range.
    """
    x, y, z, kind, host, device, pitch, rows = words
    kind &= 0xFFFF_FFFF
    if kind == ARRAY:
        raise DriverError("NOT_SUPPORTED", "copies of CUDA arrays are not supported")
    if kind not in {HOST, DEVICE, UNIFIED} or (pitch and pitch < width):
        raise DriverError("INVALID_VALUE", f"memory type {kind}, pitch {pitch} for rows of {width} bytes")
    row = pitch or width
    layer = row * (rows or height)
    return _End((host if kind == HOST else device) + x + y * row + z * layer, row, layer)


def rows_2d(driver: Driver, copy: int) -> None:
    """``cuMemcpy2D``: ``CUDA_MEMCPY2D``, whose ends have x, y, type, host, device, array and pitch."""
    driver.usable()
    words = unpack("16Q", copy)
    width, height = words[14:]
    source, target = (_end((*w[:2], 0, *w[2:5], w[6], 0), height, width) for w in (words[:7], words[7:14]))
    _rows(driver, target, source, (width, height, 1))


def rows_2d_async(driver: Driver, copy: int, stream: int) -> None:
    """``cuMemcpy2DAsync``."""
    driver.require_stream(stream)
    rows_2d(driver, copy)


def rows_3d(driver: Driver, copy: int) -> None:
    """``cuMemcpy3D``: ``CUDA_MEMCPY3D``.

    Each end has x, y, z, level, type, host, device, array, one word, pitch and height; in the ``_PEER`` form
    the one word is the context, which is not read.
    """
    driver.usable()
    words = unpack("25Q", copy)
    width, height, depth = words[22:]
    source, target = (_end((*w[:3], *w[4:7], w[9], w[10]), height, width) for w in (words[:11], words[11:22]))
    _rows(driver, target, source, (width, height, depth))


def rows_3d_async(driver: Driver, copy: int, stream: int) -> None:
    """``cuMemcpy3DAsync``."""
    driver.require_stream(stream)
    rows_3d(driver, copy)


def _rows(driver: Driver, target: _End, source: _End, extent: tuple[int, int, int]) -> None:
    """Copy rows of (width, height, depth)."""
    width, height, depth = extent
    if width == target.pitch == source.pitch and depth == 1:
        transfer(driver, target.start, source.start, width * height)
        return
    for layer in range(depth):
        for row in range(height):
            transfer(driver, target.at(row, layer), source.at(row, layer), width)


CALLS: Calls = {
    "cuMemcpy": (anywhere, "ppp"),
    "cuMemcpyAsync": (anywhere_async, "pppp"),
    "cuMemcpyHtoD_v2": (to_device, "ppp"),
    "cuMemcpyDtoH_v2": (to_host, "ppp"),
    "cuMemcpyDtoD_v2": (on_device, "ppp"),
    "cuMemcpyHtoDAsync_v2": (to_device_async, "pppp"),
    "cuMemcpyDtoHAsync_v2": (to_host_async, "pppp"),
    "cuMemcpyDtoDAsync_v2": (on_device_async, "pppp"),
    "cuMemcpyPeer": (peer, "ppppp"),
    "cuMemcpyPeerAsync": (peer_async, "pppppp"),
    "cuMemcpy2D_v2": (rows_2d, "p"),
    "cuMemcpy2DUnaligned_v2": (rows_2d, "p"),
    "cuMemcpy2DAsync_v2": (rows_2d_async, "pp"),
    "cuMemcpy3D_v2": (rows_3d, "p"),
    "cuMemcpy3DAsync_v2": (rows_3d_async, "pp"),
    "cuMemcpy3DPeer": (rows_3d, "p"),
    "cuMemcpy3DPeerAsync": (rows_3d_async, "pp"),
}
