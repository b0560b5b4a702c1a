"""The parent of the chain: whatever its child does ends as facts, in time, and has a name."""

from __future__ import annotations

import hashlib
import os
import py_compile
from pathlib import Path
from typing import Any

import pytest

from assay.gates.chain_session import Deadlines
from assay.judge.reading import mapping, objects, text, texts
from assay.model import Outcome, Tier, outcome_of
from tests.gates.playground import Played, Playground, play

EVENTS = (
    *("hello", "opening", "opened", "device", "compiling", "compiled", "running", "result", "chain"),
    *("holding", "closed", "end"),
)
SOON = 0.4


@pytest.fixture
def ground(tmp_path: Path) -> Playground:
    """Return a selection that is right."""
    made = Playground(tmp_path)
    made.prepare()
    return made


def played(ground: Playground, **how: Any) -> Played:  # noqa: ANN401  # keys of a play
    """Play with the given changes."""
    ground.play |= how
    return play(ground)


def test_an_honest_child_is_right_and_everything_is_seen_from_outside(ground: Playground) -> None:
    seen = played(ground)
    assert seen.ids() == []
    assert seen.exit == 0
    mapped = {text(each, "path"): text(each, "sha256") for each in objects(seen.facts, "mapped")}
    digest = hashlib.sha256(b"the bytes of libwgpu_native.so").hexdigest()
    assert mapped["$BUV_RUNTIME_LIB"] == digest
    assert "$TOOLKIT/lib64/libnvrtc.so.13" in mapped
    assert text(seen.facts, "libcuda.path") == str(ground.driver)
    assert seen.tier is Tier.REHEARSAL


@pytest.mark.parametrize("event", EVENTS)
def test_a_child_that_hangs_is_ended_at_its_deadline_and_named(ground: Playground, event: str) -> None:
    before = {
        "hello": "",
        "opening": "hello",
        "opened": "opening",
        "device": "opened",
        "compiling": "device",
        "compiled": "compiling",
        "running": "compiled",
        "result": "running",
        "chain": "result",
        "holding": "device",
        "closed": "holding",
        "end": "closed",
    }
    ground.deadlines = Deadlines(after={before[event]: SOON}, rest=60.0)
    seen = played(ground, hang=event)
    assert "CHAIN-CHILD-DEADLINE" in seen.ids()
    assert outcome_of(seen.findings) is not Outcome.PASSED
    assert seen.exit == "timeout"


def test_a_child_that_hangs_after_its_last_event_is_ended(ground: Playground) -> None:
    ground.deadlines = Deadlines(after={"end": SOON}, rest=60.0, end=SOON)
    seen = played(ground, hang="exit")
    assert seen.ids() == ["CHAIN-CHILD-DEADLINE"]


@pytest.mark.parametrize("event", ["hello", "opened", "result", "closed"])
def test_a_child_that_exits_without_a_word_is_named(ground: Playground, event: str) -> None:
    seen = played(ground, mute=event)
    assert "CHAIN-CHILD-EXITED" in seen.ids()
    assert "ended with exit 0" in text(seen.facts, "child.ended.detail")


@pytest.mark.parametrize("event", ["hello", "running"])
def test_a_child_that_is_killed_is_named_with_its_signal(ground: Playground, event: str) -> None:
    seen = played(ground, die=event)
    assert "CHAIN-CHILD-EXITED" in seen.ids()
    assert "ended by signal 9" in text(seen.facts, "child.ended.detail")
    assert seen.exit == -9


@pytest.mark.parametrize("how", ["flood", "long-line"])
def test_a_flood_is_stopped_and_named(ground: Playground, how: str) -> None:
    seen = played(ground, fault=["running", how])
    assert "CHAIN-CHILD-FLOOD" in seen.ids()
    assert seen.exit == -9


@pytest.mark.parametrize(
    "raw",
    [
        "nonsense\n",
        "[]\n",
        "{}\n",
        '{"seq": 1.5}\n',
        '{"a": 1, "a": 1}\n',
        "\xff\n",
        '{"seq": 1, "event": 3}\n',
    ],
)
def test_what_is_no_event_is_malformed(ground: Playground, raw: str) -> None:
    found = set(played(ground, say={"opening": raw}).ids())
    assert found & {"CHAIN-CHILD-MALFORMED", "CHAIN-CHILD-ORDER"}


@pytest.mark.parametrize(
    "event",
    [
        '{"event": "hello", "seq": 1}',
        '{"event": "end", "errors": 0, "seq": 7}',
        '{"event": "opening", "runtime": "pycuda", "seq": 0}',
        '{"event": "unheard-of", "seq": 1}',
        '{"event": "device", "when": "later", "seq": 1}',
    ],
)
def test_events_out_of_order_are_named(ground: Playground, event: str) -> None:
    assert "CHAIN-CHILD-ORDER" in played(ground, say={"opening": event + "\n"}).ids()


def test_events_after_the_last_one_are_named(ground: Playground) -> None:
    seen = played(ground, say={"exit": '{"event": "closed", "runtime": "wgpu", "seq": 32}\n'})
    assert seen.ids() == ["CHAIN-CHILD-ORDER"]


def test_printing_changes_nothing_and_is_named_as_a_warning(ground: Playground) -> None:
    seen = played(ground, fault=["running", "chatter"])
    assert seen.ids() == ["CHAIN-CHILD-PRINTED"]
    assert outcome_of(seen.findings) is Outcome.PASSED
    assert "a warning" in seen.log


def test_more_output_than_a_pipe_holds_does_not_hang_it(ground: Playground) -> None:
    seen = played(ground, fault=["chain", "print-much"])
    assert seen.ids() == ["CHAIN-CHILD-PRINTED"]


def test_a_child_that_prints_its_events_said_nothing_and_is_ended(ground: Playground) -> None:
    ground.deadlines = Deadlines(after={"": 2.0}, rest=60.0)
    seen = played(ground, fault=["hello", "print-events"])
    assert seen.ids() == ["CHAIN-CHILD-DEADLINE", "CHAIN-CHILD-PRINTED"]
    assert '"event": "holding"' in seen.log


def test_a_closed_descriptor_is_named(ground: Playground) -> None:
    assert "CHAIN-CHILD-CLOSED" in played(ground, fault=["running", "close"]).ids()


def test_a_process_left_behind_is_ended_and_named(ground: Playground) -> None:
    assert "CHAIN-CHILD-FORKED" in played(ground, fault=["running", "fork"]).ids()


def test_a_process_that_left_the_group_and_holds_the_output_is_named(ground: Playground) -> None:
    assert played(ground, fault=["exit", "fork-away"]).ids() == ["CHAIN-CHILD-FORKED"]


@pytest.mark.parametrize(("how", "code"), [({"exit": 3}, 3), ({"fault": ["exit", "abort"]}, -6)])
def test_a_child_that_ends_wrongly_after_all_was_said_is_named(
    ground: Playground, how: dict[str, Any], code: int
) -> None:
    seen = played(ground, **how)
    assert seen.ids() == ["CHAIN-CHILD-EXIT"]
    assert f"exit {code}" in seen.findings[0].observed


def test_a_wrong_value_is_named(ground: Playground) -> None:
    seen = played(ground, wrong=["pipeline", "add-one", "fresh", 4095, "7fc00000"])
    assert seen.ids() == ["CHAIN-VALUE-WRONG"]
    assert "pipeline/add-one/fresh: value 4095 is nan" in seen.findings[0].observed


def test_a_runtime_that_closes_out_of_order_is_named(ground: Playground) -> None:
    assert played(ground, closing=["pycuda", "wgpu", "nvrtc"]).ids() == ["CHAIN-CLOSE-ORDER"]


def test_a_result_that_is_left_out_is_missed(ground: Playground) -> None:
    assert "CHAIN-RESULT-MISSING" in played(ground, skip=[["result", "nvrtc"]]).ids()


ERROR = {
    "code": 100,
    "kind": "unavailable",
    "message": "cuInit returned 100",
    "reason": "CUDA_ERROR_NO_DEVICE",
    "runtime": "pycuda",
    "step": "open",
    "traceback": "Traceback: the whole story",
    "type": "UnavailableError",
}


def test_what_the_machine_lacks_is_unavailable_and_its_traceback_is_in_the_log(ground: Playground) -> None:
    seen = played(ground, errors=[["chain", ERROR]])
    assert seen.ids() == ["CHAIN-UNAVAILABLE"]
    assert "CUDA_ERROR_NO_DEVICE" in seen.findings[0].observed
    assert "nox -s rehearse" in seen.findings[0].remedy
    assert "the whole story" in seen.log
    assert "the whole story" not in str(seen.facts)


def test_a_provider_that_was_swapped_after_it_was_hashed_is_named(ground: Playground) -> None:
    ground.provider.write_text("other bytes of the same name")
    seen = played(ground)
    assert seen.ids() == ["CHAIN-PROVIDER-SWAPPED"]
    assert hashlib.sha256(b"other bytes of the same name").hexdigest() in seen.findings[0].observed


def test_a_second_nvrtc_is_named(ground: Playground) -> None:
    second = ground.file("site/nvidia/cu13/lib/libnvrtc.so.13", "another NVRTC")
    seen = played(ground, maps=[str(second)])
    assert seen.ids() == ["CHAIN-NVRTC-OUTSIDE", "CHAIN-NVRTC-SECOND"]


def test_a_library_that_got_in_unasked_is_named(ground: Playground) -> None:
    spy = ground.file("elsewhere/libspy.so", "a spy")
    seen = played(ground, maps=[str(spy)])
    assert seen.ids() == ["CHAIN-LIBRARY-UNASKED"]
    assert str(spy) in seen.findings[0].observed


def test_a_start_up_module_of_the_selection_is_named(ground: Playground) -> None:
    ground.file("site/sitecustomize.py", "import json\n")
    seen = played(ground)
    assert seen.ids() == ["CHAIN-MODULE-INJECTED"]
    assert "sitecustomize" in seen.findings[0].observed


def test_an_importing_pth_file_is_named(ground: Playground) -> None:
    (ground.venv_site / "spy.pth").write_text("import colorsys\n")
    seen = played(ground)
    assert seen.ids() == ["CHAIN-MODULE-INJECTED"]
    assert "spy.pth" in seen.findings[0].observed


def test_bytecode_without_a_source_is_named(ground: Playground) -> None:
    source = ground.file("elsewhere/old.py", "X = 1\n")
    py_compile.compile(str(source), cfile=str(ground.site / "old.pyc"))
    assert played(ground, imports=[[str(ground.site), "old"]]).ids() == ["CHAIN-MODULE-BYTECODE"]


def test_stale_bytecode_beside_a_source_is_not_read(ground: Playground) -> None:
    source = ground.file("site/fresh.py", "raise SystemExit(9)\n")
    py_compile.compile(str(source))
    status = source.stat()
    source.write_text("X = 1\n".ljust(status.st_size))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert played(ground, imports=[[str(ground.site), "fresh"]]).ids() == []


def test_a_module_from_elsewhere_is_named(ground: Playground) -> None:
    spy = ground.file("elsewhere/spy_module.py", "")
    assert played(ground, imports=[[str(spy.parent), "spy_module"]]).ids() == ["CHAIN-MODULE-OUTSIDE"]


def test_a_wrapper_around_the_interpreter_is_named_with_what_it_brings(ground: Playground) -> None:
    script = f'#!/bin/sh\nPYTHONSTARTUP=/x exec {ground.folder}/venv/bin/python "$@"\n'
    ground.executable = ground.file("venv/bin/wrapped", script)
    ground.executable.chmod(0o755)
    assert played(ground).ids() == ["CHAIN-ENVIRONMENT-UNASKED", "CHAIN-EXECUTABLE-OTHER"]


def test_an_interpreter_that_cannot_be_started_is_named(ground: Playground) -> None:
    ground.executable = ground.file("venv/bin/broken", "not a program")
    ground.executable.chmod(0o755)
    seen = played(ground)
    assert seen.ids() == ["CHAIN-CHILD-START"]
    assert seen.exit is None


def test_what_was_set_outside_does_not_reach_the_child(ground: Playground) -> None:
    ground.environ = {"LD_PRELOAD": "/x.so", "PYTHONHOME": "/x", "PYTHONDONTWRITEBYTECODE": "", "SECRET": "x"}
    seen = played(ground)
    assert seen.ids() == []
    child = mapping(seen.facts, "child")
    assert texts(child, "kept_out") == ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONHOME")
    assert "LD_PRELOAD" not in texts(child, "hello.environment")


def test_nvml_that_hangs_is_named_and_the_chain_still_reported(ground: Playground) -> None:
    ground.answers = {"chain": {"nvml": "timeout"}}
    seen = played(ground)
    assert seen.ids() == ["CHAIN-NVML-DEADLINE"]


def test_the_gates_own_deadline_ends_a_child_that_hangs(ground: Playground) -> None:
    ground.play = {"hang": "result"}
    seen = play(ground, deadline_s=4)
    assert "CHAIN-CHILD-DEADLINE" in seen.ids()
    assert seen.exit == "timeout"


def test_a_kernel_that_was_edited_meanwhile_is_named(ground: Playground) -> None:
    ground.file("project/kernels/pipeline/add_one.wgsl", "edited")
    assert "CHAIN-SOURCE-CHANGED" in played(ground).ids()
