"""Memory: on the device, pitched, managed, pinned and registered on the host.

CUDA driver API 13.0: "Memory Management".
"""

from __future__ import annotations

from .call import Calls
from .codes import DriverError
from .raw import put, put_handle, put_size
from .state import Driver

PITCH = 512
"""Rows of pitched memory begin at multiples of it (as on devices of compute capability 7.5)."""

_ELEMENTS = frozenset({4, 8, 16})
"""Element sizes that ``cuMemAllocPitch`` accepts."""

_MANAGED_FLAGS = frozenset({1, 2})


def alloc(driver: Driver, out: int, size: int) -> None:
    """``cuMemAlloc``."""
    put_handle(out, driver.allocate(size))


def alloc_pitch(  # noqa: PLR0913, PLR0917  # the call's own parameters
    driver: Driver, out: int, pitch: int, width: int, height: int, element: int
) -> None:
    """``cuMemAllocPitch``."""
    if element not in _ELEMENTS or not width:
        raise DriverError("INVALID_VALUE", f"elements of {element} bytes, {width} bytes a row")
    row = -(-width // PITCH) * PITCH
    put_handle(out, driver.allocate(row * height))
    put_size(pitch, row)


def alloc_managed(driver: Driver, out: int, size: int, flags: int) -> None:
    """``cuMemAllocManaged``."""
    if flags not in _MANAGED_FLAGS:
        raise DriverError("INVALID_VALUE", f"flags {flags:#x}")
    put_handle(out, driver.allocate(size, "managed"))


def alloc_host(driver: Driver, out: int, size: int) -> None:
    """``cuMemAllocHost``: pinned."""
    put_handle(out, driver.allocate(size, "host"))


def host_alloc(driver: Driver, out: int, size: int, _flags: int) -> None:
    """``cuMemHostAlloc``: pinned; every flag holds anyway."""
    put_handle(out, driver.allocate(size, "host"))


def free(driver: Driver, address: int) -> None:
    """``cuMemFree``; null is nothing to free."""
    driver.usable()
    if address:
        driver.free(address)


def free_host(driver: Driver, address: int) -> None:
    """``cuMemFreeHost``."""
    driver.usable()
    found = driver.memory.find(address)
    if found is None or found.address != address or found.kind != "host":
        raise DriverError("INVALID_VALUE", f"{address:#x} is no pinned memory")
    driver.free(address)


def register(driver: Driver, address: int, size: int, _flags: int) -> None:
    """``cuMemHostRegister``."""
    context = driver.usable()
    if driver.memory.contains(address, size):
        raise DriverError("HOST_MEMORY_ALREADY_REGISTERED")
    driver.memory.adopt(address, size)
    context.owned.add(address)


def unregister(driver: Driver, address: int) -> None:
    """``cuMemHostUnregister``."""
    driver.usable()
    found = driver.memory.find(address)
    if found is None or found.address != address or found.kind != "adopted":
        raise DriverError("HOST_MEMORY_NOT_REGISTERED")
    driver.free(address)


def device_pointer(driver: Driver, out: int, address: int, flags: int) -> None:
    """``cuMemHostGetDevicePointer``: the same address."""
    driver.usable()
    found = driver.memory.find(address)
    if flags or found is None or found.kind not in {"host", "adopted", "managed"}:
        raise DriverError("INVALID_VALUE", f"{address:#x} is no pinned memory")
    put_handle(out, address)


def host_flags(driver: Driver, out: int, address: int) -> None:
    """``cuMemHostGetFlags``: portable and mapped."""
    driver.usable()
    found = driver.memory.find(address)
    if found is None or found.kind != "host":
        raise DriverError("INVALID_VALUE", f"{address:#x} is no pinned memory")
    put(out, "I", 3)


def info(driver: Driver, free_bytes: int, total: int) -> None:
    """``cuMemGetInfo``."""
    driver.usable()
    put_size(free_bytes, driver.memory.capacity - driver.memory.used)
    put_size(total, driver.memory.capacity)


def address_range(driver: Driver, base: int, size: int, address: int) -> None:
    """``cuMemGetAddressRange``."""
    driver.usable()
    found = driver.memory.find(address)
    if found is None:
        raise DriverError("NOT_FOUND")
    put_size(base, found.address)
    put_size(size, found.size)


def accept(driver: Driver, *_arguments: int) -> None:
    """Accept a hint about where memory should lie: there is one place."""
    driver.usable()


CALLS: Calls = {
    "cuMemAlloc_v2": (alloc, "pp"),
    "cuMemAllocPitch_v2": (alloc_pitch, "ppppu"),
    "cuMemAllocManaged": (alloc_managed, "ppu"),
    "cuMemAllocHost_v2": (alloc_host, "pp"),
    "cuMemHostAlloc": (host_alloc, "ppu"),
    "cuMemFree_v2": (free, "p"),
    "cuMemFreeHost": (free_host, "p"),
    "cuMemHostRegister_v2": (register, "ppu"),
    "cuMemHostUnregister": (unregister, "p"),
    "cuMemHostGetDevicePointer_v2": (device_pointer, "ppu"),
    "cuMemHostGetFlags": (host_flags, "pp"),
    "cuMemGetInfo_v2": (info, "pp"),
    "cuMemGetAddressRange_v2": (address_range, "ppp"),
    "cuStreamAttachMemAsync": (accept, "pppu"),
    "cuMemPrefetchAsync_v2": (accept, "pppup"),
    "cuMemAdvise_v2": (accept, "ppip"),
}
