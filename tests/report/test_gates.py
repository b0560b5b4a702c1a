"""The gates on one time axis, their findings with remedies, and what they ran and left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.evidence.judging import Judged
from assay.model import Artifact, Command, Finding, Outcome, Severity
from assay.report.gates import MOST_FINDINGS, findings_of, gates_of, timeline_of
from assay.report.page import render
from assay.report.selection import MOST
from assay.report.subject import Subject
from assay.report.view import Page, Tone
from tests.evidence.support import Gate, found
from tests.report.worlds import qualified, view, viewing

pytestmark = pytest.mark.usefixtures("world")


def timed(subject: Subject, **spans: tuple[int, int]) -> Subject:
    """Return a run whose gates started after so many seconds and took so many milliseconds."""

    def at(judged: Judged) -> Judged:
        start, took = spans.get(judged.receipt.gate, (0, 0))
        started = f"2026-11-30T12:{start // 60:02}:{start % 60:02}Z"
        return replace(judged, receipt=replace(judged.receipt, started=started, duration_ns=took * 10**6))

    return replace(subject, gates=tuple(map(at, subject.gates)))


@pytest.mark.gate
def test_bars_are_where_and_as_long_as_the_gates_were(tmp_path: Path) -> None:
    with viewing(qualified(tmp_path)) as seen:
        subject = timed(seen.subject, environment=(0, 20_000), chain=(20, 80_000), build=(50, 25_000))
        timeline = timeline_of(subject)
    assert timeline.span == "1 min 40.0 s"
    bars = {bar.gate: (bar.start, bar.duration, bar.offset, bar.width) for bar in timeline.bars}
    assert bars["environment"] == ("after 0 s", "20.000 s", 0, 200)
    assert bars["chain"] == ("after 20 s", "1 min 20.0 s", 200, 800)
    assert bars["build"] == ("after 50 s", "25.000 s", 500, 250)
    assert bars["lint"] == ("after 0 s", "0.000 s", 0, 1)
    assert [bar.gate for bar in timeline.bars][-2:] == ["chain", "build"]


def test_bars_never_leave_the_axis_whatever_the_clock_said(tmp_path: Path) -> None:
    with viewing(qualified(tmp_path)) as seen:
        early = replace(seen.subject.gates[0].receipt, started="2020-01-01T00:00:00Z", duration_ns=5)
        late = replace(seen.subject.gates[1].receipt, started="2999-01-01T00:00:00Z", duration_ns=2**53 - 1)
        gates = (
            replace(seen.subject.gates[0], receipt=early),
            replace(seen.subject.gates[1], receipt=late),
            *seen.subject.gates[2:],
        )
        bars = timeline_of(replace(seen.subject, gates=gates)).bars
    assert all(0 <= bar.offset < 1000 and 1 <= bar.width <= 1000 - bar.offset for bar in bars)


@pytest.mark.gate
def test_a_gate_that_did_not_run_or_end_has_no_bar_and_stands_last(pages: dict[str, Page]) -> None:
    last = pages["undecided"].timeline.bars[-1]
    assert (last.gate, last.outcome, last.tone, last.width, last.duration) == (
        "lint",
        "never ended",
        Tone.OPEN,
        0,
        "",
    )


def test_a_blocked_gate_has_no_bar_and_left_nothing(tmp_path: Path) -> None:
    page = view(qualified(tmp_path, environment=Gate({"findings": [found()]})))
    blocked = [bar for bar in page.timeline.bars if bar.outcome == "blocked"]
    assert [(bar.gate, bar.width, bar.start) for bar in blocked] == [
        (name, 0, "") for name in ("toolkit", "provider", "build", "chain")
    ]
    assert [gate.name for gate in page.gates] == ["environment", "lint"]


@pytest.mark.gate
def test_findings_have_id_observation_expectation_remedy_and_place(pages: dict[str, Page]) -> None:
    (group,) = pages["qualified"].findings
    (shown,) = group.shown
    assert (group.gate, shown.id, shown.severity, shown.tone) == (
        "toolkit",
        "TOOLKIT-SHADOWED",
        "warning",
        Tone.NEUTRAL,
    )
    assert (shown.observed, shown.expected) == ("another nvcc comes first", "all well")
    assert (shown.remedy, shown.where) == ("look at the plan of gpu-thing", ("facts.findings",))
    assert shown.title == "another NVRTC would be loaded in the selected toolkit's place"


def test_what_failed_comes_before_what_only_warned(pages: dict[str, Page]) -> None:
    assert [group.gate for group in pages["rejected"].findings] == ["chain", "toolkit"]
    assert pages["rejected"].findings[0].shown[0].tone is Tone.BAD


def test_of_a_hundred_thousand_findings_a_hundred_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    finding = Finding("X-Y", Severity.FAILURE, "wrong", "right", "mend it")
    with viewing(qualified(tmp_path)) as seen:
        judged = replace(seen.subject.gates[0], findings=(finding,) * 100_000, outcome=Outcome.FAILED)
        (group, _) = findings_of(replace(seen.subject, gates=(judged, *seen.subject.gates[1:])))
        page = replace(seen.page, findings=(group,))
    assert (len(group.shown), group.omitted) == (MOST_FINDINGS, 100_000 - MOST_FINDINGS)
    data = render(page)
    assert len(data) < 300_000
    assert b"and 99900 more of this gate" in data


def test_commands_are_as_a_shell_takes_them_with_their_exits(tmp_path: Path) -> None:
    commands = (Command(("python", "-c", "print(1); print(2)"), 0), Command(("chain",), -9))
    page = view(qualified(tmp_path, lint=Gate({}, commands=(*commands, Command(("slow",), "timeout")))))
    (lint,) = [gate for gate in page.gates if gate.name == "lint"]
    assert lint.commands.rows == (
        ("python -c 'print(1); print(2)'", "0"),
        ("chain", "-9"),
        ("slow", "timeout"),
    )
    assert lint.summary == "3 commands, 7 bytes of log"


def test_artifacts_have_size_and_digest_and_long_tables_are_cut(tmp_path: Path) -> None:
    with viewing(qualified(tmp_path)) as seen:
        (build,) = [gate for gate in seen.page.gates if gate.name == "build"]
        (judged,) = [each for each in seen.subject.gates if each.receipt.gate == "build"]
        many = tuple(Artifact(f"{number}.ptx", "ab" * 32, 1) for number in range(MOST + 5))
        receipt = replace(judged.receipt, artifacts=many, log=None)
        (cut,) = gates_of(replace(seen.subject, gates=(replace(judged, receipt=receipt),)))
    (row,) = build.artifacts.rows
    assert row[:2] == ("thing.whl", "11 bytes")
    assert len(row[2]) == 64
    assert (len(cut.artifacts.rows), cut.artifacts.omitted, cut.log) == (MOST, 5, None)
    assert cut.artifacts.rows[0][1] == "1 byte"
