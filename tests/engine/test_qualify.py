"""The end of a run: a verdict, its bundle, and the sender's rendering beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.engine import qualify
from assay.engine.prepare import Request
from assay.errors import StorageError
from assay.evidence.verify import verify_bundle
from assay.model import Verdict
from tests.bench.engine import prepared_idle
from tests.report.markup import told


def run(project: Path) -> tuple[int, list[str], Path]:
    """Run gates that do nothing to their verdict; return the exit code, what was said, and the bundle."""
    said: list[str] = []
    with prepared_idle(project) as prepared:
        code, _ = qualify.run_to_verdict(replace(prepared, request=Request(project)), said.append)
        (bundle,) = (project / "receipts").glob("*.tar")
        assert verify_bundle(bundle).verdict is Verdict.UNDECIDED
    return code, said, bundle


@pytest.mark.gate
def test_a_run_leaves_the_senders_rendering_beside_its_bundle_and_says_so_last(tmp_path: Path) -> None:
    code, said, bundle = run(tmp_path)
    page = bundle.with_suffix(".html")
    assert (code, said[-1]) == (3, f"report: {page}")
    data = page.read_bytes()
    assert told(data, "h1") == ["Undecided"]
    assert told(data, ".eyebrow strong") == ["The sender's rendering"]
    assert told(data, "#answers .state")[1] == "not anchored"  # a sender's page anchors nothing


def test_a_page_that_cannot_be_written_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object, **_options: object) -> None:
        raise StorageError("the disk is full", "room", "make some")

    monkeypatch.setattr(qualify, "write_report", full)
    code, said, bundle = run(tmp_path)
    assert code == 3
    assert said[-1].startswith("report: not written: the disk is full")
    assert not bundle.with_suffix(".html").exists()


def test_a_workflows_step_gets_a_short_summary_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tmp_path / "step.md"
    step.write_text("what came before\n")
    monkeypatch.setenv(qualify.STEP_SUMMARY, str(step))
    code, said, _ = run(tmp_path / "project")
    assert (code, said[-1]) == (3, f"step summary: {step}")
    before, heading, *_ = step.read_text().splitlines()
    assert (before, heading) == ("what came before", "## ❔ undecided (tier: none seen)")


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(qualify.STEP_SUMMARY, str(tmp_path / "absent" / "step.md"))
    code, said, _ = run(tmp_path / "project")
    assert code == 3
    assert said[-1].startswith("step summary: not written")
