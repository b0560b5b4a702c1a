"""``plan.json`` and ``manifest.json`` are read with every type checked."""

from __future__ import annotations

import pytest

from assay import canonical
from assay.errors import BundleError, NewerSchemaError
from assay.evidence.documents import Listed, Manifest, PlanDocument, parse_manifest, parse_plan_document
from assay.model import Json, Platform, Tier, Verdict
from assay.plan import plan_json
from tests.evidence.support import NONCE, RUN, STARTED, plan

SHA = "cd" * 32
PLAN = PlanDocument(RUN, NONCE, "", STARTED, Platform.LINUX, SHA, plan(), plan_json(plan()))
MANIFEST = Manifest(
    RUN,
    "assay",
    "0.1.0",
    Tier.PHYSICAL,
    Verdict.QUALIFIED,
    (Listed("plan.json", 3, SHA), Listed("x", 0, SHA)),
)


def changed(data: bytes, **change: Json) -> bytes:
    document = canonical.loads(data)
    assert isinstance(document, dict)
    return canonical.dumps({**document, **change})


@pytest.mark.gate
def test_what_is_written_is_read() -> None:
    assert parse_manifest(MANIFEST.data()) == MANIFEST
    found = parse_plan_document(PLAN.data())
    assert found.data() == PLAN.data()
    assert (found.run, found.nonce, found.platform, found.plan.gates) == (
        RUN,
        NONCE,
        Platform.LINUX,
        plan().gates,
    )


def test_the_plan_digest_is_of_the_plan_alone() -> None:
    other = PlanDocument("x", "y", "ff", "z", Platform.WINDOWS, SHA, plan(), plan_json(plan()))
    assert other.plan_digest == PLAN.plan_digest == canonical.digest(plan_json(plan()))
    assert PLAN.plan_digest != canonical.digest(plan_json(plan(modules=["other"])))


def test_a_plan_keeps_its_digest_when_a_later_reader_knows_more_keys() -> None:
    fewer = {key: value for key, value in plan_json(plan()).items() if key != "cites"}
    found = parse_plan_document(changed(PLAN.data(), plan=fewer))
    assert found.plan_digest == canonical.digest(fewer)
    assert found.plan.cites == ()


PLANS: dict[str, tuple[dict[str, Json], str]] = {
    "unknown key": ({"more": 1}, "more"),
    "run that is none": ({"run": "20261130T120000Z"}, "run"),
    "run of another time": ({"started": "2026-11-30T12:00:01Z"}, "run"),
    "run of another nonce": ({"nonce": "f" * 32}, "run"),
    "short nonce": ({"nonce": "01234567"}, "nonce"),
    "challenge in capitals": ({"challenge": "FF"}, "challenge"),
    "long challenge": ({"challenge": "f" * 129}, "challenge"),
    "no challenge": ({"challenge": None}, "challenge"),
    "no time": ({"started": "yesterday"}, "started"),
    "unknown platform": ({"platform": "beos"}, "platform"),
    "no toolchain": ({"toolchain_sha256": ""}, "toolchain_sha256"),
    "plan as text": ({"plan": "x"}, "plan"),
    "plan without gates": ({"plan": {**plan_json(plan()), "gates": []}}, "plan.gates"),
    "plan with an unknown key": ({"plan": {**plan_json(plan()), "loose": True}}, "plan.loose"),
    "plan with 65 gates": (
        {"plan": {**plan_json(plan()), "gates": [f"g{n}" for n in range(65)]}},
        "plan.gates",
    ),
}


@pytest.mark.gate
@pytest.mark.parametrize(("change", "field"), PLANS.values(), ids=PLANS)
def test_a_wrong_plan_is_refused_at_its_path(change: dict[str, Json], field: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_plan_document(changed(PLAN.data(), **change))
    assert (caught.value.member, caught.value.field) == ("plan.json", field)


MANIFESTS: dict[str, tuple[dict[str, Json], str]] = {
    "unknown key": ({"more": 1}, "more"),
    "run that is none": ({"run": "../x"}, "run"),
    "no tool": ({"tool": {"name": "", "version": "1"}}, "tool.name"),
    "no version": ({"tool": {"name": "assay", "version": "v"}}, "tool.version"),
    "tool with more": ({"tool": {"name": "assay", "version": "1", "x": 1}}, "tool.x"),
    "unknown tier": ({"tier": "cloud"}, "tier"),
    "unknown verdict": ({"verdict": "passed"}, "verdict"),
    "member without size": ({"members": [{"name": "x", "sha256": SHA}]}, "members.0.size"),
    "member by half a digest": ({"members": [{"name": "x", "sha256": "ab", "size": 1}]}, "members.0.sha256"),
    "member of 8 GiB": ({"members": [{"name": "x", "sha256": SHA, "size": 1 << 33}]}, "members.0.size"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("change", "field"), MANIFESTS.values(), ids=MANIFESTS)
def test_a_wrong_manifest_is_refused_at_its_path(change: dict[str, Json], field: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_manifest(changed(MANIFEST.data(), **change))
    assert (caught.value.member, caught.value.field) == ("manifest.json", field)


def test_a_manifest_says_expressly_that_it_has_no_tier() -> None:
    assert parse_manifest(changed(MANIFEST.data(), tier=None)).tier is None
    document = canonical.loads(MANIFEST.data())
    assert isinstance(document, dict)
    del document["tier"]
    with pytest.raises(BundleError, match="tier: is missing"):
        parse_manifest(canonical.dumps(document))


def test_newer_documents_ask_for_an_update() -> None:
    with pytest.raises(NewerSchemaError):
        parse_plan_document(changed(PLAN.data(), schema="assay/plan/2"))
    with pytest.raises(NewerSchemaError):
        parse_manifest(changed(MANIFEST.data(), schema="assay/manifest/2", more=1))
