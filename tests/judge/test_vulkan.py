"""Gate ``vulkan`` over facts: what is listed counts more than files, and what a claim rests on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.reading import MalformedFacts
from assay.judge.vulkan import check, claim, judge
from tests.judge.cases import ids, judged, make_case, with_fact

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "vulkan_h200.json").read_text("utf-8"))
"""Facts of one container with an H200: as it came, with libvulkan1 and libegl1 installed, and spoilt."""

LIBRARY = "/usr/lib/libGLX_nvidia.so.580.159.04"
MANIFEST = {
    "ignored": "",
    "kind": "nvidia",
    "library": "libGLX_nvidia.so.0",
    "manifest_problem": "",
    "path": "/usr/share/vulkan/icd.d/nvidia_icd.json",
    "problem": "",
    "real": LIBRARY,
}
DRIVER = {
    "library": "libGLX_nvidia.so.0",
    "manifest": MANIFEST["path"],
    "missing": [],
    "path": "/usr/lib/libGLX_nvidia.so.0",
    "problem": "",
    "real": LIBRARY,
    "version": "580.159.04",
}
DEVICE = {"driver_info": "580.159.04", "name": "NVIDIA H200", "vendor": 0x10DE}
NOT_ASKED: dict[str, Any] = {
    "asked": False,
    "code": None,
    "facts": {},
    "problem": "",
    "reason": "",
    "silent": False,
}
FACTS: dict[str, Any] = {
    "child": {"manifests": [MANIFEST], "override": "", "variables": {}},
    "container": {"capabilities": None},
    "drivers": [DRIVER],
    "elsewhere": [],
    "layers": [],
    "listed": {**NOT_ASKED, "asked": True, "facts": {"devices": [DEVICE], "loader": "1.3.239"}},
    "loader": {"child": {"path": "/usr/lib/libvulkan.so.1", "problem": ""}, "shell": None},
    "machine": {"os": {"id": "debian", "version": "12"}},
    "module": {"loaded": True, "version": "580.159.04"},
    "nodes": [],
    "opened": NOT_ASKED,
    "shell": {"manifests": [MANIFEST], "override": "", "variables": {}},
}
MISSING = {"name": "libEGL.so.1", "needed_by": LIBRARY, "problem": ""}


@pytest.mark.gate
def test_a_gpu_that_is_listed_is_claimed_with_its_driver() -> None:
    assert judged(make_case(), "vulkan", FACTS) == ()
    assert claim(make_case(), FACTS) == (
        "the Vulkan loader lists NVIDIA H200 through NVIDIA's driver 580.159.04"
    )


def test_what_is_listed_has_all_that_it_needs_whatever_files_show() -> None:
    facts = with_fact(FACTS, "drivers.0.missing", [MISSING])
    assert judge(make_case(), facts) == ()
    unlisted = with_fact(facts, "listed", NOT_ASKED)
    assert ids(judge(make_case(), unlisted)) == ["VULKAN-SYSTEM-LIBRARY"]


def test_a_gpu_that_is_not_listed_is_not_claimed_to_be() -> None:
    assert "not listed" in claim(make_case(), with_fact(FACTS, "listed", NOT_ASKED))


def test_another_vendors_gpu_is_none_of_nvidias() -> None:
    other = with_fact(FACTS, "listed.facts.devices", [{**DEVICE, "vendor": 0x8086}])
    assert ids(judge(make_case(), other)) == ["VULKAN-NO-DEVICE"]


@pytest.mark.parametrize("info", ["", "Mesa 25.1", "580", "580.159.04"])
def test_what_is_no_other_version_is_no_mismatch(info: str) -> None:
    assert judge(make_case(), with_fact(FACTS, "listed.facts.devices.0.driver_info", info)) == ()


@given(version=st.from_regex(r"[3-9][0-9]{2}\.[0-9]{1,3}\.[0-9]{2}", fullmatch=True))
def test_a_library_of_any_other_whole_version_is_named(version: str) -> None:
    facts = with_fact(with_fact(FACTS, "listed", NOT_ASKED), "drivers.0.version", version)
    expected = [] if version == "580.159.04" else ["VULKAN-DRIVER-VERSION"]
    assert ids(judge(make_case(), facts)) == expected


@pytest.mark.parametrize(
    "path",
    [
        *("child", "drivers", "layers", "listed", "loader.child", "module.version", "opened", "shell"),
        *("child.manifests", "machine.os", "listed.asked", "listed.facts.devices", "drivers.0.missing"),
    ],
)
def test_a_claim_rests_on_loader_driver_and_what_was_listed(path: str) -> None:
    with pytest.raises(MalformedFacts):
        check(make_case(), with_fact(FACTS, path, ...))


def test_without_a_module_nothing_more_is_said() -> None:
    facts = with_fact(with_fact(FACTS, "module", {"loaded": False, "version": ""}), "loader.child", None)
    assert ids(judge(make_case(), facts)) == ["VULKAN-NO-DRIVER"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("whole", []),
        ("without-egl", ["VULKAN-SYSTEM-LIBRARY", "VULKAN-FAILED"]),
        ("without-loader-and-egl", ["VULKAN-LOADER-MISSING", "VULKAN-SYSTEM-LIBRARY"]),
        ("overridden", ["VULKAN-OVERRIDE", "VULKAN-FAILED"]),
    ],
)
def test_what_was_recorded_on_an_h200_is_judged_as_it_was(name: str, found: list[str]) -> None:
    assert ids(judged(make_case(), "vulkan", RECORDED[name])) == found


def test_the_recorded_gpu_is_claimed() -> None:
    said = claim(make_case(), RECORDED["whole"])
    assert said == "the Vulkan loader lists NVIDIA H200 through NVIDIA's driver 580.159.04"
    assert "libegl1" in judge(make_case(), RECORDED["without-egl"])[0].expected
