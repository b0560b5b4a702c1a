"""A verified run as JUnit XML, for dashboards of tests: a test case a gate, and one for the verdict.

Undecided is not a pass: what did not pass for any reason but the plan's own is a failure or an error, never a
skip.  The form is the one that Jenkins reads (its xUnit plugin's ``junit-10.xsd``).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # it writes here, and reads nothing
from collections.abc import Iterator, Mapping

from assay.evidence.judging import Judged
from assay.evidence.plain import plain
from assay.evidence.steps import Run
from assay.evidence.verification import Verification
from assay.model import Finding, Outcome, Verdict
from assay.report.subject import Subject, subject_of

MOST = 100
"""Findings that are told of one gate; the rest are counted."""

_NS_PER_MS = 10**6

_GATES: Mapping[Outcome, str] = {
    Outcome.FAILED: "failure",
    Outcome.BLOCKED: "error",
    Outcome.ERROR: "error",
    Outcome.UNAVAILABLE: "error",
    Outcome.NOT_APPLICABLE: "skipped",
}
_VERDICTS: Mapping[Verdict, str] = {
    Verdict.REJECTED: "failure",
    Verdict.UNDECIDED: "error",
    Verdict.REHEARSED: "skipped",
}
"""What a test case holds that did not pass; a rehearsal qualifies nothing."""


def junit(verification: Verification, run: Run) -> bytes:
    """Return a verified run as JUnit XML, the same bytes for the same bundle and copy."""
    subject = subject_of(verification, run)
    cases = [*map(_gate, subject.gates), *map(_unfinished, verification.unfinished), _verdict(verification)]
    duration = sum(each.receipt.duration_ns for each in subject.gates)
    counts = {
        name: str(sum(case.find(element) is not None for case in cases))
        for name, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    about = {"name": plain(run.document.plan.project), "tests": str(len(cases)), "time": _seconds(duration)}
    root = ET.Element("testsuites", {**about, "failures": counts["failures"], "errors": counts["errors"]})
    suite = ET.SubElement(root, "testsuite", {**about, **counts, "timestamp": verification.started[:19]})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(subject):
        ET.SubElement(properties, "property", {"name": name, "value": plain(value)})
    suite.extend(cases)
    ET.indent(root)
    data: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _properties(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield what identifies the run."""
    verified = subject.verification
    yield "verdict", verified.verdict.value
    yield "tier", verified.tier.value if verified.tier else "none seen"
    yield "platform", verified.platform
    yield "run", verified.run
    yield "bundle digest", verified.bundle_digest
    yield "plan digest", verified.plan_digest
    yield "subject digest", verified.subject_digest
    yield "written by", verified.tool


def _gate(judged: Judged) -> ET.Element:
    """Return a gate's test case."""
    receipt = judged.receipt
    case = _case(receipt.gate, _seconds(receipt.duration_ns))
    lines = [*map(_told, judged.findings[:MOST])]
    if more := len(judged.findings) - len(lines) + receipt.findings_omitted:
        lines.append(f"and {more} more findings")
    if element := _GATES.get(judged.outcome):
        first = _first_line(judged.findings[0]) if judged.findings else judged.outcome.value
        _unlike_passed(case, element, judged.outcome.value, first, lines)
    elif lines:
        ET.SubElement(case, "system-out").text = "\n".join(lines)
    return case


def _unfinished(gate: str) -> ET.Element:
    """Return the test case of a planned gate that never ended."""
    case = _case(gate, _seconds(0))
    _unlike_passed(case, "error", "unfinished", "it never ended", [])
    return case


def _verdict(verification: Verification) -> ET.Element:
    """Return the verdict's test case: gates may all pass where the tier is not the plan's."""
    case = _case("verdict", _seconds(0))
    tier = verification.tier.value if verification.tier else "none seen"
    if element := _VERDICTS.get(verification.verdict):
        word = verification.verdict.value
        _unlike_passed(case, element, word, f"{word} (tier: {tier})", [])
    return case


def _case(name: str, seconds: str) -> ET.Element:
    """Return a test case."""
    return ET.Element("testcase", {"classname": "assay", "name": name, "time": seconds})


def _unlike_passed(case: ET.Element, element: str, kind: str, message: str, lines: list[str]) -> None:
    """Say why a test case did not pass."""
    attributes = {"message": plain(message)}
    if element != "skipped":
        attributes["type"] = kind
    ET.SubElement(case, element, attributes).text = "\n".join(lines)


def _first_line(finding: Finding) -> str:
    """Return what a finding says first."""
    return f"{finding.id}: {finding.observed.partition(chr(10))[0]}"


def _told(finding: Finding) -> str:
    """Return a finding in lines."""
    parts = (("expected", finding.expected), ("remedy", finding.remedy), ("where", ", ".join(finding.where)))
    observed = "\n".join(map(plain, finding.observed.split("\n")))
    head = f"{finding.id} ({finding.severity.value}): {observed}"
    return "\n".join([head, *(f"  {name}: {plain(value)}" for name, value in parts if value)])


def _seconds(duration_ns: int) -> str:
    """Return a duration in nanoseconds as seconds with three decimals."""
    milliseconds = duration_ns // _NS_PER_MS
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}"
