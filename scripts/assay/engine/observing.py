"""What a gate saw, as every reader will see it: rooted, redacted and settled, or the fact that it broke."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from assay.engine.setup import Setup
from assay.errors import AssayError, DeadlineError
from assay.evidence.facts import settle
from assay.judge.row import GateRow
from assay.judge.rules import BROKE, DEADLINE
from assay.model import Facts

if TYPE_CHECKING:
    from assay.engine.context import GateContext

LONGEST = 2000
"""Characters of an error's message that a receipt holds; the log has all."""


def observed(setup: Setup, row: GateRow, context: GateContext) -> tuple[Facts, int]:
    """Return a gate's facts as a reader will see them and the redactions made, or the fact that it broke."""
    try:
        rooted, redactions = setup.redactor.json(setup.observe[row.name](context))
        return settle(cast("Facts", rooted)), redactions
    except DeadlineError as error:
        return broke(DEADLINE, error.observed, error.expected), 0
    except AssayError as error:
        context.log(f"{error}\n")
        return broke("error", error.observed, error.expected), 0
    except Exception as error:  # noqa: BLE001  # a gate's defect must end as a finding, not as a lost run
        import traceback  # noqa: PLC0415  # no gate that works needs it

        context.log(traceback.format_exc())
        return broke("crash", f"{type(error).__name__}: {error}", "a gate without defects"), 0


def broke(kind: str, observed: str, expected: str) -> Facts:
    """Return the facts of a gate that did not come to facts of its own."""
    return {BROKE: {"expected": expected, "kind": kind, "observed": _printable(observed[:LONGEST])}}


def _printable(text: str) -> str:
    """Return text without lone surrogates, which no receipt may hold."""
    return text.encode("utf-8", "replace").decode()
