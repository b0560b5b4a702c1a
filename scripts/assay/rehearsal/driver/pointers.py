"""What a pointer points to.

CUDA driver API 13.0: "Unified Addressing".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..memory import Allocation
from .call import Calls
from .codes import DriverError
from .copies import DEVICE, HOST
from .raw import put, unpack
from .state import Driver

_HOST_KINDS = frozenset({"host", "adopted"})


def _context(driver: Driver, _address: int, found: Allocation) -> int:
    owner = driver.owner(found.address)
    return owner.handle if owner else 0


def _host_pointer(_driver: Driver, address: int, found: Allocation) -> int:
    if found.kind not in {*_HOST_KINDS, "managed"}:
        raise DriverError("INVALID_VALUE", f"{address:#x} is not the host's")
    return address


_ANSWERS: Mapping[int, tuple[str, Callable[[Driver, int, Allocation], int]]] = MappingProxyType(
    {
        1: ("Q", _context),
        2: ("I", lambda _driver, _address, found: HOST if found.kind in _HOST_KINDS else DEVICE),
        3: ("Q", lambda _driver, address, _found: address),
        4: ("Q", _host_pointer),
        6: ("B", lambda _driver, _address, _found: 0),  # SYNC_MEMOPS
        7: ("Q", lambda _driver, _address, found: found.address & 0xFFFF_FFFF_FFFF),  # BUFFER_ID
        8: ("I", lambda _driver, _address, found: int(found.kind == "managed")),
        9: ("i", lambda _driver, _address, _found: 0),  # DEVICE_ORDINAL
        10: ("I", lambda _driver, _address, _found: 0),  # IS_LEGACY_CUDA_IPC_CAPABLE
        11: ("Q", lambda _driver, _address, found: found.address),  # RANGE_START_ADDR
        12: ("Q", lambda _driver, _address, found: found.size),  # RANGE_SIZE
        13: ("I", lambda _driver, _address, _found: 1),  # MAPPED
        14: ("I", lambda _driver, _address, _found: 0),  # ALLOWED_HANDLE_TYPES
        17: ("Q", lambda _driver, _address, _found: 0),  # MEMPOOL_HANDLE
    }
)
"""By ``CUpointer_attribute``: the value's form and where it comes from."""


def attribute(driver: Driver, out: int, number: int, address: int) -> None:
    """``cuPointerGetAttribute``: a pointer that the driver does not know is an invalid value."""
    if number not in _ANSWERS:
        raise DriverError("NOT_SUPPORTED", f"attribute {number} of a pointer is not supported")
    found = driver.memory.find(address)
    if found is None:
        raise DriverError("INVALID_VALUE", f"{address:#x} is not the driver's")
    form, answer = _ANSWERS[number]
    put(out, form, answer(driver, address, found))


def attributes(driver: Driver, count: int, numbers: int, outs: int, address: int) -> None:
    """``cuPointerGetAttributes``: what does not apply, and everything of an unknown pointer, is 0."""
    found = driver.memory.find(address)
    wanted = zip(unpack(f"{count}I", numbers), unpack(f"{count}Q", outs), strict=True)
    for number, out in wanted:
        form, answer = _ANSWERS.get(number, ("I", lambda *_: 0))
        try:
            value = answer(driver, address, found) if found else _unknown(number)
        except DriverError:
            value = 0
        put(out, form, value)


def _unknown(number: int) -> int:
    """Return the value for a pointer that is not the driver's: ``CU_DEVICE_INVALID`` for the device."""
    ordinal = 9
    return -2 if number == ordinal else 0


def set_attribute(driver: Driver, _value: int, _number: int, address: int) -> None:
    """``cuPointerSetAttribute``: every copy is synchronous anyway."""
    if driver.memory.find(address) is None:
        raise DriverError("INVALID_VALUE", f"{address:#x} is not the driver's")


CALLS: Calls = {
    "cuPointerGetAttribute": (attribute, "pip"),
    "cuPointerGetAttributes": (attributes, "uppp"),
    "cuPointerSetAttribute": (set_attribute, "pip"),
}
