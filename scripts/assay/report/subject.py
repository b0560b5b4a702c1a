"""What the parts of a page are made from: a verified run, every gate judged once, its facts at hand."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from assay.evidence.judging import Judged
from assay.evidence.steps import Run
from assay.evidence.verification import Verification
from assay.judge.case import Case
from assay.model import Facts


@dataclass(frozen=True)
class Subject:
    """A verified run.

    Attributes:
        verification: what verifying the bundle came to.
        run: its plan, receipts and members.
        gates: every gate of its journal as this copy judges it, in the order in which they ended.
    """

    verification: Verification
    run: Run
    gates: tuple[Judged, ...]

    def facts(self, gate: str) -> Facts:
        """Return a gate's facts, empty where it left none."""
        return next((each.receipt.facts for each in self.gates if each.receipt.gate == gate), {})

    @functools.cached_property
    def case(self) -> Case:
        """Return what a judge knows of the run."""
        document = self.run.document
        facts: Mapping[str, Facts] = {each.receipt.gate: each.receipt.facts for each in self.gates}
        return Case(
            plan=document.plan,
            plan_digest=document.plan_digest,
            platform=document.platform,
            nonce=document.nonce,
            challenge=document.challenge,
            facts=facts,
        )


def subject_of(verification: Verification, run: Run) -> Subject:
    """Return a verified run with every gate judged, by the rules of their receipts."""
    return Subject(verification, run, tuple(run.gates()))
