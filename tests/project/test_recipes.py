"""The recipes of CONTRIBUTING, followed to the letter in a copy of the project; what they make is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.judge.values import expected_words
from assay.plan import load_plan
from assay.selection import EMBEDDED_FILE, Selection
from tests.chain.support import child_of, compile_request, nvcc_of
from tests.project.files import PROJECT, environment_of_children
from tests.project.recipes import copy_project, follow, recipe

QUIET = ("-q", "-p", "no:cacheprovider")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the project."""
    folder = tmp_path / "project"
    folder.mkdir()
    return copy_project(folder)


def python(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this interpreter in a copy of the project, over its sources."""
    env = {
        **environment_of_children(),
        "PYTHONPATH": os.pathsep.join([str(project / "scripts"), str(project)]),
    }
    argv = [sys.executable, "-B", *arguments]
    return subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, check=False)  # noqa: S603  # ours


def test_a_gate(copy: Path) -> None:
    touched = follow(recipe("a gate"), copy)
    assert len(touched) == 12
    sources = sorted({path for path in touched if path.endswith(".py")})
    assert python(copy, "-m", "ruff", "check", "--fix", "--no-cache", *sources).returncode == 0
    assert python(copy, "-m", "ruff", "format", "--no-cache", *sources).returncode == 0
    assert python(copy, "-m", "assay.docs").returncode == 0
    assert "| `memory` | enough memory for the release | none |" in (copy / "README.md").read_text()
    judged = python(
        copy, "-m", "pytest", *QUIET, "tests/judge/test_memory.py", "tests/project/test_noxfile.py"
    )
    assert judged.returncode == 0, judged.stdout
    machines = ["tests/gates/test_machines.py", "-k", "(healthy and roomy) or memory-small"]
    seen = python(copy, "-m", "pytest", *QUIET, *machines)
    assert seen.returncode == 0, seen.stdout
    assert seen.stdout.splitlines()[-1].startswith("2 passed")
    ran = python(copy, "-m", "assay.cli", "gate", "memory", "--json")
    assert '"total_kib":' in ran.stdout
    assert "memory: " in ran.stderr
    assert ran.returncode in {0, 1}, ran.stderr


def test_a_stage(copy: Path, tmp_path: Path, selection: Selection) -> None:
    follow(recipe("a stage"), copy)
    chain = load_plan(copy).kernels["cuda-only"]
    assert [stage.name for stage in chain.stages] == ["double", "add-one", "minus-one"]
    assert expected_words(chain, chain.values)[-1] == expected_words(chain, chain.values)[0]
    stage = chain.stages[-1]
    text = (copy / "kernels" / "cuda-only" / stage.source).read_text()
    keys = {"name": stage.name, "runtime": stage.runtime, "source": stage.source, "entry": stage.entry}
    request = {"name": "cuda-only", "stages": [{**keys, "input": "values", "text": text}]}
    child = child_of(selection, tmp_path)
    made = child.compile(compile_request([request], nvcc_of(selection)), tmp_path / "out")
    assert made["exit"] == 0
    assert {output["kind"] for output in made["outputs"]} == {"ptx", "cubin"}


def test_a_runtime(copy: Path, selection: Selection) -> None:
    assert selection.explicit is False
    touched = follow(recipe("a runtime"), copy)
    (copy / EMBEDDED_FILE).parent.mkdir()
    (copy / EMBEDDED_FILE).write_bytes((PROJECT / EMBEDDED_FILE).read_bytes())
    assert python(copy, "-m", "ruff", "check", "--no-cache", *touched).returncode == 0
    ended = python(copy, "-m", "pytest", *QUIET, "tests/chain/test_runtime_host.py")
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout


def test_a_step_whose_place_is_not_there_is_noticed(copy: Path) -> None:
    with pytest.raises(AssertionError, match="0 times"):
        follow("In `README.md`, `no such words` becomes `others`.\n", copy)
