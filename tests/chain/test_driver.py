"""The CUDA driver's word about a device, over a library that answers as told."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from assay.chain import driver
from assay.chain.driver import Driver
from assay.chain.failures import CudaError, UnavailableError


def store(out: Any, value: object) -> int:  # noqa: ANN401  # what ctypes.byref returns has no type
    """Write through a reference, as a C function does, and succeed."""
    out._obj.value = value  # noqa: SLF001  # a reference's target has no public name
    return 0


def set_to(value: int) -> Callable[..., int]:
    """Return a function that writes an integer through its first argument."""
    return lambda out, *_arguments: store(out, value)


def fill_with(data: bytes) -> Callable[..., int]:
    """Return a function that fills the buffer given first."""

    def answer(buffer: Any, *_arguments: object) -> int:  # noqa: ANN401  # as above
        ctypes.memmove(buffer, data, len(data))
        return 0

    return answer


def attribute(out: Any, number: int, _device: int) -> int:  # noqa: ANN401  # as above
    """Answer attributes 16, 32, 75 and 76 of ``CUdevice_attribute`` as an H200 does; the others with 0."""
    return store(out, {16: 132, 32: 1, 75: 9}.get(number, 0))


class Library:
    """A driver library with one device; keywords replace functions, None takes one away."""

    def __init__(self, **changes: Callable[..., int] | None) -> None:
        uuid = bytes.fromhex("4b1ae1a1c3e2f70911d2a8b0c4d5e6f7")
        functions: dict[str, Callable[..., int] | None] = {
            "cuInit": lambda _flags: 0,
            "cuDeviceGet": set_to(0),
            "cuDeviceGetCount": set_to(2),
            "cuDriverGetVersion": set_to(13000),
            "cuDeviceGetAttribute": attribute,
            "cuDeviceTotalMem_v2": set_to(150_754_820_096),
            "cuDeviceGetName": fill_with(b"NVIDIA H200\0"),
            "cuDeviceGetPCIBusId": fill_with(b"0000:1B:00.0\0"),
            "cuDeviceGetUuid_v2": fill_with(uuid),
            "cuGetErrorName": lambda _code, _name: 1,
            **changes,
        }
        for name, function in functions.items():
            if function is not None:
                setattr(self, name, function)


def driver_of(**changes: Callable[..., int] | None) -> Driver:
    return Driver(Library(**changes))  # type: ignore[arg-type]  # it has what Driver calls of a CDLL


def test_a_device_is_told_whole() -> None:
    assert driver_of().facts(0) == {
        "compute_capability": "9.0",
        "compute_mode": 0,
        "count": 2,
        "cuda_version": 13000,
        "ecc": 1,
        "integrated": 0,
        "managed_memory": 0,
        "memory": 150_754_820_096,
        "multiprocessors": 132,
        "name": "NVIDIA H200",
        "ordinal": 0,
        "pci_bus": "0000:1b:00.0",
        "tcc_driver": 0,
        "unified_addressing": 0,
        "uuid": "GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f7",
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [(34, "CUDA_ERROR_STUB_LIBRARY"), (100, "CUDA_ERROR_NO_DEVICE"), (999, "CUDA_ERROR_999")],
)
def test_a_driver_that_does_not_start_is_unavailable(code: int, reason: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        driver_of(cuInit=lambda _flags: code).require(0)
    assert (caught.value.code, caught.value.reason) == (code, reason)


def test_a_driver_without_error_names_is_still_named() -> None:
    with pytest.raises(UnavailableError, match="cuInit returned 803"):
        driver_of(cuInit=lambda _flags: 803, cuGetErrorName=None).require(0)


def test_a_device_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(UnavailableError) as caught:
        driver_of(cuDeviceGet=lambda _out, _ordinal: 101).require(7)
    assert caught.value.reason == "CUDA_ERROR_INVALID_DEVICE"


def test_a_question_that_fails_later_is_a_failure() -> None:
    with pytest.raises(CudaError) as caught:
        driver_of(cuDeviceGetName=lambda *_arguments: 999).facts(0)
    assert caught.value.code == 999


def test_the_drivers_own_name_of_a_code_is_taken() -> None:
    def name(_code: int, out: Any) -> int:  # noqa: ANN401  # as above
        return store(out, b"CUDA_ERROR_ILLEGAL_ADDRESS")

    with pytest.raises(CudaError) as caught:
        driver_of(cuDeviceGetName=lambda *_arguments: 700, cuGetErrorName=name).facts(0)
    assert caught.value.reason == "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_a_machine_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LIBRARY", "libassay-no-such-driver.so.1")
    with pytest.raises(UnavailableError) as caught:
        driver.load()
    assert caught.value.reason == "library-missing"
