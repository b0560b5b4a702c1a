"""The whole child against a CUDA driver on the CPU: real PyCUDA and cuda-python, every call seen.

The driver shows the order of calls and that everything is given back; it shows nothing about a GPU.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.selection import Selection
from tests.chain.support import (
    Ended,
    chain,
    child_of,
    compile_driver,
    compile_request,
    compiled_chain,
    numbers,
    nvcc_of,
    run_request,
)

Drive = Callable[..., tuple[Ended, list[list[str]]]]


@pytest.fixture(scope="module")
def library(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_driver(selection, tmp_path_factory.mktemp("driver"))


@pytest.fixture
def drive(selection: Selection, library: Path, tmp_path: Path) -> Drive:
    """Return a function that runs ``cuda-only``, or one runtime of it, and returns events and calls."""

    def driven(fail: str = "", only: str = "") -> tuple[Ended, list[list[str]]]:
        log = tmp_path / "calls"
        env = {
            "LD_LIBRARY_PATH": str(library.parent),
            "ASSAY_DRIVER_LOG": str(log),
            "ASSAY_DRIVER_FAIL": fail,
        }
        child = child_of(selection, tmp_path, **env)
        fresh = [(31 * x) % 4096 for x in range(4096)]
        one = chain("cuda-only", fresh=fresh)
        stages = [stage for stage in one["stages"] if only in {"", stage["runtime"]}]
        one["stages"] = [stages[0] | {"input": "values"}, *stages[1:]]
        ended = child.run(run_request([one], nvcc_of(selection), adapter=None))
        return ended, [line.split() for line in log.read_text().splitlines()]

    return driven


def names(calls: list[list[str]]) -> list[str]:
    return [call[0] for call in calls]


def assert_given_back(calls: list[list[str]]) -> None:
    """Check that whatever was taken from the driver was given back, in the context it was taken in."""
    for take, give in (("cuMemAlloc_v2", "cuMemFree_v2"), ("cuModuleLoadData", "cuModuleUnload")):
        taken = Counter(call[1] for call in calls if call[0] == take)
        assert taken == Counter(call[1] for call in calls if call[0] == give)
    count = Counter(names(calls))
    assert count["cuDevicePrimaryCtxRetain"] == count["cuDevicePrimaryCtxRelease_v2"]
    assert count["cuCtxCreate_v4"] == count["cuCtxDetach"]
    # a context is pushed by its making and by each push; detaching takes it from the stack
    assert (
        count["cuCtxCreate_v4"] + count["cuCtxPushCurrent_v2"]
        == count["cuCtxPopCurrent_v2"] + count["cuCtxDetach"]
    )


def test_both_runtimes_run_and_everything_is_given_back(drive: Drive) -> None:
    ended, calls = drive()
    assert ended.exit == 0
    made = {(one["stage"], one["input"]): one for one in ended.of("result")}
    assert numbers(made["add-one", "canonical"]["values"]) == [2 * x + 1 for x in range(37)]
    assert numbers(made["add-one", "fresh"]["values"]) == [2 * ((31 * x) % 4096) + 1 for x in range(4096)]
    assert made["double", "fresh"]["grid"] == [16, 1, 1]
    assert_given_back(calls)
    assert [event["runtime"] for event in ended.of("closed")] == ["nvrtc", "pycuda"]
    last = [name for name in names(calls) if name in {"cuDevicePrimaryCtxRelease_v2", "cuCtxDetach"}]
    assert last == ["cuDevicePrimaryCtxRelease_v2", "cuCtxDetach"]


def test_pycuda_has_a_context_of_its_own_beside_the_primary_one(drive: Drive) -> None:
    ended, calls = drive()
    own, primary = (event["facts"]["context"] for event in ended.of("opened"))
    assert own != primary
    launches = [call[1] for call in calls if call[0] == "cuLaunchKernel"]
    assert launches == [own, primary, own, primary]
    retained = next(at for at, call in enumerate(calls) if call[0] == "cuDevicePrimaryCtxRetain")
    ended_at = next(at for at, call in enumerate(calls) if call[0] == "cuCtxDetach")
    assert names(calls).index("cuCtxCreate_v4") < retained < ended_at


def test_the_device_is_told_before_and_after(drive: Drive) -> None:
    ended, _calls = drive()
    before, after = ended.of("device")
    assert (before["when"], after["when"]) == ("before", "after")
    assert before["device"] == after["device"]
    assert before["device"]["uuid"] == "GPU-00112233-4455-6677-8899-aabbccddeeff"
    pycuda, nvrtc = (event["facts"]["device"] for event in ended.of("opened"))
    assert pycuda == {
        "compute_capability": "9.0",
        "memory": 1 << 30,
        "name": "Test Device",
        "pci_bus": "0000:1b:00.0",
    }
    assert nvrtc == {"name": "Test Device", "uuid_bytes": "00112233445566778899aabbccddeeff"}


def test_the_ptx_that_runs_is_the_ptx_that_compile_makes(
    drive: Drive, selection: Selection, tmp_path: Path
) -> None:
    ended, _calls = drive()
    ran = {event["image"]["name"]: event["image"]["sha256"] for event in ended.of("result")}
    place = tmp_path / "elsewhere"
    place.mkdir()
    request = compile_request([compiled_chain("cuda-only")], nvcc_of(selection), ("sm_75", "sm_90"))
    built = child_of(selection, place).compile(request, place / "out", cwd=place)
    made = {output["name"]: output["sha256"] for output in built["outputs"] if output["kind"] == "ptx"}
    assert ran == made
    assert (
        made["cuda-only.double.sm_75.ptx"]
        == hashlib.sha256((place / "out" / "cuda-only.double.sm_75.ptx").read_bytes()).hexdigest()
    )


@pytest.mark.parametrize("runtime", ["pycuda", "nvrtc"])
@pytest.mark.parametrize(
    "fail",
    ["cuModuleLoadData=222", "cuMemAlloc_v2=2", "cuLaunchKernel=719", "cuCtxSynchronize=700"],
)
def test_a_call_that_fails_is_told_and_everything_is_given_back(
    drive: Drive, fail: str, runtime: str
) -> None:
    ended, calls = drive(fail, runtime)
    assert ended.exit == 1
    (error,) = ended.of("error")
    assert (error["kind"], error["step"], error["runtime"]) == ("failed", "run", runtime)
    call, _equals, code = fail.partition("=")
    told = "told to fail" if runtime == "pycuda" else f"returned {code}"
    assert told in error["message"]
    assert_given_back([one for one in calls if one[0] != call])
    assert ended.of("chain")[0]["state"] == "incomplete"
    assert [event["runtime"] for event in ended.of("closed")] == [runtime]


def test_a_failed_launch_has_the_drivers_own_name(drive: Drive) -> None:
    ended, _calls = drive("cuLaunchKernel=719", "nvrtc")
    (error,) = ended.of("error")
    assert (error["type"], error["reason"], error["code"]) == ("CudaError", "CUDA_ERROR_LAUNCH_FAILED", 719)


@pytest.mark.parametrize(
    ("code", "reason"),
    [(34, "CUDA_ERROR_STUB_LIBRARY"), (100, "CUDA_ERROR_NO_DEVICE"), (999, "CUDA_ERROR_999")],
)
def test_a_driver_that_does_not_start_is_named_by_its_code(drive: Drive, code: int, reason: str) -> None:
    ended, calls = drive(f"cuInit={code}")
    assert [(one["kind"], one["step"], one["reason"], one["code"]) for one in ended.of("error")] == [
        ("unavailable", "open", reason, code)
    ] * 2
    assert set(names(calls)) == {"cuInit"}
    assert ended.of("chain") == [
        {
            "chain": "cuda-only",
            "event": "chain",
            "missing": ["pycuda", "nvrtc"],
            "seq": ended.of("chain")[0]["seq"],
            "state": "not-run",
        }
    ]


def test_a_machine_without_that_device_says_so(selection: Selection, tmp_path: Path) -> None:
    request = run_request([chain("cuda-only")], nvcc_of(selection), adapter=None, ordinal=255)
    ended = child_of(selection, tmp_path).run(request)
    assert {(error["kind"], error["step"]) for error in ended.of("error")} == {("unavailable", "open")}
    assert {error["reason"] for error in ended.of("error")} <= {
        "library-missing",
        "CUDA_ERROR_INVALID_DEVICE",
        "CUDA_ERROR_NO_DEVICE",
    }
