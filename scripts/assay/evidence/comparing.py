"""What a receipt says of itself against what judging its facts anew gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.evidence.documents import PlanDocument
from assay.evidence.judging import CHAIN, Judged
from assay.evidence.names import receipt_name
from assay.evidence.receipt import bounded_findings
from assay.evidence.verification import Problem
from assay.model import Finding, Outcome
from assay.plan.kernels import FRESH_COUNT

VALUES = ("CHAIN-RESULT-", "CHAIN-VALUE-")
"""How the ids of findings about a chain's values begin."""

RAN = frozenset({Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.UNAVAILABLE})


def compare_receipt(judged: Judged) -> Iterator[Problem]:
    """Yield where a receipt differs from what its facts come to.

    What was found is compared: outcome, and of each finding id, severity, observation and place.  What should
    have been there and what to do are the catalogue's words; ``show`` prints the reader's own.
    """
    receipt = judged.receipt
    member = receipt_name(receipt.gate)
    if receipt.outcome is not judged.outcome:
        yield Problem(member, "outcome", receipt.outcome.value, f"{judged.outcome.value}, from its facts")
    if judged.outcome not in RAN and (receipt.facts or receipt.commands or receipt.artifacts):
        yield Problem(
            member, "facts", f"facts of a gate that is {judged.outcome.value}", "none: it did not run"
        )
    kept, omitted = bounded_findings(judged.findings)
    yield from _compare_findings(member, receipt.findings, kept)
    if receipt.findings_omitted != omitted:
        yield Problem(member, "findings_omitted", str(receipt.findings_omitted), str(omitted))


def _compare_findings(
    member: str, said: tuple[Finding, ...], judged: tuple[Finding, ...]
) -> Iterator[Problem]:
    """Yield where two lists of findings differ."""
    for number in range(max(len(said), len(judged))):
        left = _essence(said[number]) if number < len(said) else "nothing"
        right = _essence(judged[number]) if number < len(judged) else "nothing"
        if left != right:
            yield Problem(member, f"findings.{number}", left, f"{right}, from its facts")


def _essence(finding: Finding) -> str:
    """Return what a finding found, in one line."""
    where = ", ".join(finding.where)
    return f"{finding.id} ({finding.severity.value}): {finding.observed}" + (f" [{where}]" if where else "")


def is_about_values(problem: Problem) -> bool:
    """Say whether a problem is about a chain's values: they are judged by recomputing them."""
    about = problem.observed.startswith(VALUES) or problem.expected.startswith(VALUES)
    return problem.member == receipt_name(CHAIN) and about


def recomputed(document: PlanDocument, outcomes: Mapping[str, Outcome]) -> str:
    """Say how many values were recomputed: canonical and fresh ones of every stage."""
    if outcomes.get(CHAIN) not in RAN:
        return "no chain ran"
    chains = document.plan.planned_chains(document.platform)
    values = sum((len(chain.values) + FRESH_COUNT) * len(chain.stages) for chain in chains)
    return f"{values} values of {', '.join(chain.name for chain in chains)}"
