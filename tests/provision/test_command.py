from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main
from assay.provision import command
from assay.provision.download import Wanted
from assay.provision.job import Request


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what the command asks for, which is not done."""
    calls: list[object] = []
    monkeypatch.setattr(command, "provision", lambda request, _say: calls.append(request))
    monkeypatch.setattr(
        command, "fill_wheelhouse", lambda _request, wanted, folder, _say: calls.extend([wanted, folder])
    )
    return calls


def test_a_toolkit_and_a_wheelhouse_are_asked_for(asked: list[object], tmp_path: Path) -> None:
    argv = [
        "provision",
        "--project",
        str(tmp_path),
        "--python",
        "p",
        "--toolkit",
        "/cuda",
        "--wheelhouse",
        "w",
    ]
    assert main([*argv, "--jobs", "3"]) == 0
    (request,) = asked
    assert isinstance(request, Request)
    assert (request.python, request.toolkit, request.jobs) == ("p", Path("/cuda"), 3)
    assert request.wheelhouse == Path("w").absolute()
    assert request.store.root == tmp_path / ".assay"


def test_without_options_this_interpreter_and_every_core_are_taken(asked: list[object]) -> None:
    assert main(["provision"]) == 0
    (request,) = asked
    assert isinstance(request, Request)
    assert request.jobs >= 1
    assert request.toolkit is request.wheelhouse is None


def test_a_wheelhouse_is_filled_for_other_pythons(asked: list[object]) -> None:
    argv = ["provision", "--wheelhouse", "/w", "--download", "--no-toolkit", "--machine", "aarch64"]
    assert main([*argv, "--python-version", "3.12", "--python-version", "3.13"]) == 0
    assert asked == [Wanted(("3.12", "3.13"), "aarch64", toolkit=False), Path("/w")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--download"], "without --wheelhouse"),
        (["--python-version", "3.12"], "without --download"),
        (["--no-toolkit"], "without --download"),
        (["--jobs", "-1"], "is negative"),
    ],
)
def test_options_that_do_not_go_together_are_a_usage_error(
    asked: list[object], capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert main(["provision", *options]) == 2
    assert words in capsys.readouterr().err
    assert asked == []


def test_a_mistake_shows_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["provision", "--project", str(tmp_path), "--python", "/nonexistent"]) == 2
    said = capsys.readouterr().err
    assert "remedy:" in said
    assert "Traceback" not in said
