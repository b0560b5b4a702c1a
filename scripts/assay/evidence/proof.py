"""The bookkeeping of a verification: steps in order, problems with their place, where it stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay.errors import BundleError, NewerSchemaError
from assay.evidence.verification import Answer, Problem, Step

MAX_PROBLEMS = 100
"""Problems that are kept; the rest are counted."""

_SHOWN = 400
"""Characters of a hostile text that a problem quotes."""

TITLES = (
    "container: every header, every padding byte and the end",
    "manifest: lists exactly these members, with these digests",
    "journal: every entry linked to the one before",
    "plan: the one that entry 0 names, of this run and toolchain",
    "receipts: planned against journalled, with logs and exits",
    "facts: judged again by the rules of their receipts",
    "values: recomputed from plan, nonce and challenge",
    "verdict and tier: derived again",
    "artifacts: those that receipts name, and nothing else",
    "attestations and signer",
    "freshness and challenge",
)
"""The steps, in the order in which each needs those before it."""


class ProofStopped(Exception):  # noqa: N818  # not an error: it ends a proof whose answer is already noted
    """A step failed on which all others stand."""


class Proof:
    """What one verification has shown so far."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.problems: list[Problem] = []
        self.omitted = 0
        self.newer = False
        self._detail = ""
        self._failed = False

    @contextlib.contextmanager
    def step(self, *, needed: bool) -> Iterator[None]:
        """Take the next step; what is wrong in it is noted.

        Args:
            needed: whether all later steps stand on this one.

        Raises:
            ProofStopped: a problem was raised in the step, or noted and the step is needed.
        """
        self._detail, self._failed = "", False
        stopped = False
        try:
            yield
        except BundleError as error:
            self.newer |= isinstance(error, NewerSchemaError)
            observed = error.observed.removeprefix(_prefix(error))
            self.blame(error.member, error.field, observed, error.expected)
            stopped = True
        answer = Answer.FAILED if self._failed else Answer.PASSED
        number = len(self.steps)
        self.steps.append(Step(number + 1, TITLES[number], answer, self._detail))
        if stopped or (needed and self._failed):
            raise ProofStopped

    def blame(self, member: str, field: str, observed: str, expected: str) -> None:
        """Note a problem of the step that is being taken."""
        self._failed = True
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(member, field, _cut(observed), _cut(expected)))
        else:
            self.omitted += 1

    def disown(self, problem: Problem) -> None:
        """Note, before all else, that these are not the bytes that the reader's anchor is about.

        Then it counts for nothing that they say to be of a newer assay: nobody but they says so.
        """
        self.newer = False
        self.problems.insert(0, problem)

    def detail(self, text: str) -> None:
        """Say what the step that is being taken looked at."""
        self._detail = text

    def conclude(self, answer: Answer, detail: str) -> None:
        """Take a step that says something of the reader's wishes, not of the bundle's integrity."""
        number = len(self.steps)
        self.steps.append(Step(number + 1, TITLES[number], answer, detail))

    def all_steps(self) -> tuple[Step, ...]:
        """Return every step; those that were not reached are not asked."""
        rest = enumerate(TITLES[len(self.steps) :], len(self.steps) + 1)
        return (
            *self.steps,
            *(Step(number, title, Answer.NOT_ASKED, "not reached") for number, title in rest),
        )


def _cut(text: str) -> str:
    """Return a text of a length that a reader reads."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _prefix(error: BundleError) -> str:
    """Return the place that ``BundleError`` writes before what was observed."""
    where = ": ".join(part for part in (error.member, error.field) if part)
    return f"{where}: " if where else ""
