"""The steps that show a bundle's integrity, each standing on those before it; ``verify`` takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay import __version__
from assay.errors import BundleError, NewerSchemaError
from assay.evidence.commands import compare_commands
from assay.evidence.comparing import compare_receipt, is_about_values
from assay.evidence.container import Container
from assay.evidence.contents import check_artifacts, check_gate, check_members, named_by
from assay.evidence.documents import Listed, Manifest, PlanDocument, parse_manifest, parse_plan_document
from assay.evidence.journal import Journal, parse_journal
from assay.evidence.judging import Conclusion, Judged, check_gates, conclude, judge_gates
from assay.evidence.names import (
    JOURNAL,
    JOURNAL_BYTES,
    MANIFEST,
    PLAN,
    RECEIPT_BYTES,
    TOOLCHAIN,
    artifact_name,
)
from assay.evidence.proof import MAX_PROBLEMS, Proof
from assay.evidence.records import Records
from assay.evidence.toolchain import toolchain_answer
from assay.evidence.verification import Problem
from assay.judge.table import row
from assay.model import Outcome
from assay.plan.versions import release


@dataclass(frozen=True)
class Run:
    """What the first four steps read: the bundle's run, its parts checked against one another.

    Attributes:
        judged: every gate as the sixth step judged it, where that was to be kept.
    """

    container: Container
    manifest: Manifest
    journal: Journal
    document: PlanDocument
    records: Records
    judged: tuple[Judged, ...] = ()

    def gates(self) -> Iterable[Judged]:
        """Return every gate as the rules of its receipt judge it, in the order in which they ended."""
        return self.judged or judge_gates(self.document, self.records, newest=False)


@dataclass(frozen=True)
class Judgement:
    """What judging every gate again gave.

    Attributes:
        outcomes: outcome by gate.
        about_values: what is wrong with a chain's values.
        of_today: whether every receipt names today's rules.
        gates: every gate as it was judged, where that was to be kept.
    """

    outcomes: dict[str, Outcome]
    about_values: tuple[Problem, ...]
    of_today: bool
    gates: tuple[Judged, ...] = ()


@dataclass(frozen=True)
class Holdings:
    """What the bundle lists, what its receipts name (artifacts only if they are there), what is wrong."""

    listed: Mapping[str, Listed]
    named: frozenset[str]
    problems: tuple[Problem, ...]


def read_manifest(container: Container, data: bytes, proof: Proof) -> Manifest:
    """Read the manifest, compare it with what the container holds, and hash every member."""
    manifest = parse_manifest(data)
    listed = [(member.name, member.size) for member in manifest.members]
    held = [(entry.name, entry.size) for entry in container.entries[1:]]
    for name, size in sorted(set(listed) ^ set(held)):
        proof.blame(name, "", f"{size} bytes, not both listed and held", "each member listed with its size")
    if listed != held:
        raise BundleError("lists other members than there are", "exactly these", "", member=MANIFEST)
    digests = container.digests()
    for number, member in enumerate(manifest.members):
        if digests[member.name] != member.sha256:
            where = f"members.{number}.sha256 of {MANIFEST}"
            proof.blame(member.name, where, f"has SHA-256 {digests[member.name]}", member.sha256)
    proof.detail(f"bundle digest {hashlib.sha256(data).hexdigest()}")
    return manifest


def read_journal(container: Container, manifest: Manifest, proof: Proof) -> Journal:
    """Read the journal."""
    journal = parse_journal(_listed_bytes(container, manifest, JOURNAL, JOURNAL_BYTES))
    if journal.torn:
        proof.blame(JOURNAL, "", f"ends with {journal.torn} bytes without a newline", "whole lines")
    if not journal.entries:
        proof.blame(JOURNAL, "", "has no entry", "entry 0 at least, the plan")
    proof.detail(f"{len(journal.entries)} entries")
    return journal


def read_plan(container: Container, manifest: Manifest, journal: Journal, proof: Proof) -> PlanDocument:
    """Read the plan that entry 0 names."""
    data = _listed_bytes(container, manifest, PLAN, RECEIPT_BYTES)
    if (sha256 := hashlib.sha256(data).hexdigest()) != journal.entries[0].receipt_sha256:
        proof.blame(PLAN, "", f"has SHA-256 {sha256}", f"{journal.entries[0].receipt_sha256}, of entry 0")
    try:
        document = parse_plan_document(data)
        check_gates(document)
    except BundleError as error:
        raise _newer_if_so(error, manifest) from error
    if document.run != manifest.run:
        proof.blame(MANIFEST, "run", manifest.run, f"{document.run}, of the plan")
    for member in manifest.members:
        if member.name == TOOLCHAIN and member.sha256 != document.toolchain_sha256:
            proof.blame(
                TOOLCHAIN, "", f"has SHA-256 {member.sha256}", f"{document.toolchain_sha256}, of the plan"
            )
    proof.detail(
        f"plan digest {document.plan_digest}, toolchain {toolchain_answer(document.toolchain_sha256)}"
    )
    return document


def _newer_if_so(error: BundleError, manifest: Manifest) -> BundleError:
    """Return the error, as one of a newer assay where a newer one wrote what this one does not know."""
    if release(manifest.version) <= release(__version__):
        return error
    observed, expected = f"was written by {manifest.tool} {manifest.version}", f"at most {__version__}"
    return NewerSchemaError(observed, expected, "update assay", member=MANIFEST, field="tool.version")


def _listed_bytes(container: Container, manifest: Manifest, name: str, limit: int) -> bytes:
    """Return a member's bytes if they still have the digest that the manifest lists."""
    data = container.read(name, limit)
    listed = next(member for member in manifest.members if member.name == name)
    if hashlib.sha256(data).hexdigest() != listed.sha256:
        raise BundleError("changed while it was verified", "a file at rest", "verify it again", member=name)
    return data


def check_receipts(run: Run, proof: Proof) -> Holdings:
    """Compare planned and journalled gates, and each receipt with its log and exit."""
    planned, records = run.document.plan.gates, run.records
    for gate in records.gates:
        if gate not in planned:
            proof.blame(JOURNAL, "gate", gate, "only planned gates")
    listed = {member.name: member for member in run.manifest.members}
    named: set[str] = set()
    problems: list[Problem] = []
    for entry in run.journal.entries[1:]:
        receipt = records.receipt(entry.gate)
        blame_all(proof, check_gate(entry, receipt, run.container, listed))
        absent = {artifact_name(each.sha256) for each in receipt.artifacts} - set(listed)
        named |= named_by(entry, receipt) - absent
        problems = [*problems, *check_artifacts(receipt, listed)][:MAX_PROBLEMS]
    unfinished = [gate for gate in planned if gate not in records.gates]
    ended = f"{len(records.gates)} of {len(planned)} planned gates ended"
    proof.detail(f"{ended}; unfinished: {', '.join(unfinished)}" if unfinished else ended)
    return Holdings(listed, frozenset(named), tuple(problems))


def judge_facts(run: Run, proof: Proof, *, keep: bool = False) -> Judgement:
    """Judge every gate again, and compare what comes of it with its receipt.

    Args:
        run: the bundle's run.
        proof: where problems are noted.
        keep: whether every gate's receipt and findings are kept, which who only verifies has no room for.
    """
    gates: list[Judged] = []
    about_values: list[Problem] = []
    outcomes: dict[str, Outcome] = {}
    of_today = True
    for judged in judge_gates(run.document, run.records, newest=False):
        gate = judged.receipt.gate
        outcomes[gate] = judged.outcome
        gates += [judged] if keep else []
        of_today &= judged.receipt.rules == row(run.document.plan, gate).rules
        for problem in (*compare_receipt(judged), *compare_commands(run.document.plan, judged)):
            if is_about_values(problem):
                about_values = [*about_values, problem][:MAX_PROBLEMS]
            else:
                proof.blame(problem.member, problem.field, problem.observed, problem.expected)
    proof.detail(", ".join(f"{gate} {outcome.value}" for gate, outcome in outcomes.items()))
    return Judgement(outcomes, tuple(about_values), of_today, tuple(gates))


def check_verdict(run: Run, judgement: Judgement, proof: Proof) -> Conclusion:
    """Derive tier and verdict, and compare them with the manifest's."""
    conclusion = conclude(run.document, run.records, judgement.outcomes)
    if run.manifest.verdict is not conclusion.verdict:
        proof.blame(
            MANIFEST, "verdict", run.manifest.verdict.value, f"{conclusion.verdict.value}, from the facts"
        )
    if run.manifest.tier is not conclusion.tier:
        proof.blame(MANIFEST, "tier", f"{run.manifest.tier}", f"{conclusion.tier}, from the facts")
    proof.detail(f"{conclusion.verdict.value}, tier {conclusion.tier.value if conclusion.tier else 'none'}")
    return conclusion


def check_holdings(holdings: Holdings, proof: Proof) -> None:
    """Note artifacts that are not what their receipts say, what is missing, and what nothing names."""
    blame_all(proof, holdings.problems)
    blame_all(proof, check_members(holdings.listed, holdings.named))
    proof.detail(f"{len(holdings.listed)} members")


def blame_all(proof: Proof, problems: Iterable[Problem]) -> None:
    """Note problems."""
    for problem in problems:
        proof.blame(problem.member, problem.field, problem.observed, problem.expected)
