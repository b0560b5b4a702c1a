"""Every described machine gets the findings that its description names, and the healthy ones get none."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.judge.catalogue import CATALOGUE, environment, provider, toolkit
from tests.gates.configured import CONFIGURATION, run_gates
from tests.machines.described import KINDS, build, names

EVERY = [(kind, name) for kind in KINDS for name in names(kind)]


@pytest.mark.gate
@pytest.mark.parametrize(("kind", "name"), EVERY, ids=[f"{kind}-{name}" for kind, name in EVERY])
def test_a_machine_has_the_findings_that_its_description_names(kind: str, name: str, tmp_path: Path) -> None:
    described = build(kind, name, tmp_path / "machine")
    seen = run_gates(described, tmp_path)
    found = {gate: seen.ids(gate) for gate in CONFIGURATION}
    assert found == {gate: sorted(described.finds.get(gate, [])) for gate in CONFIGURATION}
    assert seen.warnings() == sorted(described.warns)
    for finding_id, texts in described.says.items():
        said = " ".join(f"{each.observed} {each.expected} {each.remedy}" for each in seen.named(finding_id))
        for text in texts:
            assert text in said


def test_healthy_machines_have_no_failures_and_faulty_ones_have_findings(tmp_path: Path) -> None:
    assert not [name for name in names("healthy") if build("healthy", name, tmp_path / name).finds]
    faulty = [build("faults", name, tmp_path / f"faulty-{name}") for name in names("faults")]
    assert not [each.name for each in faulty if not each.finds and not each.warns]


def test_every_finding_of_these_gates_is_raised_on_some_faulty_machine(tmp_path: Path) -> None:
    faulty = [build("faults", name, tmp_path / name) for name in names("faults")]
    raised = {each for one in faulty for ids in (*one.finds.values(), one.warns) for each in ids}
    entries = {entry.id for module in (environment, toolkit, provider) for entry in module.ENTRIES}
    assert entries <= set(CATALOGUE)
    assert sorted(entries - raised) == []
