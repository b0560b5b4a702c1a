"""Processes on POSIX: a session each, reaped only when asked."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence

import pytest

from assay.process.posix import Process, name_of, start
from tests.process.scripted import ENV, python

NULLS = (subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL)


def started(argv: Sequence[str]) -> Process:
    return start(argv, ENV, None, NULLS)


def wait_until_ended(process: Process) -> None:
    """Wait on a pump that only the process's end wakes."""
    pump = process.pump({})
    until = time.monotonic() + 30
    while not process.ended() and time.monotonic() < until:
        pump.wait(0.5)
    pump.close()


def test_an_ended_process_is_not_reaped_until_asked() -> None:
    process = started(["true"])
    wait_until_ended(process)
    assert process.ended()
    os.kill(process.pid, 0)
    assert process.reap() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert process.ended()
    process.close()
    process.close()


def test_each_process_leads_a_session_of_its_own() -> None:
    process = started(python("forever()"))
    assert os.getsid(process.pid) == process.pid != os.getsid(0)
    process.kill()
    wait_until_ended(process)
    assert process.reap() == -signal.SIGKILL
    process.close()


def test_a_process_can_be_asked_to_end() -> None:
    process = started(["cat", "/dev/zero"])
    process.ask_to_end()
    wait_until_ended(process)
    assert process.reap() == -signal.SIGTERM
    process.close()


def test_a_reaped_process_is_never_signalled(monkeypatch: pytest.MonkeyPatch) -> None:
    process = started(["true"])
    wait_until_ended(process)
    process.reap()
    sent: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda pid, _number: sent.append(pid))
    process.kill()
    process.ask_to_end()
    assert sent == []
    process.close()


def test_systems_without_pidfd_or_waitid_poll_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    monkeypatch.delattr(os, "waitid")
    process = started(["true"])
    wait_until_ended(process)
    assert process.reap() == 0
    process.close()


def test_a_process_that_somebody_else_reaped_has_ended() -> None:
    process = started(["true"])
    os.waitpid(process.pid, 0)
    assert process.ended()
    assert process.reap() == 0
    process.close()


def test_a_descriptor_keeps_its_number_in_the_child() -> None:
    assert name_of(7) == "7"
