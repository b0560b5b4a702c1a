"""How the child lived and ended."""

from __future__ import annotations

import pytest

from assay.process import Ending
from tests.judge.chainfacts import facts_with, findings, ids

pytestmark = pytest.mark.gate


@pytest.mark.parametrize("reason", [each.value for each in Ending])
def test_every_ending_of_a_child_has_a_finding_that_says_what_was_awaited(reason: str) -> None:
    facts = facts_with()
    facts["child"]["ended"] = {
        "awaiting": "result",
        "detail": "it said no more",
        "exit": None,
        "reason": reason,
    }
    (found,) = findings(facts)
    assert found.id.startswith("CHAIN-CHILD-")
    assert "it was to come to result" in found.observed


@pytest.mark.parametrize("reason", ["", "well", None])
def test_an_end_that_nobody_knows_is_an_end_without_a_word(reason: str | None) -> None:
    assert ids(facts_with(child__ended__reason=reason)) == ["CHAIN-CHILD-EXITED"]


def test_a_process_that_holds_the_output_was_left_behind() -> None:
    assert ids(facts_with(child__ended__held=True)) == ["CHAIN-CHILD-FORKED"]
    facts = facts_with(child__ended__held=True, child__ended__reason="held")
    assert ids(facts) == ["CHAIN-CHILD-FORKED"]


@pytest.mark.parametrize("code", [None, 1, 2, 3, -6, -11])
def test_a_child_without_errors_must_exit_with_0(code: int | None) -> None:
    assert ids(facts_with(child__ended__exit=code)) == ["CHAIN-CHILD-EXIT"]


def test_a_hello_that_was_erased_is_missed() -> None:
    assert set(ids(facts_with(child__hello=None))) >= {"CHAIN-ISOLATION"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("flags__dont_write_bytecode", 0),
        ("flags__no_user_site", None),
        ("pycache_prefix", None),
        ("pycache_prefix", "/other"),
    ],
)
def test_isolation_is_the_interpreters_own_word(path: str, value: object) -> None:
    assert ids(facts_with(**{f"child__hello__{path}": value})) == ["CHAIN-ISOLATION"]


def test_harmless_variables_of_a_shell_are_not_named() -> None:
    names = [*facts_with()["child"]["environment"], "PWD", "SHLVL", "_", "LC_CTYPE"]
    assert ids(facts_with(child__hello__environment=names)) == []


@pytest.mark.parametrize("name", ["LD_AUDIT", "PYTHONHOME", "CUDA_INJECTION64_PATH", "VK_INSTANCE_LAYERS"])
def test_a_variable_that_brings_code_is_named(name: str) -> None:
    names = [*facts_with()["child"]["environment"], name]
    (found,) = findings(facts_with(child__hello__environment=names))
    assert (found.id, found.observed) == ("CHAIN-ENVIRONMENT-UNASKED", f"{name} is set")


def test_a_runtime_that_was_never_opened_is_missed() -> None:
    facts = facts_with(child__opened=["pycuda", "nvrtc"], child__closed=["nvrtc", "pycuda"])
    assert ids(facts) == ["CHAIN-CHILD-ORDER"]


@pytest.mark.parametrize("closed", [[], ["nvrtc", "wgpu"], ["nvrtc", "wgpu", "pycuda", "pycuda"]])
def test_each_runtime_is_closed_once(closed: list[str]) -> None:
    assert ids(facts_with(child__closed=closed)) == ["CHAIN-CLOSE-ORDER"]


def test_contexts_that_nobody_told_are_not_two() -> None:
    facts = facts_with(child__runtimes__pycuda__context=None, child__runtimes__nvrtc__context=None)
    assert ids(facts) == ["CHAIN-CONTEXT-SHARED"]
