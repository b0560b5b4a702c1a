"""What is signed about a bundle: in-toto Statements (v1) with three predicates (FORMATS, "Attestations")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from assay import __version__
from assay.evidence.documents import TOOL
from assay.evidence.judging import Conclusion
from assay.evidence.names import PLAN, artifact_name
from assay.evidence.steps import Run
from assay.evidence.verification import Verification, claims_json
from assay.model import Json, Outcome, Verdict

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
PROVENANCE = "https://slsa.dev/provenance/v1"
QUALIFICATION = "urn:gpu-assay:qualification:v1"
"""The project's own predicate; its JSON Schema is ``schemas/qualification.schema.json``."""

_RESULTS: Mapping[Verdict, str] = {
    Verdict.QUALIFIED: "PASSED",
    Verdict.REJECTED: "FAILED",
    Verdict.UNDECIDED: "FAILED",
}
"""A rehearsal tests nothing that is released: it gets no result."""


@dataclass(frozen=True)
class Shown:
    """What verifying an intact bundle showed, of which statements are made.

    Attributes:
        run: the bundle's run.
        bundle_digest: SHA-256 (hex) of its manifest.
        outcomes: outcome by gate, as judged.
        conclusion: its tier, verdict and claims.
        subject_digest: of what was qualified and what came out (hex); ``""`` where it was not computed.
    """

    run: Run
    bundle_digest: str
    outcomes: Mapping[str, Outcome]
    conclusion: Conclusion
    subject_digest: str = ""

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Return the planned gates that never ended."""
        return tuple(gate for gate in self.run.document.plan.gates if gate not in self.outcomes)


def shown_by(verification: Verification, run: Run) -> Shown:
    """Return what the verification of an intact bundle showed."""
    return Shown(
        run=run,
        bundle_digest=verification.bundle_digest,
        outcomes=verification.outcomes,
        conclusion=Conclusion(verification.tier, verification.verdict, verification.claims),
        subject_digest=verification.subject_digest,
    )


def statement(subject: Json, predicate_type: str, predicate: Json) -> dict[str, Json]:
    """Return an in-toto Statement v1."""
    return {
        "_type": STATEMENT,
        "predicate": predicate,
        "predicateType": predicate_type,
        "subject": subject,
    }


def subject_of(shown: Shown, gates: Collection[str] | None = None) -> list[Json]:
    """Return a subject list: the bundle by its digest, then the artifacts of ``gates`` (None: of all).

    Names tell subjects apart (in-toto Statement v1, "subject"): an artifact whose real name is not unique
    stands under its name in the bundle.
    """
    records = shown.run.records
    artifacts = {
        (artifact.name, artifact.sha256)
        for gate in records.gates
        if gates is None or gate in gates
        for artifact in records.receipt(gate).artifacts
    }
    bundle = (f"{shown.run.document.run}.tar", shown.bundle_digest)
    times = Counter(name for name, _ in [bundle, *artifacts])
    unique = sorted(
        (name if times[name] == 1 else artifact_name(sha256), sha256) for name, sha256 in artifacts
    )
    return [{"digest": {"sha256": sha256}, "name": name} for name, sha256 in [bundle, *unique]]


def test_result(shown: Shown) -> dict[str, Json] | None:
    """Return the predicate test-result v0.1, None for a rehearsal."""
    result = _RESULTS.get(shown.conclusion.verdict)
    if result is None:
        return None
    counted = [
        gate
        for gate in shown.run.document.plan.gates
        if shown.outcomes.get(gate) is not Outcome.NOT_APPLICABLE
    ]
    plan = shown.run.journal.entries[0].receipt_sha256
    return {
        "configuration": [{"digest": {"sha256": plan}, "name": PLAN}],
        "failedTests": [gate for gate in counted if shown.outcomes.get(gate) is not Outcome.PASSED],
        "passedTests": [gate for gate in counted if shown.outcomes.get(gate) is Outcome.PASSED],
        "result": result,
    }


def qualification(shown: Shown, others: list[Json]) -> dict[str, Json]:
    """Return the project's own predicate: what the run came to, and which other statements were signed.

    Args:
        shown: what verifying the bundle showed.
        others: type and line digest of every other envelope of the file, in order.  This predicate is the
            signed root of the file, which nothing else authenticates as a whole.
    """
    return {
        **said_of(shown),
        "attestations": others,
        "claims": claims_json(shown.conclusion.claims),
        "schema": "assay/qualification/1",
        "subject_digest": shown.subject_digest,
        "tool": {"name": TOOL, "version": __version__},
    }


def said_of(shown: Shown) -> dict[str, Json]:
    """Return what every reader finds again by judging the bundle, whenever that is."""
    document, conclusion = shown.run.document, shown.conclusion
    return {
        "bundle_digest": shown.bundle_digest,
        "challenge": document.challenge,
        "nonce": document.nonce,
        "outcomes": {gate: outcome.value for gate, outcome in shown.outcomes.items()},
        "plan_digest": document.plan_digest,
        "platform": document.platform.value,
        "project": document.plan.project,
        "run": document.run,
        "started": document.started,
        "tier": conclusion.tier.value if conclusion.tier else None,
        "toolchain_sha256": document.toolchain_sha256,
        "unfinished": list(shown.unfinished),
        "verdict": conclusion.verdict.value,
    }
