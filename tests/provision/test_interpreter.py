from __future__ import annotations

import json
import platform
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.provision.children import Children
from assay.provision.interpreter import describe, require_headers
from assay.provision.lockfile import PYTHONS
from tests.provision.world import script


def speaker(folder: Path, **changed: object) -> str:
    """Write an interpreter that describes itself as this one with something changed."""
    said = {
        "executable": sys.executable,
        "implementation": "cpython",
        "version": platform.python_version(),
        "abi": "cp311",
        "machine": "x86_64",
        "libc": "glibc 2.36",
        "base": sys.executable,
        "include": "/usr/include",
        "headers": True,
        "libpython": "",
        "modules": ["venv", "ensurepip"],
    }
    return str(script(folder / "python", f"echo '{json.dumps(said | changed)}'"))


def test_this_interpreter_is_described_as_it_is(children: Children) -> None:
    found = describe(children, sys.executable)
    assert found.version == platform.python_version()
    assert found.minor in PYTHONS
    assert found.abi == f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert found.headers == (Path(sysconfig.get_path("include")) / "Python.h").is_file()
    assert Path(found.executable) == Path(sys.executable)
    assert not Path(found.base).is_symlink()


def test_a_shared_library_is_found_exactly_where_there_is_one(children: Children) -> None:
    found = describe(children, sys.executable)
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        assert f"libpython{found.minor}" in Path(found.libpython).name
    else:
        assert found.libpython == "" or ".so" in found.libpython


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"implementation": "pypy"}, "is pypy"),
        ({"version": "3.10.13"}, r"is cpython 3\.10\.13"),
        ({"version": "3.15.0"}, r"is cpython 3\.15\.0"),
        ({"abi": "cp313t"}, r"\(cp313t\)"),
        ({"modules": ["venv"]}, "lacks ensurepip"),
        ({"modules": []}, "lacks ensurepip and venv"),
        ({"modules": None}, "does not run as a Python"),
        ({"more": 1}, "does not run as a Python"),
    ],
)
def test_an_interpreter_that_cannot_be_selected_is_refused(
    children: Children, tmp_path: Path, changed: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        describe(children, speaker(tmp_path, **changed))
    assert "--python" in caught.value.remedy


@pytest.mark.parametrize("body", ["exit 1", "echo", "echo []", "echo '{}'", "printf '\\377'"])
def test_a_program_that_is_no_interpreter_is_refused(children: Children, tmp_path: Path, body: str) -> None:
    with pytest.raises(UsageError, match="does not run as a Python"):
        describe(children, str(script(tmp_path / "python", body)))


def test_a_missing_interpreter_is_refused(children: Children) -> None:
    with pytest.raises(UsageError, match="/nonexistent cannot be run"):
        describe(children, "/nonexistent")


def test_headers_are_required_only_when_asked_for(children: Children) -> None:
    found = describe(children, sys.executable)
    require_headers(replace(found, headers=True))
    with pytest.raises(UsageError, match=r"has no Python\.h") as caught:
        require_headers(replace(found, headers=False))
    assert "-dev" in caught.value.observed
