"""The CPU driver's report is read strictly; what its own writer writes is what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.rehearsal import Adapter, Rehearsal, rehearsal_facts
from assay.gates.rehearsal_report import read_report, report_facts
from assay.judge.rehearsal import IDS
from assay.rehearsal.driver.report import LISTED, Report
from assay.rehearsal.findings import KINDS, Finding

COUNTS = st.integers(0, 2**31)
INDEX = st.tuples(COUNTS, COUNTS, COUNTS)
FINDINGS = st.builds(
    Finding,
    kind=st.sampled_from(KINDS),
    message=st.text(max_size=40),
    kernel=st.text(max_size=20),
    file=st.text(max_size=20),
    line=COUNTS,
    ptx_line=COUNTS,
    block=INDEX,
    thread=INDEX,
    address=st.none() | st.integers(0, 2**52),
    count=st.integers(1, 2**31),
)

DRIVER = b'{"event":"driver","pid":7,"schema":"assay/rehearsal-report/1","uuid":"GPU-0"}\n'
END = b'{"event":"end","findings":0,"launches":0}\n'


@given(found=FINDINGS)
def test_what_the_driver_writes_is_what_is_read(
    found: Finding, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("report") / "rehearsal.jsonl"
    report = Report(str(path))
    report.begin("GPU-0")
    report.module("ab" * 32, 9, "9.0", "sm_75")
    report.launch("twice", (1, 2, 3), (4, 5, 6), 7)
    report.finding(found)
    report.refused("cuGraphCreate", 801, "there is none")
    report.refused("cuGraphCreate", 801, "there is none")
    report.end()
    report.refused("cuTexRefCreate", 801, "too late for the report")
    facts: Any = report_facts(path)
    assert facts["problem"] == ""
    (read,) = facts["findings"]
    assert (read["kind"], read["message"], read["line"]) == (found.kind, found.message, found.line)
    assert tuple(read["thread"]) == found.thread
    assert read["address"] == (None if found.address is None else hex(found.address))
    assert [len(facts[name]) for name in ("modules", "launches", "refused")] == [1, 1, 1]
    assert facts["end"] == {"findings": 1, "launches": 1}


def test_every_kind_that_the_driver_tells_is_judged() -> None:
    assert set(IDS) == set(KINDS)


def test_what_is_past_the_list_is_counted(tmp_path: Path) -> None:
    report = Report(str(tmp_path / "report"))
    report.begin("GPU-0")
    for _ in range(LISTED + 5):
        report.launch("twice", (1, 1, 1), (1, 1, 1), 1)
    report.end()
    facts: Any = report_facts(tmp_path / "report")
    assert len(facts["launches"]) == LISTED
    assert facts["end"]["launches"] == LISTED + 5


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "told nothing"),
        (DRIVER, "no end"),
        (END, "line 1"),
        (DRIVER + DRIVER + END, "line 2"),
        (DRIVER + END + END, "line 3"),
        (DRIVER + b'{"event":"gossip"}\n' + END, "line 2"),
        (DRIVER + b'{"event":"end","findings":0.5,"launches":0}\n', "line 2"),
        (DRIVER + b'{"event":"end","findings":-1,"launches":0}\n', "line 2"),
        (DRIVER + b'{"event":"end","findings":0}\n', "line 2"),
        (DRIVER + b'["event"]\n' + END, "line 2"),
        (
            DRIVER + b'{"event":"launch","kernel":"k","grid":[1,1],"block":[1,1,1],"instructions":1}\n' + END,
            "line 2",
        ),
        (DRIVER.replace(b"report/1", b"report/2") + END, "line 1"),
        (DRIVER + b'{"event":"end","end', "line 2"),
        (DRIVER * 5000, "line 2"),
    ],
)
def test_anything_else_is_a_problem_with_its_line(data: bytes, problem: str) -> None:
    assert problem in str(read_report(data)["problem"])


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    assert read_report(data)["problem"]
    assert read_report(DRIVER + data)["driver"] == {"pid": 7, "uuid": "GPU-0"} or not data.startswith(b"\n")


@given(st.dictionaries(st.text(max_size=8), st.none() | st.integers() | st.text(max_size=8), max_size=5))
def test_no_document_raises(document: dict[str, object]) -> None:
    line = json.dumps({**document, "event": "finding"}).encode()
    assert read_report(DRIVER + line + b"\n" + END)["problem"]


def test_what_took_a_gpu_s_place_is_told_with_digests(tmp_path: Path) -> None:
    (tmp_path / "nvcc").write_text("#!/bin/sh\n")
    (tmp_path / "icd.json").write_text("{}")
    adapter = Adapter(tmp_path / "icd.json", (tmp_path / "lib",), "unpacked", (("libvulkan1", "1.3"),))
    rehearsal = Rehearsal(tmp_path / "driver", "ab" * 32, tmp_path, adapter)
    facts: Any = rehearsal_facts(rehearsal, tmp_path)
    assert facts["driver"] == {"digest": "ab" * 32, "folder": str(tmp_path / "driver")}
    assert facts["adapter"]["packages"] == [{"name": "libvulkan1", "version": "1.3"}]
    assert facts["nvcc"]["sha256"] == "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf"
    assert rehearsal.libraries == (str(tmp_path / "driver"), str(tmp_path / "lib"))
    assert rehearsal.variables(tmp_path)["VK_DRIVER_FILES"] == str(tmp_path / "icd.json")
    assert rehearsal_facts(None, tmp_path) is None
