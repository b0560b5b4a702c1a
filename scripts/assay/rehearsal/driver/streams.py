"""Streams: whatever is put into one has ended when the call returns, so that waiting is checking handles.

CUDA driver API 13.0: "Stream Management", "Execution Control" (host functions).
"""

from __future__ import annotations

import ctypes

from .call import Calls
from .codes import SUCCESS, DriverError
from .contexts import GREATEST_PRIORITY
from .raw import put, put_handle, put_int
from .state import THREAD_STREAM, Context, Driver, Event, Stream

_NON_BLOCKING = 1
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def create(driver: Driver, out: int, flags: int) -> None:
    """``cuStreamCreate``."""
    create_with_priority(driver, out, flags, 0)


def create_with_priority(driver: Driver, out: int, flags: int, priority: int) -> None:
    """``cuStreamCreateWithPriority``; a priority out of range is taken as the nearest."""
    context = driver.usable()
    if flags & ~_NON_BLOCKING:
        raise DriverError("INVALID_VALUE", f"flags {flags:#x}")
    put_handle(out, driver.handle(Stream(context, flags, max(GREATEST_PRIORITY, min(0, priority)))))


def destroy(driver: Driver, handle: int) -> None:
    """``cuStreamDestroy``."""
    driver.drop(handle, Stream)


def wait(driver: Driver, handle: int) -> None:
    """``cuStreamSynchronize`` and ``cuStreamQuery``."""
    driver.require_stream(handle)
    driver.usable()


def wait_event(driver: Driver, handle: int, event: int, _flags: int) -> None:
    """``cuStreamWaitEvent``."""
    driver.require_stream(handle)
    driver.get(event, Event)


def get_flags(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamGetFlags``."""
    put(out, "I", driver.get(handle, Stream).flags if handle > THREAD_STREAM else 0)


def get_priority(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamGetPriority``."""
    put_int(out, driver.get(handle, Stream).priority if handle > THREAD_STREAM else 0)


def context_of(driver: Driver, handle: int) -> Context:
    """Return a stream's context.

    Raises:
        DriverError: there is no such stream, or no current context for a default one.
    """
    return driver.get(handle, Stream).context if handle > THREAD_STREAM else driver.current()


def get_context(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamGetCtx``."""
    put_handle(out, context_of(driver, handle).handle)


def get_context_v2(driver: Driver, handle: int, out: int, green: int) -> None:
    """``cuStreamGetCtx_v2``: no stream is of a green context."""
    get_context(driver, handle, out)
    put_handle(green, 0)


def get_device(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamGetDevice``."""
    context_of(driver, handle)
    put_int(out, 0)


def get_id(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamGetId``."""
    driver.require_stream(handle)
    put(out, "Q", handle)


def is_capturing(driver: Driver, handle: int, out: int) -> None:
    """``cuStreamIsCapturing``: there are no graphs."""
    driver.require_stream(handle)
    put_int(out, 0)


def add_callback(driver: Driver, handle: int, function: int, data: int, _flags: int) -> None:
    """``cuStreamAddCallback``: called at once."""
    driver.require_stream(handle)
    driver.usable()
    _Callback(function)(handle, SUCCESS, data)


def host_function(driver: Driver, handle: int, function: int, data: int) -> None:
    """``cuLaunchHostFunc``: called at once."""
    driver.require_stream(handle)
    driver.usable()
    _HostFunction(function)(data)


CALLS: Calls = {
    "cuStreamCreate": (create, "pu"),
    "cuStreamCreateWithPriority": (create_with_priority, "pui"),
    "cuStreamDestroy_v2": (destroy, "p"),
    "cuStreamSynchronize": (wait, "p"),
    "cuStreamQuery": (wait, "p"),
    "cuStreamWaitEvent": (wait_event, "ppu"),
    "cuStreamGetFlags": (get_flags, "pp"),
    "cuStreamGetPriority": (get_priority, "pp"),
    "cuStreamGetCtx": (get_context, "pp"),
    "cuStreamGetCtx_v2": (get_context_v2, "ppp"),
    "cuStreamGetDevice": (get_device, "pp"),
    "cuStreamGetId": (get_id, "pp"),
    "cuStreamIsCapturing": (is_capturing, "pp"),
    "cuStreamAddCallback": (add_callback, "pppu"),
    "cuLaunchHostFunc": (host_function, "ppp"),
}
