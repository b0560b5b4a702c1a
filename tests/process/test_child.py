"""The chain's child: events in time, and every way not to send one is told apart."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.errors import GateError
from assay.process import Child, Ended, Ending, Event, EventLimits, Patience
from tests.process.scripted import ENV, QUICK, alive, ends, speaking

Start = Callable[..., Child]


@pytest.fixture
def output() -> list[bytes]:
    return []


@pytest.fixture
def begin(output: list[bytes]) -> Iterator[Start]:
    """Yield a function that starts a scripted child; all are ended afterwards."""
    children: list[Child] = []

    def start(code: str, limits: EventLimits | None = None, patience: Patience = QUICK) -> Child:
        child = Child.start(
            speaking(code), env=ENV, on_output=output.append, limits=limits, patience=patience
        )
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()


def ended(child: Child, deadline_s: float = 30) -> Ended:
    came = child.next_event(deadline_s)
    assert isinstance(came, Ended)
    return came


def test_events_come_in_order_and_the_child_waits_to_be_released(begin: Start, output: list[bytes]) -> None:
    child = begin(
        'print(\'to the log\', flush=True)\nsay(\'{"event":"first"}\')\nsay(\'{"event":"waiting"}\')\n'
        "os.read(control, 1)\nprint('more', file=sys.stderr)\nsay('{\"event\":\"done\"}')"
    )
    assert child.next_event(30) == Event({"event": "first"})
    assert child.next_event(30) == Event({"event": "waiting"})
    assert alive(child.pid)
    assert child.release()
    assert child.next_event(30) == Event({"event": "done"})
    last = ended(child)
    assert (last.reason, last.exit, last.detail) == (Ending.EXITED, 0, "it ended with exit 0 after 3 events")
    finished = child.finish(30)
    assert (finished.exit, finished.abandoned, finished.held) == (0, False, False)
    assert finished.duration_ns > 0
    assert sorted(b"".join(output).splitlines()) == [b"more", b"to the log"]


def test_the_names_of_the_descriptors_replace_their_words_only(begin: Start) -> None:
    child = begin(
        "say('{\"words\":%d}' % len(sys.argv)); say('{\"same\":%s}' % str(events != control).lower())"
    )
    assert child.next_event(30) == Event({"words": 3})
    assert child.next_event(30) == Event({"same": True})


def test_a_hanging_child_misses_its_deadline_and_is_killed_with_its_group(begin: Start) -> None:
    child = begin("signal.signal(signal.SIGTERM, signal.SIG_IGN); say('{}'); os.fork(); forever()")
    assert child.next_event(30) == Event({})
    last = ended(child, 0.1)
    assert (last.reason, last.exit) == (Ending.DEADLINE, None)
    assert "after 1 events" in last.detail
    assert child.finish(0.1).exit == "timeout"
    assert ends(child.pid)


def test_a_deadline_in_the_middle_of_a_line_says_so(begin: Start) -> None:
    child = begin("say(b'{\"a\"'); os.write(1, b'.'); forever()")
    last = ended(child, 1)
    assert (last.reason, "in the middle of one" in last.detail) == (Ending.DEADLINE, True)


@pytest.mark.parametrize(
    ("code", "limits", "says"),
    [
        ("\nwhile True: say('{}')", EventLimits(count=100), "more than 100 events"),
        (
            "\nwhile True: say('{\"a\":\"' + 'x' * 1000 + '\"}')",
            EventLimits(total=50_000),
            "more than 50000 bytes",
        ),
        ("\nwhile True: say(b'x' * 60000)", EventLimits(line=100_000), "line is longer than 100000 bytes"),
    ],
)
def test_a_flood_of_events_is_named(begin: Start, code: str, limits: EventLimits, says: str) -> None:
    child = begin(code, limits)
    came = child.next_event(30)
    while isinstance(came, Event):
        came = child.next_event(30)
    assert (came.reason, says in came.detail) == (Ending.FLOOD, True)
    assert child.next_event(0) == came
    assert child.kill().exit == -signal.SIGKILL


def test_a_line_that_is_no_event_is_named(begin: Start) -> None:
    last = ended(begin("say('hello'); say('{}'); forever()"))
    assert (last.reason, "event 1" in last.detail) == (Ending.MALFORMED, True)


@pytest.mark.parametrize(
    ("code", "code_of_exit", "says"),
    [
        ("pass", 0, "ended with exit 0 after 0 events"),
        ("sys.exit(7)", 7, "ended with exit 7"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -11, "ended by signal 11"),
        ("say(b'{\"a\"')", 0, "in the middle of one"),
        ("os.close(events); os.close(1); os.close(2); sys.exit(9)", 9, "ended with exit 9"),
    ],
)
def test_a_child_that_ends_without_a_word_is_told_with_its_exit(
    begin: Start, code: str, code_of_exit: int, says: str
) -> None:
    last = ended(begin(code))
    assert (last.reason, last.exit) == (Ending.EXITED, code_of_exit)
    assert says in last.detail


def test_the_last_events_of_a_child_that_ended_are_not_lost(begin: Start) -> None:
    child = begin("say('{\"a\":1}'); say('{\"b\":2}')")
    assert ends(child.pid)
    assert child.next_event(30) == Event({"a": 1})
    assert child.next_event(30) == Event({"b": 2})
    assert ended(child).reason is Ending.EXITED


def test_a_child_that_closes_its_descriptor_and_runs_on_is_told(begin: Start) -> None:
    child = begin("say('{}'); os.close(events); forever()")
    assert child.next_event(30) == Event({})
    last = ended(child)
    assert (last.reason, last.exit) == (Ending.CLOSED, None)
    assert alive(child.pid)


def test_a_grandchild_that_holds_the_descriptor_is_told_and_ended(begin: Start, output: list[bytes]) -> None:
    child = begin("\nchild = os.fork()\nif child: print(child, flush=True); os._exit(0)\nforever()")
    last = ended(child)
    assert (last.reason, last.exit) == (Ending.HELD, 0)
    assert "holds its event descriptor" in last.detail
    assert ends(int(b"".join(output)))


def test_a_grandchild_that_left_the_group_is_told_and_not_waited_for(
    begin: Start, output: list[bytes]
) -> None:
    child = begin(
        "\nready, told = os.pipe()\nchild = os.fork()\n"
        "if child: os.read(ready, 1); print(child, flush=True); os._exit(0)\n"
        "os.setsid(); os.write(told, b'x'); forever()"
    )
    assert ended(child).reason is Ending.HELD
    assert child.kill().held
    os.kill(int(b"".join(output)), signal.SIGKILL)


def test_much_output_while_an_event_is_awaited_goes_to_the_log(begin: Start, output: list[bytes]) -> None:
    child = begin("\nfor _ in range(300): os.write(1, b'o' * 65536); os.write(2, b'e' * 10)\nsay('{}')")
    assert child.next_event(60) == Event({})
    child.finish(30)
    assert sum(map(len, output)) == 300 * 65_546


def test_an_endless_output_does_not_move_the_deadline(begin: Start) -> None:
    assert ended(begin("\nwhile True: os.write(1, b'x' * 65536)"), 0.2).reason is Ending.DEADLINE


def test_output_that_is_no_text_is_only_log(begin: Start, output: list[bytes]) -> None:
    child = begin(r"os.write(2, b'\xff\xfe'); say('{}')")
    assert child.next_event(30) == Event({})
    child.finish(30)
    assert b"".join(output) == b"\xff\xfe"


def test_a_child_sees_that_nobody_will_release_it_again(begin: Start) -> None:
    child = begin("say('{}'); sys.exit(4 if os.read(control, 1) == b'' else 5)")
    assert child.next_event(30) == Event({})
    assert child.finish(30).exit == 4
    assert child.release() is False
    assert child.finish(30) == child.kill()


def test_a_child_that_stopped_listening_cannot_be_released(begin: Start) -> None:
    child = begin("os.close(control); say('{}'); forever()")
    assert child.next_event(30) == Event({})
    assert child.release() is False


def test_a_with_statement_ends_the_child_whatever_happens() -> None:
    with pytest.raises(RuntimeError), Child.start(speaking("forever()"), env=ENV, on_output=print) as child:
        raise RuntimeError
    assert ends(child.pid)
    assert child.kill().exit == -signal.SIGKILL


def test_a_child_that_cannot_be_started_leaves_nothing_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(GateError, match="cannot start"):
        Child.start(["assay-no-such-program"], env=ENV, on_output=print)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_nothing_stays_open_after_a_child() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with Child.start(speaking("say('{}')"), env=ENV, on_output=print) as child:
        assert isinstance(child.next_event(30), Event)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_the_child_inherits_its_two_descriptors_and_no_other(begin: Start) -> None:
    leaked = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leaked, True)  # noqa: FBT003  # the standard library's own form
    child = begin(
        "import contextlib\nfound = set()\nfor number in range(256):\n"
        "    with contextlib.suppress(OSError): os.fstat(number); found.add(number)\n"
        "say('{\"extra\":%d}' % len(found - {0, 1, 2, events, control}))"
    )
    assert child.next_event(30) == Event({"extra": 0})
    os.close(leaked)
