"""The real child measures on the CPU's driver and a software adapter: right values, and no GPU is claimed."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from assay.gates.rehearsal import Rehearsal
from assay.judge.blocks import LENGTH, wrong_blocks
from assay.selection import Selection
from tests.chain.support import Child, Document, Ended, chain, child_of, nvcc_of
from tests.rehearsal.driver.rehearsing import prepared_rehearsal

SIZES = (1, 3, 37, 5000)
FRESH = [(7 * index) % LENGTH for index in range(LENGTH)]


@pytest.fixture(scope="module")
def instead() -> Rehearsal:
    """Return what takes a GPU's place."""
    rehearsal = prepared_rehearsal().rehearsal
    assert rehearsal is not None
    return rehearsal


def child(selection: Selection, instead: Rehearsal, scratch: Path, **env: str) -> Child:
    """Return a child whose CUDA is the CPU's driver."""
    assert selection.site_packages
    assert selection.provider is not None
    given = {
        **instead.variables(scratch),
        "LD_LIBRARY_PATH": ":".join(instead.libraries),
        "PATH": f"{instead.wrappers}:{Path(nvcc_of(selection)).parent}:/usr/bin:/bin",
        "PYTHONPATH": ":".join(map(str, selection.site_packages)),
        "WGPU_LIB_PATH": selection.provider,
        "VK_LOADER_LAYERS_DISABLE": "~implicit~",
    }
    return child_of(selection, scratch, **{**given, **env})


def request(**changes: object) -> Document:
    """Return a request of throughput without a shared buffer."""
    pipeline = chain("pipeline", fresh=FRESH)
    for stage in pipeline["stages"]:
        stage["each"] = 4
    return {
        "adapter": {"backend": "Vulkan", "software": ["llvmpipe"], "vendor": 0x10DE},
        "architecture": "sm_75",
        "chain": pipeline,
        "nvcc": "nvcc",
        "ordinal": 0,
        "schema": "assay/chain-measure/1",
        "sharing": None,
        "throughput": {"sizes": list(SIZES), "turns": 3},
        **changes,
    }


def measured(ended: Ended) -> list[dict[str, Any]]:
    """Return what was measured."""
    return [event["facts"] for event in ended.of("measured")]


def test_every_size_is_measured_and_right_and_everything_is_closed(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    ended = child(selection, instead, tmp_path).measure(request())
    assert ended.of("error") == [], ended.log
    assert [event["size"] for event in ended.of("measured")] == list(SIZES)
    right = [2 * (2 * x + 1) for x in FRESH]
    for size, facts in zip(SIZES, measured(ended), strict=True):
        for part in ("chain", "script"):
            assert wrong_blocks(facts[part]["result"], right, size) == ""
        assert wrong_blocks(facts["chain"]["result"], FRESH, size) != ""
        assert "shared" not in facts
        assert {len(taken) for taken in facts["hops"].values()} == {3}
    assert [event["runtime"] for event in ended.of("closed")] == ["wgpu", "cuda"]
    (wgpu,) = (each["facts"] for each in ended.of("opened") if each["runtime"] == "wgpu")
    assert wgpu["adapter"]["adapter_type"] == "CPU"
    assert ended.kinds()[-1] == "end"
    assert ended.exit == 0


def test_without_a_vulkan_device_of_cuda_s_uuid_nothing_is_shared(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    sharing = {"each": 4, "entry": "main", "kernel": "double-again", "spirv": "03022307"}
    ended = child(selection, instead, tmp_path).measure(
        request(adapter=None, sharing=sharing, throughput=None)
    )
    (error,) = ended.of("error")
    assert (error["kind"], error["step"], error["runtime"]) == ("unavailable", "open", "vulkan")
    assert error["reason"] == "device-missing"
    assert "UUID" in error["message"]
    assert measured(ended) == []
    assert [event["runtime"] for event in ended.of("closed")] == ["cuda"]
    assert (ended.kinds()[-1], ended.exit) == ("end", 1)


TOO_MANY = 1 << 29
"""Values of three pinned buffers of 2 GiB each, where the CPU's driver has 4 GiB in all."""


def test_memory_that_runs_out_is_told_of_that_size_and_takes_no_other(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    sizes = {"sizes": [37, TOO_MANY, 5000], "turns": 1}
    ended = child(selection, instead, tmp_path).measure(request(throughput=sizes))
    (error,) = ended.of("error")
    assert (error["step"], error["runtime"], error["input"]) == ("run", "throughput", str(TOO_MANY))
    assert (error["kind"], error["reason"]) == ("failed", "CUDA_ERROR_OUT_OF_MEMORY")
    assert [event["size"] for event in ended.of("measured")] == [37, 5000]
    assert measured(ended)[1]["chain"]["memory"]["device"] < 1 << 20  # nothing of the refused size is left
    assert [event["runtime"] for event in ended.of("closed")] == ["wgpu", "cuda"]
    assert (ended.kinds()[-1], ended.exit) == ("end", 1)


WILD = """
extern "C" __global__ void twice(const float *given, float *made, unsigned int count)
{
    if (count) made[(1ull << 44) + threadIdx.x] = given[0];
}
"""


def test_a_context_that_a_kernel_broke_is_told_of_every_size_and_the_child_ends(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    wild = request(throughput={"sizes": [37, 3], "turns": 1})
    wild["chain"]["stages"][2]["text"] = WILD
    ended = child(selection, instead, tmp_path).measure(wild)
    ran = [each for each in ended.of("error") if each["step"] == "run"]
    assert [(each["input"], each["reason"]) for each in ran] == [
        ("37", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("3", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    ]
    assert measured(ended) == []
    closing = [each for each in ended.of("error") if each["step"] == "close"]
    assert sorted(each["runtime"] for each in (*ended.of("closed"), *closing)) == ["cuda", "wgpu"]
    assert (ended.kinds()[-1], ended.exit) == ("end", 1)


def test_a_child_that_is_killed_while_it_holds_leaves_what_it_measured(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    one = request(throughput={"sizes": [3], "turns": 1})
    ended = child(selection, instead, tmp_path).measure(one, lambda pid: os.kill(pid, signal.SIGKILL))
    assert [event["size"] for event in ended.of("measured")] == [3]
    assert (ended.kinds()[-1], ended.exit) == ("holding", -signal.SIGKILL)
