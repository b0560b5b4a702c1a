"""Which adapter is taken, how work is laid out, and real WGSL where an adapter is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain.failures import ChainError, UnavailableError
from assay.chain.runtime_wgpu import choose, groups, workgroup_size
from assay.chain.spec import BACKENDS, Adapter
from assay.selection import Selection
from tests.chain.support import KERNELS, Document, chain, child_of, numbers, run_request

NVIDIA = 0x10DE


@dataclass(frozen=True)
class Seen:
    """An adapter as wgpu lists it."""

    info: Mapping[str, object]


def seen(device: str, vendor: int = NVIDIA, kind: str = "DiscreteGPU", backend: str = "Vulkan") -> Seen:
    return Seen({"device": device, "vendor_id": vendor, "adapter_type": kind, "backend_type": backend})


H200 = seen("NVIDIA H200")
H200_GL = seen("NVIDIA H200/PCIe", kind="Unknown", backend="OpenGL")
LAVAPIPE = seen("llvmpipe (LLVM 15.0.6, 256 bits)", vendor=0x10005, kind="CPU")
RADEON = seen("AMD Radeon", vendor=0x1002)
DZN = seen("Microsoft Direct3D12 (NVIDIA GeForce RTX 4070)", kind="DiscreteGPU")


def wanted(*software: str, backend: str = "Vulkan") -> Adapter:
    return Adapter(backend, NVIDIA, software)


def test_the_vendors_hardware_is_taken_whatever_comes_first() -> None:
    assert choose([LAVAPIPE, RADEON, H200_GL, H200], wanted("llvmpipe")) is H200


@pytest.mark.parametrize("others", [[], [LAVAPIPE], [RADEON], [H200_GL], [seen("NVIDIA CPU", kind="CPU")]])
def test_nothing_else_is_taken_unasked(others: list[Seen]) -> None:
    with pytest.raises(UnavailableError) as caught:
        choose(others, wanted())
    assert caught.value.reason == "adapter-missing"
    for other in others:
        assert str(other.info["device"]) in str(caught.value)


def test_an_allowed_one_is_taken_by_name() -> None:
    assert choose([RADEON, LAVAPIPE], wanted("llvmpipe")) is LAVAPIPE
    with pytest.raises(UnavailableError):
        choose([LAVAPIPE], wanted("llvmpipe", backend="D3D12"))


@given(st.integers(1, 2**27), st.sampled_from([64, 128, 256]), st.sampled_from([256, 65535]))
def test_groups_cover_every_value_with_less_than_one_a_row_to_spare(
    count: int, block: int, most: int
) -> None:
    across, down, deep = groups(count, block, most)
    assert across <= most
    assert deep == 1
    assert count <= across * down * block < count + (down + 1) * block


def test_one_group_more_than_a_row_holds_makes_two_rows_of_half() -> None:
    assert groups(2**26, 1024, 65535) == (32768, 2, 1)


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*/*.wgsl")), ids=lambda path: path.name)
def test_the_projects_kernels_state_their_size(path: Path) -> None:
    text = path.read_text()
    assert f"const BLOCK: u32 = {workgroup_size(text)}u;" in text


@pytest.mark.parametrize(
    "text", ["", "@workgroup_size(BLOCK)", "@workgroup_size(0)", "@workgroup_size(64) @workgroup_size(128)"]
)
def test_a_size_that_is_not_one_number_is_refused(text: str) -> None:
    with pytest.raises(ChainError, match="workgroup_size"):
        workgroup_size(text)


def wgsl_chain(text: str | None = None) -> Document:
    """Return the WGSL stage of ``consolidation`` over values that need several workgroups."""
    one = chain("consolidation", fresh=[(7919 * x) % 4096 for x in range(4096)])
    del one["stages"][1:]
    one["stages"][0]["text"] = text or one["stages"][0]["text"]
    return one


@pytest.fixture(scope="module")
def adapter(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return a wish that this machine can fulfil, software included, or one that it cannot."""
    (facts,) = child_of(selection, tmp_path_factory.mktemp("probe")).probe("adapters").values()
    listed = facts["facts"]["adapters"]
    first = listed[0] if listed else {"backend_type": BACKENDS[0], "device": "none"}
    return {"backend": first["backend_type"], "vendor": NVIDIA, "software": [first["device"]]}


def test_wgsl_runs_on_what_the_machine_has_or_says_that_there_is_none(
    selection: Selection, adapter: Document, tmp_path: Path
) -> None:
    ended = child_of(selection, tmp_path).run(run_request([wgsl_chain()], adapter=adapter))
    if adapter["software"] == ["none"]:
        assert [event["reason"] for event in ended.of("error")] == ["adapter-missing"]
        return
    canonical, fresh = ended.of("result")
    assert numbers(canonical["values"]) == [2 * x for x in range(1, 38)]
    assert numbers(fresh["values"]) == [2 * ((7919 * x) % 4096) for x in range(4096)]
    assert (fresh["grid"], fresh["block"]) == ([16, 1, 1], [256, 1, 1])
    (opened,) = ended.of("opened")
    assert opened["facts"]["adapter"]["device"] == adapter["software"][0]
    assert Path(opened["facts"]["library"]).is_file()
    assert ended.of("closed") == [
        {"event": "closed", "runtime": "wgpu", "seq": ended.of("end")[0]["seq"] - 1}
    ]


def test_wgsl_that_does_not_compile_is_told_with_the_compilers_words(
    selection: Selection, adapter: Document, tmp_path: Path
) -> None:
    text = "@compute @workgroup_size(256)\nfn twice() { let x = undefined_name; }\n"
    ended = child_of(selection, tmp_path).run(run_request([wgsl_chain(text)], adapter=adapter))
    (error,) = ended.of("error")
    assert error["step"] == ("open" if adapter["software"] == ["none"] else "run")
    assert ("undefined_name" in error["message"]) is (error["step"] == "run")
    assert ended.kinds()[-1] == "end"


def test_a_backend_that_the_machine_lacks_is_unavailable(selection: Selection, tmp_path: Path) -> None:
    adapter = {"backend": "Metal", "vendor": NVIDIA, "software": []}
    ended = child_of(selection, tmp_path).run(run_request([wgsl_chain()], adapter=adapter))
    (error,) = ended.of("error")
    assert (error["kind"], error["reason"]) == ("unavailable", "adapter-missing")
    assert "none" in error["message"]
