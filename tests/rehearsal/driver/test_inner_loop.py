"""The inner loop on the project's own chain: right, wrong, out of bounds, refused, watched."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.selection import Selection
from tests.conftest import PROJECT
from tests.rehearsal.driver.rehearsing import require_adapter

COMMAND = [sys.executable, "-m", "assay.cli", "rehearse", "chain", "pipeline"]


@pytest.fixture(scope="module")
def project(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with the kernels and the plan of this one, whose caches it borrows."""
    assert selection.executable
    require_adapter()
    made = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT / "kernels", made / "kernels")
    shutil.copy(PROJECT / "pyproject.toml", made)
    (made / ".assay").symlink_to(PROJECT / ".assay")
    return made


@pytest.fixture
def kernel(project: Path) -> Iterator[Path]:
    """Return the first stage's kernel, which is restored after the test."""
    path = project / "kernels" / "pipeline" / "double.cu"
    text = path.read_text()
    yield path
    path.write_text(text)


def environment() -> dict[str, str]:
    """Return the environment of the command line."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONPATH": str(PROJECT / "scripts")}


def answer(project: Path) -> tuple[int, str]:
    """Return exit and output of one turn."""
    done = subprocess.run(  # noqa: S603  # the command line under test
        COMMAND, cwd=project, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def edit(path: Path, old: str, new: str) -> None:
    """Save a kernel with one part changed."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_right_chain_passes_in_one_line(project: Path) -> None:
    code, said = answer(project)
    assert code == 0
    assert said.startswith("pipeline: passed in ")
    assert said.count("\n") == 1


def test_a_wrong_value_is_told_with_stage_index_bits_and_source_line(project: Path, kernel: Path) -> None:
    edit(kernel, "2.0f * in[i]", "2.5f * in[i]")
    code, said = answer(project)
    assert code == 1
    assert "pipeline/double/canonical: value 1 is 2.5 (0x40200000); expected 2.0 (0x40000000)" in said
    assert "kernels/pipeline/double.cu:17: out[i] = 2.5f * in[i];" in said
    assert "double-again" not in said  # one mistake is told once


def test_an_index_past_the_end_is_told_with_its_line_and_thread(project: Path, kernel: Path) -> None:
    edit(kernel, "i < count", "i <= count")
    code, said = answer(project)
    assert code == 1
    assert "REHEARSAL-OUT-OF-BOUNDS: twice at kernels/pipeline/double.cu:17" in said
    assert "thread (37, 0, 0)" in said
    assert "REHEARSAL-LEAK" not in said  # a context that a fault ended refuses to free


def test_what_the_compiler_refuses_is_told_in_its_words(project: Path, kernel: Path) -> None:
    edit(kernel, "2.0f * in[i]", "2.0f * im[i]")
    code, said = answer(project)
    assert code == 1
    assert "kernels/pipeline/double.cu(17): error" in said
    assert 'identifier "im" is undefined' in said
    assert "Traceback" not in said


def test_what_the_shader_compiler_refuses_is_told_in_its_words(project: Path) -> None:
    shader = project / "kernels" / "pipeline" / "add_one.wgsl"
    text = shader.read_text()
    edit(shader, "= a + 1.0;", "= a + 1.0 +;")
    try:
        code, said = answer(project)
    finally:
        shader.write_text(text)
    assert code == 1
    assert "CHAIN-STAGE-FAILED: pipeline/add-one/canonical/wgpu" in said
    assert "expected expression" in said
    assert "Traceback" not in said


def test_an_endless_loop_is_stopped_and_named_with_its_line(project: Path, kernel: Path) -> None:
    edit(kernel, "out[i] = 2.0f * in[i];", "do { out[i] = 2.0f * in[i]; } while (in[i] < 1e9f);")
    code, said = answer(project)
    assert code == 1
    assert "REHEARSAL-ENDLESS: twice at kernels/pipeline/double.cu:17" in said
    assert "Traceback" not in said


def test_a_saved_kernel_is_run_again_and_the_loop_ends_when_it_is_told_to(
    project: Path, kernel: Path
) -> None:
    watching = subprocess.Popen(  # noqa: S603  # the command line under test
        [*COMMAND, "--watch"],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert watching.stdout is not None
    try:
        assert until(watching.stdout, "pipeline: ").startswith("pipeline: passed")
        until(watching.stdout, "watching")
        edit(kernel, "2.0f * in[i]", "2.5f * in[i]")
        assert until(watching.stdout, "pipeline: ").startswith("pipeline: failed")
        until(watching.stdout, "watching")
    finally:
        watching.send_signal(signal.SIGINT)
        rest = watching.stdout.read()
        ended = watching.wait(timeout=60)
        watching.stdout.close()
    assert (ended, rest) == (130, "assay: interrupted\n")  # a turn keeps nothing that could be bundled


def until(lines: Iterator[str], beginning: str) -> str:
    """Return the next line that begins so."""
    return next(line for line in lines if line.startswith(beginning))


def test_an_unknown_chain_names_those_that_there_are(project: Path) -> None:
    done = subprocess.run(  # noqa: S603  # the command line under test
        [*COMMAND[:-1], "pipelime"],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "consolidation" in done.stderr
    assert "Traceback" not in done.stderr
