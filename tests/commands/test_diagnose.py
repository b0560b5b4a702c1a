"""``assay diagnose`` as a user starts it: text, document and exit code, over machines in folders."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from assay.cli import main
from assay.engine import diagnose
from assay.errors import GateError
from assay.gates.table import observers
from tests.machines.described import build

SCHEMA = Path(diagnose.__file__).with_name("diagnosis.schema.json")
MACHINES = (
    *(("healthy", name, 0) for name in ("ubuntu", "wsl", "windows")),
    *(
        ("faults", name, 1)
        for name in ("driver-mismatch", "abi-glibc-217", "driver-windows-tcc", "driver-wsl-shadowed")
    ),
    ("healthy", "bare", 3),
)


def assay(folder: Path, *arguments: str) -> int:
    """Run the command in an empty project."""
    (folder / "project").mkdir(exist_ok=True)
    return main(["diagnose", "--project", str(folder / "project"), *arguments])


def document(folder: Path, *arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the document."""
    code = assay(folder, *arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("kind", "name", "code"), MACHINES)
def test_the_code_says_the_worst(
    kind: str, name: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(kind, name, tmp_path / "machine")
    ended, said = document(tmp_path, "--root", str(tmp_path / "machine"), capsys=capsys)
    assert (ended, said["exit"], said["planned"]) == (code, code, False)


def accepted(*paths: Path) -> bool:
    """Say whether a peer finds that files are of the schema."""
    argv = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(SCHEMA), *map(str, paths)]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0  # noqa: S603  # argv is ours


def test_the_document_is_of_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: list[Path] = []
    said: dict[str, Any] = {}
    for kind, name, _ in MACHINES:
        build(kind, name, tmp_path / name)
        _, said = document(tmp_path, "--root", str(tmp_path / name), capsys=capsys)
        made.append(tmp_path / f"{name}.json")
        made[-1].write_text(json.dumps(said))
    assert accepted(*made)
    made[0].write_text(json.dumps({**said, "more": 1}))
    assert not accepted(made[0])


def test_each_cause_is_told_with_all_that_is_known_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build("faults", "driver-mismatch", tmp_path / "machine")
    assay(tmp_path, "--root", str(tmp_path / "machine"))
    said = capsys.readouterr().out.split("\n\n")
    assert said[0].startswith("machine: Linux ubuntu 24.04 x86_64, NVIDIA H200, driver 570.124.06")
    first = said[1].splitlines()
    assert first[0].startswith("1. failure: DRIVER-VERSION-MISMATCH: ")
    labels = [line.split()[0] for line in first[1:] if line[3] != " "]
    assert labels == ["observed:", "expected:", "remedy:", "where:", "reference:", "gates:", "explains:"]
    assert said[-1] == "found: 1 failure, 1 unavailable\n"


def test_a_finding_of_several_things_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build("faults", "abi-glibc-217", tmp_path / "machine")
    assay(tmp_path, "--root", str(tmp_path / "machine"))
    said = capsys.readouterr().out
    assert said.count("failure: ABI-LIBC: ") == 1
    assert "   again:     " in said


def test_a_bare_root_with_an_environment_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    root = str(tmp_path / "machine/root")
    plain = tmp_path / "environment"
    plain.write_text("".join(f"{name}={value}\n" for name, value in described.machine.env.items()))
    assert assay(tmp_path, "--root", root, "--env-file", str(plain)) == 0
    assert "/opt/app/bin/python" in capsys.readouterr().out
    assert assay(tmp_path, "--root", root) == 3
    assert "ENVIRONMENT-SELECTION-NONE" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [("--root", "/nowhere"), ("--env-file", "/nowhere"), ("--selection", "/nowhere")]
)
def test_a_mistake_is_a_usage_error_in_words(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assay(tmp_path, *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "/nowhere" in said.err
    assert "expected:" in said.err


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("healthy", "bare", "no NVIDIA GPU, no NVIDIA driver, CUDA toolkit 13.0"),
        ("healthy", "wsl", "a GPU that was not asked, a driver that was not asked, CUDA toolkit 13.0"),
        ("healthy", "windows", "a GPU that was not asked, driver 616.92, CUDA toolkit 13.0"),
        ("faults", "driver-not-installed", "a GPU that was not asked, no NVIDIA driver"),
    ],
)
def test_what_cannot_be_asked_is_not_said_to_be_absent(
    kind: str, name: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(kind, name, tmp_path / "machine")
    env = str(tmp_path / "machine/env.json")
    assay(tmp_path, "--root", str(tmp_path / "machine/root"), "--env-file", env)
    assert said in capsys.readouterr().out.splitlines()[0]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build("faults", "driver-several", tmp_path / "machine")
    before = sorted(path for path in (tmp_path / "machine").rglob("*"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assay(tmp_path, "--root", str(tmp_path / "machine"))
    assert sorted(path for path in (tmp_path / "machine").rglob("*")) == before
    assert list((tmp_path / "temporary").iterdir()) == []
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize(
    "error", [RuntimeError("a bug"), GateError("it broke", "an end", "none"), MemoryError()]
)
def test_a_gate_that_breaks_is_a_finding_and_the_others_go_on(
    error: Exception, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: Any) -> Mapping[str, Any]:  # noqa: ANN401  # a gate's context
        raise error

    def broken(*arguments: Any) -> Mapping[str, Any]:  # noqa: ANN401  # as it is called
        return MappingProxyType({**observers(*arguments), "driver": breaks})

    monkeypatch.setattr("assay.engine.diagnose.observers", broken)
    build("healthy", "ubuntu", tmp_path / "machine")
    assert assay(tmp_path, "--root", str(tmp_path / "machine"), "--json") == 3
    said = json.loads(capsys.readouterr().out)
    assert [cause["id"] for cause in said["causes"]] == ["GATE-BROKE"]
    assert {gate["gate"]: gate["outcome"] for gate in said["gates"]}["toolkit"] == "passed"
