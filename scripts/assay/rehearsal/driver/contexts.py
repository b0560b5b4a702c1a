"""Contexts: those that programs make, and the device's primary one.

CUDA driver API 13.0: "Primary Context Management", "Context Management".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .call import Calls
from .codes import DriverError
from .devices import require_device
from .raw import put, put_handle, put_int
from .state import Context, Driver, FaultError

API_VERSION = 3020
"""What ``cuCtxGetApiVersion`` says of contexts made by ``cuCtxCreate_v2`` and newer."""

LIMITS: Mapping[int, int] = MappingProxyType({0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 128, 6: 0})
"""By number of ``CUlimit``: stack, printf buffer, heap, and device runtime's, in bytes or counts."""

GREATEST_PRIORITY = -5


def create(driver: Driver, out: int, _parameters: int, flags: int, device: int) -> None:
    """``cuCtxCreate_v4`` (and ``_v3`` without its count): the new context becomes current."""
    require_device(device)
    context = Context(flags=flags)
    context.handle = driver.handle(context)
    driver.stack.append(context)
    put_handle(out, context.handle)


def create_v3(driver: Driver, out: int, _parameters: int, _count: int, flags: int, device: int) -> None:
    """``cuCtxCreate_v3``."""
    create(driver, out, 0, flags, device)


def create_v2(driver: Driver, out: int, flags: int, device: int) -> None:
    """``cuCtxCreate_v2``."""
    create(driver, out, 0, flags, device)


def destroy(driver: Driver, handle: int) -> None:
    """``cuCtxDestroy``: it is ended, and popped where it is current."""
    context = driver.get(handle, Context, "INVALID_CONTEXT")
    if context.primary:
        raise DriverError("INVALID_CONTEXT", "the primary context is released, not destroyed")
    if driver.stack and driver.stack[-1] is context:
        driver.stack.pop()
    driver.end(context)
    driver.drop(handle, Context)


def attach(driver: Driver, out: int, _flags: int) -> None:
    """``cuCtxAttach`` (deprecated): one use more."""
    context = driver.current()
    context.uses += 1
    put_handle(out, context.handle)


def detach(driver: Driver, handle: int) -> None:
    """``cuCtxDetach`` (deprecated): one use less; the last one destroys."""
    context = driver.get(handle, Context, "INVALID_CONTEXT")
    context.uses -= 1
    if context.uses < 1:
        destroy(driver, handle)


def push(driver: Driver, handle: int) -> None:
    """``cuCtxPushCurrent``."""
    driver.stack.append(driver.get(handle, Context, "INVALID_CONTEXT"))


def pop(driver: Driver, out: int) -> None:
    """``cuCtxPopCurrent``."""
    if not driver.stack:
        raise DriverError("INVALID_CONTEXT")
    context = driver.stack.pop()
    if out:
        put_handle(out, context.handle)


def set_current(driver: Driver, handle: int) -> None:
    """``cuCtxSetCurrent``: replaces the top of the stack; null only takes it away."""
    context = driver.get(handle, Context, "INVALID_CONTEXT") if handle else None
    if driver.stack:
        driver.stack.pop()
    if context is not None:
        driver.stack.append(context)


def get_current(driver: Driver, out: int) -> None:
    """``cuCtxGetCurrent``: null where there is none."""
    put_handle(out, driver.stack[-1].handle if driver.stack else 0)


def get_device(driver: Driver, out: int) -> None:
    """``cuCtxGetDevice``."""
    driver.current()
    put_int(out, 0)


def get_device_of(driver: Driver, out: int, handle: int) -> None:
    """``cuCtxGetDevice_v2``: of a context, or of the current one."""
    _given(driver, handle)
    put_int(out, 0)


def get_id(driver: Driver, handle: int, out: int) -> None:
    """``cuCtxGetId``: unique in the process."""
    put(out, "Q", _given(driver, handle).handle)


def get_flags(driver: Driver, out: int) -> None:
    """``cuCtxGetFlags``."""
    put(out, "I", driver.current().flags)


def synchronize(driver: Driver) -> None:
    """``cuCtxSynchronize``: everything has ended; an earlier kernel's fault is told."""
    driver.usable()


def synchronize_v2(driver: Driver, handle: int) -> None:
    """``cuCtxSynchronize_v2``."""
    context = _given(driver, handle)
    if context.fault:
        raise FaultError(context.fault)


def _given(driver: Driver, handle: int) -> Context:
    return driver.get(handle, Context, "INVALID_CONTEXT") if handle else driver.current()


def api_version(driver: Driver, handle: int, out: int) -> None:
    """``cuCtxGetApiVersion``."""
    _given(driver, handle)
    put(out, "I", API_VERSION)


def priorities(driver: Driver, least: int, greatest: int) -> None:
    """``cuCtxGetStreamPriorityRange``."""
    driver.current()
    for out, value in ((least, 0), (greatest, GREATEST_PRIORITY)):
        if out:
            put_int(out, value)


def get_limit(driver: Driver, out: int, number: int) -> None:
    """``cuCtxGetLimit``."""
    context = driver.current()
    if number not in LIMITS:
        raise DriverError("UNSUPPORTED_LIMIT", f"limit {number}")
    put(out, "Q", context.limits.get(number, LIMITS[number]))


def set_limit(driver: Driver, number: int, value: int) -> None:
    """``cuCtxSetLimit``: kept, and without effect."""
    context = driver.current()
    if number not in LIMITS:
        raise DriverError("UNSUPPORTED_LIMIT", f"limit {number}")
    context.limits[number] = value


def get_zero(driver: Driver, out: int) -> None:
    """Answer the deprecated cache and bank configurations: no preference."""
    driver.current()
    put_int(out, 0)


def accept(driver: Driver, *_arguments: int) -> None:
    """Accept a hint that changes nothing here."""
    driver.current()


def enable_peer(driver: Driver, *_arguments: int) -> None:
    """``cuCtxEnablePeerAccess``: one device has no peer."""
    driver.current()
    raise DriverError("PEER_ACCESS_UNSUPPORTED")


def disable_peer(driver: Driver, *_arguments: int) -> None:
    """``cuCtxDisablePeerAccess``."""
    driver.current()
    raise DriverError("PEER_ACCESS_NOT_ENABLED")


def retain(driver: Driver, out: int, device: int) -> None:
    """``cuDevicePrimaryCtxRetain``."""
    require_device(device)
    primary = driver.primary
    if not primary.alive:
        primary.alive, primary.fault = True, 0
        primary.handle = driver.handle(primary)
    primary.uses += 1
    put_handle(out, primary.handle)


def release(driver: Driver, device: int) -> None:
    """``cuDevicePrimaryCtxRelease``: the last release ends it."""
    require_device(device)
    if not driver.primary.uses:
        raise DriverError("INVALID_CONTEXT", "the primary context is not retained")
    driver.primary.uses -= 1
    if not driver.primary.uses:
        _end_primary(driver)


def reset(driver: Driver, device: int) -> None:
    """``cuDevicePrimaryCtxReset``: ended, and made anew where it is still retained."""
    require_device(device)
    primary = driver.primary
    if primary.alive:
        _end_primary(driver)
    if primary.uses:
        primary.alive, primary.handle = True, driver.handle(primary)


def _end_primary(driver: Driver) -> None:
    driver.end(driver.primary)
    driver.drop(driver.primary.handle, Context)


def state(driver: Driver, device: int, flags: int, active: int) -> None:
    """``cuDevicePrimaryCtxGetState``."""
    require_device(device)
    put(flags, "I", driver.primary.flags)
    put_int(active, int(driver.primary.alive))


def set_flags(driver: Driver, device: int, flags: int) -> None:
    """``cuDevicePrimaryCtxSetFlags``."""
    require_device(device)
    driver.primary.flags = flags


CALLS: Calls = {
    "cuCtxCreate_v2": (create_v2, "pui"),
    "cuCtxCreate_v3": (create_v3, "ppiui"),
    "cuCtxCreate_v4": (create, "ppui"),
    "cuCtxDestroy_v2": (destroy, "p"),
    "cuCtxAttach": (attach, "pu"),
    "cuCtxDetach": (detach, "p"),
    "cuCtxPushCurrent_v2": (push, "p"),
    "cuCtxPopCurrent_v2": (pop, "p"),
    "cuCtxSetCurrent": (set_current, "p"),
    "cuCtxGetCurrent": (get_current, "p"),
    "cuCtxGetDevice": (get_device, "p"),
    "cuCtxGetDevice_v2": (get_device_of, "pp"),
    "cuCtxGetId": (get_id, "pp"),
    "cuCtxGetFlags": (get_flags, "p"),
    "cuCtxSynchronize": (synchronize, ""),
    "cuCtxSynchronize_v2": (synchronize_v2, "p"),
    "cuCtxGetApiVersion": (api_version, "pp"),
    "cuCtxGetStreamPriorityRange": (priorities, "pp"),
    "cuCtxGetLimit": (get_limit, "pi"),
    "cuCtxSetLimit": (set_limit, "ip"),
    "cuCtxGetCacheConfig": (get_zero, "p"),
    "cuCtxSetCacheConfig": (accept, "i"),
    "cuCtxGetSharedMemConfig": (get_zero, "p"),
    "cuCtxSetSharedMemConfig": (accept, "i"),
    "cuCtxEnablePeerAccess": (enable_peer, "pu"),
    "cuCtxDisablePeerAccess": (disable_peer, "p"),
    "cuDevicePrimaryCtxRetain": (retain, "pi"),
    "cuDevicePrimaryCtxRelease": (release, "i"),
    "cuDevicePrimaryCtxRelease_v2": (release, "i"),
    "cuDevicePrimaryCtxReset": (reset, "i"),
    "cuDevicePrimaryCtxReset_v2": (reset, "i"),
    "cuDevicePrimaryCtxGetState": (state, "ipp"),
    "cuDevicePrimaryCtxSetFlags": (set_flags, "iu"),
    "cuDevicePrimaryCtxSetFlags_v2": (set_flags, "iu"),
    "cuProfilerInitialize": (accept, "ppi"),
    "cuProfilerStart": (accept, ""),
    "cuProfilerStop": (accept, ""),
}
