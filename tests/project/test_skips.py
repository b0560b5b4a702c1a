"""A run of tests in which nothing passed is a failure, whatever pytest itself says of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.files import PROJECT, environment_of_children

PASSES = "def test_passes():\n    assert 1 + 1 == 2\n"
SKIPS = "import pytest\n@pytest.mark.skip(reason='no device')\ndef test_skips():\n    assert False\n"
GATE_WITH_SELECTION = "import pytest\n@pytest.mark.gate\ndef test_gate(selection):\n    assert selection\n"
NETWORK = (
    "import socket\n"
    "def test_network():\n"
    "    with socket.socket() as s:\n"
    "        s.connect(('192.0.2.1', 9))\n"  # TEST-NET-1 (RFC 5737): nobody is there, were it tried
)


def run_pytest(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest over one file with this project's conftest and configuration."""
    tests = folder / "tests"
    tests.mkdir()
    (tests / "conftest.py").write_bytes((PROJECT / "tests" / "conftest.py").read_bytes())
    (tests / "test_it.py").write_text(source)
    config = (PROJECT / "pyproject.toml").read_text("utf-8")
    (folder / "pyproject.toml").write_text(config.replace('["scripts", "."]', f'["{PROJECT / "scripts"}"]'))
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(  # noqa: S603  # argv is ours
        argv, cwd=folder, env=environment_of_children(), capture_output=True, text=True, check=False
    )


@pytest.mark.gate
def test_a_run_in_which_everything_is_skipped_fails(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, SKIPS)
    assert "1 skipped" in ended.stdout
    assert ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_so_it_does_side_by_side(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, SKIPS, "--numprocesses", "2")
    assert "1 skipped" in ended.stdout
    assert ended.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("source", ["", "def helper(): ...\n"])
def test_a_run_without_any_test_fails(tmp_path: Path, source: str) -> None:
    assert run_pytest(tmp_path, source).returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_one_that_passes_beside_one_that_is_skipped_is_enough(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, PASSES + SKIPS).returncode == pytest.ExitCode.OK


def test_a_listing_is_no_run_and_no_failure(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, PASSES, "--collect-only", "-q").returncode == pytest.ExitCode.OK


def test_a_gate_test_may_not_need_the_embedded_selection(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, GATE_WITH_SELECTION)
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "is marked `gate` and uses the embedded selection" in ended.stderr + ended.stdout


def test_a_missing_selection_fails_and_is_never_a_skip(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, "def test_it(selection):\n    assert selection\n")
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "nox -s provision" in ended.stdout


def test_a_test_cannot_reach_the_network(tmp_path: Path) -> None:
    ended = run_pytest(tmp_path, NETWORK)
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "tests use no network" in ended.stdout
