"""The tier is derived from what was seen; no single edited fact makes one tier of another."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judge.tier import gaps
from assay.model import Platform, Tier
from tests.judge.chainfacts import CASE, DRIVER, UUID, Document, change, facts_with, make_case, mapped, tier
from tests.judge.test_chain import JSON, PATHS, rehearsed

WSL_CUDA = "/usr/lib/wsl/lib/libcuda.so.1.1"
WINDOWS_CUDA = r"C:\Windows\System32\DriverStore\FileRepository\nv_disp.inf_amd64\nvcuda64.dll"


def without_linux_driver(cuda: str) -> Document:
    """Return the facts of a GPU whose driver is Windows', with the given libcuda mapped."""
    facts = facts_with(libcuda={"path": cuda, "told_by": "", "version": ""}, device_nodes=[])
    kept = [each for each in facts["mapped"] if "/usr/local/nvidia" not in each["path"]]
    facts["mapped"] = [*kept, mapped(cuda)]
    for when in ("before", "after"):
        facts["proc"][when] = {"gpus": [], "module": {"problem": "missing", "version": ""}, "modules": {}}
    return facts


def wsl() -> Document:
    """Return the facts of a chain under WSL."""
    facts = without_linux_driver(WSL_CUDA)
    facts["device_nodes"] = ["/dev/dxg"]
    return facts


def windows() -> Document:
    """Return the facts of a chain on Windows."""
    return without_linux_driver(WINDOWS_CUDA)


@pytest.mark.gate
def test_each_platform_has_its_own_row() -> None:
    assert tier(facts_with()) is Tier.PHYSICAL
    assert tier(wsl(), make_case(Platform.WSL)) is Tier.WSL
    assert tier(windows(), make_case(Platform.WINDOWS)) is Tier.PHYSICAL
    assert tier(rehearsed()) is Tier.REHEARSAL


@pytest.mark.parametrize("platform", [Platform.WSL, Platform.WINDOWS])
def test_facts_of_native_linux_are_of_no_tier_elsewhere(platform: Platform) -> None:
    assert tier(facts_with(), make_case(platform)) is None


def test_wsl_facts_are_of_no_tier_on_native_linux() -> None:
    assert tier(wsl()) is None


def test_a_linux_display_driver_inside_wsl_is_not_the_projected_one() -> None:
    facts = wsl()
    facts["mapped"][-1]["path"] = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04"
    assert tier(facts, make_case(Platform.WSL)) is None
    lacking = gaps(Tier.WSL, make_case(Platform.WSL), facts)
    assert lacking == ("libcuda is /usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04, not below /usr/lib/wsl",)


EDITS: dict[str, tuple[Callable[[Document], None], str]] = {
    "no GPU node": (lambda f: change(f, "device_nodes", ["/dev/nvidiactl"]), "/dev/nvidia<n>"),
    "no control node": (lambda f: change(f, "device_nodes", ["/dev/nvidia0"]), "/dev/nvidiactl"),
    "the paravirtual node too": (lambda f: f["device_nodes"].append("/dev/dxg"), "/dev/dxg"),
    "no CUDA device after": (lambda f: change(f, "devices.after", None), "CUDA's device"),
    "another CUDA UUID": (lambda f: change(f, "devices.after.uuid", "GPU-1"), "NVML does not know"),
    "another NVML UUID": (lambda f: change(f, "nvml.after.gpus.0.uuid", "GPU-1"), "NVML does not know"),
    "another NVML name": (lambda f: change(f, "nvml.after.gpus.0.name", "T4"), "different names"),
    "another NVML bus": (lambda f: change(f, "nvml.after.gpus.0.pci.bus", "00000000:01:07.0"), "PCI"),
    "another UUID in /proc": (lambda f: change(f, "proc.after.gpus.0.GPU UUID", "GPU-1"), "/proc/driver"),
    "another bus in /proc": (lambda f: change(f, "proc.after.gpus.0.bus", "0000:01:07.0"), "/proc/driver"),
    "no GPU in /proc": (lambda f: change(f, "proc.after.gpus", []), "/proc/driver"),
    "another module": (lambda f: change(f, "proc.after.module.version", "580.159.03"), "580.159.03"),
    "no module": (lambda f: change(f, "proc.after.module.version", ""), "no NVIDIA kernel module"),
    "another libcuda": (lambda f: change(f, "libcuda.version", "570.1"), "libcuda version is 570.1"),
    "libcuda's version unknown": (lambda f: change(f, "libcuda", None), "libcuda version is not told"),
    "another NVML driver": (lambda f: change(f, "nvml.after.driver_version", "570.1"), "NVML's version"),
    "two libcuda": (lambda f: f["mapped"].append(mapped("/usr/lib/libcuda.so.1")), "2 libcuda"),
    "nothing seen": (lambda f: change(f, "mapped", []), "not seen"),
}


@pytest.mark.gate
@pytest.mark.parametrize("name", EDITS)
def test_a_physical_run_that_lacks_one_mark_has_no_tier_and_says_which(name: str) -> None:
    edit, said = EDITS[name]
    facts = facts_with()
    edit(facts)
    assert tier(facts) is None
    assert any(said in gap for gap in gaps(Tier.PHYSICAL, CASE, facts))


def test_a_chain_without_a_cuda_result_has_no_tier() -> None:
    facts = facts_with()
    for stage in facts["chains"][0]["stages"]:
        if stage["runtime"] != "wgpu":
            stage["canonical"] = stage["fresh"] = None
    assert tier(facts) is None


def test_the_domain_of_a_pci_address_may_be_written_short_or_long() -> None:
    facts = facts_with(nvml__after__gpus__0__pci__bus="0000:00:07.0")
    assert tier(facts) is Tier.PHYSICAL


@settings(max_examples=80)
@given(st.sampled_from(PATHS), JSON)
def test_no_single_edit_makes_a_rehearsal_anything_else(path: str, value: object) -> None:
    facts = rehearsed()
    try:
        change(facts, path, value)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        return
    assert tier(facts) in {Tier.REHEARSAL, None}


PHYSICAL = facts_with()
TRUE_MARKS = (
    "device_nodes",
    "libcuda",
    "mapped",
    "nvml",
    "proc",
    "devices",
    "child",
    "adapter",
    "virtualisation",
)


@pytest.mark.parametrize("mark", TRUE_MARKS)
def test_no_true_mark_of_a_gpu_alone_makes_a_rehearsal_physical(mark: str) -> None:
    facts = rehearsed()
    facts[mark] = copy.deepcopy(PHYSICAL[mark])
    assert tier(facts) in {Tier.REHEARSAL, None}


@pytest.mark.parametrize("mark", TRUE_MARKS)
def test_no_mark_of_a_rehearsal_alone_makes_a_physical_run_one(mark: str) -> None:
    facts = facts_with()
    facts[mark] = copy.deepcopy(rehearsed()[mark])
    assert tier(facts) in {Tier.PHYSICAL, None}


def test_the_recorded_run_is_the_h200() -> None:
    assert PHYSICAL["devices"]["after"]["uuid"] == UUID
    assert PHYSICAL["libcuda"]["path"] == f"/usr/local/nvidia/lib64/libcuda.so.{DRIVER}"
