"""What a rehearsal's driver says is judged; nothing of it may stand in another run."""

from __future__ import annotations

import copy

import pytest

from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.rehearsal import ENTRIES
from assay.judge.rehearsal import IDS
from assay.judge.rules import judge_gate
from assay.judge.table import row
from assay.model import Outcome, Severity, outcome_of
from tests.judge.chainfacts import CHILD_PID, Document, change, digest_of, findings, ids, image_of, make_case
from tests.judge.test_chain import rehearsed, software_plan

pytestmark = pytest.mark.gate

CASE = make_case(plan=software_plan("rehearsal"))
KINDS = (
    *("out-of-bounds", "misaligned", "use-after-free", "uninitialised"),
    *("barrier", "race", "assertion", "endless", "leak"),
)
"""As the interpreter names them; `tests/gates/test_rehearsal_report.py` holds both to it."""

FOLDER = "$PROJECT/.assay/rehearsal/driver/0123456789abcdef"


def mistake(kind: str, **more: object) -> Document:
    """Return a kernel's mistake as the driver tells it."""
    return {
        "address": "0x1000000000094",
        "block": [3, 0, 0],
        "count": 1,
        "file": "/kernels/pipeline/double.cu",
        "kernel": "twice",
        "kind": kind,
        "line": 6,
        "message": "an access of 4 bytes",
        "ptx_line": 40,
        "thread": [37, 0, 0],
        **more,
    }


def on_the_cpu() -> Document:
    """Return the facts of a right rehearsal on the CPU's driver."""
    facts = copy.deepcopy(rehearsed())
    loaded = {
        image["sha256"]
        for chain in facts["chains"]
        for stage in chain["stages"]
        for image in stage["loaded"]
        if image["kind"] == "ptx"
    }
    for each in facts["mapped"]:
        each["path"] = each["path"].replace("/drv/", f"{FOLDER}/")
    facts["child"]["driver_folder"] = ""
    facts["rehearsal"] = {
        "adapter": None,
        "driver": {"digest": digest_of("driver"), "folder": FOLDER},
        "nvcc": {"path": f"{FOLDER}/bin/nvcc", "sha256": digest_of("nvcc")},
        "report": {
            "driver": {"pid": CHILD_PID, "uuid": "GPU-0"},
            "end": {"findings": 0, "launches": 4},
            "findings": [],
            "launches": [],
            "modules": [{"sha256": each, "size": 1, "target": "sm_75", "version": "9.0"} for each in loaded],
            "problem": "",
            "refused": [],
        },
    }
    return facts


def with_report(path: str, value: object) -> Document:
    """Return those facts with one part of the report changed."""
    facts = on_the_cpu()
    change(facts, f"rehearsal.report.{path}", value)
    if path == "findings" and isinstance(value, list):
        facts["rehearsal"]["report"]["end"]["findings"] = len(value)
    return facts


def test_a_rehearsal_without_a_mistake_has_no_finding() -> None:
    assert image_of("double")
    assert ids(on_the_cpu(), CASE) == []


def test_every_kind_of_the_interpreter_has_a_finding_of_its_own() -> None:
    assert set(IDS) == set(KINDS)
    assert len(set(IDS.values())) == len(KINDS)
    assert {entry.id for entry in ENTRIES} <= set(CATALOGUE)


@pytest.mark.parametrize("kind", ["use-after-free", "uninitialised", "leak"])
def test_what_the_host_did_wrong_is_told_without_a_kernel(kind: str) -> None:
    told = mistake(kind, kernel="", file="", line=0, message="memory was freed before")
    (found,) = findings(with_report("findings", [told]), CASE)
    assert (found.id, found.observed, found.severity) == (
        IDS[kind],
        "memory was freed before",
        Severity.FAILURE,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistake_fails_with_kernel_line_thread_and_address(kind: str) -> None:
    facts = with_report("findings", [mistake(kind, count=12)])
    (found,) = findings(facts, CASE)
    assert (found.id, found.severity) == (IDS[kind], Severity.FAILURE)
    for part in (
        "twice",
        "kernels/pipeline/double.cu:6",
        "(3, 0, 0)",
        "(37, 0, 0)",
        "0x1000000000094",
        "12",
    ):
        assert part in found.observed
    assert found.where == ("kernels/pipeline/double.cu:6",)


def test_a_mistake_without_source_lines_names_the_line_of_the_ptx() -> None:
    (found,) = findings(with_report("findings", [mistake("race", file="", line=0, address=None)]), CASE)
    assert found.where == ("PTX line 40",)
    assert "address" not in found.observed


def test_an_unknown_kind_and_findings_past_the_list_fail_too() -> None:
    assert ids(with_report("findings", [mistake("gamma rays")]), CASE) == ["REHEARSAL-OTHER"]
    assert ids(with_report("end", {"findings": 1001, "launches": 4}), CASE) == ["REHEARSAL-OTHER"]


def test_a_refused_call_is_a_warning() -> None:
    facts = with_report("refused", [{"call": "cuGraphCreate", "code": 801, "message": "it has none"}])
    assert ids(facts, CASE) == ["REHEARSAL-REFUSED"]
    assert outcome_of(findings(facts, CASE)) is Outcome.PASSED


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("problem", "it has no end"),
        ("driver.pid", CHILD_PID + 1),
        ("driver.pid", None),
        ("end.findings", -1),
        ("end.findings", None),
    ],
)
def test_a_report_that_is_not_whole_or_of_another_process_is_an_error(path: str, value: object) -> None:
    facts = with_report(path, value)
    assert ids(facts, CASE) == ["REHEARSAL-REPORT"]
    assert outcome_of(findings(facts, CASE)) is Outcome.ERROR


def test_an_image_that_the_driver_never_saw_is_an_error() -> None:
    facts = with_report("modules", [])
    assert set(ids(facts, CASE)) == {"REHEARSAL-IMAGE"}


def test_what_takes_a_gpu_s_place_fails_every_other_run() -> None:
    found = {each.id for each in findings(on_the_cpu(), make_case(plan=software_plan("physical")))}
    assert "REHEARSAL-MISPLACED" in found


def test_only_the_named_folders_are_the_rehearsal_s() -> None:
    facts = on_the_cpu()
    facts["mapped"].append({**facts["mapped"][0], "path": "$PROJECT/.assay/rehearsal/other/evil.so"})
    assert ids(facts, CASE) == ["CHAIN-LIBRARY-UNASKED"]


@pytest.mark.parametrize("path", ["findings", "modules", "refused", "driver", "end", "problem"])
@pytest.mark.parametrize("value", [7, ["text"], {"kind": 3}, True])
def test_a_malformed_report_is_a_finding_and_no_exception(path: str, value: object) -> None:
    facts = with_report(path, value)
    (found,) = judge_gate(CASE, row(CASE.plan, "chain"), 1, facts)
    assert found.id in {"FACTS-MALFORMED", "REHEARSAL-REPORT"}
