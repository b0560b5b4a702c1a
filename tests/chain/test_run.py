"""Who is called when: open in order, run, hold still, close in reverse, whatever fails."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from assay.selection import Selection
from tests.chain.support import CHAINS, Document, Ended, chain, child_of, numbers, run_request, words

SCRIPTED = Path(__file__).parent / "scripted.py"
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

Play = Callable[..., tuple[Ended, list[str]]]


@pytest.fixture
def play(selection: Selection, tmp_path: Path) -> Play:
    """Return a function that plays a request with scripted runtimes and returns events and calls."""

    def played(
        request: Document, faults: Mapping[str, str] | None = None, **held: Callable[[int], object]
    ) -> tuple[Ended, list[str]]:
        scenario, calls = tmp_path / "scenario.json", tmp_path / "calls"
        scenario.write_text(json.dumps({"calls": str(calls), "faults": faults or {}}))
        child = child_of(selection, tmp_path, PYTHONPATH=str(SCRIPTS))
        ended = dataclasses.replace(child, program=(str(SCRIPTED), str(scenario))).run(request, **held)
        return ended, calls.read_text().splitlines()

    return played


ALL = run_request([chain(name) for name in CHAINS])
PIPELINE = run_request([chain("pipeline")])


def test_a_chain_is_opened_run_held_and_closed_in_order(play: Play) -> None:
    ended, calls = play(PIPELINE)
    assert ended.exit == 0
    assert [event["seq"] for event in ended.events] == list(range(len(ended.events)))
    assert ended.kinds() == [
        *("hello", "opening", "opened", "opening", "opened", "opening", "opened", "device"),
        *("compiling", "compiled") * 3,
        *("running", "result") * 6,
        *("chain", "device", "holding", "closed", "closed", "closed", "end"),
    ]
    assert calls == [
        *("open pycuda", "facts pycuda", "open wgpu", "facts wgpu", "open nvrtc", "facts nvrtc", "device"),
        *("compile pipeline.double", "compile pipeline.add-one", "compile pipeline.double-again"),
        *("run pycuda pipeline.double", "run wgpu pipeline.add-one", "run nvrtc pipeline.double-again") * 2,
        *("device", "close nvrtc", "close wgpu", "close pycuda"),
    ]
    assert [event["runtime"] for event in ended.of("closed")] == ["nvrtc", "wgpu", "pycuda"]


def test_results_are_what_the_stages_made(play: Play) -> None:
    ended, _calls = play(ALL)
    made = {(one["chain"], one["stage"], one["input"]): one for one in ended.of("result")}
    last = made["pipeline", "double-again", "canonical"]
    assert numbers(last["values"]) == [4 * x + 2 for x in range(37)]
    assert numbers(made["consolidation", "double-cuda", "canonical"]["values"]) == [
        2 * x for x in range(1, 38)
    ]
    assert made["cuda-only", "add-one", "fresh"]["values"] == words([11, 15])
    assert (last["count"], last["grid"], last["block"]) == (37, [1, 1, 1], [256, 1, 1])
    assert last["sha256"] == hashlib.sha256(bytes.fromhex("".join(last["values"]))).hexdigest()
    assert last["transfers"] == [
        {"bytes": 148, "direction": "host-to-device", "runtime": "nvrtc"},
        {"bytes": 148, "direction": "device-to-host", "runtime": "nvrtc"},
    ]
    text = next(stage["text"] for stage in ALL["chains"][0]["stages"] if stage["name"] == "double-again")
    assert last["image"]["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert [event["state"] for event in ended.of("chain")] == ["complete"] * 3


def test_more_than_4096_values_are_told_by_digest(play: Play) -> None:
    fresh = [x % 4096 for x in range(4097)]
    one = chain("cuda-only", fresh=fresh)
    ended, _calls = play(run_request([one], adapter=None))
    result = next(event for event in ended.of("result") if event["input"] == "fresh")
    doubled = bytes.fromhex("".join(words([2 * x for x in fresh])))
    assert (result["count"], result["values"]) == (4097, None)
    assert result["sha256"] == hashlib.sha256(doubled).hexdigest()


def test_bits_pass_through_unchanged(play: Play) -> None:
    one = chain("cuda-only") | {"fresh": ["7f800001", "80000000", "00000001"]}  # signalling NaN, -0, denormal
    del one["stages"][1:]
    one["stages"][0]["entry"] = "add_one"
    ended, _calls = play(run_request([one], adapter=None))
    result = next(event for event in ended.of("result") if event["input"] == "fresh")
    assert result["values"] == [
        "7fc00001",
        "3f800000",
        "3f800000",
    ]  # the sum makes the NaN quiet, not the copy


def test_everything_is_open_while_it_holds(play: Play, tmp_path: Path) -> None:
    seen: list[str] = []
    ended, _calls = play(
        PIPELINE, held=lambda _pid: seen.extend((tmp_path / "calls").read_text().splitlines())
    )
    assert not [call for call in seen if call.startswith("close")]
    (holding,) = ended.of("holding")
    assert holding["runtimes"] == ["pycuda", "wgpu", "nvrtc"]
    assert holding["pid"] == ended.of("hello")[0]["pid"]
    assert "numpy" in {module["name"] for module in holding["modules"]}


def test_a_runtime_that_is_unavailable_leaves_the_other_chains(play: Play) -> None:
    ended, calls = play(ALL, {"open wgpu": "unavailable"})
    assert ended.exit == 1
    (error,) = ended.of("error")
    assert (error["kind"], error["step"], error["runtime"], error["code"]) == (
        "unavailable",
        "open",
        "wgpu",
        100,
    )
    assert [(event["state"], event["missing"]) for event in ended.of("chain")] == [
        ("not-run", ["wgpu"]),
        ("not-run", ["wgpu"]),
        ("complete", []),
    ]
    assert "close wgpu" not in calls
    assert calls[-2:] == ["close nvrtc", "close pycuda"]


@pytest.mark.parametrize(
    ("fault", "step", "after"),
    [
        ("facts nvrtc", "open", ["device", "device", "close nvrtc", "close wgpu", "close pycuda"]),
        ("compile pipeline.add-one", "compile", ["device", "close nvrtc", "close wgpu", "close pycuda"]),
        ("run wgpu pipeline.add-one", "run", ["device", "close nvrtc", "close wgpu", "close pycuda"]),
        ("close nvrtc", "close", ["close wgpu", "close pycuda"]),
    ],
)
def test_whatever_fails_all_that_was_opened_is_closed_in_reverse(
    play: Play, fault: str, step: str, after: list[str]
) -> None:
    ended, calls = play(PIPELINE, {fault: "raise"})
    assert ended.exit == 1
    (error,) = ended.of("error")
    assert (error["kind"], error["step"], error["type"]) == ("failed", step, "KeyError")
    assert calls[calls.index(fault) + 1 :] == after
    assert ended.events[-1]["errors"] == 1
    assert len(ended.of("holding")) == 1


def test_facts_that_no_event_can_hold_are_that_runtimes_failure(play: Play) -> None:
    ended, calls = play(PIPELINE, {"facts wgpu": "wrong"})
    (error,) = ended.of("error")
    assert (error["step"], error["runtime"], error["type"]) == ("open", "wgpu", "TypeError")
    assert calls[-3:] == ["close nvrtc", "close wgpu", "close pycuda"]
    assert ended.of("chain")[0]["missing"] == ["wgpu"]


def test_a_stage_that_fails_ends_its_chain_and_not_the_next(play: Play) -> None:
    ended, _calls = play(ALL, {"run pycuda pipeline.double": "raise"})
    (error,) = ended.of("error")
    assert (error["chain"], error["stage"], error["input"]) == ("pipeline", "double", "canonical")
    assert [event["state"] for event in ended.of("chain")] == ["incomplete", "complete", "complete"]
    assert not [event for event in ended.of("result") if event["chain"] == "pipeline"]


def test_a_device_that_cannot_be_asked_is_told_twice(play: Play) -> None:
    ended, _calls = play(PIPELINE, {"device": "raise"})
    assert [(event["step"], event["type"]) for event in ended.of("error")] == [("device", "KeyError")] * 2
    assert ended.of("chain")[0]["state"] == "complete"


def test_a_wrong_result_is_told_and_not_judged(play: Play) -> None:
    ended, _calls = play(PIPELINE, {"run wgpu pipeline.add-one": "wrong"})
    assert ended.exit == 0
    result = next(event for event in ended.of("result") if event["stage"] == "add-one")
    assert numbers(result["values"])[:2] == [2, 4]


def test_what_a_library_prints_is_log(play: Play) -> None:
    ended, _calls = play(PIPELINE, {"open pycuda": "print", "run nvrtc pipeline.double-again": "print"})
    assert ended.exit == 0
    assert ended.kinds()[-1] == "end"
    assert ended.log.count("noise") == 3


def test_a_process_that_dies_was_named_before(play: Play) -> None:
    ended, _calls = play(PIPELINE, {"open wgpu": "die"})
    assert ended.exit == 9
    assert (ended.events[-1]["event"], ended.events[-1]["runtime"]) == ("opening", "wgpu")


def test_only_wgpu_asks_for_no_cuda_device(play: Play) -> None:
    one = chain("consolidation")
    del one["stages"][1:]
    ended, calls = play(run_request([one]))
    assert ended.exit == 0
    assert "device" not in calls
    assert ended.of("device") == []
