"""Every described machine gets the findings that its description names, and the healthy ones get none."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.judge.catalogue import CATALOGUE, abi, driver, environment, provider, toolkit, vulkan
from assay.model import Severity
from tests.gates.configured import run_gates
from tests.machines.described import GATES, KINDS, build, expected, names

TELLING = {
    *("bare", "conda", "container", "pypi", "ubuntu", "windows", "wsl"),
    *("selection-none", "variable-missing", "libpython-minor", "shadowed", "toolkit-shadowed"),
    *("abi-stdcxx-old", "vulkan-no-glvnd", "vulkan-override-intel"),
    *("toolkit-mixed", "builtins-missing", "ptx-new", "stub", "provider-byte", "provider-glibc"),
}
"""Machines of the quick set: one of each kind of trouble, and the usual healthy ones."""

EVERY = [
    pytest.param(kind, name, id=f"{kind}-{name}", marks=[pytest.mark.gate] if name in TELLING else [])
    for kind in KINDS
    for name in names(kind)
]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_machine_has_the_findings_that_its_description_names(kind: str, name: str, tmp_path: Path) -> None:
    described = build(kind, name, tmp_path / "machine")
    seen = run_gates(described, tmp_path)
    found = {gate: seen.ids(gate) for gate in described.gates}
    assert found == {gate: sorted(described.finds.get(gate, [])) for gate in described.gates}
    assert seen.warnings() == sorted(described.warns)
    for finding_id, texts in described.says.items():
        said = " ".join(f"{each.observed} {each.expected} {each.remedy}" for each in seen.named(finding_id))
        for text in texts:
            assert text in said


def test_every_machine_of_the_quick_set_exists() -> None:
    assert {name for kind in KINDS for name in names(kind)} >= TELLING


def test_healthy_machines_name_no_failure_and_faulty_ones_name_a_finding() -> None:
    for name in names("healthy"):
        finds, _ = expected("healthy", name)
        found = {CATALOGUE[each].severity for ids in finds.values() for each in ids or ()}
        assert found <= {Severity.UNAVAILABLE}, name  # a machine without a GPU lacks something, and is well
    assert not [name for name in names("faults") if not any(expected("faults", name))]


def test_every_finding_of_these_gates_is_raised_on_some_faulty_machine() -> None:
    named = [expected("faults", name) for name in names("faults")]
    raised = {each for finds, warns in named for ids in (*finds.values(), warns) for each in ids}
    modules = (environment, toolkit, driver, provider, abi, vulkan)
    entries = {entry.id for module in modules for entry in module.ENTRIES}
    assert entries <= set(CATALOGUE)
    assert sorted(entries - raised) == []


def test_a_healthy_machine_is_described_by_what_was_seen_on_it(tmp_path: Path) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    seen = run_gates(described, tmp_path)
    digest = described.plan.providers[0].sha256
    assert seen.claims["environment"].startswith("the selection belongs together: CPython 3.12.3 (SHA-256 ")
    assert "pycuda 2026.1" in seen.claims["environment"]
    assert seen.claims["toolkit"].endswith("of one CUDA toolkit, 13.0, with gcc 13.3.0")
    assert (
        f"the pinned wgpu-native (SHA-256 {digest}), which calls itself wgpu-native 29.0.1.1"
        in (seen.claims["provider"])
    )
    assert seen.claims["driver"].startswith("kernel module (open), GSP firmware, libcuda, EGL, GLX, NVML, ")
    assert seen.claims["driver"].endswith(" are of one driver version, 580.159.04")
    assert set(seen.claims) == set(GATES)


def test_no_secret_value_is_among_the_facts(tmp_path: Path) -> None:
    described = build("faults", "kept-out", tmp_path / "machine")
    seen = run_gates(described, tmp_path)
    assert "s3cret-s3cret" not in repr(seen.facts)
    assert "API_TOKEN" not in repr(seen.facts)
