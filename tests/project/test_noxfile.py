"""The sessions as nox sees them: every gate has one, and none can pass by being skipped."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import nox.registry
import pytest

import noxfile  # noqa: F401  # fills nox's registry
from assay.judge.table import GATES
from assay.plan import load_plan
from tests.project.files import PROJECT, environment_of_children

SESSIONS = nox.registry.get()
PLAN = load_plan(PROJECT)
COMMANDS = {command.name for command in PLAN.commands}

HEAD = f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})
import nox, noxfile
from assay import nox as body
nox.registry._REGISTRY.clear()
"""

PLAYED = "body.toolchain = lambda *_: sys.executable\n"
"""This interpreter stands in for the toolchain's."""


def run_nox(folder: Path, sessions: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run nox over sessions of a test, under this project's options."""
    (folder / "noxfile.py").write_text(HEAD + sessions)
    argv = [sys.executable, "-m", "nox", "--nocolor", *arguments]
    return subprocess.run(  # noqa: S603  # argv is ours
        argv, cwd=folder, env=environment_of_children(), capture_output=True, text=True, check=False
    )


@pytest.mark.gate
def test_every_gate_but_the_marked_tests_has_its_session() -> None:
    gates = {row.name for row in GATES} | set(PLAN.gates)
    assert {name for name in gates if name not in SESSIONS} == set()


@pytest.mark.gate
def test_the_session_of_a_gate_says_what_the_gate_table_says() -> None:
    said = {row.name: (SESSIONS[row.name].__doc__ or "").splitlines()[0] for row in GATES}
    assert said == {row.name: f"Gate: {row.title}." for row in GATES}


@pytest.mark.gate
def test_every_session_has_one_line_of_purpose() -> None:
    purposes = {name: (session.__doc__ or "").splitlines() for name, session in SESSIONS.items()}
    assert {name for name, lines in purposes.items() if len(lines) != 1 or len(lines[0]) < 20} == set()
    assert all(purposes[name][0].startswith("Gate: ") for name in COMMANDS - {"tests"})


@pytest.mark.gate
def test_no_session_names_an_interpreter_and_a_missing_one_is_an_error() -> None:
    assert {name: session.python for name, session in SESSIONS.items() if session.python is not None} == {}
    assert nox.options.error_on_missing_interpreters is True


@pytest.mark.gate
def test_no_session_skips() -> None:
    for path in (PROJECT / "noxfile.py", PROJECT / "scripts" / "assay" / "nox.py"):
        called = {
            node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
        }
        assert "skip" not in called


def test_a_session_of_a_missing_interpreter_fails_under_these_options(tmp_path: Path) -> None:
    ended = run_nox(
        tmp_path,
        "@nox.session(python='3.999', venv_backend='venv')\ndef tests(session): pass\n",
        "-s",
        "tests",
    )
    assert ended.returncode == 1
    assert "3.999 not found" in ended.stderr + ended.stdout


def test_a_session_that_only_installs_fails(tmp_path: Path) -> None:
    sessions = PLAYED + "@nox.session\ndef qualify(session): body.assay(session)\n"
    ended = run_nox(tmp_path, sessions, "--install-only", "-s", "qualify")
    assert ended.returncode == 1
    assert "nothing passed" in ended.stderr + ended.stdout


@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_every_exit_code_but_0_fails_the_session(tmp_path: Path, code: int) -> None:
    sessions = PLAYED + (
        f"@nox.session\ndef qualify(session): body.python(session, '-c', 'raise SystemExit({code})')\n"
    )
    assert run_nox(tmp_path, sessions, "-s", "qualify").returncode == 1
