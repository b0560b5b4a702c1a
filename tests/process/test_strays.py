"""What left a command's group is found by its environment, ended and named; nothing else is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.process.strays import end_strays

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows environments")

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

WAIT = "import sys; print('up', flush=True); sys.stdin.read()"


@contextmanager
def waiting(mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process that leads a session of its own and waits, with ``MARK`` in its environment."""
    argv = [sys.executable, "-c", WAIT, "a-stray"]
    env = {**os.environ, "MARK": mark}
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, env=env, stdin=pipe, stdout=pipe, start_new_session=True) as process:  # noqa: S603  # our own interpreter
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def test_a_process_of_another_session_is_ended_and_named() -> None:
    mark = f"{os.getpid()}-one"
    with waiting(mark) as stray, waiting(f"{mark}-other") as other:
        (found,) = end_strays("MARK", mark, group=0)
        assert (found.pid, stray.wait()) == (stray.pid, -9)
        assert found.name.endswith("a-stray")
        assert other.poll() is None
        assert end_strays("MARK", mark, group=0) == ()


def test_what_is_of_the_commands_own_group_is_ended_but_not_called_a_stray() -> None:
    mark = f"{os.getpid()}-two"
    with waiting(mark) as process:
        assert end_strays("MARK", mark, group=process.pid) == ()
        assert process.wait() == -9


def test_this_process_is_never_ended() -> None:
    code = "import os, sys; from assay.process import end_strays; print(end_strays(*sys.argv[1:3], group=0))"
    argv = [sys.executable, "-c", code, "MARK", f"{os.getpid()}-three"]
    env = {"MARK": f"{os.getpid()}-three", "PYTHONPATH": str(SCRIPTS)}
    said = subprocess.run(argv, env=env, capture_output=True, check=True).stdout  # noqa: S603  # our own interpreter
    assert said == b"()\n"
