"""Events: recorded when the call is made, since everything before it has ended.

CUDA driver API 13.0: "Event Management".
"""

from __future__ import annotations

import time

from .call import Calls
from .codes import DriverError
from .raw import put, put_handle
from .state import Driver, Event

DISABLE_TIMING = 2
INTERPROCESS = 4
_FLAGS = 7


def create(driver: Driver, out: int, flags: int) -> None:
    """``cuEventCreate``."""
    context = driver.usable()
    if flags & ~_FLAGS:
        raise DriverError("INVALID_VALUE", f"flags {flags:#x}")
    if flags & INTERPROCESS:
        raise DriverError("NOT_SUPPORTED", "events of several processes are not supported")
    put_handle(out, driver.handle(Event(context, flags)))


def destroy(driver: Driver, handle: int) -> None:
    """``cuEventDestroy``."""
    driver.drop(handle, Event)


def record(driver: Driver, handle: int, stream: int) -> None:
    """``cuEventRecord``."""
    driver.require_stream(stream)
    event = driver.get(handle, Event)
    if event.context.fault:
        driver.usable()
    event.time = time.perf_counter_ns()


def record_with_flags(driver: Driver, handle: int, stream: int, _flags: int) -> None:
    """``cuEventRecordWithFlags``."""
    record(driver, handle, stream)


def wait(driver: Driver, handle: int) -> None:
    """``cuEventQuery`` and ``cuEventSynchronize``: one that was never recorded has nothing to wait for."""
    driver.get(handle, Event)
    driver.usable()


def elapsed(driver: Driver, out: int, first: int, second: int) -> None:
    """``cuEventElapsedTime``: milliseconds."""
    start, stop = driver.get(first, Event), driver.get(second, Event)
    if not start.time or not stop.time or (start.flags | stop.flags) & DISABLE_TIMING:
        raise DriverError("INVALID_HANDLE", "an event that was not recorded, or keeps no time")
    put(out, "f", (stop.time - start.time) / 1e6)


CALLS: Calls = {
    "cuEventCreate": (create, "pu"),
    "cuEventDestroy_v2": (destroy, "p"),
    "cuEventRecord": (record, "pp"),
    "cuEventRecordWithFlags": (record_with_flags, "ppu"),
    "cuEventQuery": (wait, "p"),
    "cuEventSynchronize": (wait, "p"),
    "cuEventElapsedTime": (elapsed, "ppp"),
    "cuEventElapsedTime_v2": (elapsed, "ppp"),
}
