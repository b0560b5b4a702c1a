"""Every way in which a plan can ask less is named as lowering the bar, and no change is passed over."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from assay.evidence.bar import moves
from assay.evidence.moves import Direction
from assay.model import Platform
from assay.plan import Plan, parse_plan
from tests.plan.support import SHA, STAGES, changed, plan_table

LOWERED, CHANGED, RAISED = Direction.LOWERED, Direction.CHANGED, Direction.RAISED
OPPOSITE = {LOWERED: RAISED, RAISED: LOWERED, CHANGED: CHANGED}

PIN = {"name": "wgpu-native", "platform": "linux", "interface": "wgpu-native", "symbols": ["a"]}
OTHER_PIN = {**PIN, "sha256": "cd" * 32}
STAGE = "kernels.pipeline.stage.0"
FLOORS = "throughput.floors"
AGAIN = {**STAGES[0], "name": "again", "runtime": "nvrtc", "input": "previous"}
SHARED = {
    "chain": "pipeline",
    "shader": "add-one",
    "kernel": "again",
    "source": "add_one.comp",
    "sha256": "ab" * 32,
    "entry": "main",
    "each": 4,
}
MEASURED = {
    "chain": "pipeline",
    "sizes": [1, 37],
    "turns": 5,
    "floor-size": 37,
    "floors": {"chain-of-script": 1000},
}

# What the changed plan asks, against the plan of the tests; the other way round it is the opposite.
MOVES: dict[str, tuple[str, Any, Direction, str]] = {
    "a gate less": ("gates", ["environment", "toolkit", "build", "chain", "lint"], LOWERED, "gates"),
    "the weakest tier": ("tier", "rehearsal", LOWERED, "tier.linux"),
    "an unclean tree": ("allow-unclean-tree", True, LOWERED, "allow-unclean-tree"),
    "an architecture less": ("architectures", ["sm_90"], LOWERED, "architectures"),
    "a module more": ("modules", ["thing", "other"], RAISED, "modules"),
    "an older Python": ("versions.linux.python", ">=3.10,<3.15", LOWERED, "versions.linux.python"),
    "any toolkit": ("versions.linux.cuda", ..., LOWERED, "versions.linux.cuda"),
    "one toolkit": ("versions.linux.cuda", "==13.0.88", RAISED, "versions.linux.cuda"),
    "the same toolkits": ("versions.linux.cuda", "==13.0.*,>=13", CHANGED, "versions.linux.cuda"),
    "no versions": ("versions", {}, LOWERED, "versions.linux.python"),
    "another pin as well": ("provider", [{**PIN, "sha256": SHA}, OTHER_PIN], LOWERED, "provider.linux"),
    "another pin": ("provider", [OTHER_PIN], CHANGED, "provider.linux"),
    "a symbol less": ("provider.0.symbols", [], LOWERED, f"provider.linux.{SHA}.symbols"),
    "another URL": ("provider.0.url", "https://example.org/x", CHANGED, f"provider.linux.{SHA}.url"),
    "any backend": ("backend", {}, LOWERED, "backend.linux"),
    "another backend": ("backend.linux", "OpenGL", CHANGED, "backend.linux"),
    "a toolset": ("msvc-toolset", "14.44", RAISED, "msvc-toolset"),
    "a software adapter": ("software-adapters", {"linux": ["llvmpipe"]}, LOWERED, "software-adapters.linux"),
    "a variable let in": ("allow-environment", ["LD_PRELOAD"], LOWERED, "allow-environment"),
    "a stage less": ("kernels.pipeline.stage", STAGES[:1], LOWERED, "kernels.pipeline"),
    "a tolerance": (f"{STAGE}.compare", {"ulp": 4}, LOWERED, "kernels.pipeline.double.compare"),
    "another expectation": (f"{STAGE}.expect", "3*x", CHANGED, "kernels.pipeline.double.expect"),
    "another kernel": (f"{STAGE}.sha256", "cd" * 32, CHANGED, "kernels.pipeline.double.sha256"),
    "another runtime": (f"{STAGE}.runtime", "nvrtc", CHANGED, "kernels.pipeline.double.runtime"),
    "fewer values": ("kernels.pipeline.values.count", 36, LOWERED, "kernels.pipeline.values"),
    "other values": ("kernels.pipeline.values.start", 1, CHANGED, "kernels.pipeline.values"),
    "a skip": ("command.0.allowed-skips", ["test_x"], LOWERED, "command.lint.allowed-skips"),
    "counts of tests": ("command.0.report", "pytest", RAISED, "command.lint.report"),
    "another command": ("command.0.argv", ["true"], CHANGED, "command.lint.argv"),
    "another deadline": ("command.0.deadline", 61, CHANGED, "command.lint.deadline"),
    "a deadline of a gate": ("deadlines.chain", 121, CHANGED, "deadlines.chain"),
    "a claim less": (
        "claim",
        [{"id": "chain-exact", "text": "the chain is exact", "gates": ["chain"]}],
        LOWERED,
        "claim",
    ),
    "a gate of a claim more": ("claim.0.gates", ["chain", "build"], RAISED, "claim.chain-exact.gates"),
    "a claim opened": ("claim.0.gates", [], CHANGED, "claim.chain-exact.gates"),
    "a claim for one platform": (
        "claim.0",
        {"id": "chain-exact", "text": "the chain is exact", "gates": ["chain"], "platforms": ["linux"]},
        CHANGED,
        "claim.chain-exact.platforms",
    ),
    "another claim text": ("claim.0.text", "x", CHANGED, "claim.chain-exact.text"),
    "another smoke command": ("smoke", ["true"], CHANGED, "smoke"),
    "a disclosure": ("disclose", ["gpu-serial"], CHANGED, "disclose"),
    "a citation": ("cites", [{"digest": SHA, "reason": "x"}], CHANGED, "cites"),
    "a reference": ("reference", [{"title": "t", "url": "https://example.org/"}], CHANGED, "reference"),
    "a builder": ("built-by", {"PATH": "x"}, CHANGED, "built-by"),
    "a run of a release": ("release", {"require": ["linux/physical"]}, RAISED, "release"),
    "a weaker tier there": ("tiers", {"wsl": "wsl"}, LOWERED, "tier.wsl"),
    "another project": ("project", "other", CHANGED, "project"),
    "values for each thread": (f"{STAGE}.each", 4, CHANGED, "kernels.pipeline.double.each"),
}

MEASURABLE = {
    **changed("kernels.pipeline.stage", [*STAGES, AGAIN]),
    "shared-buffers": SHARED,
    "throughput": MEASURED,
}

MEASURES: dict[str, tuple[str, Any, Direction, str]] = {
    "no shared buffer": ("shared-buffers", ..., LOWERED, "shared-buffers"),
    "no measured chain": ("throughput", ..., LOWERED, "throughput"),
    "another shader": ("shared-buffers.sha256", "cd" * 32, CHANGED, "shared-buffers.sha256"),
    "a size less": ("throughput.sizes", [37], LOWERED, "throughput.sizes"),
    "a size more": ("throughput.sizes", [1, 37, 1024], RAISED, "throughput.sizes"),
    "fewer turns": ("throughput.turns", 3, LOWERED, "throughput.turns"),
    "another size for the floors": ("throughput.floor-size", 1, CHANGED, "throughput.floor-size"),
    "a lower floor": ("throughput.floors.chain-of-script", 999, LOWERED, f"{FLOORS}.chain-of-script"),
    "a floor less": ("throughput.floors", {}, LOWERED, f"{FLOORS}.chain-of-script"),
    "a floor more": ("throughput.floors.wgpu-of-script", 1000, RAISED, f"{FLOORS}.wgpu-of-script"),
}


def of(path: str, value: object) -> Plan:
    return parse_plan(changed(path, value))


@pytest.mark.parametrize(("path", "value", "direction", "at"), MOVES.values(), ids=MOVES)
def test_each_move_has_its_direction_and_the_opposite_the_other_way_round(
    path: str, value: object, direction: Direction, at: str
) -> None:
    plan, other = parse_plan(plan_table()), of(path, value)
    assert (direction, at) in [(move.direction, move.path) for move in moves(plan, other)]
    assert {move.direction for move in moves(plan, other)} == {direction}
    back = [(move.direction, move.path) for move in moves(other, plan)]
    assert (OPPOSITE[direction], at) in back


@pytest.mark.parametrize(("path", "value", "direction", "at"), MEASURES.values(), ids=MEASURES)
def test_each_measure_s_move_has_its_direction(
    path: str, value: object, direction: Direction, at: str
) -> None:
    plan, other = parse_plan(MEASURABLE), parse_plan(changed(path, value, MEASURABLE))
    assert [(move.direction, move.path) for move in moves(plan, other)] == [(direction, at)]
    assert [(move.direction, move.path) for move in moves(other, plan)] == [(OPPOSITE[direction], at)]


def test_a_chain_less_lowers_the_bar() -> None:
    """A plan may have a chain for one platform only, so the tables of two are compared."""
    two = parse_plan({**plan_table(), "chains": {"linux": ["pipeline"], "wsl": ["pipeline"]}})
    assert [(m.direction, m.path) for m in moves(two, parse_plan(plan_table()))] == [(LOWERED, "chains.wsl")]


def test_a_requirement_may_be_lowered_and_raised_at_once() -> None:
    found = moves(of("versions.linux.cuda", "==13.0.*"), of("versions.linux.cuda", "==13.1.*"))
    assert {move.direction for move in found} == {LOWERED, RAISED}
    assert "which admits 13.1" in found[0].text


def test_kernels_that_came_or_went_are_named() -> None:
    table = plan_table()
    table["kernels"]["other"] = table["kernels"]["pipeline"]
    found = moves(parse_plan(plan_table()), parse_plan(table))
    assert [(move.direction, move.path, move.text) for move in found] == [(CHANGED, "kernels.other", "added")]


def test_the_same_plan_moves_nothing() -> None:
    assert moves(parse_plan(plan_table()), parse_plan(plan_table())) == ()


def test_every_key_of_a_plan_is_moved_by_some_test() -> None:
    """So no field that a plan has can change without being named."""
    keys = {path.partition(".")[0].replace("-", "_") for path, *_ in (*MOVES.values(), *MEASURES.values())}
    keys |= {"chains"}
    plural = {"provider": "providers", "command": "commands", "claim": "claims", "reference": "references"}
    assert {plural.get(key, key) for key in keys} == {each.name for each in dataclasses.fields(Plan)}


def test_what_is_lower_stands_first() -> None:
    table = {**plan_table(), "tier": "rehearsal", "smoke": ["true"], "modules": ["thing", "other"]}
    found = [move.direction for move in moves(parse_plan(plan_table()), parse_plan(table))]
    assert found == [*[LOWERED] * 4, CHANGED, RAISED]  # a tier a platform
    assert moves(parse_plan(plan_table()), parse_plan(table))[0].to_json() == {
        "direction": "lowered",
        "path": "tier.linux",
        "platform": "linux",
        "text": "physical became rehearsal",
        "used": True,
    }


ON_WSL: dict[str, tuple[str, Any]] = {
    "chains": ("chains", {"linux": ["pipeline"], "wsl": ["pipeline"]}),
    "versions": ("versions.wsl", {"python": ">=3.11"}),
    "tier": ("tiers", {"wsl": "wsl"}),
    "provider": ("provider", [{**PIN, "sha256": SHA}, {**OTHER_PIN, "platform": "wsl"}]),
    "backend": ("backend.wsl", "Vulkan"),
    "software-adapters": ("software-adapters", {"wsl": ["llvmpipe"]}),
}


@pytest.mark.parametrize(("path", "value"), ON_WSL.values(), ids=ON_WSL)
def test_what_moved_only_where_neither_run_was_is_named_with_its_platform_behind_the_rest(
    path: str, value: object
) -> None:
    old, new = parse_plan(plan_table()), parse_plan({**changed(path, value), "smoke": ["true"]})
    used, away = moves(old, new, [Platform.LINUX])
    assert (used.path, used.platform, used.used) == ("smoke", None, True)
    assert (away.platform, away.used) == (Platform.WSL, False)
    assert away.path.split(".")[1] == "wsl"
    assert {move.used for move in moves(old, new, [Platform.LINUX, Platform.WSL])} == {True}


def test_the_tier_of_two_runs_on_linux_is_that_of_linux_first() -> None:
    old, new = parse_plan(plan_table()), of("tier", "rehearsal")
    found = moves(old, new, [Platform.LINUX])
    assert [(move.path, move.used) for move in found] == [
        ("tier.linux", True),
        ("tier.macos", False),
        ("tier.windows", False),
        ("tier.wsl", False),
    ]


def test_a_toolset_is_asked_on_windows_alone() -> None:
    (move,) = moves(parse_plan(plan_table()), of("msvc-toolset", "14.44"), [Platform.LINUX])
    assert (move.platform, move.used) == (Platform.WINDOWS, False)
