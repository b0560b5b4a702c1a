"""Gate ``references`` observed, against a real server on this computer."""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.download import Limits
from assay.gates import references
from assay.judge.reading import objects, text
from assay.judge.table import row
from assay.model import Outcome, outcome_of
from assay.plan.values import Reference
from tests.gates.running import bench, ids, judged
from tests.plan.support import changed
from tests.webserver import Answer, Website, website

PAGE = b"<html>the guide</html>"
QUICK = Limits(size=1000, seconds=10, silence_s=5, retries=1, backoff_s=0)


@pytest.fixture
def site() -> Iterator[Website]:
    with website() as made:
        yield made


def test_each_cited_document_is_recorded_with_date_status_and_digest(site: Website, tmp_path: Path) -> None:
    moved = site.url("/moved", Answer(301, headers={"Location": "/guide"}))
    cited = [
        {"title": "A guide", "url": site.url("/guide", Answer(body=PAGE))},
        {"title": "Old", "url": moved},
    ]
    with bench(tmp_path, plan=changed("reference", cited)) as run:
        facts = run.observe(references.observe)
        assert ids(judged(row(run.context.plan, "references"), run.case(), facts)) == []
    for told, asked in zip(objects(facts, "documents"), cited, strict=True):
        assert (text(told, "title"), text(told, "url")) == (asked["title"], asked["url"])
        assert (told["status"], told["size"]) == (200, len(PAGE))
        assert text(told, "sha256") == hashlib.sha256(PAGE).hexdigest()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text(told, "checked"))


def test_a_document_that_is_gone_is_told_with_its_status(site: Website) -> None:
    told = references.check(Reference("Gone", site.url("/gone", Answer(410, b"gone"))), QUICK)
    assert (told["status"], told["problem"]) == (410, "")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(body=bytes(1001)), "more than 1000 bytes"),
        (Answer(body=b"half", announced=8), "broke off after 4 bytes"),
        (Answer(cut=True), "gave no answer"),
    ],
)
def test_a_document_that_does_not_come_whole_is_told(site: Website, answer: Answer, problem: str) -> None:
    told = references.check(Reference("Page", site.url("/page", answer)), QUICK)
    assert problem in str(told["problem"])
    assert (told["status"], told["sha256"]) == (None, "")


def test_a_transfer_that_breaks_once_is_tried_again(site: Website) -> None:
    url = site.url("/page", Answer(body=PAGE[:3], announced=len(PAGE)), Answer(body=PAGE))
    assert references.check(Reference("Page", url), QUICK)["sha256"] == hashlib.sha256(PAGE).hexdigest()


def test_offline_it_says_so_and_does_not_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        cited = [{"title": "A guide", "url": f"http://127.0.0.1:{bound.getsockname()[1]}/guide"}]
        monkeypatch.setattr(references, "LIMITS", QUICK)
        with bench(tmp_path, plan=changed("reference", cited)) as run:
            facts = run.observe(references.observe)
            findings = judged(row(run.context.plan, "references"), run.case(), facts)
    assert (ids(findings), outcome_of(findings)) == (["REFERENCES-OFFLINE"], Outcome.UNAVAILABLE)
    assert "Connection refused" in findings[0].observed
