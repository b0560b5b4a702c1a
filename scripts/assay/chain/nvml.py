"""What NVML says of the driver and of each GPU.  It can hang on a sick driver: ask it in a child of its own.

A question that a GPU or a driver does not support is answered with None, and ``refused`` tells which one was
refused with which code (3 is "not supported"), so that "no" and "not asked" stay apart.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .failures import UnavailableError
from .packages import load

Question = Callable[[Any, Any], object]
"""(pynvml, handle of the GPU) -> answer."""

_UNCORRECTED = (1, 0)
"""``NVML_MEMORY_ERROR_TYPE_UNCORRECTED``, ``NVML_VOLATILE_ECC`` (nvml.h)."""

_QUESTIONS: Mapping[str, Question] = {
    "board_part": lambda nvml, gpu: _text(nvml.nvmlDeviceGetBoardPartNumber(gpu)),
    "clocks_event_reasons": lambda nvml, gpu: nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu),
    "compute_capability": lambda nvml, gpu: _dotted(nvml.nvmlDeviceGetCudaComputeCapability(gpu)),
    "compute_mode": lambda nvml, gpu: nvml.nvmlDeviceGetComputeMode(gpu),
    "compute_processes": lambda nvml, gpu: _processes(nvml.nvmlDeviceGetComputeRunningProcesses(gpu)),
    "display": lambda nvml, gpu: nvml.nvmlDeviceGetDisplayActive(gpu),
    "driver_model": lambda nvml, gpu: list(nvml.nvmlDeviceGetDriverModel(gpu)),
    "ecc": lambda nvml, gpu: list(nvml.nvmlDeviceGetEccMode(gpu)),
    "ecc_uncorrected": lambda nvml, gpu: int(nvml.nvmlDeviceGetTotalEccErrors(gpu, *_UNCORRECTED)),
    "graphics_processes": lambda nvml, gpu: _processes(nvml.nvmlDeviceGetGraphicsRunningProcesses(gpu)),
    "gsp_firmware": lambda nvml, gpu: _text(nvml.nvmlDeviceGetGspFirmwareVersion(gpu)),
    "gsp_mode": lambda nvml, gpu: list(nvml.nvmlDeviceGetGspFirmwareMode(gpu)),
    "memory": lambda nvml, gpu: int(nvml.nvmlDeviceGetMemoryInfo(gpu).total),
    "mig": lambda nvml, gpu: list(nvml.nvmlDeviceGetMigMode(gpu)),
    "name": lambda nvml, gpu: _text(nvml.nvmlDeviceGetName(gpu)),
    "pci": lambda nvml, gpu: _pci(nvml.nvmlDeviceGetPciInfo(gpu)),
    "persistence": lambda nvml, gpu: nvml.nvmlDeviceGetPersistenceMode(gpu),
    "power_state": lambda nvml, gpu: nvml.nvmlDeviceGetPerformanceState(gpu),
    "remapped": lambda nvml, gpu: _remapped(*nvml.nvmlDeviceGetRemappedRows(gpu)),
    "retired_pending": lambda nvml, gpu: bool(nvml.nvmlDeviceGetRetiredPagesPendingStatus(gpu)),
    "uuid": lambda nvml, gpu: _text(nvml.nvmlDeviceGetUUID(gpu)),
    "vbios": lambda nvml, gpu: _text(nvml.nvmlDeviceGetVbiosVersion(gpu)),
    "virtualization": lambda nvml, gpu: nvml.nvmlDeviceGetVirtualizationMode(gpu),
}
"""By fact.  Pairs of modes are (current, pending); ``gsp_mode`` is (enabled, default); memory is in bytes;
``ecc_uncorrected`` counts since the driver was loaded; ``power_state`` is 0 (fastest) to 15, 32 unknown;
``virtualization`` is 0 none, 1 passthrough, 2 vGPU guest, 3 host vGPU, 4 host vSGA (nvml.h)."""

_SERIAL: Mapping[str, Question] = {"serial": lambda nvml, gpu: _text(nvml.nvmlDeviceGetSerial(gpu))}
"""Asked only where the plan discloses it."""


@dataclass
class _Asked:
    """Answers and refusals while one subject is asked."""

    answers: dict[str, object] = field(default_factory=dict)
    refused: list[dict[str, object]] = field(default_factory=list)

    def ask(self, nvml: Any, fact: str, question: Callable[[], object]) -> None:  # noqa: ANN401  # untyped
        """Ask one question."""
        try:
            self.answers[fact] = question()
        except nvml.NVMLError as error:
            self.answers[fact] = None
            self.refused.append({"code": int(error.value), "fact": fact, "name": type(error).__name__})
        except AttributeError:  # this pynvml does not know the question
            self.answers[fact] = None
            self.refused.append({"code": None, "fact": fact, "name": "unknown to pynvml"})

    def facts(self) -> dict[str, object]:
        """Return the answers with the refusals."""
        return {**self.answers, "refused": self.refused}


def facts(*, serial: bool = False) -> dict[str, object]:
    """Return driver_version, cuda_version (13000 is 13.0), nvml_version, refused, and gpus.

    Args:
        serial: tell serial numbers too.

    Raises:
        UnavailableError: pynvml or NVML are missing, or NVML does not start; ``code`` is NVML's.
    """
    nvml = load("pynvml")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        code = int(error.value)
        raise UnavailableError(f"NVML: {error}", reason=type(error).__name__, code=code) from error
    with contextlib.ExitStack() as stack:
        stack.callback(nvml.nvmlShutdown)
        asked = _Asked()
        asked.ask(nvml, "cuda_version", nvml.nvmlSystemGetCudaDriverVersion_v2)
        asked.ask(nvml, "driver_version", lambda: _text(nvml.nvmlSystemGetDriverVersion()))
        asked.ask(nvml, "nvml_version", lambda: _text(nvml.nvmlSystemGetNVMLVersion()))
        gpus = [_gpu(nvml, index, serial=serial) for index in range(nvml.nvmlDeviceGetCount())]
        return {**asked.facts(), "gpus": gpus}


def _gpu(nvml: Any, index: int, *, serial: bool) -> dict[str, object]:  # noqa: ANN401  # untyped
    """Return the facts of one GPU, or why it cannot be reached."""
    asked = _Asked({"index": index})
    asked.ask(nvml, "reached", lambda: bool(nvml.nvmlDeviceGetHandleByIndex(index)))
    if asked.answers["reached"]:
        gpu = nvml.nvmlDeviceGetHandleByIndex(index)
        for fact, question in {**_QUESTIONS, **(_SERIAL if serial else {})}.items():
            _put(nvml, asked, fact, question, gpu)
    return asked.facts()


def _put(nvml: Any, asked: _Asked, fact: str, question: Question, gpu: Any) -> None:  # noqa: ANN401  # untyped
    """Ask one question of the table."""
    asked.ask(nvml, fact, lambda: question(nvml, gpu))


def _text(value: object) -> str:
    """Return text; some calls of pynvml give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _dotted(pair: tuple[int, int]) -> str:
    """Return a compute capability such as ``9.0``."""
    return f"{pair[0]}.{pair[1]}"


def _remapped(corrected: int, uncorrected: int, pending: int, failed: int) -> dict[str, object]:
    """Return the rows of memory that were remapped, by cause, whether some wait, and whether one failed."""
    return {
        "corrected": int(corrected),
        "failed": bool(failed),
        "pending": bool(pending),
        "uncorrected": int(uncorrected),
    }


def _processes(processes: list[Any]) -> list[int]:
    """Return the process numbers, in order."""
    return sorted(int(process.pid) for process in processes)


def _pci(info: Any) -> dict[str, object]:  # noqa: ANN401  # a structure of pynvml
    """Return bus address, and device and vendor numbers, which PCI keeps in one word (vendor low)."""
    word = int(info.pciDeviceId)
    return {"bus": _text(info.busId).lower(), "device_id": word >> 16, "vendor_id": word & 0xFFFF}
