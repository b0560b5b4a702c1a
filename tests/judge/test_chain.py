"""The judge of the chain: the run on the H200 is right, and each single fault in it has its own finding."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.chain import ENTRIES
from assay.judge.chain import claim
from assay.judge.reading import MalformedFacts
from assay.judge.rules import judge_gate
from assay.judge.table import row
from assay.model import Outcome, Platform, Severity, Tier, outcome_of
from tests.judge.chainfacts import (
    CASE,
    DRIVER,
    PROVIDER,
    UUID,
    Document,
    change,
    digest_of,
    earlier_facts,
    facts_with,
    findings,
    ids,
    make_case,
    mapped,
    plan_document,
    tier,
    with_mapped,
    with_module,
)

ENDED = "child__ended__"
GPU = "nvml__after__gpus__0__"


def error(kind: str, step: str, **more: object) -> Document:
    """Return an error as the child reports it."""
    names = ("chain", "code", "input", "message", "reason", "runtime", "stage", "type")
    return {**dict.fromkeys(names, ""), "code": None, "kind": kind, "step": step, **more}


def ended(reason: str, **more: object) -> Document:
    """Return the healthy facts of a child that came to another end."""
    facts = facts_with()
    facts["child"]["ended"] |= {"detail": "it said no more", "exit": None, "reason": reason, **more}
    return facts


def swapped() -> Document:
    """Return the facts of a provider that was replaced after it was hashed."""
    return with_mapped(mapped("$BUV_RUNTIME_LIB", digest_of("another")), without="$BUV_RUNTIME_LIB")


def two_gpus(**second: object) -> Document:
    """Return the healthy facts of a machine with a second GPU; the child is listed on none."""
    facts = facts_with(**{f"{GPU}compute_processes": []})
    other = {**copy.deepcopy(facts["nvml"]["after"]["gpus"][0]), "index": 1, "uuid": "GPU-2", **second}
    for when in ("before", "after"):
        facts["nvml"][when]["gpus"].append(other)
    return facts


def with_layer() -> Document:
    """Return the facts of a child into which an installed implicit layer was loaded."""
    return with_mapped(mapped("/usr/lib/x86_64-linux-gnu/libVkLayer_MESA_device_select.so"))


UNPINNED = digest_of("unpinned")

FAULTS: dict[str, Callable[[], Document]] = {
    "CHAIN-UNAVAILABLE": lambda: facts_with(
        child__errors=[error("unavailable", "open", runtime="pycuda", reason="CUDA_ERROR_NO_DEVICE")],
        child__ended__exit=1,
    ),
    "CHAIN-SELECTION": lambda: facts_with(not_run="no-selection", lacking=["CUDA_PATH"]),
    "PROVIDER-INTERFACE": lambda: facts_with(not_run="provider-interface"),
    "CHAIN-CHILD-START": lambda: ended("not-started"),
    "CHAIN-CHILD-DEADLINE": lambda: ended("deadline"),
    "CHAIN-CHILD-FLOOD": lambda: ended("flood"),
    "CHAIN-CHILD-MALFORMED": lambda: ended("malformed"),
    "CHAIN-CHILD-EXITED": lambda: ended("exited", exit=-11),
    "CHAIN-CHILD-CLOSED": lambda: ended("closed"),
    "CHAIN-CHILD-FORKED": lambda: ended("held"),
    "CHAIN-CHILD-ORDER": lambda: ended("order"),
    "CHAIN-CHILD-ABANDONED": lambda: facts_with(child__ended__abandoned=True),
    "CHAIN-CHILD-EXIT": lambda: facts_with(child__ended__exit=-6),
    "CHAIN-CHILD-PRINTED": lambda: facts_with(child__printed=12),
    "CHAIN-STAGE-FAILED": lambda: facts_with(
        child__errors=[error("failed", "run", chain="pipeline", stage="double", type="LogicError")],
        child__ended__exit=1,
    ),
    "CHAIN-CLOSE-FAILED": lambda: facts_with(
        child__errors=[error("failed", "close", runtime="wgpu", type="RuntimeError")],
        child__ended__exit=1,
        child__closed=["nvrtc", "pycuda"],
    ),
    "CHAIN-CLOSE-ORDER": lambda: facts_with(child__closed=["pycuda", "wgpu", "nvrtc"]),
    "CHAIN-CONTEXT-SHARED": lambda: facts_with(
        child__runtimes__pycuda__context="0x1", child__runtimes__nvrtc__context="0x1"
    ),
    "CHAIN-VALUE-WRONG": lambda: facts_with(chains__0__stages__1__fresh__7="7fc00000"),
    "CHAIN-RESULT-MISSING": lambda: facts_with(chains__0__stages__2__fresh=...),
    "CHAIN-RESULT-DOUBLED": lambda: facts_with(chains=facts_with()["chains"] * 2),
    "CHAIN-RESULT-UNPLANNED": lambda: facts_with(
        chains=[*facts_with()["chains"], {"name": "other", "stages": []}]
    ),
    "CHAIN-RESULT-ORDER": lambda: facts_with(chains__0__stages=facts_with()["chains"][0]["stages"][::-1]),
    "CHAIN-TRANSFER-UNRECORDED": lambda: facts_with(chains__0__stages__0__transfers__3=...),
    "CHAIN-SOURCE-CHANGED": lambda: facts_with(sources__0__sha256=digest_of("edited")),
    "CHAIN-IMAGE-DIFFERS": lambda: facts_with(chains__0__stages__0__loaded__0__sha256=digest_of("other ptx")),
    "CHAIN-PROVIDER-SWAPPED": swapped,
    "CHAIN-PROVIDER-OTHER": lambda: with_mapped(mapped("/usr/lib/libwgpu_native.so")),
    "CHAIN-PROVIDER-UNMAPPED": lambda: with_mapped(without="$BUV_RUNTIME_LIB"),
    "CHAIN-NVRTC-SECOND": lambda: with_mapped(mapped("$TOOLKIT/lib/libnvrtc.so.12.9.1")),
    "CHAIN-NVRTC-OUTSIDE": lambda: with_mapped(
        mapped("$SELECTION/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"),
        without="libnvrtc.so.13.0.88",
    ),
    "CHAIN-NVRTC-UNMAPPED": lambda: with_mapped(without="libnvrtc.so.13.0.88"),
    "CHAIN-TOOLKIT-MIXED": lambda: with_mapped(mapped("/usr/lib/x86_64-linux-gnu/libcudart.so.12")),
    "CHAIN-LIBRARY-UNASKED": lambda: with_mapped(mapped("/opt/spy/libspy.so")),
    "CHAIN-LIBRARY-PRELOADED": lambda: facts_with(preload=["/usr/lib/libspy.so"]),
    "CHAIN-LIBRARY-REPLACED": lambda: with_mapped(
        mapped("/usr/lib/libz.so.1", problem="it was replaced", sha256="")
    ),
    "CHAIN-LAYER": with_layer,
    "CHAIN-MODULE-OUTSIDE": lambda: with_module("spy", "/opt/spy/spy.py"),
    "CHAIN-MODULE-BYTECODE": lambda: with_module(
        "old", "$SELECTION/lib/python3.12/site-packages/old.pyc", loader="SourcelessFileLoader"
    ),
    "CHAIN-MODULE-INJECTED": lambda: with_module(
        "sitecustomize", "$SELECTION/lib/python3.12/site-packages/sitecustomize.py"
    ),
    "CHAIN-EXECUTABLE-OTHER": lambda: with_mapped(without="/bin/python3.12"),
    "CHAIN-LIBPYTHON-OTHER": lambda: with_mapped(
        mapped("/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0"), without="$BUN_PYTHON_LIBPYTHON"
    ),
    "CHAIN-ISOLATION": lambda: facts_with(child__hello__flags__no_user_site=0),
    "CHAIN-ENVIRONMENT-UNASKED": lambda: facts_with(
        child__hello__environment=[*facts_with()["child"]["environment"], "LD_PRELOAD", "SHLVL"]
    ),
    "CHAIN-DEVICE-CHANGED": lambda: facts_with(devices__before__ecc=0),
    "CHAIN-BACKEND": lambda: facts_with(adapter__backend_type="OpenGL"),
    "CHAIN-ADAPTER-SOFTWARE": lambda: facts_with(
        adapter__adapter_type="CPU", adapter__vendor_id=0x10005, adapter__device="llvmpipe"
    ),
    "CHAIN-GPU-OTHER": lambda: facts_with(adapter__vendor_id=0x8086, adapter__device="Intel Arc"),
    "CHAIN-GPU-AMBIGUOUS": two_gpus,
}
"""One change of the healthy facts for each finding that comes alone."""


@pytest.mark.gate
def test_the_run_on_the_h200_is_right_and_physical() -> None:
    facts = facts_with()
    assert findings(facts) == ()
    assert tier(facts) is Tier.PHYSICAL


@pytest.mark.gate
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_own_finding_and_nothing_else(name: str) -> None:
    assert ids(FAULTS[name]()) == [name]


TOGETHER: dict[str, tuple[Callable[[], Document], list[str]]] = {
    "CHAIN-LIBCUDA-INSIDE": (
        lambda: with_mapped(mapped("$TOOLKIT/compat/libcuda.so.580.159.04"), without=f"libcuda.so.{DRIVER}"),
        ["CHAIN-LIBCUDA-INSIDE", "CHAIN-TIER-UNSHOWN"],
    ),
    "CHAIN-LIBCUDA-SECOND": (
        lambda: with_mapped(mapped("/usr/lib/x86_64-linux-gnu/libcuda.so.570.1")),
        ["CHAIN-LIBCUDA-SECOND", "CHAIN-TIER-UNSHOWN"],
    ),
    "CHAIN-LIBCUDA-VERSION": (
        lambda: facts_with(libcuda__version="580.159.03"),
        ["CHAIN-LIBCUDA-VERSION", "CHAIN-TIER-UNSHOWN"],
    ),
    "CHAIN-UNSEEN": (
        lambda: facts_with(mapped=None, unseen="no /proc"),
        ["CHAIN-TIER-UNSHOWN", "CHAIN-UNSEEN"],
    ),
    "CHAIN-NVML": (
        lambda: facts_with(nvml__after={"problem": "NVML: Driver/library version mismatch"}),
        ["CHAIN-GPU-AMBIGUOUS", "CHAIN-NVML", "CHAIN-TIER-UNSHOWN"],
    ),
    "CHAIN-NVML-DEADLINE": (
        lambda: facts_with(nvml__after={"problem": "deadline"}),
        ["CHAIN-GPU-AMBIGUOUS", "CHAIN-NVML-DEADLINE", "CHAIN-TIER-UNSHOWN"],
    ),
    "CHAIN-TIER-UNSHOWN": (lambda: facts_with(device_nodes=[]), ["CHAIN-TIER-UNSHOWN"]),
}
"""Faults that show themselves in more than one way."""


@pytest.mark.parametrize("name", TOGETHER)
def test_a_fault_that_shows_itself_twice_is_named_twice(name: str) -> None:
    make, expected = TOGETHER[name]
    assert name in expected
    assert ids(make()) == expected


def test_a_provider_that_no_pin_knows_is_named_even_when_it_is_the_one_that_was_hashed() -> None:
    earlier = {**earlier_facts(), "provider": {"sha256": UNPINNED}}
    facts = with_mapped(mapped("$BUV_RUNTIME_LIB", UNPINNED), without="$BUV_RUNTIME_LIB")
    assert ids(facts, make_case(facts=earlier)) == ["CHAIN-PROVIDER-UNPINNED"]


def test_a_platform_without_a_chain_shows_nothing() -> None:
    assert ids(facts_with(), make_case(Platform.MACOS)) == ["CHAIN-NONE"]


OTHERWISE = {"CHAIN-PROVIDER-UNPINNED", "CHAIN-NONE", "CHAIN-TIER-OTHER"}
"""Raised by the tests just above."""


def test_every_finding_of_the_catalogue_is_raised_here() -> None:
    assert FAULTS.keys() | TOGETHER.keys() | OTHERWISE == {entry.id for entry in ENTRIES}


def test_every_finding_has_what_a_reader_needs() -> None:
    for entry in ENTRIES:
        assert CATALOGUE[entry.id] is entry
        assert all((entry.title, entry.expected, entry.remedy, entry.reference))


def rehearsed() -> Document:
    """Return the facts of a chain that ran on the CPU, on a machine without any GPU."""
    facts = facts_with(
        device_nodes=[],
        libcuda={"path": "/drv/libcuda.so.1", "told_by": "", "version": ""},
        child__driver_folder="/drv",
        adapter__device="llvmpipe (LLVM 15.0.6, 256 bits)",
        adapter__vendor_id=0x10005,
        adapter__adapter_type="CPU",
    )
    kept = [each for each in facts["mapped"] if "nvidia" not in each["path"]]
    facts["mapped"] = [*kept, mapped("/drv/libcuda.so.1")]
    for when in ("before", "after"):
        facts["nvml"][when] = {"problem": "NVML Shared Library Not Found"}
        facts["proc"][when] = {"gpus": [], "module": {"problem": "missing", "version": ""}, "modules": {}}
        facts["devices"][when]["uuid"] = "GPU-00000000-0000-0000-0000-000000000000"
        facts["devices"][when]["name"] = "assay rehearsal"
    return facts


def software_plan(wanted: str = "physical") -> Document:
    """Return a plan of a tier that allows a software adapter."""
    return {**plan_document(), "software-adapters": {"linux": ["llvmpipe"]}, "tier": wanted}


def test_a_rehearsal_is_right_where_the_plan_is_one() -> None:
    case = make_case(plan=software_plan("rehearsal"))
    assert ids(rehearsed(), case) == []
    assert tier(rehearsed(), case) is Tier.REHEARSAL
    assert "a software adapter that the plan allows" in claim(case, rehearsed())


def test_a_rehearsal_is_of_another_tier_than_a_physical_plan_and_is_named() -> None:
    (found,) = findings(rehearsed(), make_case(plan=software_plan()))
    assert found.id == "CHAIN-TIER-OTHER"
    assert "nox -s rehearse" in found.remedy
    assert "/dev/nvidia" in found.observed


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("CHAIN-VALUE-WRONG", Outcome.FAILED),
        ("CHAIN-CHILD-DEADLINE", Outcome.ERROR),
        ("CHAIN-UNAVAILABLE", Outcome.UNAVAILABLE),
        ("CHAIN-CHILD-PRINTED", Outcome.PASSED),
        ("CHAIN-RESULT-MISSING", Outcome.ERROR),
    ],
)
def test_outcomes(name: str, outcome: Outcome) -> None:
    assert outcome_of(findings(FAULTS[name]())) is outcome


def test_a_wrong_value_stays_a_failure_when_the_child_hung_later() -> None:
    facts = ended("deadline")
    change(facts, "chains.0.stages.0.canonical.3", "40c00001")
    change(facts, "chains.0.stages.2.fresh", ...)
    assert ids(facts) == ["CHAIN-CHILD-DEADLINE", "CHAIN-VALUE-WRONG"]
    assert outcome_of(findings(facts)) is Outcome.FAILED


def test_results_that_an_error_explains_are_not_missed_twice() -> None:
    facts = FAULTS["CHAIN-UNAVAILABLE"]()
    change(facts, "chains", [{"missing": ["pycuda"], "name": "pipeline", "stages": [], "state": "not-run"}])
    change(facts, "child.opened", ["wgpu", "nvrtc"])
    change(facts, "child.closed", ["nvrtc", "wgpu"])
    assert ids(facts) == ["CHAIN-UNAVAILABLE"]


@pytest.mark.parametrize("path", ["not_run", "chains", "mapped", "child", "adapter", "nvml", "child.ended"])
@pytest.mark.parametrize("value", [3, "x", [3], {"x": 3}, True])
def test_a_fact_of_another_type_never_passes(path: str, value: object) -> None:
    facts = facts_with()
    change(facts, path, value)
    found = judge_gate(CASE, row(CASE.plan, "chain"), 1, facts)
    assert outcome_of(found) is not Outcome.PASSED


def test_an_empty_object_never_passes() -> None:
    assert outcome_of(findings({})) is Outcome.ERROR
    assert tier({}) is None


def test_an_unknown_reason_for_not_running_is_malformed() -> None:
    with pytest.raises(MalformedFacts, match="not_run"):
        findings(facts_with(not_run="because"))


def paths(value: object, way: str = "") -> list[str]:
    """Return the dotted path of everything inside a document, up to four entries of a list."""
    if isinstance(value, dict):
        inner = [(f"{way}.{key}" if way else key, part) for key, part in value.items()]
    elif isinstance(value, list):
        inner = [(f"{way}.{index}", part) for index, part in enumerate(value[:4])]
    else:
        return []
    return [path for path, part in inner for path in (path, *paths(part, path))]


PATHS = paths(facts_with())
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=20), st.sampled_from(PATHS)
)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.sampled_from(PATHS), JSON), min_size=1, max_size=3))
def test_the_judge_never_raises_on_edited_facts(edits: list[tuple[str, Any]]) -> None:
    facts = facts_with()
    for path, value in edits:
        try:
            change(facts, path, value)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            continue
    found = judge_gate(CASE, row(CASE.plan, "chain"), 1, facts)
    assert all(each.id in CATALOGUE for each in found)
    assert tier(facts) in {None, *Tier}
    assert isinstance(claim(CASE, facts), str)


@settings(max_examples=80)
@given(st.dictionaries(st.sampled_from(sorted(facts_with())), JSON))
def test_the_judge_never_raises_on_a_strangers_facts(facts: dict[str, Any]) -> None:
    found = judge_gate(CASE, row(CASE.plan, "chain"), 1, facts)
    assert outcome_of(found) is not Outcome.PASSED
    assert isinstance(claim(CASE, facts), str)


def test_the_judge_changes_nothing() -> None:
    facts = facts_with()
    before = json.dumps(facts, sort_keys=True)
    findings(facts)
    assert json.dumps(facts, sort_keys=True) == before


@pytest.mark.gate
def test_the_claim_names_device_driver_provider_and_kernels() -> None:
    sentence = claim(CASE, facts_with())
    for part in (
        "pipeline",
        "NVIDIA H200",
        UUID,
        DRIVER,
        PROVIDER,
        "passed through",
        "Vulkan",
        "as gate `build`",
    ):
        assert part in sentence


def test_the_claim_names_what_was_compiled_at_run_time() -> None:
    earlier = {name: facts for name, facts in earlier_facts().items() if name != "build"}
    case = make_case(facts=earlier)
    assert findings(facts_with(), case) == ()
    sentence = claim(case, facts_with())
    assert "compiled at run time and not by gate `build`" in sentence
    assert f"pipeline/double (SHA-256 {digest_of('ptx of double')})" in sentence
    assert "pipeline/add-one" not in sentence


def test_the_claim_of_cuda_alone_does_not_establish_wgsl() -> None:
    assert "WGSL is not established" in claim(CASE, facts_with(adapter=None))


def test_a_claim_of_malformed_facts_says_so() -> None:
    assert claim(CASE, {"devices": 3}) == "nothing: its facts are malformed"


def test_severities_are_the_designs() -> None:
    severities = {entry.id: entry.severity for entry in ENTRIES}
    assert severities["CHAIN-GPU-AMBIGUOUS"] is Severity.UNAVAILABLE
    assert severities["CHAIN-GPU-OTHER"] is Severity.FAILURE
    assert severities["PROVIDER-INTERFACE"] is Severity.UNAVAILABLE
    assert all(severities[name] is not Severity.WARNING for name in severities if "PRINTED" not in name)
