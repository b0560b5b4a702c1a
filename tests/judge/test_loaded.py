"""What the child had mapped: provider, toolkit and driver as selected, and nothing unasked."""

from __future__ import annotations

import pytest

from assay.judge.loaded import is_cuda_library
from assay.model import Platform
from tests.judge.chainfacts import (
    PROVIDER,
    digest_of,
    earlier_facts,
    facts_with,
    findings,
    ids,
    make_case,
    mapped,
    plan_document,
    with_mapped,
)

pytestmark = pytest.mark.gate

SITE = "$SELECTION/lib/python3.12/site-packages"
SHARED = "/dev/shm"  # noqa: S108  # a name that is judged; nothing is opened


def test_a_swapped_provider_is_named_with_both_digests() -> None:
    other = digest_of("another provider")
    (found,) = findings(with_mapped(mapped("$BUV_RUNTIME_LIB", other), without="$BUV_RUNTIME_LIB"))
    assert found.id == "CHAIN-PROVIDER-SWAPPED"
    assert other in found.observed
    assert PROVIDER in found.expected


def test_a_provider_whose_mapping_could_not_be_hashed_is_swapped() -> None:
    gone = mapped("$BUV_RUNTIME_LIB", "", problem="it was removed")
    assert ids(with_mapped(gone, without="$BUV_RUNTIME_LIB")) == [
        "CHAIN-LIBRARY-REPLACED",
        "CHAIN-PROVIDER-SWAPPED",
    ]


def test_a_provider_behind_a_link_is_known_by_its_real_path() -> None:
    facts = with_mapped(mapped(f"{SITE}/real.so", PROVIDER), without="$BUV_RUNTIME_LIB")
    facts["provider"] = {"path": "$BUV_RUNTIME_LIB", "real": f"{SITE}/real.so"}
    assert ids(facts) == []


def test_the_library_that_wgpu_says_it_uses_is_another_provider_whatever_its_name() -> None:
    facts = with_mapped(mapped(f"{SITE}/wgpu/resources/renamed.so"))
    facts["child"]["runtimes"]["wgpu"]["library"] = f"{SITE}/wgpu/resources/renamed.so"
    assert ids(facts) == ["CHAIN-PROVIDER-OTHER"]


@pytest.mark.parametrize("name", ["libwgpu_native-release.so", "wgpu_native.dll", "libwgpu-native.so.29"])
def test_a_second_wgpu_library_is_known_by_its_name(name: str) -> None:
    assert ids(with_mapped(mapped(f"{SITE}/wgpu/resources/{name}"))) == ["CHAIN-PROVIDER-OTHER"]


def test_a_pin_of_another_platform_or_interface_does_not_count() -> None:
    plan = plan_document()
    plan["provider"] = [{**pin, "interface": "aphrody-ffi"} for pin in plan["provider"]]
    assert ids(facts_with(), make_case(plan=plan)) == ["CHAIN-PROVIDER-UNPINNED"]


def test_without_the_providers_gate_the_pin_alone_decides() -> None:
    earlier = {name: facts for name, facts in earlier_facts().items() if name != "provider"}
    assert ids(facts_with(), make_case(facts=earlier)) == []


def test_the_provider_is_missed_even_when_its_opening_was_erased() -> None:
    facts = with_mapped(without="$BUV_RUNTIME_LIB")
    facts["child"]["opened"] = ["pycuda", "nvrtc"]
    facts["child"]["closed"] = ["nvrtc", "pycuda"]
    assert "CHAIN-PROVIDER-UNMAPPED" in ids(facts)


@pytest.mark.parametrize("name", ["libnvrtc.so.12", "libnvrtc.alt.so.13", "nvrtc64_130_0.dll"])
def test_a_second_nvrtc_outside_is_both(name: str) -> None:
    facts = with_mapped(mapped(f"{SITE}/nvidia/cu13/lib/{name}"))
    assert ids(facts) == ["CHAIN-NVRTC-OUTSIDE", "CHAIN-NVRTC-SECOND"]


@pytest.mark.parametrize(
    "name", ["libnvrtc-builtins.so.13.0", "libnvJitLink.so.13", "libnvvm.so.4", "libcudart.so.13"]
)
def test_a_part_of_another_toolkit_is_mixed_in(name: str) -> None:
    assert ids(with_mapped(mapped(f"{SITE}/nvidia/cu13/lib/{name}"))) == ["CHAIN-TOOLKIT-MIXED"]


def test_a_driver_library_may_be_two_under_wsl() -> None:
    names = ("lib/libcuda.so.1.1", "drivers/nv_dispi/libcuda.so.1.1")
    facts = with_mapped(*(mapped(f"/usr/lib/wsl/{name}") for name in names), without="libcuda.so.580.159.04")
    assert "CHAIN-LIBCUDA-SECOND" not in ids(facts, make_case(Platform.WSL))
    assert "CHAIN-LIBCUDA-SECOND" in ids(facts)


@pytest.mark.parametrize(
    "path", ["/memfd:/.glXa8f2k", "/memfd:libffi", "/scratch/tmp/.glA1b2C3", "/scratch/tmp/ffiA1b2C3"]
)
def test_memory_that_a_driver_fills_with_code_is_no_library(path: str) -> None:
    code = mapped(path, "", deleted=True, problem="it was removed")
    assert ids(with_mapped(code)) == []
    assert "CHAIN-LIBRARY-UNASKED" in ids(with_mapped({**code, "deleted": False}))


@pytest.mark.parametrize(
    ("path", "named"), [("/dev/zero", False), ("/dev/nvidia0", False), (f"{SHARED}/spy.so", True)]
)
def test_a_devices_memory_is_no_library_and_shared_memory_is(path: str, named: bool) -> None:  # noqa: FBT001  # a parameter
    assert ("CHAIN-LIBRARY-UNASKED" in ids(with_mapped(mapped(path, "")))) is named


def test_other_code_in_memory_is_named() -> None:
    assert "CHAIN-LIBRARY-UNASKED" in ids(with_mapped(mapped("/memfd:payload", deleted=True)))


def test_a_preloaded_library_is_named_once() -> None:
    facts = with_mapped(mapped("/opt/spy/libspy.so"))
    facts["preload"] = ["/opt/spy/libspy.so"]
    (found,) = findings(facts)
    assert found.id == "CHAIN-LIBRARY-PRELOADED"
    assert "/opt/spy/libspy.so" in found.observed


def test_the_drivers_own_layer_is_the_driver() -> None:
    assert ids(with_mapped(mapped("/usr/local/nvidia/lib64/libGLX_nvidia.so.0"))) == []


def test_an_injected_library_is_named_by_path_and_digest() -> None:
    (found,) = findings(with_mapped(mapped("$HOME/libspy.so", digest_of("spy"))))
    assert found.id == "CHAIN-LIBRARY-UNASKED"
    assert "$HOME/libspy.so" in found.observed
    assert digest_of("spy") in found.observed


@pytest.mark.parametrize(
    "name", ["libcuda.so.1", "libcuda.so.580.159.04", "libcuda.so", "nvcuda.dll", "nvcuda64.dll"]
)
def test_names_of_the_cuda_driver(name: str) -> None:
    assert is_cuda_library(f"/x/{name}")


@pytest.mark.parametrize("name", ["libcudart.so.13", "libcudadebugger.so.1", "xlibcuda.so", "libcuda.sox/y"])
def test_names_of_others(name: str) -> None:
    assert not is_cuda_library(f"/x/{name}")
