"""What CUDA says of the driver and of each device, through cuda-python; every answer is the driver's own.

What a machine limits, WSL above all, is asked and tried, not assumed: managed memory by its attributes,
pinned memory by what can be allocated.  A driver that does not start is an answer too: ``init`` has its code.

Sources: CUDA driver API 13.0, "Initialization", "Device Management", "Memory Management".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from .cuda_calls import check
from .driver import uuid_text
from .failures import LIBCUDA_UNAVAILABLE, ChainError
from .packages import load, naming_missing_library
from .release import releasing

ATTRIBUTES: Mapping[str, int] = {
    "can_map_host_memory": 19,
    "compute_mode": 20,
    "concurrent_managed_access": 89,
    "ecc": 32,
    "host_register_supported": 99,
    "integrated": 18,
    "managed_memory": 83,
    "pageable_memory_access": 88,
    "tcc_driver": 35,
    "unified_addressing": 41,
}
"""By fact, the number of the attribute in ``CUdevice_attribute`` (cuda.h of CUDA 13.0)."""

_MAJOR, _MINOR = 75, 76

PINNED = tuple(size << 20 for size in (1, 16, 64, 256))
"""Bytes of pinned memory that are tried, one piece after another: what a chain needs is far less."""

_NAME = 256


def facts() -> dict[str, object]:
    """Return ``init`` (code and name), ``version`` (13000 is 13.0), ``count``, ``devices`` and ``pinned``.

    Raises:
        UnavailableError: cuda-python or the driver's library are missing.
        ChainError: a call failed after the driver had started.
    """
    driver = load("cuda.bindings.driver")
    with naming_missing_library("libcuda"):
        (status,) = driver.cuInit(0)
    code = int(status)
    name = str(getattr(status, "name", "")) or LIBCUDA_UNAVAILABLE.get(code, "")
    told: dict[str, object] = {"init": {"code": code, "name": name}, "count": None, "devices": []}
    told |= {"pinned": None, "version": None if code else int(check(driver, "cuDriverGetVersion"))}
    if code:
        return told
    count = int(check(driver, "cuDeviceGetCount"))
    devices = [_device(driver, ordinal) for ordinal in range(count)]
    return {**told, "count": count, "devices": devices, "pinned": _pinned(driver) if count else None}


def _device(driver: Any, ordinal: int) -> dict[str, object]:  # noqa: ANN401  # cuda.bindings is untyped
    """Return the facts of one device; memory in bytes."""
    device = check(driver, "cuDeviceGet", ordinal)
    name = bytes(check(driver, "cuDeviceGetName", _NAME, device)).partition(b"\0")[0]
    return {
        **{fact: _attribute(driver, number, device) for fact, number in ATTRIBUTES.items()},
        "compute_capability": f"{_attribute(driver, _MAJOR, device)}.{_attribute(driver, _MINOR, device)}",
        "memory": int(check(driver, "cuDeviceTotalMem", device)),
        "name": name.decode("utf-8", "replace"),
        "ordinal": ordinal,
        "uuid": uuid_text(bytes(check(driver, "cuDeviceGetUuid", device).bytes)),
    }


def _attribute(driver: Any, number: int, device: Any) -> int:  # noqa: ANN401  # cuda.bindings is untyped
    """Return one attribute."""
    return int(check(driver, "cuDeviceGetAttribute", driver.CUdevice_attribute(number), device))


def _pinned(driver: Any) -> dict[str, object]:  # noqa: ANN401  # cuda.bindings is untyped
    """Return the largest piece of ``PINNED`` that the first device could pin, and what stopped it."""
    largest = 0
    try:
        with _context(driver):
            for size in PINNED:
                address = check(driver, "cuMemHostAlloc", size, 0)
                check(driver, "cuMemFreeHost", address)
                largest = size
    except ChainError as error:
        return {"largest": largest, "problem": error.reason or str(error), "tried": list(PINNED)}
    return {"largest": largest, "problem": "", "tried": list(PINNED)}


@contextlib.contextmanager
def _context(driver: Any) -> Iterator[None]:  # noqa: ANN401  # cuda.bindings is untyped
    """Make the first device's primary context current inside the block; it is released after it."""
    device = check(driver, "cuDeviceGet", 0)
    context = check(driver, "cuDevicePrimaryCtxRetain", device)
    with releasing(lambda: check(driver, "cuDevicePrimaryCtxRelease", device)):
        check(driver, "cuCtxPushCurrent", context)
        with releasing(lambda: check(driver, "cuCtxPopCurrent")):
            yield
