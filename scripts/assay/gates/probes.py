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
from typing import TYPE_CHECKING, Protocol

from assay.errors import AssayError
from assay.files import read_bounded
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.context import Context
from assay.model import Facts, Json
from assay.process.promise import Pending

if TYPE_CHECKING:
    from assay.process import Finished

TIMEOUT = "timeout"
DEADLINE_S = 30.0
"""Seconds for one question; a healthy answer takes less than two."""

ALONE = frozenset({"nvml", "cuda", "nodes", "adapters", "vulkan"})
"""Parts of the chain's ``probe`` that call into a driver: each can hang or crash."""

_INTERPRETER = "the selected interpreter"
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
        code: the number of the error that a part of ``probe`` ended with, such as NVML's.
        reason: the name of that error.
    """

    asked: bool
    facts: Facts = field(default_factory=dict)
    text: str = ""
    problem: str = ""
    silent: bool = False
    code: int | None = None
    reason: str = ""


class Probes(Protocol):
    """Whom a gate asks.

    ``begin`` and ``start`` put a question and return at once, so that several are answered side by side
    while the gate reads files; ``result()`` of what they return waits for the answer.  ``chain`` and
    ``program`` do both.
    """

    def begin(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Mapping[str, Said]]:
        """Ask the selected interpreter; the result is what came of each part.

        Each part of ``ALONE`` is asked in a process of its own, so that one that hangs or crashes takes no
        other's answer with it.
        """

    def start(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Said]:
        """Ask a program; ``name`` is that of its recorded answer."""

    def chain(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Mapping[str, Said]:
        """Ask the selected interpreter and wait."""

    def program(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Said:
        """Ask a program and wait."""


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

    def begin(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Mapping[str, Said]]:
        """Return the recorded parts."""
        return Pending(lambda: self.chain(parts, deadline_s))

    def start(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Said]:
        """Return a program's recorded answer."""
        return Pending(lambda: self.program(name, argv, deadline_s))

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

    def begin(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Mapping[str, Said]]:
        """Run the entry point ``probe`` of the chain in the selected interpreter, once for each group."""
        begun = [self._begin(group, deadline_s) for group in _groups(parts)]
        return Pending(lambda: {part: said for each in begun for part, said in each.result().items()})

    def _begin(self, parts: Sequence[str], deadline_s: float) -> Pending[Mapping[str, Said]]:
        """Begin one process that tells ``parts``."""
        if self._context.selection.executable is None:
            return _settled(parts, Said(asked=False, problem="no interpreter is selected"))
        self._number += 1
        result = self._context.scratch / f"probe-{self._number}.json"
        try:
            setup = self._child()
        except AssayError as error:
            return _settled(parts, Said(asked=True, problem=error.observed))
        serial = ("--serial",) if "gpu-serial" in self._context.plan.disclose else ()
        argv = (*setup.argv, "probe", "--result", str(result), *serial, *parts)
        begun = self._context.begin(argv, env=setup.env, cwd=setup.cwd, deadline_s=deadline_s)
        return Pending(lambda: _answers(begun, result, parts))

    def start(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Pending[Said]:
        """Start a program in the children's environment."""
        try:
            setup = self._child() if self._context.selection.executable else None
        except AssayError as error:
            problem = error.observed
            return Pending(lambda: Said(asked=True, problem=problem))
        env, cwd = (None, self._context.scratch) if setup is None else (setup.env, setup.cwd)
        begun = self._context.begin(argv, env=env, cwd=cwd, deadline_s=deadline_s)
        return Pending(lambda: _answer(begun, name))

    def chain(self, parts: Sequence[str], deadline_s: float = DEADLINE_S) -> Mapping[str, Said]:
        """Ask the selected interpreter and wait."""
        return self.begin(parts, deadline_s).result()

    def program(self, name: str, argv: Sequence[str], deadline_s: float = DEADLINE_S) -> Said:
        """Ask a program and wait."""
        return self.start(name, argv, deadline_s).result()


def _groups(parts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the parts by the process that tells them."""
    together = tuple(part for part in parts if part not in ALONE)
    alone = tuple((part,) for part in parts if part in ALONE)
    return (together, *alone) if together else alone


def _settled(parts: Sequence[str], said: Said) -> Pending[Mapping[str, Said]]:
    """Return the same answer for each part."""
    return Pending(lambda: dict.fromkeys(parts, said))


def _answers(begun: Pending[Finished], result: Path, parts: Sequence[str]) -> Mapping[str, Said]:
    """Wait for a process and return what it told of each part."""
    try:
        done = begun.result()
        if not isinstance(done.exit, int):
            return dict.fromkeys(parts, _silent(_INTERPRETER, abandoned=done.abandoned))
        if not result.exists():
            return dict.fromkeys(parts, _ended(done.exit or 1, _decoded(done.stdout + done.stderr)))
        return _parts(result, parts)
    except AssayError as error:
        return dict.fromkeys(parts, Said(asked=True, problem=error.observed))


def _answer(begun: Pending[Finished], name: str) -> Said:
    """Wait for a program and return its answer."""
    try:
        done = begun.result()
    except AssayError as error:
        return Said(asked=True, problem=error.observed)
    if not isinstance(done.exit, int):
        return _silent(name, abandoned=done.abandoned)
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
        return _silent(_INTERPRETER)
    facts = part.get("facts") if isinstance(part, Mapping) else None
    if isinstance(facts, Mapping):
        return Said(asked=True, facts=facts)
    error = part.get("error") if isinstance(part, Mapping) else None
    told = error if isinstance(error, Mapping) else {}
    message, code, reason = (told.get(name) for name in ("message", "code", "reason"))
    return Said(
        asked=True,
        problem=message if isinstance(message, str) and message else "it told nothing",
        code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        reason=reason if isinstance(reason, str) else "",
    )


def _silent(who: str, *, abandoned: bool = False) -> Said:
    """Return that nobody answered; a process that waits in the kernel cannot even be killed."""
    more = " and cannot be killed" if abandoned else ""
    return Said(asked=True, problem=f"{who} did not answer within its deadline{more}", silent=True)


def _ended(code: int, text: str) -> Said:
    """Return a program's answer; one that ended with another exit than 0 has a problem."""
    if code == 0:
        return Said(asked=True, text=text)
    how = f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = f": {lines[-1][:300]}" if lines else ""
    return Said(asked=True, text=text, problem=f"it {how}{last}")


def _decoded(data: bytes) -> str:
    """Return a program's output as text; undecodable bytes become U+FFFD."""
    return data.decode("utf-8", "replace")
