"""``run``: output of any size, deadlines that hold, and nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import tracemalloc
from pathlib import Path

import pytest

from assay import process
from assay.errors import GateError
from assay.process import Finished, Patience, running
from assay.process.pump import Pump
from assay.process.stopping import Sink, Stopped, stop
from assay.process.system import Running
from tests.process.scripted import ENV, QUICK, ends, python


def run(argv: list[str], deadline_s: float = 60) -> Finished:
    return process.run(argv, env=ENV, deadline_s=deadline_s, patience=QUICK)


def test_exit_output_and_input() -> None:
    code = "data = sys.stdin.buffer.read(); print(len(data)); print('bad', file=sys.stderr); sys.exit(3)"
    ended = process.run(python(code), env=ENV, deadline_s=60, input=b"x" * 300_000)
    assert (ended.exit, ended.stdout, ended.stderr) == (3, b"300000\n", b"bad\n")
    assert (ended.abandoned, ended.held, ended.truncated) == (False, False, False)
    assert ended.duration_ns > 0


def test_without_input_there_is_none() -> None:
    ended = run(["cat"])
    assert (ended.exit, ended.stdout) == (0, b"")


def test_a_command_that_never_reads_its_input_blocks_nobody() -> None:
    assert process.run(["true"], env=ENV, deadline_s=60, input=b"x" * 5_000_000).exit == 0


def test_a_signal_is_a_negative_exit() -> None:
    assert run(python("os.kill(os.getpid(), signal.SIGSEGV)")).exit == -signal.SIGSEGV


def test_the_environment_is_all_that_is_given() -> None:
    ended = process.run(["/usr/bin/env"], env={"ONLY": "this"}, deadline_s=60)
    assert ended.stdout == b"ONLY=this\n"


def test_the_program_is_looked_up_in_the_given_path(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho from here; pwd\n")
    tool.chmod(0o755)
    ended = process.run(["tool"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, cwd=tmp_path, deadline_s=60)
    assert ended.stdout.decode() == f"from here\n{tmp_path}\n"


def test_a_missing_program_is_an_error_with_a_remedy() -> None:
    with pytest.raises(GateError, match="cannot start") as caught:
        run(["assay-no-such-program"])
    assert caught.value.remedy


def test_words_are_never_a_shells_text() -> None:
    assert run(["echo", "$HOME; `id` && *"]).stdout == b"$HOME; `id` && *\n"


def test_bytes_that_are_no_text_come_as_they_are() -> None:
    assert run(python(r"os.write(1, b'\xff\xfe\0caf\xe9')")).stdout == b"\xff\xfe\x00caf\xe9"


def test_much_output_on_both_streams_neither_hangs_nor_fills_memory() -> None:
    code = "\nfor _ in range(400): os.write(1, b'o' * 65536); os.write(2, b'e' * 65536)"
    total = dict.fromkeys(b"oe", 0)

    def count(data: bytes) -> None:
        for letter in total:
            total[letter] += data.count(letter)

    tracemalloc.start()
    try:
        ended = process.run(python(code), env=ENV, deadline_s=60, on_output=count, capture_limit=1000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ended.exit == 0
    assert total == dict.fromkeys(b"oe", 400 * 65536)
    assert (ended.stdout, ended.stderr) == (b"o" * 1000, b"e" * 1000)
    assert ended.truncated
    assert peak < 4 << 20


@pytest.mark.parametrize(("limit", "truncated"), [(5, False), (4, True), (0, True)])
def test_output_is_kept_up_to_the_limit(limit: int, *, truncated: bool) -> None:
    ended = process.run(["echo", "abcd"], env=ENV, deadline_s=60, capture_limit=limit)
    assert (ended.stdout, ended.truncated) == (b"abcd\n"[:limit], truncated)


@pytest.mark.parametrize(
    "code",
    [
        "forever()",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); forever()",
        "\nwhile True: os.write(1, b'x' * 65536)",
        "os.close(1); os.close(2); forever()",
        "\nif os.fork(): os.waitpid(-1, 0)\nforever()",
    ],
    ids=["hangs", "ignores the request", "floods", "closes its output", "forks"],
)
def test_a_deadline_ends_it_whatever_it_does(code: str) -> None:
    ended = run(python(code), deadline_s=0.2)
    assert (ended.exit, ended.abandoned) == ("timeout", False)


def test_the_whole_group_ends_with_its_deadline() -> None:
    code = (
        "\nchild = os.fork()\nif child: print(child, flush=True)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nforever()"
    )
    ended = run(python(code), deadline_s=1)
    assert ended.exit == "timeout"
    assert ends(int(ended.stdout))


def test_what_a_command_leaves_running_ends_with_it() -> None:
    code = "\nchild = os.fork()\nif child: print(child, flush=True); os._exit(0)\nforever()"
    ended = run(python(code))
    assert (ended.exit, ended.held) == (0, False)
    assert ends(int(ended.stdout))


def test_a_process_that_left_the_group_and_holds_the_output_is_not_waited_for() -> None:
    code = (
        "\nready, told = os.pipe()\nchild = os.fork()\n"
        "if child: os.read(ready, 1); print(child, flush=True); os._exit(5)\n"
        "os.setsid(); os.write(told, b'x'); forever()"
    )
    ended = run(python(code))
    escaped = int(ended.stdout)
    os.kill(escaped, signal.SIGKILL)
    assert (ended.exit, ended.held, ended.abandoned) == (5, True, False)


def test_a_process_that_cannot_be_killed_is_said_to_be_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(process: Running, pump: Pump, sink: Sink, patience: Patience) -> Stopped:
        stop(process, pump, sink, patience)
        return Stopped(None, held=True)

    monkeypatch.setattr(running, "stop", give_up)
    ended = run(["true"])
    assert (ended.exit, ended.abandoned, ended.held) == ("timeout", True, True)


@pytest.mark.parametrize("error", [RuntimeError("the log is full"), KeyboardInterrupt()])
def test_when_the_listener_fails_the_process_is_ended_and_the_failure_goes_on(error: BaseException) -> None:
    pids: list[int] = []

    def fail(data: bytes) -> None:
        pids.append(int(data))
        raise error

    with pytest.raises(type(error)):
        process.run(
            python("print(os.getpid(), flush=True); forever()"), env=ENV, deadline_s=60, on_output=fail
        )
    assert ends(pids[0])


def test_nothing_stays_open() -> None:
    folder = Path("/proc/self/fd")
    before = len(list(folder.iterdir()))
    run(["true"])
    run(python("forever()"), deadline_s=0.1)
    assert len(list(folder.iterdir())) == before


def test_patience_has_usual_values() -> None:
    assert Patience() == Patience(term=2.0, kill=5.0, drain=1.0)
    assert process.run([sys.executable, "-c", ""], env=ENV, deadline_s=60).exit == 0
