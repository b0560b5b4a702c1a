"""NVML's word, through a pynvml that answers as told."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from assay.chain import nvml
from assay.chain.failures import UnavailableError


class NVMLError(Exception):
    """pynvml's base of errors; ``value`` is NVML's code."""

    value = 999


class NotSupportedError(NVMLError):
    value = 3


class GpuIsLostError(NVMLError):
    value = 15


class LibRmVersionMismatchError(NVMLError):
    value = 18


ANSWERS: dict[str, object] = {
    "nvmlInit": None,
    "nvmlShutdown": None,
    "nvmlSystemGetDriverVersion": "580.159.04",
    "nvmlSystemGetCudaDriverVersion_v2": 13000,
    "nvmlSystemGetNVMLVersion": "13.580.159.04",
    "nvmlDeviceGetCount": 1,
    "nvmlDeviceGetHandleByIndex": "gpu",
    "nvmlDeviceGetBoardPartNumber": "692-2G520-0280-501",
    "nvmlDeviceGetCurrentClocksEventReasons": 1,
    "nvmlDeviceGetCudaComputeCapability": (9, 0),
    "nvmlDeviceGetComputeMode": 0,
    "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=71), SimpleNamespace(pid=8)],
    "nvmlDeviceGetDisplayActive": 0,
    "nvmlDeviceGetDriverModel": NotSupportedError(),
    "nvmlDeviceGetEccMode": [1, 1],
    "nvmlDeviceGetGraphicsRunningProcesses": [],
    "nvmlDeviceGetGspFirmwareVersion": b"580.159.04",
    "nvmlDeviceGetGspFirmwareMode": [1, 1],
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=150_754_820_096),
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetName": "NVIDIA H200",
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId="00000000:1B:00.0", pciDeviceId=0x233510DE),
    "nvmlDeviceGetPerformanceState": 0,
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetRemappedRows": (2, 1, 1, 0),
    "nvmlDeviceGetRetiredPagesPendingStatus": NotSupportedError(),
    "nvmlDeviceGetSerial": "1650123456789",
    "nvmlDeviceGetTotalEccErrors": 3,
    "nvmlDeviceGetUUID": "GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f7",
    "nvmlDeviceGetVbiosVersion": "96.00.BC.00.01",
    "nvmlDeviceGetVirtualizationMode": 0,
}


class Pynvml:
    """A pynvml that answers from a table and remembers its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
        self.calls: list[str] = []
        module = ModuleType("pynvml")
        vars(module)["NVMLError"] = NVMLError
        for name, answer in {**ANSWERS, **changes}.items():
            if answer is not ...:
                vars(module)[name] = self._function(name, answer)
        monkeypatch.setitem(sys.modules, "pynvml", module)

    def _function(self, name: str, answer: object) -> object:
        def function(*_arguments: object) -> object:
            self.calls.append(name)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return function


def only_gpu(told: dict[str, object]) -> dict[str, Any]:
    """Return the facts of the one GPU."""
    gpus = told["gpus"]
    assert isinstance(gpus, list)
    (gpu,) = gpus
    assert isinstance(gpu, dict)
    return gpu


def test_driver_and_gpu_are_told_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    Pynvml(monkeypatch)
    assert nvml.facts() == {
        "cuda_version": 13000,
        "driver_version": "580.159.04",
        "nvml_version": "13.580.159.04",
        "refused": [],
        "gpus": [
            {
                "board_part": "692-2G520-0280-501",
                "clocks_event_reasons": 1,
                "compute_capability": "9.0",
                "compute_mode": 0,
                "compute_processes": [8, 71],
                "display": 0,
                "driver_model": None,
                "ecc": [1, 1],
                "ecc_uncorrected": 3,
                "graphics_processes": [],
                "gsp_firmware": "580.159.04",
                "gsp_mode": [1, 1],
                "index": 0,
                "memory": 150_754_820_096,
                "mig": [0, 0],
                "name": "NVIDIA H200",
                "pci": {"bus": "00000000:1b:00.0", "device_id": 0x2335, "vendor_id": 0x10DE},
                "persistence": 1,
                "power_state": 0,
                "reached": True,
                "refused": [
                    {"code": 3, "fact": "driver_model", "name": "NotSupportedError"},
                    {"code": 3, "fact": "retired_pending", "name": "NotSupportedError"},
                ],
                "remapped": {"corrected": 2, "failed": False, "pending": True, "uncorrected": 1},
                "retired_pending": None,
                "uuid": "GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f7",
                "vbios": "96.00.BC.00.01",
                "virtualization": 0,
            }
        ],
    }


def test_the_serial_number_is_asked_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    module = Pynvml(monkeypatch)
    nvml.facts()
    assert "nvmlDeviceGetSerial" not in module.calls
    gpu = only_gpu(nvml.facts(serial=True))
    assert gpu["serial"] == "1650123456789"


@pytest.mark.parametrize("count", [0, 1])
def test_nvml_is_shut_down_whatever_happened(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    module = Pynvml(monkeypatch, nvmlDeviceGetCount=count)
    nvml.facts()
    assert module.calls[-1] == "nvmlShutdown"
    module = Pynvml(monkeypatch, nvmlDeviceGetCount=GpuIsLostError())
    with pytest.raises(GpuIsLostError):
        nvml.facts()
    assert module.calls[-1] == "nvmlShutdown"


def test_a_library_that_does_not_fit_the_module_is_unavailable_with_its_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Pynvml(monkeypatch, nvmlInit=LibRmVersionMismatchError("Driver/library version mismatch"))
    with pytest.raises(UnavailableError, match="version mismatch") as caught:
        nvml.facts()
    assert (caught.value.code, caught.value.reason) == (18, "LibRmVersionMismatchError")


def test_a_gpu_that_is_lost_does_not_silence_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    Pynvml(monkeypatch, nvmlDeviceGetHandleByIndex=GpuIsLostError())
    told = nvml.facts()
    assert told["driver_version"] == "580.159.04"
    assert told["gpus"] == [
        {
            "index": 0,
            "reached": None,
            "refused": [{"code": 15, "fact": "reached", "name": "GpuIsLostError"}],
        }
    ]


def test_a_pynvml_that_lacks_a_question_answers_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    Pynvml(monkeypatch, nvmlDeviceGetGspFirmwareMode=...)
    gpu = only_gpu(nvml.facts())
    assert gpu["gsp_mode"] is None
    assert gpu["vbios"] == "96.00.BC.00.01"
    assert [refusal["fact"] for refusal in gpu["refused"]] == ["driver_model", "gsp_mode", "retired_pending"]


def test_no_pynvml_is_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(UnavailableError) as caught:
        nvml.facts()
    assert caught.value.reason == "package-missing"
