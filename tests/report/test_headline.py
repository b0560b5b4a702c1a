"""The verdict comes first, with tier and scope, and only what is qualified and wanted looks good."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assay.evidence.asking import Wanted
from assay.model import Severity, Tier
from assay.report.headline import headline_of
from assay.report.view import Page, Tone
from tests.evidence.support import PASSING, Gate, found
from tests.report.worlds import NOW, WANTED, qualified, view, viewing

pytestmark = pytest.mark.usefixtures("world")


@pytest.mark.gate
@pytest.mark.parametrize(
    ("kind", "tone", "sentence"),
    [
        (
            "qualified",
            Tone.GOOD,
            (
                "Qualified at tier physical: gpu-thing 1.2 passed 6 of 6 planned gates, every one that "
                "applies, on GPU of this world (driver 580.1, CUDA 13.2)."
            ),
        ),
        (
            "rejected",
            Tone.BAD,
            (
                "Rejected at tier physical: gpu-thing 1.2 failed 1 of 6 planned gates on GPU of this world "
                "(driver 580.1, CUDA 13.2); nothing is established."
            ),
        ),
        (
            "undecided",
            Tone.OPEN,
            (
                "Undecided with no tier seen: gpu-thing passed 4 of 6 planned gates with no CUDA device "
                "seen, which is no pass; nothing is established."
            ),
        ),
        (
            "rehearsed",
            Tone.PRACTICE,
            (
                "Rehearsed at tier rehearsal: gpu-thing passed 6 of 6 planned gates on a CPU in a GPU's "
                "place, which qualifies nothing."
            ),
        ),
    ],
)
def test_one_sentence_has_verdict_tier_and_scope(
    pages: dict[str, Page], kind: str, tone: Tone, sentence: str
) -> None:
    headline = pages[kind].headline
    assert (headline.word, headline.tone, headline.sentence) == (kind.capitalize(), tone, sentence)
    assert headline.rehearsal is (kind == "rehearsed")
    assert ("qualified" in headline.sentence.lower()) is (kind == "qualified")


@pytest.mark.gate
def test_what_is_not_qualified_says_why(pages: dict[str, Page]) -> None:
    assert pages["qualified"].headline.reasons == pages["rehearsed"].headline.reasons == ()
    assert pages["rejected"].headline.reasons == ("Gate chain failed.",)
    assert pages["undecided"].headline.reasons == (
        "Gate chain found that the machine lacks what it needs.",
        "Gate lint never ended.",
        "No tier was seen; the plan wants tier physical.",
    )


def test_every_kind_of_bad_end_is_named_the_worst_first(tmp_path: Path) -> None:
    broken = {
        "environment": Gate({"findings": [found("X-ONE")]}),
        "lint": Gate({"findings": [found("X-TWO", Severity.ERROR)]}),
        "provider": PASSING["provider"],
    }
    reasons = view(qualified(tmp_path, **broken)).headline.reasons
    assert reasons[:3] == (
        "Gate environment failed.",
        "Gate lint broke.",
        "Gates toolkit, provider, build and chain could not run: a gate before it did not pass.",
    )


def test_a_rejected_rehearsal_is_still_shown_as_one(tmp_path: Path) -> None:
    with viewing(qualified(tmp_path)) as seen:
        verified = replace(seen.subject.verification, tier=Tier.REHEARSAL)
        assert headline_of(replace(seen.subject, verification=verified)).rehearsal


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (replace(WANTED, tier=Tier.WSL), "(policy): the tier is physical, not wsl."),
        (replace(WANTED, not_older_than=timedelta(hours=2)), "(freshness): the run started at"),
        (replace(WANTED, challenge="ab"), "(freshness): the run's challenge is none, not ab."),
    ],
)
def test_a_qualified_run_that_is_not_what_the_reader_wants_never_looks_good(
    tmp_path: Path, wanted: Wanted, reason: str
) -> None:
    headline = view(qualified(tmp_path), wanted).headline
    assert headline.word == "Qualified"
    assert headline.tone is Tone.OPEN
    assert reason in headline.reasons[0]


def test_what_the_reader_wants_and_gets_looks_good(tmp_path: Path) -> None:
    wanted = Wanted(NOW, tier=Tier.PHYSICAL, not_older_than=timedelta(days=2))
    assert view(qualified(tmp_path), wanted).headline.tone is Tone.GOOD
