"""Who rendered the page is said, and each question of a verification has an answer of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay import __version__
from assay.evidence.toolchain import own_digest
from assay.report.answers import answers_of, origin_of
from assay.report.headline import headline_of
from assay.report.view import Page, Tone
from assay.signing import sign_bundle
from tests.evidence.keyring import ALICE
from tests.report.worlds import WANTED, qualified, view, viewing

pytestmark = pytest.mark.usefixtures("world")


@pytest.mark.gate
def test_the_readers_page_says_which_copy_made_it_what_was_verified_and_what_anchors_it(
    pages: dict[str, Page],
) -> None:
    origin = pages["qualified"].origin
    assert origin.heading == "The reader's own rendering"
    assert "".join(piece.text for piece in origin.copy) == (
        f"assay {__version__}, SHA-256 of its files {own_digest()}"
    )
    assert origin.verified == "20261130T120000Z-01234567.tar: 11 steps, 9 passed, 2 not asked"
    assert origin.anchor.startswith("not anchored: anybody can make a consistent bundle")


@pytest.mark.gate
def test_the_senders_page_says_that_it_is_the_senders(tmp_path: Path) -> None:
    page = view(qualified(tmp_path), readers=False)
    assert page.origin.heading == "The sender's rendering"
    assert "your own copy" in page.origin.advice
    assert "reader's own" not in repr(page.origin)


def test_unanchored_and_unsigned_are_answers_of_their_own(pages: dict[str, Page]) -> None:
    found = {answer.name: (answer.state, answer.tone) for answer in pages["qualified"].answers}
    assert found == {
        "Integrity": ("intact", Tone.GOOD),
        "Anchor": ("not anchored", Tone.OPEN),
        "Signer": ("unsigned", Tone.NEUTRAL),
        "Policy": ("passed", Tone.GOOD),
        "Freshness": ("not asked", Tone.NEUTRAL),
        "Standing": ("unknown", Tone.NEUTRAL),
    }


def test_a_digest_told_another_way_anchors(tmp_path: Path) -> None:
    bundle = qualified(tmp_path)
    digest = view(bundle).identity[1].value
    page = view(bundle, replace(WANTED, expect_digest=digest))
    assert (page.answers[1].state, page.answers[1].tone) == ("anchored", Tone.GOOD)
    assert page.origin.anchor == "anchored: its digest is the one that the reader was told another way"


def test_a_key_that_vouches_anchors_and_is_named(tmp_path: Path) -> None:
    bundle = qualified(tmp_path)
    sign_bundle(bundle, ALICE)
    page = view(bundle, replace(WANTED, key=ALICE.public))
    assert page.answers[1].detail == "the reader's key vouches for this bundle"
    assert (page.answers[2].state, page.answers[2].tone) == ("valid", Tone.GOOD)
    assert ALICE.public.id in page.answers[2].detail


@pytest.mark.parametrize(
    ("standing", "shown", "headline"),
    [
        ("current: nobody says so", ("current", "nobody says so; a note", Tone.GOOD), Tone.GOOD),
        ("unknown: without a key", ("unknown", "without a key; a note", Tone.NEUTRAL), Tone.GOOD),
        ("revoked: a wrong wheel", ("revoked", "a wrong wheel; a note", Tone.BAD), Tone.OPEN),
        ("superseded in these: x", ("superseded", "in these: x; a note", Tone.OPEN), Tone.OPEN),
    ],
)
def test_a_standing_that_an_archive_gives_is_seen(
    tmp_path: Path, standing: str, shown: tuple[str, str, Tone], headline: Tone
) -> None:
    with viewing(qualified(tmp_path)) as seen:
        verified = replace(seen.subject.verification, standing=standing, standing_notes=("a note",))
        answer = answers_of(verified)[-1]
        told = headline_of(replace(seen.subject, verification=verified))
    assert (answer.state, answer.detail, answer.tone) == shown
    assert told.tone is headline
    assert bool(told.reasons) is (headline is Tone.OPEN)


def test_every_step_of_the_proof_is_listed_as_verify_lists_it(tmp_path: Path) -> None:
    with viewing(qualified(tmp_path)) as seen:
        steps = seen.subject.verification.steps
        assert [(each.name, each.state, each.detail) for each in seen.page.proof] == [
            (step.title, step.answer.value, step.detail) for step in steps
        ]
        assert origin_of(seen.subject.verification, readers=True) == seen.page.origin
