"""Gate ``driver``: what it establishes on each platform, and that it rests on recorded facts."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from assay.gates.toolkit_driver import windows_version
from assay.judge.case import Case
from assay.judge.rules import judge_gate
from assay.judge.table import GATES
from assay.model import Facts, Outcome, Tier, outcome_of
from assay.plan.bare import bare_plan
from tests.gates.configured import run_gates, setup_of
from tests.machines.described import build

ROW = next(row for row in GATES if row.name == "driver")
MACHINES = {
    "linux": "driver-own-folder",
    "wsl": "wsl-limits",
    "windows": "windows",
}


def seen(platform: str, folder: Path) -> tuple[Case, dict[str, Any]]:
    """Return what the judge knows of a healthy machine of a platform."""
    described = build("healthy", MACHINES[platform], folder / "machine")
    facts = run_gates(described, folder).facts["driver"]
    return setup_of(described, folder).case({}), copy.deepcopy(dict(facts))


def outcome(case: Case, facts: Facts) -> Outcome:
    return outcome_of(judge_gate(case, ROW, ROW.rules, facts))


@pytest.mark.parametrize("platform", MACHINES)
def test_no_fact_can_be_taken_away(platform: str, tmp_path: Path) -> None:
    case, facts = seen(platform, tmp_path)
    assert outcome(case, facts) is Outcome.PASSED
    for name in facts:
        left = {key: value for key, value in facts.items() if key != name}
        assert outcome(case, left) is not Outcome.PASSED, name


def test_on_linux_every_part_is_named_with_one_version(tmp_path: Path) -> None:
    case, facts = seen("linux", tmp_path)
    said = ROW.claim(case, facts)
    assert said.startswith("kernel module (open), GSP firmware, libcuda, EGL, GLX, NVML, ")
    assert said.endswith(" are of one driver version, 580.159.04")


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("libraries.loaded.libcuda", "version"),
        ("libraries.loaded.nvml", "version"),
        ("nvml.facts", "driver_version"),
    ],
)
def test_on_linux_no_part_can_be_of_a_version_that_begins_alike(
    where: str, name: str, tmp_path: Path
) -> None:
    case, facts = seen("linux", tmp_path)
    place = facts
    for part in where.split("."):
        place = place[part]
    place[name] = "580.159"
    assert outcome(case, facts) is not Outcome.PASSED


def test_firmware_that_runs_needs_no_file(tmp_path: Path) -> None:
    case, facts = seen("linux", tmp_path)
    assert facts["firmware"]["versions"] == {}
    assert facts["gpus"][0]["firmware"] == "580.159.04"
    facts["gpus"][0]["firmware"] = "N/A"
    for gpu in facts["nvml"]["facts"]["gpus"]:
        gpu["gsp_firmware"] = None
    assert {each.id for each in judge_gate(case, ROW, ROW.rules, facts)} & {
        "DRIVER-FIRMWARE-MISSING",
        "DRIVER-FIRMWARE-UNSEEN",
    }


def test_under_wsl_what_is_limited_is_claimed_as_cuda_told_it(tmp_path: Path) -> None:
    case, facts = seen("wsl", tmp_path)
    assert ROW.claim(case, facts).endswith(
        "CUDA tells of no concurrent access to managed memory and 64 MiB of pinned memory in one piece"
    )
    facts["cuda_api"]["facts"]["pinned"]["largest"] = 256 << 20
    facts["cuda_api"]["facts"]["devices"][0]["concurrent_managed_access"] = 1
    assert ROW.claim(case, facts).endswith(
        "CUDA tells of concurrent access to managed memory and 256 MiB of pinned memory in one piece"
    )
    facts["cuda_api"]["facts"]["devices"] = []
    assert "memory" not in ROW.claim(case, facts)


def test_under_wsl_the_tier_is_wsls_and_libcuda_the_projected_one(tmp_path: Path) -> None:
    case, facts = seen("wsl", tmp_path)
    assert bare_plan(()).tier_on(case.platform) is Tier.WSL
    facts["libraries"]["loaded"]["libcuda"] |= {
        "path": "/usr/lib/libcuda.so.1",
        "real": "/usr/lib/libcuda.so.580.65",
    }
    assert [each.id for each in judge_gate(case, ROW, ROW.rules, facts)] == ["DRIVER-WSL-SHADOWED"]


@pytest.mark.parametrize(
    ("four", "two"),
    [
        ("32.0.16.1692", "616.92"),
        ("32.0.15.8088", "580.88"),
        ("31.0.15.2225", "522.25"),
        ("27.21.14.6089", "460.89"),
        ("32.0.15.6603", "566.03"),
        ("1.2.3", ""),
        ("latest", ""),
    ],
)
def test_on_windows_the_version_is_in_the_last_digits_of_four_numbers(four: str, two: str) -> None:
    assert windows_version(four) == two


def test_on_windows_version_and_model_are_claimed(tmp_path: Path) -> None:
    case, facts = seen("windows", tmp_path)
    assert ROW.claim(case, facts).startswith(
        "nvcuda.dll, nvapi64.dll, nvml.dll, nvlddmkm.sys are of one display driver, 616.92"
    )
    facts["nvml"]["facts"]["gpus"] = [{"driver_model": [2, 2]}]
    assert ROW.claim(case, facts).endswith(" under MCDM")


def test_on_windows_a_model_without_direct3d_matters_only_where_the_plan_wants_it(tmp_path: Path) -> None:
    case, facts = seen("windows", tmp_path)
    facts["nvml"]["facts"]["gpus"] = [{"driver_model": [1, 1]}]
    found = [each.id for each in judge_gate(case, ROW, ROW.rules, facts)]
    assert found == (["DRIVER-WINDOWS-MODEL"] if case.plan.backend.get(case.platform) == "D3D12" else [])
