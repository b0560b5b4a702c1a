"""The toolchain's environment: when it is current, when it is made anew, and what may not make it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay import process, toolchain
from assay.errors import AssayError, FetchError, UsageError
from assay.process import Finished

KEY = "ab" * 32


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """Return an environment that is whole and was made from ``KEY``."""
    python = toolchain.interpreter_of(tmp_path)
    python.parent.mkdir()
    python.write_bytes(b"")
    (tmp_path / "assay-toolchain").write_text(KEY)
    return tmp_path


@pytest.mark.gate
def test_an_environment_is_current_only_whole_and_of_the_same_lock(environment: Path) -> None:
    assert toolchain.is_current(environment, KEY)
    assert not toolchain.is_current(environment, "cd" * 32)
    (environment / "assay-toolchain").write_text(KEY[:-1])
    assert not toolchain.is_current(environment, KEY)


def test_an_environment_without_its_interpreter_is_not_current(environment: Path) -> None:
    toolchain.interpreter_of(environment).unlink()
    assert not toolchain.is_current(environment, KEY)


def test_an_environment_that_was_cut_short_is_not_current(environment: Path) -> None:
    (environment / "assay-toolchain").unlink()
    assert not toolchain.is_current(environment, KEY)


@pytest.mark.gate
@pytest.mark.parametrize("changed", range(4))
def test_lock_folder_version_and_interpreter_each_change_the_key(changed: int) -> None:
    made_from = (b"ruff==1", Path("here"), "3.11.7", "/usr")
    other = (b"ruff==2", Path("there"), "3.12.1", "/opt")
    mixed = tuple(other[part] if part == changed else made_from[part] for part in range(4))
    assert toolchain.environment_key(*mixed) != toolchain.environment_key(*made_from)  # type: ignore[arg-type]  # a mix


@pytest.mark.gate
@pytest.mark.parametrize("version", [(3, 10), (2, 7), (3, 15)])
def test_another_python_is_refused_with_a_remedy(version: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match=rf"Python {version[0]}\.{version[1]}") as refused:
        toolchain.check_version(version)
    assert "pipx install" in refused.value.remedy


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13), (3, 14)])
def test_a_supported_python_is_taken(version: tuple[int, int]) -> None:
    toolchain.check_version(version)


def _scripted(monkeypatch: pytest.MonkeyPatch, *exits: int) -> list[list[str]]:
    """Let child processes end as told, and return what was started."""
    started: list[list[str]] = []
    ends = iter(exits)

    def run(argv: list[str], **_: object) -> Finished:
        started.append(argv)
        if argv[2:4] == ["-m", "venv"]:
            python = toolchain.interpreter_of(Path(argv[4]))
            python.parent.mkdir(parents=True)
            python.write_bytes(b"")
        return Finished(exit=next(ends), stderr=b"ERROR: no such index")

    monkeypatch.setattr(process, "run", run)
    return started


def test_it_is_built_once_and_then_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, said = _scripted(monkeypatch, 0, 0, 0), list[str]()
    first = toolchain.toolchain(tmp_path, said.append)
    second = toolchain.toolchain(tmp_path, said.append)
    assert first == second == toolchain.interpreter_of(tmp_path / ".nox" / "toolchain")
    assert len(started) == 3
    assert len(said) == 1


def test_what_is_installed_is_hash_checked_and_never_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = _scripted(monkeypatch, 0, 0, 0)
    toolchain.toolchain(tmp_path, lambda _: None)
    _, locked, own = started
    assert {"--require-hashes", "--only-binary", str(toolchain.LOCK)} <= set(locked)
    assert {"--no-index", "--no-deps", "--editable"} <= set(own)
    assert not any("://" in word for argv in started for word in argv)


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_step_that_fails_is_named_and_leaves_nothing_that_looks_whole(
    failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _scripted(monkeypatch, *[0] * failing, 1)
    with pytest.raises(FetchError, match="no such index"):
        toolchain.toolchain(tmp_path, lambda _: None)
    monkeypatch.undo()
    started = _scripted(monkeypatch, 0, 0, 0)
    toolchain.toolchain(tmp_path, lambda _: None)
    assert len(started) == 3


def test_the_environment_that_nox_runs_in_is_never_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = _scripted(monkeypatch)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".nox" / "toolchain"))
    with pytest.raises(UsageError, match="must be built anew"):
        toolchain.toolchain(tmp_path, lambda _: None)
    assert started == []


def test_an_installed_package_uses_the_interpreter_that_it_is_installed_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "SOURCES", tmp_path / "lib" / "site-packages")
    assert toolchain.toolchain(tmp_path, lambda _: None) == Path(sys.executable)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_said_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / ".nox").write_text("a file where the folder belongs")
    with pytest.raises(AssayError, match=r"\.nox"):
        toolchain.toolchain(tmp_path, lambda _: None)


def test_children_keep_pips_configuration_and_lose_what_steers_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []

    def run(_argv: list[str], *, env: dict[str, str], **_: object) -> Finished:
        seen.append(env)
        return Finished(exit=1)

    monkeypatch.setattr(process, "run", run)
    monkeypatch.setenv("PIP_CERT", "/certificates")
    monkeypatch.setenv("PYTHONPATH", "/selected")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    with pytest.raises(FetchError):
        toolchain.toolchain(tmp_path, lambda _: None)
    assert seen[0]["PIP_CERT"] == "/certificates"
    assert not [name for name in seen[0] if name.startswith("PYTHON")]
