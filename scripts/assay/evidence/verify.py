"""Verifies a bundle as a stranger: numbered steps, each standing on those before it.

Nothing in a bundle is believed, extracted or run.  The file is read once from end to end while it is hashed;
after that only documents of a few MiB are read again, and checked against their digests as they are.

What needs no schema comes first: the container, and whether the bundle digest is the one that the reader was
told or that the reader's key signed.  Bytes that were changed since are broken, and never "of a newer assay".
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BundleError
from assay.evidence.asking import Wanted, fresh, policy
from assay.evidence.comparing import recomputed
from assay.evidence.container import Container, open_container
from assay.evidence.judging import Conclusion, conclude, judge_gates
from assay.evidence.names import MANIFEST, MANIFEST_BYTES
from assay.evidence.proof import Proof, ProofStopped
from assay.evidence.records import Records
from assay.evidence.signer import NO_WITNESS, Vouching, Witness, ask_of_digest, ask_signer, find_witness
from assay.evidence.signer import UNASKED as NOBODY_ASKED
from assay.evidence.statement import Shown
from assay.evidence.steps import (
    Judgement,
    Run,
    blame_all,
    check_holdings,
    check_receipts,
    check_verdict,
    judge_facts,
    read_journal,
    read_manifest,
    read_plan,
)
from assay.evidence.toolchain import toolchain_answer
from assay.evidence.verification import Answer, Asked, Integrity, Problem, Signer, Verification
from assay.model import Tier
from assay.plan import Plan

if TYPE_CHECKING:
    from assay.evidence.keys import PublicKey

UNASKED = Asked(Answer.NOT_ASKED)


@dataclass
class _Found:
    """What the steps found, as far as they got; local to one verification."""

    digest: str = ""
    subject: str = ""
    run: Run | None = None
    judgement: Judgement | None = None
    conclusion: Conclusion | None = None
    policy: Asked = UNASKED
    freshness: Asked = UNASKED
    witness: Witness = NO_WITNESS
    vouching: Vouching = NOBODY_ASKED


def verify_bundle(  # noqa: PLR0913  # each is an option of `assay verify`
    path: Path,
    *,
    expect_digest: str | None = None,
    accept: Collection[str] = (),
    tier: Tier | None = None,
    plan: Plan | None = None,
    not_older_than: timedelta | None = None,
    challenge: str | None = None,
    key: PublicKey | None = None,
    attestations: Path | None = None,
    claims: Collection[str] = (),
    archive: Path | None = None,
    trust: tuple[PublicKey, ...] = (),
    now: datetime | None = None,
    subject: bool = False,
) -> Verification:
    """Verify a bundle and answer separately for integrity, signer, policy, freshness and standing.

    Args:
        path: the bundle.
        expect_digest: the bundle digest that the reader was told another way (hex): an anchor.
        accept: ``unanchored`` and ``rehearsed`` widen what is accepted.
        tier: the only tier that is accepted.
        plan: the plan that the reader expects.
        not_older_than: how old the run may be.
        challenge: the value that the run had to mix in (hex).
        key: whose signature the reader trusts: an anchor where it holds.
        attestations: where the attestations lie; beside the bundle where it is not given.
        claims: ids of the claims that the reader relies on.
        archive: the folder of the archive that says whether the bundle still stands.
        trust: further keys whose word counts for that.
        now: the reader's time; the clock's where it is not given.
        subject: whether to compute the subject digest, which unpacks archives in memory.

    Raises:
        UsageError: an option has a value that it cannot have.
        StorageError: the file cannot be read.
    """
    moment = now or datetime.now(UTC)
    accepted = frozenset(accept)
    wanted = Wanted(
        moment,
        expect_digest,
        accepted,
        tier,
        plan,
        not_older_than,
        challenge,
        key,
        attestations,
        claims,
        archive,
        trust,
    )
    with verifying(path, wanted, subject=subject) as (verification, _):
        return verification


@contextlib.contextmanager
def verifying(
    path: Path, wanted: Wanted, *, subject: bool = False, judged: bool = False
) -> Iterator[tuple[Verification, Run | None]]:
    """Yield a verification, and the bundle's run while it is open; None where the bundle is not intact.

    Args:
        path: the bundle.
        wanted: what the reader wants.
        subject: whether to compute the subject digest, which unpacks archives in memory.
        judged: whether the run keeps every gate as it was judged, for who shows them.

    Raises:
        UsageError: the reader wants something that cannot be.
        StorageError: the file cannot be read.
    """
    wanted.check()
    proof, found = Proof(), _Found()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ProofStopped):
            with proof.step(needed=True):  # 1
                container = stack.enter_context(open_container(path))
                proof.detail(f"{len(container.entries)} members")
            _prove(path, container, wanted, proof, found, judged=judged)
            if subject and not proof.problems:
                found.subject = _subject(found)
        if proof.newer:
            _ask_of_newer(wanted, proof, found)
        verification = _standing(wanted, _verification(path, wanted, proof, found))
        yield verification, found.run if verification.intact else None


def _prove(  # noqa: PLR0913  # all that the proof stands on
    path: Path, container: Container, wanted: Wanted, proof: Proof, found: _Found, *, judged: bool
) -> None:
    """Take the steps behind the first, each with what those before it showed."""
    with proof.step(needed=True):  # 2
        data = container.read(MANIFEST, MANIFEST_BYTES)
        found.digest = hashlib.sha256(data).hexdigest()
        if wanted.expect_digest not in {None, found.digest}:
            observed, expected = f"the bundle digest is {found.digest}", f"{wanted.expect_digest}"
            raise BundleError(observed, expected, "ask for an unaltered copy", member=MANIFEST)
        found.witness = find_witness(path, wanted)
        manifest = read_manifest(container, data, proof)
    with proof.step(needed=True):  # 3
        journal = read_journal(container, manifest, proof)
    with proof.step(needed=True):  # 4
        document = read_plan(container, manifest, journal, proof)
    run = found.run = Run(container, manifest, journal, document, Records(container, journal.entries))
    with proof.step(needed=True):  # 5
        holdings = check_receipts(run, proof)
    with proof.step(needed=False):  # 6
        judgement = found.judgement = judge_facts(run, proof, keep=judged)
        found.run = replace(run, judged=judgement.gates)
    with proof.step(needed=False):  # 7
        blame_all(proof, judgement.about_values)
        proof.detail(recomputed(document, judgement.outcomes))
    with proof.step(needed=False):  # 8
        conclusion = found.conclusion = check_verdict(run, judgement, proof)
    with proof.step(needed=True):  # 9
        check_holdings(holdings, proof)
    if not proof.problems:
        shown = Shown(run, found.digest, judgement.outcomes, conclusion)
        found.vouching = ask_signer(found.witness, wanted, shown)
    proof.conclude(found.vouching.answer, found.vouching.detail)  # 10
    found.freshness = fresh(wanted, document)
    proof.conclude(found.freshness.answer, "; ".join(found.freshness.reasons))  # 11
    found.policy = _policy(wanted, run, judgement, conclusion)


def _ask_of_newer(wanted: Wanted, proof: Proof, found: _Found) -> None:
    """Ask of a bundle that a newer assay seems to have written whether it is the one that was signed."""
    found.vouching = ask_of_digest(found.witness, wanted, found.digest)
    signed = found.witness.attestations
    if signed is not None and signed.bundle_digest != found.digest:
        expected = f"{signed.bundle_digest}, which {signed.member} is about"
        proof.disown(Problem(MANIFEST, "", f"the bundle digest is {found.digest}", expected))


def _subject(found: _Found) -> str:
    """Return the subject digest of what the proof showed."""
    from assay.evidence.subject import subject_digest  # noqa: PLC0415  # archive libraries take as long as a proof

    if found.run is None or found.judgement is None or found.conclusion is None:
        return ""
    return subject_digest(found.run, found.judgement.outcomes, found.conclusion)


def _policy(wanted: Wanted, run: Run, judgement: Judgement, conclusion: Conclusion) -> Asked:
    """Answer for policy, judging by today's rules where the receipts name older ones."""
    if judgement.of_today:
        return policy(wanted, run.document, conclusion, conclusion)
    try:
        gates = judge_gates(run.document, run.records, newest=True)
        outcomes = {each.receipt.gate: each.outcome for each in gates}
        return policy(wanted, run.document, conclusion, conclude(run.document, run.records, outcomes))
    except BundleError as error:
        return Asked(Answer.FAILED, (f"today's rules cannot judge it: {error.observed}",))


def _standing(wanted: Wanted, verification: Verification) -> Verification:
    """Return a verification with what the reader's archive says of the bundle, where there is one."""
    if wanted.archive is None or not verification.intact:
        return verification
    from assay.evidence.stands import with_standing  # noqa: PLC0415  # who brings no archive need not wait

    return with_standing(verification, wanted.archive, wanted, verify_bundle)


def _verification(path: Path, wanted: Wanted, proof: Proof, found: _Found) -> Verification:
    """Return what the proof came to; of a bundle that is not intact nothing is passed on."""
    broken = Integrity.NEWER if proof.newer else Integrity.BROKEN
    common = Verification(
        bundle=path.name,
        bundle_digest=found.digest,
        integrity=broken if proof.problems else Integrity.INTACT,
        anchored=bool(found.digest)
        and (wanted.expect_digest == found.digest or found.vouching.signer is Signer.VALID),
        signer=found.vouching.signer,
        signer_key=wanted.key.id if wanted.key else "",
        signer_detail=found.vouching.detail,
        policy=UNASKED,
        freshness=UNASKED,
        steps=proof.all_steps(),
        accepted=frozenset(wanted.accept),
        problems=tuple(proof.problems),
        problems_omitted=proof.omitted,
    )
    run, judgement, conclusion = found.run, found.judgement, found.conclusion
    if proof.problems or run is None or judgement is None or conclusion is None:
        return common
    document, outcomes = run.document, judgement.outcomes
    return replace(
        common,
        policy=found.policy,
        freshness=found.freshness,
        run=document.run,
        started=document.started,
        platform=document.platform.value,
        plan_digest=document.plan_digest,
        subject_digest=found.subject,
        verdict=conclusion.verdict,
        tier=conclusion.tier,
        outcomes=outcomes,
        unfinished=tuple(gate for gate in document.plan.gates if gate not in outcomes),
        claims=conclusion.claims,
        toolchain=toolchain_answer(document.toolchain_sha256),
        tool=f"{run.manifest.tool} {run.manifest.version}",
    )
