"""Every kind of trouble, through the whole diagnosis: one root cause, with what follows from it beneath."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine import diagnose as module
from assay.engine.diagnose import Diagnosis, Wanted, diagnose
from assay.engine.diagnosed import exit_code
from assay.judge.catalogue import CATALOGUE
from assay.judge.causes import Cause
from assay.model import Severity
from tests.machines.described import build, build_layer
from tests.machines.kindparts import UNSELECTED, Kind, Layer
from tests.machines.kinds import KINDS, PLANNED

EACH = [
    pytest.param(kind, name, id=f"{kind.number:02}-{name.replace(' ', '-')}")
    for kind in KINDS
    for name in kind.machines
]
HEALTHY = {
    "Debian": "debian-driver",
    "Ubuntu": "ubuntu",
    "Fedora": "fedora",
    "conda": "conda",
    "PyPI": "pypi",
    "/usr/local/cuda": "links",
    "container": "container",
    "WSL 2": "wsl",
    "Windows": "windows",
    "no GPU": "bare",
    "virtual machine": "driver-own-folder",
}


def diagnosed(
    name: str, layer: Layer, folder: Path, monkeypatch: pytest.MonkeyPatch, *, plan: bool
) -> Diagnosis:
    """Build a machine and diagnose it as a user would, with its plan or without one."""
    described = build_layer(name, layer, folder / "machine")
    (folder / "project").mkdir()
    if plan:
        monkeypatch.setattr(module, "find_plan", lambda _: described.plan)
    return diagnose(Wanted(folder / "project", root=folder / "machine"))


def roots(diagnosis: Diagnosis) -> list[Cause]:
    """Return the causes other than warnings."""
    return [cause for cause in diagnosis.causes if cause.severity is not Severity.WARNING]


def test_every_kind_is_there_with_three_machines_at_least() -> None:
    assert [kind.number for kind in KINDS] == list(range(1, 26))
    assert all(len(kind.machines) >= 3 for kind in KINDS)
    for kind in KINDS:
        assert {*kind.roots, *kind.follows, *kind.also} <= {*kind.machines}, kind.title
        named = {kind.root, *kind.roots.values(), *sum(kind.also.values(), ())} - {""}
        assert named <= set(CATALOGUE), kind.title


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_machine_of_a_kind_has_its_root_cause_first_and_no_other(
    kind: Kind, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagnosis = diagnosed(name, kind.machines[name], tmp_path, monkeypatch, plan=name in PLANNED)
    found = roots(diagnosis)
    expected = [each for each in (kind.roots.get(name, kind.root), *kind.also.get(name, ())) if each]
    ids = [cause.finding.id for cause in found]
    left = [each for each in ids if each not in UNSELECTED]
    assert left[:1] == expected[:1]
    assert sorted(left) == sorted(expected)
    if not expected:
        assert exit_code(diagnosis) == (3 if ids else 0)
        return
    root = found[0]
    beneath = {each.finding.id for each in root.consequences}
    assert beneath >= {*kind.follows.get(name, ())}
    assert root.finding.remedy
    assert root.finding.where
    assert exit_code(diagnosis) == (1 if root.severity is Severity.FAILURE else 3)


@pytest.mark.parametrize("name", HEALTHY.values(), ids=HEALTHY)
def test_a_healthy_machine_raises_no_alarm(name: str, tmp_path: Path) -> None:
    build("healthy", name, tmp_path / "machine")
    (tmp_path / "project").mkdir()
    diagnosis = diagnose(Wanted(tmp_path / "project", root=tmp_path / "machine"))
    lacking = {"DRIVER-NO-GPU"} if name in {"bare", "pypi"} else set()
    assert {cause.finding.id for cause in roots(diagnosis)} - UNSELECTED == lacking
    assert exit_code(diagnosis) == (3 if lacking else 0)
