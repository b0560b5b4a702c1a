"""A plan is read whole or refused with the dotted path of what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PlanError
from assay.model import Platform, Tier
from assay.plan import check_qualifies, parse_plan, plan_json
from tests.plan.support import SHA, STAGES, changed, plan_table

pytestmark = pytest.mark.gate

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def test_defaults_are_the_strict_ones() -> None:
    table = plan_table()
    del table["tier"]
    plan = parse_plan(table)
    assert plan.tier is Tier.PHYSICAL
    assert plan.allow_unclean_tree is False
    assert plan.disclose == ()


def test_values_arrive_typed() -> None:
    plan = parse_plan(plan_table())
    assert plan.versions[Platform.LINUX]["cuda"] == "==13.0.*"
    assert [chain.name for chain in plan.planned_chains(Platform.LINUX)] == ["pipeline"]
    assert plan.planned_chains(Platform.MACOS) == ()
    assert plan.lowest_architecture == "sm_75"
    assert plan.kernels["pipeline"].values == tuple(range(37))


def test_lowest_architecture_compares_numbers_not_text() -> None:
    assert parse_plan(changed("architectures", ["sm_100", "sm_90"])).lowest_architecture == "sm_90"


def test_plan_survives_json() -> None:
    plan = parse_plan(plan_table())
    written = json.loads(json.dumps(plan_json(plan)))
    assert plan_json(parse_plan(written)) == written


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("gates", [], "tool.assay.gates"),
        ("gates", ["environment", "environment"], "tool.assay.gates"),
        ("gates", ["Plan"], "tool.assay.gates.0"),
        ("gates", ["verdict"], "tool.assay.gates.0"),
        ("gates", "environment", "tool.assay.gates"),
        ("tier", "imaginary", "tool.assay.tier"),
        ("surprise", 1, "tool.assay.surprise"),
        ("allow-unclean-tree", "no", "tool.assay.allow-unclean-tree"),
        ("architectures", [], "tool.assay.architectures"),
        ("architectures", ["compute_90"], "tool.assay.architectures.0"),
        ("versions.linux.cuda", "13", "tool.assay.versions.linux.cuda"),
        ("versions.linux.cuda", ">=13.*", "tool.assay.versions.linux.cuda"),
        ("versions", {"beos": {}}, "tool.assay.versions.beos"),
        ("provider.0.sha256", "AB" * 32, "tool.assay.provider.0.sha256"),
        ("provider.0.interface", "vulkan", "tool.assay.provider.0.interface"),
        ("provider.0.extra", 1, "tool.assay.provider.0.extra"),
        ("chains.linux", ["absent"], "tool.assay.chains.linux"),
        ("chains", {}, "tool.assay.chains"),
        ("deadlines.chain", 0, "tool.assay.deadlines.chain"),
        ("deadlines.chain", True, "tool.assay.deadlines.chain"),
        ("deadlines", {"absent": 5}, "tool.assay.deadlines.absent"),
        ("smoke", [], "tool.assay.smoke"),
        ("smoke", ["/usr/bin/true"], "tool.assay.smoke"),
        ("smoke", ["C:\\x.exe"], "tool.assay.smoke"),
        ("command.0.argv", [], "tool.assay.command.0.argv"),
        ("command.0.argv", ["/bin/true"], "tool.assay.command.0.argv"),
        ("command.0.name", "absent", "tool.assay.command.0.name"),
        ("command.0.name", "chain", "tool.assay.command.0.name"),
        ("command.0.argv", ["nox", "-s", "lint"], "tool.assay.command.0.argv"),
        ("command.0.argv", ["python", "-m", "nox"], "tool.assay.command.0.argv"),
        ("command.0.argv", ["bin/pytest", "-q"], "tool.assay.command.0.report"),
        ("command.0.argv", ["python", "-m", "pytest"], "tool.assay.command.0.report"),
        ("claim.0.gates", ["absent"], "tool.assay.claim.0.gates"),
        ("claim.0.platforms", ["beos"], "tool.assay.claim.0.platforms.0"),
        ("claim.1.id", "chain-exact", "tool.assay.claim.1.id"),
        ("disclose", ["everything"], "tool.assay.disclose.0"),
        ("kernels.pipeline.stage", [], "tool.assay.kernels.pipeline.stage"),
        ("kernels.pipeline.stage.0.input", "previous", "tool.assay.kernels.pipeline.stage.0.input"),
        ("kernels.pipeline.stage.0.expect", "x/2", "tool.assay.kernels.pipeline.stage.0.expect"),
        ("kernels.pipeline.stage.0.expect", "5000*x", "tool.assay.kernels.pipeline.stage.0.expect"),
        ("kernels.pipeline.stage.0.compare", {"ulp": 0}, "tool.assay.kernels.pipeline.stage.0.compare.ulp"),
        ("kernels.pipeline.stage", [STAGES[0]] * 65, "tool.assay.kernels.pipeline.stage"),
        ("kernels.pipeline.stage.1.name", "double", "tool.assay.kernels.pipeline.stage"),
        ("kernels.pipeline.stage.0.source", "../double.cu", "tool.assay.kernels.pipeline.stage.0.source"),
        ("kernels.pipeline.values", {"list": [0.5]}, "tool.assay.kernels.pipeline.values.list.0"),
        ("kernels.pipeline.values", {"list": []}, "tool.assay.kernels.pipeline.values"),
        ("modules", [], "tool.assay.modules"),
        ("project", ..., "tool.assay.project"),
        ("smoke", ["python", "../thing.py"], "tool.assay.smoke.1"),
        ("smoke", ["..\\thing.exe"], "tool.assay.smoke.0"),
        ("command.0.argv", ["ruff", "--config=a/../../b"], "tool.assay.command.0.argv.1"),
        ("command.0.argv", ["ruff", "a:.."], "tool.assay.command.0.argv.1"),
        ("reference", [{"title": "x", "url": "https://example.org/\0"}], "tool.assay.reference.0.url"),
    ],
)
def test_a_wrong_key_is_named(path: str, value: object, named: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(changed(path, value))
    assert caught.value.path == named


LINES: dict[str, object] = {
    "command.0.argv": ["ruff", "?"],
    "smoke": ["python", "?"],
    "claim.0.text": "?",
    "cites": [{"digest": "ab" * 32, "reason": "?"}],
    "reference": [{"title": "?", "url": "https://example.org/x"}],
    "built-by": {"BUV_RUNTIME_LIB": "?"},
    "software-adapters": {"linux": ["?"]},
    "command.0.allowed-skips": ["?"],
    "versions.linux": {"?": "==1.*"},
}
"""Every place of a plan that takes any text, ``?`` where that text stands."""

NO_LINES = st.text(" \t", max_size=3) | st.builds(
    "{}{}{}".format,
    st.text(max_size=5),
    st.sampled_from("\0\x01\t\n\r\x1b\x7f\x85\x9b\u2028\ud800"),
    st.text(max_size=5),
)


def filled(value: Any, text: str) -> Any:  # noqa: ANN401  # a value of a plan, as nested as the plan is
    """Return a value with ``text`` in the place of ``?``."""
    if isinstance(value, dict):
        return {filled(key, text): filled(part, text) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, text) for part in value]
    return text if value == "?" else value


@pytest.mark.parametrize("path", LINES)
@given(text=NO_LINES)
def test_text_that_is_blank_or_controls_a_terminal_is_refused_by_its_place(path: str, text: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(changed(path, filled(LINES[path], text)))
    assert caught.value.path.startswith(f"tool.assay.{path}")


@pytest.mark.parametrize("path", LINES)
@pytest.mark.parametrize("text", ["a line", "HEAD..main", "...", "a..b/c", "größer als 0", "--x=a.b"])
def test_any_other_line_of_text_is_taken(path: str, text: str) -> None:
    plan = plan_json(parse_plan(changed(path, filled(LINES[path], text))))
    assert text in json.dumps(plan, ensure_ascii=False)


@pytest.mark.parametrize(
    ("given_values", "written"),
    [
        ({"count": 3}, {"count": 3, "start": 0, "step": 1}),
        ({"list": [4, 2, 0]}, {"count": 3, "start": 4, "step": -2}),
        ({"list": [7]}, {"count": 1, "start": 7, "step": 1}),
        ({"list": [1, 2, 4]}, {"list": [1, 2, 4]}),
        ({"start": 5, "count": 2, "step": 0}, {"count": 2, "start": 5, "step": 0}),
    ],
)
def test_values_have_one_written_form(given_values: object, written: object) -> None:
    plan = plan_json(parse_plan(changed("kernels.pipeline.values", given_values)))
    assert json.loads(json.dumps(plan))["kernels"]["pipeline"]["values"] == written


def test_two_pins_of_one_digest_are_refused() -> None:
    pin = plan_table()["provider"][0]
    with pytest.raises(PlanError, match=r"provider\.1"):
        parse_plan(changed("provider", [pin, {**pin, "name": "other"}]))


@pytest.mark.parametrize("gate", ["environment", "toolkit", "provider", "build", "chain"])
def test_a_plan_without_an_essential_gate_cannot_qualify(gate: str) -> None:
    table = plan_table()
    table["gates"].remove(gate)
    table["deadlines"] = {}
    table["claim"] = []
    with pytest.raises(PlanError, match=gate):
        check_qualifies(parse_plan(table))


@given(JSON)
def test_any_json_is_read_or_refused(value: object) -> None:
    with pytest.raises(PlanError):
        parse_plan(value)


@given(st.sampled_from(sorted(plan_table())), JSON)
def test_any_value_of_any_key_is_read_or_refused(key: str, value: object) -> None:
    table = plan_table()
    table[key] = value
    try:
        plan = parse_plan(table)
    except PlanError as error:
        assert error.path.startswith("tool.assay")  # noqa: PT017  # both ways are allowed; the path must be right
    else:
        assert plan_json(parse_plan(plan_json(plan))) == plan_json(plan)


def test_pins_of_both_known_platforms_can_stand_side_by_side() -> None:
    second = {"name": "aphrody_ffi", "platform": "windows", "interface": "aphrody-ffi", "sha256": SHA}
    plan = parse_plan(changed("provider", [*plan_table()["provider"], second]))
    assert [pin.platform for pin in plan.providers] == [Platform.LINUX, Platform.WINDOWS]
