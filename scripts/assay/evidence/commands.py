"""What a receipt says was run against what the plan says is to be run.

A judge sees facts alone; which words a program was given stands in the receipt's commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.evidence.judging import Judged
from assay.evidence.names import receipt_name
from assay.evidence.verification import Problem
from assay.judge import table
from assay.judge.reading import text
from assay.model import Command, Outcome
from assay.plan.values import CommandGate, Plan

PYTHON = "python"
_INTERPRETER = re.compile(r"(?:python|pypy)[\w.]*", re.IGNORECASE)
"""Names under which an interpreter lies: ``python3.12``, ``pypy3``, ``python.exe``."""

_SUFFIXES = re.compile(r"\.(?:exe|cmd|bat|com)\Z", re.IGNORECASE)
"""Suffixes that Windows adds to a program's name (PATHEXT's defaults)."""

INSTALLED = "installed"


def compare_commands(plan: Plan, judged: Judged) -> Iterator[Problem]:
    """Yield where a passed gate, whose claim names a command of the plan, ran something else.

    Args:
        plan: the run's plan.
        judged: a gate and what its facts come to.
    """
    receipt = judged.receipt
    if judged.outcome is not Outcome.PASSED:
        return
    known = {row.name for row in table.GATES}
    command = plan.command(receipt.gate)
    if command is not None and receipt.gate not in known:
        yield from _command(command, judged)
    elif receipt.gate == INSTALLED and not _ran(plan.smoke, receipt.commands):
        yield Problem(
            receipt_name(INSTALLED),
            "commands",
            "none that is the plan's smoke, ended with 0",
            _shown(plan.smoke),
        )


def _command(command: CommandGate, judged: Judged) -> Iterator[Problem]:
    """Yield where a command gate did not run its command, and that alone."""
    receipt = judged.receipt
    member = receipt_name(receipt.gate)
    if len(receipt.commands) != 1:
        yield Problem(member, "commands", f"{len(receipt.commands)} commands", "the one command of the plan")
        return
    ran, program = receipt.commands[0], text(receipt.facts, "program")
    if ran.argv[1:] != command.argv[1:] or not _names(command.argv[0], program):
        yield Problem(member, "commands.0.argv", _shown(ran.argv), f"{_shown(command.argv)}, of the plan")
    if ran.argv[:1] != (program,):
        yield Problem(member, "facts.program", program, f"{_shown(ran.argv[:1])}, of the command")
    if ran.exit != receipt.facts.get("exit"):
        yield Problem(member, "commands.0.exit", f"{ran.exit}", f"{receipt.facts.get('exit')}, of the facts")


def _ran(argv: Sequence[str], commands: Sequence[Command]) -> bool:
    """Say whether one of the commands is ``argv`` and ended with 0."""
    return any(
        each.argv[1:] == tuple(argv[1:]) and each.exit == 0 and _names(argv[0], each.argv[0])
        for each in commands
        if each.argv
    )


def _names(word: str, program: str) -> bool:
    """Say whether a plan's first word names a program: it was looked up, so the name is the same."""
    name = _SUFFIXES.sub("", _last(program))
    if word == PYTHON:
        return _INTERPRETER.fullmatch(name) is not None
    return name.casefold() == _SUFFIXES.sub("", _last(word)).casefold()


def _last(path: str) -> str:
    """Return a path's last part, whichever system wrote it."""
    return path.replace("\\", "/").rpartition("/")[2]


def _shown(argv: Sequence[str]) -> str:
    """Return words in one line."""
    return repr(" ".join(argv))
