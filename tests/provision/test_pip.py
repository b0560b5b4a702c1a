from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.errors import AssayError, FetchError, ProvisionError, StorageError
from assay.provision.children import Children
from assay.provision.environments import Environment
from assay.provision.lockfile import Requirement, parse_lock
from assay.provision.pip import Pip
from tests.provision.world import lock_line, script
from tests.wheels import make_wheel


@pytest.fixture
def wheelhouse(tmp_path: Path) -> Path:
    folder = tmp_path / "wheel house"
    folder.mkdir()
    make_wheel(folder, {"demo/__init__.py": b"value = 7\n"})
    return folder


@pytest.fixture
def target(tmp_path: Path, tools: Environment, children: Children) -> Path:
    """Return the interpreter of an environment without pip."""
    argv = [str(tools.python), "-I", "-m", "venv", "--without-pip", str(tmp_path / "target")]
    assert children.run("a target", argv, deadline_s=60).exit == 0
    return tmp_path / "target/bin/python"


def locked_demo(wheelhouse: Path) -> tuple[Requirement, ...]:
    return parse_lock("x.txt", lock_line("demo", next(wheelhouse.glob("demo-*.whl"))))


def test_a_locked_wheel_is_installed_from_the_wheelhouse(
    children: Children, tools: Environment, target: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    pip = Pip(children, tools.python, tmp_path, wheelhouse)
    pip.install("demo", target, locked_demo(wheelhouse))
    pip.check(target)
    argv = [str(target), "-I", "-B", "-c", "import demo; print(demo.value)"]
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"7\n"  # noqa: S603  # made here
    assert not list((tmp_path / "target").rglob("*.pyc"))


def test_a_wheel_with_another_digest_is_not_installed(
    children: Children, tools: Environment, target: Path, wheelhouse: Path, tmp_path: Path
) -> None:
    requirements = locked_demo(wheelhouse)
    make_wheel(wheelhouse, {"demo/__init__.py": b"value = 8\n"})
    with pytest.raises(StorageError, match="a file that is not the locked one") as caught:
        Pip(children, tools.python, tmp_path, wheelhouse).install("demo", target, requirements)
    assert str(wheelhouse) in caught.value.observed
    assert not list((tmp_path / "target").rglob("demo"))


def fake(folder: Path, children: Children, words: str, *, offline: bool) -> Pip:
    """Return a pip that says ``words`` and fails."""
    python = script(folder / "python", f"echo '{words}' >&2; exit 1")
    return Pip(children, python, folder, folder if offline else None)


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        ("THESE PACKAGES DO NOT MATCH THE HASHES", StorageError, "the package index has a file"),
        ("ERROR: No matching distribution found for numpy==1", FetchError, "could not be downloaded"),
        ("Temporary failure in name resolution", FetchError, "could not be downloaded"),
        ("No space left on device", StorageError, "the disk is full"),
        ("Segmentation fault", ProvisionError, "pip failed at demo"),
    ],
)
def test_what_pip_says_becomes_an_error_with_a_remedy(
    children: Children, tmp_path: Path, words: str, error: type[AssayError], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        fake(tmp_path, children, words, offline=False).install("demo", Path("python"), ())
    assert caught.value.remedy


def test_what_a_wheelhouse_lacks_for_this_interpreter_is_named(children: Children, tmp_path: Path) -> None:
    pip = fake(tmp_path, children, "ERROR: No matching distribution found for numpy==1", offline=True)
    with pytest.raises(StorageError, match="no file of numpy==1 for this interpreter") as caught:
        pip.install("demo", Path("python"), ())
    assert "--python-version" in caught.value.remedy


def test_a_wheelhouse_is_the_only_source(children: Children, tmp_path: Path) -> None:
    pip = Pip(children, script(tmp_path / "python", 'echo "$@"'), tmp_path, tmp_path / "wheels")
    pip.install("demo", Path("target"), ())
    arguments = children.log.read_text()
    assert "--isolated" in arguments
    assert f"--no-index --find-links {tmp_path}/wheels" in arguments
    assert "--require-hashes" in arguments
    assert "--only-binary :all:" in arguments
