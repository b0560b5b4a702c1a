"""What the Vulkan loader lists: its version and every device of every driver that it finds.

Through the loader's C interface alone, so that it needs no package.  It loads every driver of the machine and
can hang with one: ask it in a child of its own.

Sources: Vulkan 1.3, "Initialization" and "Devices and Queues"; ``vulkan_core.h``.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
from collections.abc import Iterator, Mapping

from .failures import ChainError, UnavailableError

LIBRARY = "libvulkan.so.1"

RESULTS: Mapping[int, str] = {
    -1: "VK_ERROR_OUT_OF_HOST_MEMORY",
    -2: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
    -3: "VK_ERROR_INITIALIZATION_FAILED",
    -6: "VK_ERROR_LAYER_NOT_PRESENT",
    -7: "VK_ERROR_EXTENSION_NOT_PRESENT",
    -9: "VK_ERROR_INCOMPATIBLE_DRIVER",
}
TYPES = ("other", "integrated", "discrete", "virtual", "cpu")
"""``VkPhysicalDeviceType`` by number."""

MAX_DEVICES = 64

_INCOMPLETE = 5
_CREATE_INSTANCE, _APPLICATION = 1, 0
_PROPERTIES_2, _DRIVER_PROPERTIES = 1_000_059_001, 1_000_196_000
"""Values of ``VkStructureType``."""
_API_1_2 = 1 << 22 | 2 << 12
"""Since then a device tells of its driver (VkPhysicalDeviceDriverProperties)."""

_HEAD = struct.Struct("=5I256s")
"""``VkPhysicalDeviceProperties`` up to the name: api, driver, vendor, device, type."""
_PROPERTIES = 4096
"""Bytes for a ``VkPhysicalDeviceProperties``, which has 824."""
_TEXT = 256
"""``VK_MAX_DRIVER_NAME_SIZE`` and ``VK_MAX_DRIVER_INFO_SIZE``."""


class _Application(ctypes.Structure):
    """``VkApplicationInfo``."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("application", ctypes.c_char_p),
        ("application_version", ctypes.c_uint32),
        ("engine", ctypes.c_char_p),
        ("engine_version", ctypes.c_uint32),
        ("api", ctypes.c_uint32),
    )


class _Instance(ctypes.Structure):
    """``VkInstanceCreateInfo`` without layers and extensions."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application", ctypes.POINTER(_Application)),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    )


class _Driver(ctypes.Structure):
    """``VkPhysicalDeviceDriverProperties``."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("id", ctypes.c_uint32),
        ("name", ctypes.c_char * _TEXT),
        ("info", ctypes.c_char * _TEXT),
        ("conformance", ctypes.c_uint8 * 4),
    )


class _Properties2(ctypes.Structure):
    """``VkPhysicalDeviceProperties2``; what stands in it is as large as it has to be, and larger."""

    _fields_ = (
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("properties", ctypes.c_uint64 * (_PROPERTIES // 8)),
    )


def facts() -> dict[str, object]:
    """Return ``loader`` (the Vulkan version that it speaks) and ``devices``.

    A device has ``name``, ``vendor``, ``device``, ``type`` (one of ``TYPES``), ``api``, and of its driver
    ``driver_id`` (``VkDriverId``), ``driver_name`` and ``driver_info``, null where it tells none.

    Raises:
        UnavailableError: there is no loader, or it finds no driver that it can use.
        ChainError: a call failed.
    """
    library = _load()
    version = _loader_version(library)
    with _instance(library, version) as instance:
        devices = [_device(library, each, version) for each in _devices(library, instance)]
    return {"devices": devices, "loader": _dotted(version)}


def _load() -> ctypes.CDLL:
    """Return the loader.

    Raises:
        UnavailableError: it is not there, or cannot be loaded.
    """
    try:
        return ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise UnavailableError(str(error), reason="library-missing") from error


def _loader_version(library: ctypes.CDLL) -> int:
    """Return the version that the loader speaks; one of Vulkan 1.0 has no function that tells it."""
    version = ctypes.c_uint32(1 << 22)
    if hasattr(library, "vkEnumerateInstanceVersion"):
        _check("vkEnumerateInstanceVersion", library.vkEnumerateInstanceVersion(ctypes.byref(version)))
    return version.value


@contextlib.contextmanager
def _instance(library: ctypes.CDLL, version: int) -> Iterator[ctypes.c_void_p]:
    """Make an instance inside the block."""
    application = _Application(_APPLICATION, None, b"assay", 0, None, 0, min(version, _API_1_2))
    wanted = _Instance(_CREATE_INSTANCE, None, 0, ctypes.pointer(application), 0, None, 0, None)
    instance = ctypes.c_void_p()
    _check("vkCreateInstance", library.vkCreateInstance(ctypes.byref(wanted), None, ctypes.byref(instance)))
    try:
        yield instance
    finally:
        library.vkDestroyInstance(instance, None)


def _devices(library: ctypes.CDLL, instance: ctypes.c_void_p) -> list[ctypes.c_void_p]:
    """Return the handles of up to ``MAX_DEVICES`` devices."""
    count, handles = ctypes.c_uint32(MAX_DEVICES), (ctypes.c_void_p * MAX_DEVICES)()
    status = library.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
    if status != _INCOMPLETE:
        _check("vkEnumeratePhysicalDevices", status)
    return [ctypes.c_void_p(handle) for handle in handles[: count.value]]


def _device(library: ctypes.CDLL, handle: ctypes.c_void_p, version: int) -> dict[str, object]:
    """Return what a device says of itself, and of its driver where both are of Vulkan 1.2."""
    held = (ctypes.c_uint64 * (_PROPERTIES // 8))()
    library.vkGetPhysicalDeviceProperties(handle, held)
    api, _driver, vendor, number, kind, name = _HEAD.unpack_from(held)
    told = {
        "api": _dotted(api),
        "device": number,
        "name": _text(name),
        "type": TYPES[kind] if kind < len(TYPES) else str(kind),
        "vendor": vendor,
    }
    return {**told, **_driver_of(library, handle, asked=min(version, api) >= _API_1_2)}


def _driver_of(library: ctypes.CDLL, handle: ctypes.c_void_p, *, asked: bool) -> dict[str, object]:
    """Return what a device says of its driver."""
    if not asked or not hasattr(library, "vkGetPhysicalDeviceProperties2"):
        return {"driver_id": None, "driver_info": None, "driver_name": None}
    driver = _Driver(_DRIVER_PROPERTIES)
    wanted = _Properties2(_PROPERTIES_2, ctypes.cast(ctypes.pointer(driver), ctypes.c_void_p))
    library.vkGetPhysicalDeviceProperties2(handle, ctypes.byref(wanted))
    return {"driver_id": driver.id, "driver_info": _text(driver.info), "driver_name": _text(driver.name)}


def _check(call: str, status: int) -> None:
    """Raise what a failed call means.

    Raises:
        UnavailableError: no driver can be used, or none starts.
        ChainError: it failed otherwise.
    """
    if status < 0:
        name = RESULTS.get(status, f"VkResult {status}")
        kind = UnavailableError if status in {-3, -9} else ChainError
        raise kind(f"{call} returned {status} ({name})", reason=name, code=status)


def _text(data: bytes) -> str:
    """Return the text up to the first NUL."""
    return data.partition(b"\0")[0].decode("utf-8", "replace")


def _dotted(version: int) -> str:
    """Return a version as ``VK_MAKE_API_VERSION`` packs it: major, minor, patch."""
    return f"{version >> 22 & 0x7F}.{version >> 12 & 0x3FF}.{version & 0xFFF}"
