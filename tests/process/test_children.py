"""An interrupted run leaves no process behind."""

from __future__ import annotations

import subprocess
import sys
import threading

from assay.process.children import kill_children

WAITS = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]


def started(*, leads: bool) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603  # our own interpreter
        WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=leads
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def end(process: subprocess.Popen[bytes]) -> int:
    process.communicate()
    return process.returncode


def test_children_of_every_thread_are_killed_and_others_are_left_alone() -> None:
    found: list[subprocess.Popen[bytes]] = [started(leads=True)]
    thread = threading.Thread(target=lambda: found.append(started(leads=True)))
    thread.start()
    thread.join()
    bystander = started(leads=False)
    assert kill_children() == 2
    assert [end(process) for process in found] == [-9, -9]
    assert end(bystander) == 0
