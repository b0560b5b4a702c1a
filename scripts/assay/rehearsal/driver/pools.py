"""Memory in stream order: one default pool of the device, and pools that programs make.

CUDA driver API 13.0: "Stream Ordered Memory Allocator".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .call import Calls
from .codes import DriverError
from .devices import require_device
from .raw import put, put_handle, put_int, read
from .state import Driver

_FLAGS = frozenset({1, 2, 3})
_THRESHOLD = 4
_SIZES = frozenset({5, 6, 7, 8})
"""``CUmemPool_attribute``: three reuse flags (``int``), the threshold, reserved and used bytes (64 bits)."""

_READ_WRITE = 3


@dataclass(eq=False)
class Pool:
    """A pool; memory is the device's, so that only its settings are its own."""

    settings: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1, _THRESHOLD: 0})


def default(driver: Driver, out: int, device: int) -> None:
    """``cuDeviceGetDefaultMemPool`` and ``cuDeviceGetMemPool``."""
    require_device(device)
    known = next((handle for handle, _ in driver.all(Pool)), 0)
    put_handle(out, known or driver.handle(Pool()))


def set_pool(driver: Driver, device: int, handle: int) -> None:
    """``cuDeviceSetMemPool``: whichever pool it is, the memory is the device's."""
    require_device(device)
    driver.get(handle, Pool, "INVALID_VALUE")


def create(driver: Driver, out: int, _properties: int) -> None:
    """``cuMemPoolCreate``."""
    put_handle(out, driver.handle(Pool()))


def destroy(driver: Driver, handle: int) -> None:
    """``cuMemPoolDestroy``."""
    driver.drop(handle, Pool)


def trim(driver: Driver, handle: int, _keep: int) -> None:
    """``cuMemPoolTrimTo``: nothing is held back."""
    driver.get(handle, Pool, "INVALID_VALUE")


def get(driver: Driver, handle: int, number: int, out: int) -> None:
    """``cuMemPoolGetAttribute``."""
    pool = driver.get(handle, Pool, "INVALID_VALUE")
    if number in _FLAGS:
        put_int(out, pool.settings[number])
    elif number == _THRESHOLD:
        put(out, "Q", pool.settings[number])
    elif number in _SIZES:
        put(out, "Q", driver.memory.used)
    else:
        put(out, "Q", 0)


def set_attribute(driver: Driver, handle: int, number: int, value: int) -> None:
    """``cuMemPoolSetAttribute``."""
    pool = driver.get(handle, Pool, "INVALID_VALUE")
    if number in _FLAGS:
        pool.settings[number] = int.from_bytes(read(value, 4), "little")
    elif number == _THRESHOLD:
        pool.settings[number] = int.from_bytes(read(value, 8), "little")
    elif number not in _SIZES:
        raise DriverError("INVALID_VALUE", f"no attribute {number}")


def access(driver: Driver, out: int, handle: int, _location: int) -> None:
    """``cuMemPoolGetAccess``: the one device reads and writes."""
    driver.get(handle, Pool, "INVALID_VALUE")
    put_int(out, _READ_WRITE)


def set_access(driver: Driver, handle: int, _descriptions: int, _count: int) -> None:
    """``cuMemPoolSetAccess``."""
    driver.get(handle, Pool, "INVALID_VALUE")


def alloc(driver: Driver, out: int, size: int, stream: int) -> None:
    """``cuMemAllocAsync``."""
    driver.require_stream(stream)
    put_handle(out, driver.allocate(size))


def alloc_from(driver: Driver, out: int, size: int, pool: int, stream: int) -> None:
    """``cuMemAllocFromPoolAsync``."""
    driver.get(pool, Pool, "INVALID_VALUE")
    alloc(driver, out, size, stream)


def free(driver: Driver, address: int, stream: int) -> None:
    """``cuMemFreeAsync``."""
    driver.require_stream(stream)
    driver.usable()
    driver.free(address)


CALLS: Calls = {
    "cuDeviceGetDefaultMemPool": (default, "pi"),
    "cuDeviceGetMemPool": (default, "pi"),
    "cuDeviceSetMemPool": (set_pool, "ip"),
    "cuMemPoolCreate": (create, "pp"),
    "cuMemPoolDestroy": (destroy, "p"),
    "cuMemPoolTrimTo": (trim, "pp"),
    "cuMemPoolGetAttribute": (get, "pip"),
    "cuMemPoolSetAttribute": (set_attribute, "pip"),
    "cuMemPoolGetAccess": (access, "ppp"),
    "cuMemPoolSetAccess": (set_access, "ppp"),
    "cuMemAllocAsync": (alloc, "ppp"),
    "cuMemAllocFromPoolAsync": (alloc_from, "pppp"),
    "cuMemFreeAsync": (free, "pp"),
}
