"""The request of the chain child, and why there may be none."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from assay.chain.spec import parse_run
from assay.errors import GateError
from assay.gates.chain import observe
from assay.gates.chain_request import make_request, why_not_run
from assay.judge.chain import judge
from assay.model import Facts
from tests.gates.playground import Playground
from tests.judge.chainfacts import STAGES, words

APHRODY = b"the bytes of another provider"


@pytest.fixture
def ground(tmp_path: Path) -> Playground:
    """Return a selection that is right."""
    made = Playground(tmp_path)
    made.prepare()
    return made


def test_the_child_understands_the_request(ground: Playground) -> None:
    with ground.bench() as on:
        request = make_request(on.context, on.case())
    parsed = parse_run(request.data)
    (chain,) = parsed.chains
    assert chain.canonical == tuple(words(range(37)))
    assert len(chain.fresh) == 4096
    assert [(stage.name, stage.runtime, stage.text) for stage in chain.stages] == [
        (name, runtime, source) for name, runtime, source, *_ in STAGES
    ]
    assert (parsed.architecture, parsed.nvcc, parsed.ordinal) == ("sm_75", "nvcc", 0)
    assert parsed.adapter is not None
    assert (parsed.adapter.backend, parsed.adapter.vendor) == ("Vulkan", 0x10DE)
    assert parsed.adapter.software == ("llvmpipe",)


def test_the_sources_are_recorded_as_they_were_read(ground: Playground) -> None:
    ground.file("project/kernels/pipeline/double.cu", "edited")
    with ground.bench() as on:
        request = make_request(on.context, on.case())
    assert request.sources[0] == {
        "chain": "pipeline",
        "sha256": hashlib.sha256(b"edited").hexdigest(),
        "stage": "double",
    }


@pytest.mark.parametrize("text", [None, "kernel \N{GREEK SMALL LETTER MU}"])
def test_a_source_that_cannot_be_used_is_named(ground: Playground, text: str | None) -> None:
    path = ground.file("project/kernels/pipeline/double.cu", text or "")
    if text is None:
        path.unlink()
    with ground.bench() as on, pytest.raises(GateError, match=r"double\.cu"):
        make_request(on.context, on.case())


def selected(ground: Playground, **changed: str | None) -> dict[str, str]:
    """Return the ground's selection with variables changed or removed."""
    return {name: value for name, value in {**ground.selection(), **changed}.items() if value is not None}


@pytest.mark.parametrize("name", ["BUN_PYTHON_EXECUTABLE", "PYTHONPATH", "CUDA_PATH", "BUV_RUNTIME_LIB"])
def test_what_the_selection_lacks_is_named_and_nothing_is_started(
    ground: Playground, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = selected(ground, **{name: None})
    monkeypatch.setattr(ground, "facts", dict)
    monkeypatch.setattr(ground, "selection", lambda: values)
    with ground.bench() as on:
        facts = on.observe(observe)
        (found,) = judge(on.case(), facts)
    assert (found.id, found.observed) == ("CHAIN-SELECTION", name)
    assert on.context.commands == []


@pytest.mark.parametrize("earlier", [{"provider": {"interface": "aphrody-ffi"}}, {}])
def test_the_notes_windows_provider_cannot_run_a_chain(
    ground: Playground, earlier: dict[str, Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.provider.write_bytes(APHRODY)
    plan = ground.plan()
    pin = {**plan["provider"][0], "interface": "aphrody-ffi", "sha256": hashlib.sha256(APHRODY).hexdigest()}
    plan["provider"] = [pin]
    monkeypatch.setattr(ground, "plan", lambda: plan)
    monkeypatch.setattr(ground, "facts", lambda: earlier)
    with ground.bench() as on:
        (found,) = judge(on.case(), on.observe(observe))
    assert found.id == "PROVIDER-INTERFACE"
    assert "aphrody-ffi" in found.observed
    assert on.context.commands == []


def test_a_provider_that_no_pin_knows_is_tried_as_wgpu_native(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.provider.write_bytes(b"unknown")
    monkeypatch.setattr(ground, "facts", dict)
    with ground.bench() as on:
        assert why_not_run(on.context) is None


def test_a_platform_without_a_chain_is_not_started(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ground.plan()
    plan["chains"] = {"windows": ["pipeline"]}
    monkeypatch.setattr(ground, "plan", lambda: plan)
    with ground.bench() as on:
        (found,) = judge(on.case(), on.observe(observe))
    assert found.id == "CHAIN-NONE"


def test_a_chain_without_wgsl_needs_no_provider(ground: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, values = ground.plan(), selected(ground, BUV_RUNTIME_LIB=None)
    chain = plan["kernels"]["pipeline"]
    chain["stage"] = [stage for stage in chain["stage"] if stage["runtime"] != "wgpu"]
    monkeypatch.setattr(ground, "plan", lambda: plan)
    monkeypatch.setattr(ground, "facts", dict)
    monkeypatch.setattr(ground, "selection", lambda: values)
    with ground.bench() as on:
        assert why_not_run(on.context) is None
        request = json.loads(make_request(on.context, on.case()).data)
    assert request["adapter"] is None
