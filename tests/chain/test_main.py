"""The command line of the child: what is wrong is said in a line, with its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.chain import main as command
from tests.chain.support import Child, chain, open_pipe, run_request

REQUEST = run_request([chain("pipeline")])


@pytest.fixture
def bare(tmp_path: Path) -> Child:
    """Return a child whose interpreter has no packages."""
    return Child(sys.executable, tmp_path, program=("-S", Child(sys.executable, tmp_path).argv()[-1]))


@pytest.mark.parametrize(
    "argv", [[], ["qualify"], ["run"], ["run", "--req", "x"], ["compile", "--request", "x"]]
)
def test_a_wrong_command_line_is_a_usage_error(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(argv)
    assert caught.value.code == command.USAGE
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", json.dumps({**REQUEST, "extra": 1}).encode()])
def test_a_wrong_request_is_told_in_a_line(bare: Child, data: bytes) -> None:
    done = bare.call("compile", "--request", "-", "--output", str(bare.scratch), input_=data)
    assert done.returncode == command.USAGE
    assert done.stderr.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_a_request_that_is_not_there_is_told_in_a_line(bare: Child) -> None:
    done = bare.call("compile", "--request", "/no/such/file", "--output", str(bare.scratch))
    assert done.returncode == command.USAGE
    assert b"No such file" in done.stderr


def test_a_request_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "REQUEST_LIMIT", 100)
    path = tmp_path / "request.json"
    path.write_bytes(b"x" * 101)
    assert command.main(["compile", "--request", str(path), "--output", str(tmp_path)]) == command.USAGE


def test_a_selection_without_packages_is_told_runtime_by_runtime(bare: Child) -> None:
    ended = bare.run(REQUEST)
    assert ended.exit == command.FAILED
    assert [(one["runtime"], one["kind"], one["reason"]) for one in ended.of("error")] == [
        (runtime, "unavailable", "package-missing") for runtime in ("pycuda", "wgpu", "nvrtc")
    ]
    assert ended.of("chain")[0]["missing"] == ["pycuda", "wgpu", "nvrtc"]
    assert ended.kinds()[-2:] == ["holding", "end"]


@pytest.mark.parametrize("number", ["1", "2", "987"])
def test_events_need_a_descriptor_of_their_own(bare: Child, number: str) -> None:
    done = bare.call("run", "--request", "-", "--events", number, "--control", number)
    assert done.returncode == command.UNHEARD
    assert b"Traceback" not in done.stderr


def test_a_reader_that_has_gone_ends_the_child(bare: Child, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(REQUEST))
    with open_pipe() as (read, write), open_pipe() as (control, hold):
        os.close(read)
        entry = ("run", "--request", str(path), "--events", str(write), "--control", str(control))
        done = subprocess.run(  # noqa: S603  # the child under test
            bare.argv(*entry),
            env=bare.environment(),
            pass_fds=(write, control),
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
        os.close(hold)
    assert done.returncode == command.UNHEARD
    assert b"Traceback" not in done.stderr
