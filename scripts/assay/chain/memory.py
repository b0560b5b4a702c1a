"""Peak memory: the host's as the kernel counts it for this process, the device's as CUDA tells it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from types import TracebackType

from .cuda_calls import Cuda

_STATUS = Path("/proc/self/status")
_HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
"""proc(5), ``/proc/self/status``: peak resident set size, in KiB."""

_RESET = "5"
"""proc(5), ``/proc/self/clear_refs``: 5 resets the peak to what is resident now."""


class Peak:
    """Counts from its beginning: the peak of resident host memory, and the least free device memory seen."""

    def __init__(self, cuda: Cuda) -> None:
        self._cuda = cuda
        self._free_before = 0
        self._least_free = 0
        self._resident_before: int | None = None
        self._reset = False

    def __enter__(self) -> Peak:  # noqa: PYI034  # Self came with 3.11; this runs on 3.10
        """Begin to count."""
        self._reset = _reset()
        self._resident_before = resident_peak()
        self._free_before = self._least_free = self._free()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End; what was counted stays."""

    def look(self) -> None:
        """Look at the device's memory, while everything is allocated."""
        self._least_free = min(self._least_free, self._free())

    def facts(self) -> dict[str, object]:
        """Return bytes: the host's peak and what it was before (null if not told), the device's use."""
        return {
            "device": self._free_before - self._least_free,
            "host_before": self._resident_before if self._reset else None,
            "host_peak": resident_peak() if self._reset else None,
        }

    def _free(self) -> int:
        """Return the free bytes of the device; others that use it are counted too."""
        free, _total = self._cuda.call("cuMemGetInfo")
        return int(free)


def resident_peak(status: Path = _STATUS) -> int | None:
    """Return this process's peak of resident memory in bytes, None where the system does not tell."""
    with contextlib.suppress(OSError):
        found = _HIGH_WATER.search(status.read_text(encoding="ascii", errors="replace"))
        return int(found[1]) * 1024 if found else None
    return None


def _reset() -> bool:
    """Reset the peak; return whether the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text(_RESET, encoding="ascii")
    except OSError:
        return False
    return True
