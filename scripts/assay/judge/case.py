"""What a judge knows besides the facts of its own gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.model import Facts, Platform
from assay.plan.values import Plan


@dataclass(frozen=True)
class Case:
    """The plan and the run that facts are judged against.

    Attributes:
        plan: the frozen plan.
        plan_digest: SHA-256 (hex) of the canonical plan.
        platform: the platform the run was made on.
        nonce: the run's nonce (hex).
        challenge: the auditor's value (hex), ``""`` where there was none.
        facts: facts of the gates that ended before, by gate, rooted and redacted.
        diagnosis: nothing is claimed of the facts, so what was not asked is no finding.
    """

    plan: Plan
    plan_digest: str
    platform: Platform
    nonce: str
    challenge: str
    facts: Mapping[str, Facts]
    diagnosis: bool = False
