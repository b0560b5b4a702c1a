"""From a bundle to its page: verified, viewed, and rendered, or the words for why there is none."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from assay.evidence.asking import Wanted
from assay.evidence.names import TOOLCHAIN
from assay.evidence.steps import Run
from assay.evidence.verification import Verification
from assay.report.answers import answers_of, origin_of, proof_of
from assay.report.authored import BY_HAND, PROVES
from assay.report.gates import findings_of, gates_of, timeline_of
from assay.report.headline import headline_of
from assay.report.machine import machine_of
from assay.report.page import render
from assay.report.pieces import authored_pieces, seen_pieces
from assay.report.selection import selection_of, selection_tables
from assay.report.speed import speed_of
from assay.report.subject import Subject, subject_of
from assay.report.text import time_text
from assay.report.values import chains_of
from assay.report.view import Claim, Command, Page, Row
from assay.report.writing import write_rendering


def report_path(bundle: Path) -> Path:
    """Return where the page of a bundle lies: beside it."""
    return bundle.with_name(f"{bundle.name.removesuffix('.tar')}.html")


def write_report(bundle: Path, wanted: Wanted, target: Path, *, readers: bool) -> tuple[Verification, bool]:
    """Verify a bundle, write its page, whole or not at all, and return what it came to and if there is one.

    A bundle that is not intact, or that the reader's key did not sign although it says so, gets none.

    Args:
        bundle: the bundle.
        wanted: what the reader wants.
        target: where the page goes; what is there is replaced.
        readers: whether the reader renders it; else its sender does.

    Raises:
        UsageError: the reader wants something that cannot be, or the page in the bundle's place.
        StorageError: the bundle cannot be read, or the page not written.
    """
    return write_rendering(
        bundle, wanted, target, lambda verified, run: render(view_of(verified, run, readers=readers))
    )


def view_of(verification: Verification, run: Run, *, readers: bool) -> Page:
    """Return the view of a verified run.

    Args:
        verification: what verifying the bundle came to; it is intact.
        run: the bundle's run, while the bundle is open.
        readers: whether the reader renders it; else its sender does.

    Raises:
        StorageError: this copy's own files cannot be read.
    """
    subject = subject_of(verification, run)
    headline = headline_of(subject)
    return Page(
        title=f"{headline.word}: {run.document.plan.project}, {verification.run}",
        origin=origin_of(verification, readers=readers),
        headline=headline,
        scope=(verification.bundle, verification.platform, time_text(verification.started)),
        answers=answers_of(verification),
        identity=_identity(subject),
        established=tuple(
            Claim(seen_pieces(each.text), each.gates) for each in verification.claims.established
        ),
        not_established=tuple(text for _, text in verification.claims.open),
        machine=machine_of(subject),
        selection=selection_of(subject),
        tables=selection_tables(subject),
        timeline=timeline_of(subject),
        findings=findings_of(subject),
        chains=chains_of(subject),
        speed=speed_of(subject),
        gates=gates_of(subject),
        commands=tuple(_commands(subject)),
        limits=tuple(map(authored_pieces, PROVES)),
        proof=proof_of(verification),
    )


def _identity(subject: Subject) -> tuple[Row, ...]:
    """Return what identifies the bundle."""
    verified, document = subject.verification, subject.run.document
    rows = (
        Row("Bundle", verified.bundle),
        Row("Bundle digest", verified.bundle_digest, code=True),
        Row("Subject digest", verified.subject_digest, code=True),
        Row("Plan digest", verified.plan_digest, code=True),
        Row("Run", verified.run),
        Row("Started", time_text(verified.started)),
        Row("Nonce", document.nonce, code=True),
        Row("Auditor's challenge", document.challenge, code=True),
        Row("Written by", verified.tool),
        Row(f"Its {TOOLCHAIN}", f"{document.toolchain_sha256} ({verified.toolchain})", code=True),
    )
    return tuple(row for row in rows if row.value)


def _commands(subject: Subject) -> Iterator[Command]:
    """Yield how to verify this bundle, with its own digest."""
    verified = subject.verification
    bundle, challenge = shlex.quote(verified.bundle), subject.run.document.challenge
    wanted = f"--expect-digest {verified.bundle_digest}" + (f" --challenge {challenge}" if challenge else "")
    yield Command("With your own copy of assay, on any machine:", (f"assay verify {bundle} {wanted}",))
    yield Command(
        "With its one-file copy, on any Python from 3.11 on:",
        (f"python3 assay.pyz verify {bundle} {wanted}",),
    )
    yield Command("To render this page yourself:", (f"assay report {bundle} {wanted}",))
    by_hand = (f"BUNDLE={bundle}", *BY_HAND.splitlines())
    yield Command("By hand, in an empty folder beside nothing else:", by_hand)
