"""What the rehearsal raises.  None of these leaves memory or a module half changed.

RehearsalError
  PtxError           the text is not PTX, or not PTX that this interpreter knows
  OutOfMemoryError   an allocation does not fit (``CUDA_ERROR_OUT_OF_MEMORY``)
  BadAddressError    the host named memory that is not there (``CUDA_ERROR_INVALID_VALUE``)
  LaunchError        a kernel could not start, or could not run to its end
"""

from __future__ import annotations

from .findings import Report


class RehearsalError(Exception):
    """Base of all errors of the rehearsal."""


class PtxError(RehearsalError):
    """PTX text that cannot be understood.

    Args:
        line: its line, from 1; 0 where the text as a whole is meant.
        instruction: the statement as it stands, shortened to 200 characters.
        message: what is wrong with it.
    """

    def __init__(self, line: int, instruction: str, message: str) -> None:
        shown = f" in `{instruction}`" if instruction else ""
        super().__init__(f"PTX line {line}: {message}{shown}")
        self.line = line
        self.instruction = instruction
        self.message = message


class OutOfMemoryError(RehearsalError):
    """An allocation does not fit into the memory's capacity.

    Args:
        size: bytes asked for.
        free: bytes that were left.
    """

    def __init__(self, size: int, free: int) -> None:
        super().__init__(f"{size} bytes asked for, {free} left")
        self.size = size
        self.free = free


class BadAddressError(RehearsalError):
    """The host read, wrote or freed memory that is not allocated.

    Args:
        kind: ``out-of-bounds``, ``use-after-free`` or ``not-allocated``.
        address: the first byte that was meant.
        size: bytes that were meant.
    """

    def __init__(self, kind: str, address: int, size: int) -> None:
        super().__init__(f"{kind}: {size} bytes at {address:#x}")
        self.kind = kind
        self.address = address
        self.size = size


class LaunchError(RehearsalError):
    """A kernel that could not start or finish.

    Args:
        reason: ``invalid-value`` (grid, block, parameters or shared memory are out of range), ``not-found``
            (no such entry), ``unsupported`` (an instruction that the interpreter cannot run was reached),
            ``deadline``, ``instructions`` or ``output`` (a limit), ``memory`` (registers, shared or
            local memory go past the limit), ``trap`` (the kernel executed ``trap`` or failed an assertion),
            ``deadlock`` (threads wait for others that never come).
        message: a sentence with kernel, source line and PTX line where there are any.
        report: what was seen until then.
    """

    def __init__(self, reason: str, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.report = report if report is not None else Report()
