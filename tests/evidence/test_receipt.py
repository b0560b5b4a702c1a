"""Receipts are written within bounds and read with every type checked."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, GateError, NewerSchemaError
from assay.evidence.receipt import bounded_findings, exit_text, parse_receipt, receipt_bytes
from assay.model import Artifact, Command, Facts, Finding, Json, LogInfo, Outcome, Receipt, Severity

SHA = "ab" * 32
FINDING = Finding("CHAIN-X", Severity.WARNING, "seen", "wanted", "do", ("facts.a",))
RECEIPT = Receipt(
    gate="chain",
    outcome=Outcome.PASSED,
    rules=1,
    started="2026-11-30T12:00:00Z",
    duration_ns=5,
    deadline_ns=6,
    commands=(Command(("a", "b"), 0), Command(("c",), -9), Command(("d",), "timeout")),
    facts={"a": [1, None, True], "b": {"c": "d"}},
    findings=(FINDING,),
    artifacts=(Artifact("x.ptx", SHA, 3),),
    log=LogInfo(5 << 20, SHA, (1 << 20, 1 << 20)),
    redaction_rules=2,
    redaction_count=7,
)
DOCUMENT = dict(RECEIPT.to_json())

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
COUNTS = st.integers(0, 2**53 - 1)
RECEIPTS = st.builds(
    Receipt,
    gate=st.from_regex(r"[a-z][a-z0-9-]{0,30}", fullmatch=True).filter(
        lambda name: name not in {"plan", "manifest", "journal", "verdict"}
    ),
    outcome=st.sampled_from(Outcome),
    rules=st.integers(1, 99),
    started=st.just("2026-11-30T12:00:00.5Z"),
    duration_ns=COUNTS,
    deadline_ns=COUNTS,
    commands=st.lists(
        st.builds(
            Command, st.lists(TEXTS, max_size=2).map(tuple), st.integers(-99, 999) | st.just("timeout")
        ),
        max_size=3,
    ).map(tuple),
    facts=st.dictionaries(TEXTS, TEXTS | COUNTS | st.lists(st.none(), max_size=2), max_size=3),
    findings=st.lists(
        st.builds(
            Finding,
            st.just("A-B1"),
            st.sampled_from(Severity),
            TEXTS,
            TEXTS,
            TEXTS,
            st.lists(TEXTS, max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    artifacts=st.lists(st.builds(Artifact, TEXTS, st.just(SHA), st.integers(0, 99)), max_size=2).map(tuple),
    log=st.none() | st.builds(LogInfo, COUNTS, st.just(SHA), st.none() | st.tuples(COUNTS, COUNTS)),
    redaction_rules=st.integers(1, 9),
    redaction_count=COUNTS,
)


@pytest.mark.gate
@given(RECEIPTS)
def test_what_is_written_is_read(receipt: Receipt) -> None:
    assert parse_receipt(receipt_bytes(receipt), "m") == receipt


def _without(key: str) -> dict[str, Json]:
    return {name: value for name, value in DOCUMENT.items() if name != key}


@pytest.mark.gate
@pytest.mark.parametrize("key", sorted(set(DOCUMENT) - {"schema"}))
def test_a_missing_field_is_named(key: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_receipt(canonical.dumps(_without(key)), "chain.json")
    assert caught.value.observed == f"chain.json: {key}: is missing"
    assert (caught.value.member, caught.value.field) == ("chain.json", key)


@pytest.mark.parametrize("key", sorted(set(DOCUMENT) - {"schema", "facts"}))
@pytest.mark.parametrize("wrong", [{"x": 1}, ["y"], "Z!", True, -1])
def test_a_field_of_a_wrong_type_is_named(key: str, wrong: Json) -> None:
    with pytest.raises(BundleError) as caught:
        parse_receipt(canonical.dumps({**DOCUMENT, key: wrong}), "chain.json")
    assert caught.value.field.split(".")[0] == key


WRONG: dict[str, tuple[dict[str, Json], str]] = {
    "unknown field": ({"more": 1}, "more"),
    "reserved gate": ({"gate": "plan"}, "gate"),
    "unknown outcome": ({"outcome": "fine"}, "outcome"),
    "rules 0": ({"rules": 0}, "rules"),
    "no such day": ({"started": "2026-02-30T00:00:00Z"}, "started"),
    "local time": ({"started": "2026-02-03T00:00:00+01:00"}, "started"),
    "negative duration": ({"duration_ns": -1}, "duration_ns"),
    "facts as a list": ({"facts": []}, "facts"),
    "exit as boolean": ({"commands": [{"argv": [], "exit": True}]}, "commands.0.exit"),
    "exit as other text": ({"commands": [{"argv": [], "exit": "killed"}]}, "commands.0.exit"),
    "argv of numbers": ({"commands": [{"argv": [1], "exit": 0}]}, "commands.0.argv.0"),
    "command with more": ({"commands": [{"argv": [], "exit": 0, "env": {}}]}, "commands.0.env"),
    "finding without id": ({"findings": [{**FINDING.to_json(), "id": ""}]}, "findings.0.id"),
    "finding without severity": (
        {"findings": [{**FINDING.to_json(), "severity": "fatal"}]},
        "findings.0.severity",
    ),
    "finding elsewhere": ({"findings": [{**FINDING.to_json(), "where": "x"}]}, "findings.0.where"),
    "artifact by path": ({"artifacts": [{"name": "x", "sha256": "../x", "size": 1}]}, "artifacts.0.sha256"),
    "artifact too large": (
        {"artifacts": [{"name": "x", "sha256": SHA, "size": 1 << 33}]},
        "artifacts.0.size",
    ),
    "log kept thrice": ({"log": {"size": 1, "sha256": SHA, "kept": [1, 2, 3]}}, "log.kept"),
    "log kept below nothing": ({"log": {"size": 1, "sha256": SHA, "kept": [1, -2]}}, "log.kept.1"),
    "omitted with room": ({"findings_omitted": 1}, "findings_omitted"),
    "too many findings": ({"findings": [FINDING.to_json()] * 1001}, "findings"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("change", "field"), WRONG.values(), ids=WRONG)
def test_wrong_values_are_refused_at_their_path(change: dict[str, Json], field: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_receipt(canonical.dumps({**DOCUMENT, **change}), "chain.json")
    assert caught.value.field == field


def test_a_newer_receipt_asks_for_an_update() -> None:
    with pytest.raises(NewerSchemaError):
        parse_receipt(canonical.dumps({"schema": "assay/receipt/2", "what": "ever"}), "chain.json")


OVERFLOW: dict[str, Facts] = {
    "over 1 MiB": {"a": "x" * (1 << 20)},
    "too many values": {f"a{n}": [0] * 1000 for n in range(200)},
    "float": {"a": 0.5},  # type: ignore[dict-item]  # what a gate must not give
}


@pytest.mark.gate
@pytest.mark.parametrize("facts", OVERFLOW.values(), ids=OVERFLOW)
def test_a_receipt_past_a_bound_is_an_error_of_its_gate(facts: Facts) -> None:
    with pytest.raises(GateError, match="the receipt of chain"):
        receipt_bytes(dataclasses.replace(RECEIPT, facts=facts))


@pytest.mark.gate
@pytest.mark.parametrize(
    ("exits", "text"),
    [
        ([], None),
        ([0], "0"),
        ([0, 0], "0"),
        ([0, 3, 4], "3"),
        ([0, -11], "-11"),
        (["timeout"], "timeout"),
        ([0, "timeout", 1], "timeout"),
    ],
)
def test_the_exit_is_that_of_the_first_command_that_failed(exits: list[int | str], text: str | None) -> None:
    assert exit_text([Command((), each) for each in exits]) == text


def test_findings_past_the_bound_are_counted() -> None:
    assert bounded_findings([FINDING] * 1000) == ((FINDING,) * 1000, 0)
    assert bounded_findings([FINDING] * 1234) == ((FINDING,) * 1000, 234)


@given(st.binary(max_size=200) | RECEIPTS.map(receipt_bytes), st.data())
def test_any_bytes_give_a_receipt_or_a_bundle_error(data: bytes, draw: st.DataObject) -> None:
    if data:
        at = draw.draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw.draw(st.binary(max_size=2)) + data[at + 1 :]
    try:
        receipt = parse_receipt(data, "m")
    except BundleError:
        return
    assert receipt_bytes(receipt) == data
