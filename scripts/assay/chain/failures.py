"""The chain's tree of errors, and the form in which an error travels in an event or a result.

ChainError
  RequestError        the request is not what ``spec`` accepts; carries the dotted path
  UnavailableError    the machine or the selection lacks something; carries reason and code
  CudaError           a CUDA driver or NVRTC call failed; carries its name and code
  CompileError        a compiler refused a kernel; carries what it said
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping

MESSAGE_LIMIT = 4000
"""Characters kept of a message and of a traceback (its end, which names the cause)."""

LIBCUDA_UNAVAILABLE: Mapping[int, str] = {
    34: "CUDA_ERROR_STUB_LIBRARY",
    36: "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
    46: "CUDA_ERROR_DEVICE_UNAVAILABLE",
    100: "CUDA_ERROR_NO_DEVICE",
    101: "CUDA_ERROR_INVALID_DEVICE",
    802: "CUDA_ERROR_SYSTEM_NOT_READY",
    803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
}
"""Codes (``CUresult``, cuda.h of CUDA 13.0) with which a driver says that the machine cannot compute.

They stand here by name because a driver that cannot start need not be able to name its own errors.
"""


class ChainError(Exception):
    """Base of the chain's own errors; ``reason`` and ``code`` go into its event."""

    kind = "failed"

    def __init__(self, message: str, *, reason: str = "", code: int | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.code = code


class RequestError(ChainError):
    """The request is wrong at ``path`` (dotted)."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'request'}: {message}")
        self.path = path


class UnavailableError(ChainError):
    """The machine or the selection lacks a capability; never a wrong result."""

    kind = "unavailable"


class CudaError(ChainError):
    """A CUDA call failed; ``reason`` is the driver's name of ``code``."""


class CompileError(ChainError):
    """A compiler refused a kernel; the message is what it said."""


def cuda_error(call: str, code: int, name: str, *, starting: bool = False) -> ChainError:
    """Return the error of a failed CUDA call.

    It is unavailable for the codes of ``LIBCUDA_UNAVAILABLE``, and for every code while the driver is only
    starting: nothing has been asked of it yet that could be wrong.

    Args:
        call: the function's name.
        code: its ``CUresult``.
        name: the driver's name of that code; the table's is taken where it has none.
        starting: the call was to start the driver.
    """
    reason = name or LIBCUDA_UNAVAILABLE.get(code, f"CUDA_ERROR_{code}")
    kind = UnavailableError if starting or code in LIBCUDA_UNAVAILABLE else CudaError
    return kind(f"{call} returned {code} ({reason})", reason=reason, code=code)


def describe(error: BaseException) -> dict[str, object]:
    """Return kind, reason, code, type, message and traceback of an error, bounded."""
    own = error if isinstance(error, ChainError) else None
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        "code": own.code if own else None,
        "kind": own.kind if own else "failed",
        "message": bounded(str(error)),
        "reason": own.reason if own else "",
        "traceback": trace[-MESSAGE_LIMIT:],
        "type": type(error).__name__,
    }


def bounded(text: str) -> str:
    """Return the beginning of a message, up to ``MESSAGE_LIMIT`` characters."""
    return text[:MESSAGE_LIMIT]
