"""Starts, ends and reaps processes on Windows: each in a job object that ends with everything in it.

The job is made and filled right after the start, so a process that is quick enough to start another one
before that leaves the latter outside; Windows has no start inside a job that the standard library reaches.
"""

from __future__ import annotations

import ctypes
import sys

EXTENDED_LIMITS = 9
"""JobObjectExtendedLimitInformation (winnt.h, JOBOBJECTINFOCLASS)."""

KILL_ON_CLOSE = 0x2000
"""JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE."""


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION with its parts in line (winnt.h)."""

    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


if sys.platform == "win32":
    import contextlib
    import msvcrt
    import os
    import signal
    import subprocess
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO

    from assay.process.pump import Pump, ThreadPump

    _KERNEL = ctypes.WinDLL("kernel32", use_last_error=True)
    _KERNEL.CreateJobObjectW.restype = ctypes.c_void_p
    _KERNEL.OpenProcess.restype = ctypes.c_void_p
    _SET_QUOTA_AND_TERMINATE = 0x0101
    """PROCESS_SET_QUOTA | PROCESS_TERMINATE, what AssignProcessToJobObject asks for."""

    class Process:
        """A started process in a job of its own."""

        def __init__(self, popen: subprocess.Popen[bytes]) -> None:
            """Put the process into a new job."""
            self._popen = popen
            self.pid = popen.pid
            self._job: int | None = _job_with(popen.pid)

        def pump(self, pipes: Mapping[str, int]) -> Pump:
            """Return a pump over pipes."""
            return ThreadPump(pipes)

        def ended(self) -> bool:
            """Tell whether the process has ended."""
            return self._popen.poll() is not None

        def ask_to_end(self) -> None:
            """Send CTRL+BREAK to the process group."""
            with contextlib.suppress(OSError, ValueError):
                self._popen.send_signal(signal.CTRL_BREAK_EVENT)

        def kill(self) -> None:
            """Kill everything in the job."""
            if self._job is not None:
                _KERNEL.TerminateJobObject(ctypes.c_void_p(self._job), 1)
            with contextlib.suppress(OSError):
                self._popen.kill()

        def reap(self) -> int | None:
            """Return the exit code once the process has ended, else None."""
            return self._popen.poll()

        def close(self) -> None:
            """Close the job, which kills what is still in it."""
            if self._job is not None:
                _KERNEL.CloseHandle(ctypes.c_void_p(self._job))
                self._job = None

    def _job_with(pid: int) -> int | None:
        """Return a new job that holds the process; None where the system refuses one."""
        job: int | None = _KERNEL.CreateJobObjectW(None, None)
        limits = JobLimits(LimitFlags=KILL_ON_CLOSE)
        _KERNEL.SetInformationJobObject(
            ctypes.c_void_p(job), EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        handle: int | None = _KERNEL.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid)  # noqa: FBT003  # C call
        _KERNEL.AssignProcessToJobObject(ctypes.c_void_p(job), ctypes.c_void_p(handle))
        _KERNEL.CloseHandle(ctypes.c_void_p(handle))
        return job

    def start(
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        streams: tuple[IO[bytes] | int, int, int],
        inherited: Sequence[int] = (),
    ) -> Process:
        """Start a process; arguments and errors as ``assay.process.posix.start``."""
        handles = [msvcrt.get_osfhandle(descriptor) for descriptor in inherited]
        for handle in handles:
            os.set_handle_inheritable(handle, True)  # noqa: FBT003  # the standard library's own form
        stdin, stdout, stderr = streams
        popen = subprocess.Popen(  # noqa: S603  # a list of words, no shell
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
            startupinfo=subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles}),
        )
        return Process(popen)

    def name_of(descriptor: int) -> str:
        """Return the handle under which the child knows an inherited descriptor."""
        return str(msvcrt.get_osfhandle(descriptor))
