"""Asks programs of a machine: the selected interpreter, nvcc, the host compiler, the selected libraries.

A machine that can be asked is asked live; a recorded one answers from its ``probes.json``::

    {"chain": {"interpreter": {"facts": {…}}, "shadow": {"error": {"message": "…"}}},
     "nvcc-version": {"exit": 0, "output": "nvcc: NVIDIA (R) Cuda compiler driver …"},
     "nvml": "timeout"}

``chain`` holds parts of the chain's entry point ``probe`` (``assay.chain`` describes them); every other name
is a program's answer.  A question without a recorded answer was not asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assay.errors import AssayError
from assay.files import read_bounded
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.context import Context
from assay.model import Facts, Json

TIMEOUT = "timeout"
DEADLINE_S = 30.0
"""Seconds for one question; a healthy answer takes less than two."""

_RESULT_LIMIT = 4 << 20
_NOT_ASKED = "the machine is a recorded one and holds no answer"


@dataclass(frozen=True)
class Said:
    """What came of one question.

    Attributes:
        asked: whether it was asked at all.
        facts: the answer of a part of ``probe``.
        text: a program's output, both streams.
        problem: why there is no answer, or ``""``.
        silent: it did not answer within its deadline.
    """

    asked: bool
    facts: Facts = field(default_factory=dict)
    text: str = ""
    problem: str = ""
    silent: bool = False


class Probes(Protocol):
    """Whom a gate asks."""

    def chain(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Mapping[str, Said]:
        """Ask the selected interpreter, in one process, and return what came of each part."""

    def program(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Said:
        """Ask a program; ``name`` is that of its recorded answer."""


def probes_of(context: Context) -> Probes:
    """Return whom to ask: the machine itself, or what was recorded of it."""
    if context.machine.is_real and context.machine.probes is None:
        return LiveProbes(context)
    return RecordedProbes(context.machine.probes or {})


class RecordedProbes:
    """The recorded answers of a machine."""

    def __init__(self, answers: Mapping[str, Json]) -> None:
        """Answer from ``answers``, the content of ``probes.json``."""
        self._answers = answers

    def chain(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Mapping[str, Said]:
        """Return the recorded parts."""
        del deadline_s  # recorded answers take no time
        recorded = self._answers.get("chain")
        known = recorded if isinstance(recorded, Mapping) else {}
        return {
            part: _told(known.get(part)) if part in known else Said(asked=False, problem=_NOT_ASKED)
            for part in parts
        }

    def program(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Said:
        """Return a program's recorded answer."""
        del argv, deadline_s  # one answer was recorded, of whatever was started then
        if name not in self._answers:
            return Said(asked=False, problem=_NOT_ASKED)
        answer = self._answers[name]
        if answer == TIMEOUT:
            return _silent(name)
        if not isinstance(answer, Mapping):
            return Said(asked=True, problem=f"the recorded answer of {name} has another form")
        code, text = answer.get("exit"), answer.get("output")
        return _ended(code if isinstance(code, int) else 1, text if isinstance(text, str) else "")


class LiveProbes:
    """The machine itself, asked in the children's own environment."""

    def __init__(self, context: Context) -> None:
        """Ask through a gate's context; the child's folders are made with the first question."""
        self._context = context
        self._setup: ChildSetup | None = None
        self._number = 0

    def _child(self) -> ChildSetup:
        """Return the child's zip, folders and environment.

        Raises:
            AssayError: no interpreter is selected, or the folders cannot be made.
        """
        if self._setup is None:
            self._setup = prepare_child(self._context, name="probe", interface="")
        return self._setup

    def chain(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Mapping[str, Said]:
        """Run the entry point ``probe`` of the chain in the selected interpreter."""
        if self._context.selection.executable is None:
            return dict.fromkeys(parts, Said(asked=False, problem="no interpreter is selected"))
        self._number += 1
        result = self._context.scratch / f"probe-{self._number}.json"
        try:
            setup = self._child()
            serial = ("--serial",) if "gpu-serial" in self._context.plan.disclose else ()
            argv = (*setup.argv, "probe", "--result", str(result), *serial, *parts)
            done = self._context.execute(argv, env=setup.env, cwd=setup.cwd, deadline_s=deadline_s)
            if not isinstance(done.exit, int):
                return dict.fromkeys(parts, _silent("the selected interpreter"))
            if not result.exists():
                return dict.fromkeys(parts, _ended(done.exit or 1, _decoded(done.stdout + done.stderr)))
            return _parts(result, parts)
        except AssayError as error:
            return dict.fromkeys(parts, Said(asked=True, problem=error.observed))

    def program(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Said:
        """Run a program in the children's environment."""
        try:
            setup = self._child() if self._context.selection.executable else None
            done = self._context.execute(
                argv,
                env=None if setup is None else setup.env,
                cwd=self._context.scratch if setup is None else setup.cwd,
                deadline_s=deadline_s,
            )
        except AssayError as error:
            return Said(asked=True, problem=error.observed)
        if not isinstance(done.exit, int):
            return _silent(name)
        return _ended(done.exit, _decoded(done.stdout + done.stderr))


def _parts(result: Path, parts: Sequence[str]) -> Mapping[str, Said]:
    """Return the parts of a result file; one that is not what ``probe`` writes has no answers."""
    try:
        document = json.loads(read_bounded(result, _RESULT_LIMIT))
    except (ValueError, RecursionError) as error:
        return dict.fromkeys(parts, Said(asked=True, problem=f"its answer is not JSON: {error}"))
    told = document.get("parts") if isinstance(document, Mapping) else None
    known = told if isinstance(told, Mapping) else {}
    return {part: _told(known.get(part)) for part in parts}


def _told(part: Json) -> Said:
    """Return what came of one part: its facts or its error."""
    if part == TIMEOUT:
        return _silent("the selected interpreter")
    facts = part.get("facts") if isinstance(part, Mapping) else None
    if isinstance(facts, Mapping):
        return Said(asked=True, facts=facts)
    error = part.get("error") if isinstance(part, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else None
    return Said(asked=True, problem=message if isinstance(message, str) else "it told nothing")


def _silent(who: str) -> Said:
    """Return that nobody answered."""
    return Said(asked=True, problem=f"{who} did not answer within its deadline", silent=True)


def _ended(code: int, text: str) -> Said:
    """Return a program's answer; one that ended with another exit than 0 has a problem."""
    if code == 0:
        return Said(asked=True, text=text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = f": {lines[-1][:300]}" if lines else ""
    return Said(asked=True, text=text, problem=f"it ended with {code}{last}")


def _decoded(data: bytes) -> str:
    """Return a program's output as text; undecodable bytes become U+FFFD."""
    return data.decode("utf-8", "replace")
