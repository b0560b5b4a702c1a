"""What is rehearsed, and where it is not: the plan, the platforms, the command line's mistakes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.cli import main
from assay.engine import rehearse as rehearsing
from assay.engine.prepare import Request
from assay.engine.rehearse import ELSEWHERE, rehearsal_plan, require_linux
from assay.errors import UsageError
from assay.judge.rules import standing
from assay.judge.table import rows
from assay.model import Outcome, Platform, Tier
from assay.plan import load_plan, parse_plan, plan_json
from assay.provision.job import Request as Provisioning
from tests.conftest import PROJECT

pytestmark = pytest.mark.gate

PLAN = rehearsal_plan(load_plan(PROJECT), Platform.LINUX)


def test_the_plan_says_rehearsal_and_allows_an_unclean_tree_and_lavapipe_alone() -> None:
    before = load_plan(PROJECT)
    assert (PLAN.tier, PLAN.allow_unclean_tree) == (Tier.REHEARSAL, True)
    assert PLAN.software_adapters[Platform.LINUX] == ("llvmpipe",)
    changed = {"tier", "allow-unclean-tree", "software-adapters"}
    assert {name for name, value in plan_json(PLAN).items() if plan_json(before)[name] != value} == changed
    assert plan_json(parse_plan(plan_json(PLAN))) == plan_json(PLAN)
    assert plan_json(rehearsal_plan(PLAN, Platform.LINUX)) == plan_json(PLAN)


def test_no_platform_keeps_a_tier_of_its_own() -> None:
    assert load_plan(PROJECT).tier_on(Platform.WSL) is Tier.WSL
    assert {PLAN.tier_on(platform) for platform in Platform} == {Tier.REHEARSAL}


def test_by_the_plan_alone_only_commands_and_what_needs_hardware_are_left_out() -> None:
    left_out = {
        row.name
        for row in rows(PLAN)
        if standing(row, PLAN, Platform.LINUX, dict.fromkeys(PLAN.gates, Outcome.PASSED)) is not None
    }
    assert left_out == {command.name for command in PLAN.commands} | {
        "driver",
        "shared-buffers",
        "throughput",
        "vulkan",
    }


@pytest.mark.parametrize(
    ("platform", "told"), [("darwin", "container"), ("win32", "WSL"), ("freebsd14", "Linux")]
)
def test_another_platform_is_told_what_to_do(platform: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        require_linux(platform)
    assert told in caught.value.remedy
    assert ELSEWHERE.keys() == {"darwin", "win32"}


def test_without_a_selection_one_is_provisioned_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def provisioned(request: Provisioning, _say: object) -> None:
        done.append(str(request.project))
        (tmp_path / ".assay").mkdir()
        (tmp_path / ".assay" / "selection.toml").write_text('[selection]\nPYTHONPATH = "/site"\n')

    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    shutil.copytree(PROJECT / "kernels", tmp_path / "kernels")
    monkeypatch.setattr(rehearsing, "provision", provisioned)
    monkeypatch.setattr(rehearsing, "make_rehearsal", lambda *_: None)
    for variable in ("BUN_PYTHON_EXECUTABLE", "BUV_RUNTIME_LIB", "ASSAY_RUN"):
        monkeypatch.delenv(variable, raising=False)
    for _ in range(2):
        prepared = rehearsing.prepare_rehearsal(Request(tmp_path), done.append)
        assert (prepared.selection.source, prepared.plan.tier) == ("embedded", Tier.REHEARSAL)
    assert done == [str(tmp_path)]


@pytest.mark.parametrize("arguments", [["--watch"], ["build", "pipeline"]])
def test_a_mistaken_command_line_is_a_usage_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", *arguments]) == 2
    assert "chain" in capsys.readouterr().err
