"""Commands that run beside their caller: begun at once, awaited in any order."""

from __future__ import annotations

import itertools
import os
import sys
import threading
from pathlib import Path

import pytest

from assay.errors import GateError
from assay.process import Pending, spawn

ENV = {"PATH": os.environ["PATH"]}
WAITS = "import threading; threading.Event().wait()"


def test_two_commands_run_at_the_same_time(tmp_path: Path) -> None:
    """Each waits for the other's half of a pair of pipes: one after the other, neither would end."""
    ways = [tmp_path / "to", tmp_path / "back"]
    for way in ways:
        os.mkfifo(way)
    first = f"open({str(ways[0])!r}, 'w').write('1'); print(open({str(ways[1])!r}).read())"
    second = f"print(open({str(ways[0])!r}).read()); open({str(ways[1])!r}, 'w').write('2')"
    begun = [spawn((sys.executable, "-c", code), env=ENV, deadline_s=30) for code in (first, second)]
    assert [each.result().stdout for each in begun] == [b"2\n", b"1\n"]


def test_a_hung_command_does_not_keep_another_from_its_answer() -> None:
    hung = spawn((sys.executable, "-c", WAITS), env=ENV, deadline_s=0.3)
    talks = spawn((sys.executable, "-c", "print('x' * 300_000)"), env=ENV, deadline_s=30)
    assert hung.result().exit == "timeout"
    assert len(talks.result().stdout) == 300_001


def test_what_cannot_be_started_is_said_with_the_result() -> None:
    begun = spawn(("/nowhere/nvidia-smi",), env=ENV, deadline_s=1)
    for _ in range(2):
        with pytest.raises(GateError, match="cannot start /nowhere/nvidia-smi"):
            begun.result()


def test_a_result_is_taken_once_and_kept() -> None:
    numbers = itertools.count(1)
    pending = Pending(lambda: next(numbers))
    assert [pending.result(), pending.result()] == [1, 1]
    assert next(numbers) == 2


def test_nothing_is_left_when_all_have_ended() -> None:
    before = threading.active_count()
    spawn((sys.executable, "-c", ""), env=ENV, deadline_s=30).result()
    for thread in threading.enumerate():
        if thread.name.startswith("command "):
            thread.join(10)
    assert threading.active_count() == before
