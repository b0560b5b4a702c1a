"""The CUDA driver's own word about a device, through ``ctypes``: no package of the selection is needed.

A runtime calls ``require`` after it has imported its package and before it calls CUDA through it: the library
that the package brought into the process is the one that is asked, and a driver that cannot start (none, a
stub, no device) is named by its code instead of crashing the package.

Sources: CUDA driver API 13.0, "Initialization", "Version Management", "Device Management", "Error Handling".
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .failures import UnavailableError, cuda_error

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

ATTRIBUTES: Mapping[str, int] = {
    "multiprocessors": 16,
    "integrated": 18,
    "compute_mode": 20,
    "ecc": 32,
    "tcc_driver": 35,
    "unified_addressing": 41,
    "compute_capability_major": 75,
    "compute_capability_minor": 76,
    "managed_memory": 83,
}
"""By fact, the number of the attribute in ``CUdevice_attribute`` (cuda.h of CUDA 13.0)."""

_NAME_SIZE = 256
_UUID_SIZE = 16


class Driver:
    """The driver library of this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def call(self, name: str, *arguments: object, starting: bool = False) -> None:
        """Call a function of the driver.

        Raises:
            CudaError: it failed.
            UnavailableError: it failed with a code that says what the machine lacks.
        """
        function: Callable[..., int] = getattr(self._library, name)
        code = function(*arguments)
        if code:
            raise cuda_error(name, code, self._name(code), starting=starting)

    def require(self, ordinal: int) -> int:
        """Start the driver and return the device of that number.

        Raises:
            UnavailableError: there is no such device, or the driver cannot start.
        """
        self.call("cuInit", 0, starting=True)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), ordinal, starting=True)
        return device.value

    def facts(self, ordinal: int) -> dict[str, object]:
        """Return what the driver says of a device.

        ``name``, ``uuid`` (``GPU-…``), ``pci_bus`` (``0000:1b:00.0``), ``cuda_version`` (13000 is 13.0),
        ``memory`` in bytes, ``count`` of devices, and the ``ATTRIBUTES`` as integers.

        Raises:
            CudaError: a call failed.
            UnavailableError: there is no such device.
        """
        device = self.require(ordinal)
        attributes = {fact: self._attribute(number, device) for fact, number in ATTRIBUTES.items()}
        major, minor = attributes.pop("compute_capability_major"), attributes.pop("compute_capability_minor")
        return {
            **attributes,
            "compute_capability": f"{major}.{minor}",
            "count": self._integer("cuDeviceGetCount"),
            "cuda_version": self._integer("cuDriverGetVersion"),
            "memory": self._memory(device),
            "name": self._text("cuDeviceGetName", device),
            "ordinal": ordinal,
            "pci_bus": self._pci_bus(device),
            "uuid": self._uuid(device),
        }

    def _name(self, code: int) -> str:
        """Return the driver's name of a code, or nothing."""
        name = ctypes.c_char_p()
        try:
            failed = self._library.cuGetErrorName(code, ctypes.byref(name))
        except AttributeError:
            return ""
        return "" if failed or not name.value else name.value.decode("ascii", "replace")

    def _integer(self, call: str) -> int:
        """Return the integer of a function that gives only that."""
        value = ctypes.c_int()
        self.call(call, ctypes.byref(value))
        return value.value

    def _attribute(self, number: int, device: int) -> int:
        """Return one attribute."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    def _memory(self, device: int) -> int:
        """Return the device's memory in bytes."""
        value = ctypes.c_size_t()
        self.call("cuDeviceTotalMem_v2", ctypes.byref(value), device)
        return value.value

    def _text(self, call: str, device: int) -> str:
        """Return the text of a function that fills a buffer."""
        text = ctypes.create_string_buffer(_NAME_SIZE)
        self.call(call, text, _NAME_SIZE, device)
        return text.value.decode("utf-8", "replace")

    def _pci_bus(self, device: int) -> str:
        """Return the PCI address, such as ``0000:1b:00.0``."""
        text = ctypes.create_string_buffer(_NAME_SIZE)
        self.call("cuDeviceGetPCIBusId", text, _NAME_SIZE, device)
        return text.value.decode("ascii", "replace").lower()

    def _uuid(self, device: int) -> str:
        """Return the UUID in NVML's spelling (of a MIG device it is the partition's own)."""
        raw = (ctypes.c_ubyte * _UUID_SIZE)()
        self.call("cuDeviceGetUuid_v2", raw, device)
        return uuid_text(bytes(raw))


def uuid_text(raw: bytes) -> str:
    """Return a device's UUID (16 bytes) in NVML's spelling, ``GPU-…``."""
    text = raw.hex()
    return "GPU-" + "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def load() -> Driver:
    """Return the process's CUDA driver.

    Raises:
        UnavailableError: the machine has none (``library-missing``).
    """
    try:
        return Driver(ctypes.CDLL(LIBRARY))
    except OSError as error:
        raise UnavailableError(f"{LIBRARY} cannot be loaded: {error}", reason="library-missing") from error
