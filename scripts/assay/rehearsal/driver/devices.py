"""Initialisation, version, the one device and its attributes, names and texts of errors.

CUDA driver API 13.0: "Initialization", "Version Management", "Error Handling", "Device Management".
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from types import MappingProxyType

from ..device import MAX_BLOCK, MAX_CONSTANT, MAX_GRID, MAX_STATIC_SHARED, MAX_THREADS, MULTIPROCESSORS, WARP
from .call import Calls
from .codes import NAMES, DriverError, text_of
from .raw import put_bytes, put_handle, put_int, put_size, put_text, read_text
from .state import Driver

VERSION = 13000
"""CUDA 13.0."""

NAME = "CPU (rehearsal)"

UUID = b"assay-rehearsal\0"
"""No GPU has it: a version 4 or 5 UUID (RFC 9562) has other bits in its seventh byte."""

UUID_TEXT = "GPU-" + "-".join(
    UUID.hex()[start:stop] for start, stop in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
)

PCI_BUS = "0000:00:00.0"

CAPABILITY = (7, 5)
"""The oldest that CUDA 13 compiles for; its PTX is the smallest set of instructions."""

ATTRIBUTES: Mapping[int, int] = MappingProxyType(
    {
        1: MAX_THREADS,
        **dict(zip((2, 3, 4), MAX_BLOCK, strict=True)),
        **dict(zip((5, 6, 7), MAX_GRID, strict=True)),
        8: MAX_STATIC_SHARED,  # MAX_SHARED_MEMORY_PER_BLOCK
        9: MAX_CONSTANT,
        10: WARP,
        11: (1 << 31) - 1,  # MAX_PITCH
        12: 64 << 10,  # MAX_REGISTERS_PER_BLOCK
        13: 1_000_000,  # CLOCK_RATE, in kHz
        14: 512,  # TEXTURE_ALIGNMENT
        15: 1,  # GPU_OVERLAP
        16: MULTIPROCESSORS,
        19: 1,  # CAN_MAP_HOST_MEMORY
        31: 1,  # CONCURRENT_KERNELS
        36: 1_000_000,  # MEMORY_CLOCK_RATE, in kHz
        37: 64,  # GLOBAL_MEMORY_BUS_WIDTH
        38: 4 << 20,  # L2_CACHE_SIZE
        39: 1024,  # MAX_THREADS_PER_MULTIPROCESSOR
        40: 1,  # ASYNC_ENGINE_COUNT
        41: 1,  # UNIFIED_ADDRESSING
        51: 32,  # TEXTURE_PITCH_ALIGNMENT
        75: CAPABILITY[0],
        76: CAPABILITY[1],
        78: 1,  # STREAM_PRIORITIES_SUPPORTED
        81: 64 << 10,  # MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
        82: 64 << 10,  # MAX_REGISTERS_PER_MULTIPROCESSOR
        83: 1,  # MANAGED_MEMORY
        87: 2,  # SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
        91: 1,  # CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
        97: 64 << 10,  # MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        99: 1,  # HOST_REGISTER_SUPPORTED
        106: 16,  # MAX_BLOCKS_PER_MULTIPROCESSOR
        115: 1,  # MEMORY_POOLS_SUPPORTED
    }
)
"""By number of ``CUdevice_attribute`` (cuda.h); what is not named is 0: absent, or not supported."""

_LAST_ATTRIBUTE = 160
"""Numbers from here on are no attributes of cuda.h 13 or its next minor versions."""

_texts = {code: ctypes.create_string_buffer((text_of(code) or "").encode()) for code in NAMES}
_names = {code: ctypes.create_string_buffer(name.encode()) for code, name in NAMES.items()}
"""Static strings, as the driver's are: a caller keeps the pointer."""


def require_device(device: int) -> None:
    """Check a device's number.

    Raises:
        DriverError: it is not 0 (``INVALID_DEVICE``).
    """
    if device:
        raise DriverError("INVALID_DEVICE", f"there is no device {device}")


def init(driver: Driver, flags: int) -> None:
    """``cuInit``: flags must be 0."""
    if flags:
        raise DriverError("INVALID_VALUE", "flags are not 0")
    driver.ready = True


def version(_driver: Driver, out: int) -> None:
    """``cuDriverGetVersion``."""
    put_int(out, VERSION)


def error_name(_driver: Driver, code: int, out: int) -> None:
    """``cuGetErrorName``; an unknown code gives a null pointer."""
    _static(_names, code, out)


def error_string(_driver: Driver, code: int, out: int) -> None:
    """``cuGetErrorString``; an unknown code gives a null pointer."""
    _static(_texts, code, out)


def _static(table: Mapping[int, ctypes.Array[ctypes.c_char]], code: int, out: int) -> None:
    known = table.get(code)
    put_handle(out, ctypes.addressof(known) if known is not None else 0)
    if known is None:
        raise DriverError("INVALID_VALUE", f"no code {code}")


def count(_driver: Driver, out: int) -> None:
    """``cuDeviceGetCount``."""
    put_int(out, 1)


def get(_driver: Driver, out: int, ordinal: int) -> None:
    """``cuDeviceGet``."""
    require_device(ordinal)
    put_int(out, ordinal)


def name(_driver: Driver, out: int, size: int, device: int) -> None:
    """``cuDeviceGetName``."""
    require_device(device)
    put_text(out, size, NAME)


def uuid(_driver: Driver, out: int, device: int) -> None:
    """``cuDeviceGetUuid``."""
    require_device(device)
    put_bytes(out, UUID)


def total_memory(driver: Driver, out: int, device: int) -> None:
    """``cuDeviceTotalMem``."""
    require_device(device)
    put_size(out, driver.memory.capacity)


def attribute(_driver: Driver, out: int, number: int, device: int) -> None:
    """``cuDeviceGetAttribute``."""
    require_device(device)
    if not 0 < number < _LAST_ATTRIBUTE:
        raise DriverError("INVALID_VALUE", f"no attribute {number}")
    put_int(out, ATTRIBUTES.get(number, 0))


def capability(_driver: Driver, major: int, minor: int, device: int) -> None:
    """``cuDeviceComputeCapability``."""
    require_device(device)
    put_int(major, CAPABILITY[0])
    put_int(minor, CAPABILITY[1])


def pci_bus(_driver: Driver, out: int, size: int, device: int) -> None:
    """``cuDeviceGetPCIBusId``."""
    require_device(device)
    put_text(out, size, PCI_BUS)


def by_pci_bus(_driver: Driver, out: int, text: int) -> None:
    """``cuDeviceGetByPCIBusId``."""
    if read_text(text).lower() != PCI_BUS:
        raise DriverError("INVALID_DEVICE")
    put_int(out, 0)


def can_access_peer(_driver: Driver, out: int, device: int, peer: int) -> None:
    """``cuDeviceCanAccessPeer``: there is no peer."""
    require_device(device)
    require_device(peer)
    put_int(out, 0)


CALLS: Calls = {
    "cuInit": (init, "u"),
    "cuDriverGetVersion": (version, "p"),
    "cuGetErrorName": (error_name, "ip"),
    "cuGetErrorString": (error_string, "ip"),
    "cuDeviceGetCount": (count, "p"),
    "cuDeviceGet": (get, "pi"),
    "cuDeviceGetName": (name, "pii"),
    "cuDeviceGetUuid": (uuid, "pi"),
    "cuDeviceGetUuid_v2": (uuid, "pi"),
    "cuDeviceTotalMem_v2": (total_memory, "pi"),
    "cuDeviceGetAttribute": (attribute, "pii"),
    "cuDeviceComputeCapability": (capability, "ppi"),
    "cuDeviceGetPCIBusId": (pci_bus, "pii"),
    "cuDeviceGetByPCIBusId": (by_pci_bus, "pp"),
    "cuDeviceCanAccessPeer": (can_access_peer, "pii"),
}
