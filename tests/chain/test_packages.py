"""What the selection lacks is named; what is broken passes through."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assay.chain.failures import UnavailableError
from assay.chain.packages import load, naming_missing_library


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def package(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.py").write_text(text)
    sys.modules.pop(name, None)
    return name


def test_a_package_that_is_there_is_imported() -> None:
    assert load("json").loads("1") == 1


@pytest.mark.parametrize("name", ["assay_no_such_package", "assay_no_such_package.inner"])
def test_a_package_that_is_not_there_is_missing(name: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        load(name)
    assert caught.value.reason == "package-missing"


def test_a_missing_dependency_is_a_broken_selection(folder: Path) -> None:
    name = package(folder, "assay_needs_more", "import assay_no_such_dependency")
    with pytest.raises(ModuleNotFoundError, match="assay_no_such_dependency"):
        load(name)


@pytest.mark.parametrize(
    "text",
    [
        "libcuda.so.1: cannot open shared object file: No such file or directory",
        "DLL load failed while importing _driver: The specified module could not be found.",
    ],
)
def test_a_missing_library_is_named(folder: Path, text: str) -> None:
    name = package(folder, "assay_needs_a_library", f"raise ImportError({text!r})")
    with pytest.raises(UnavailableError, match=r"cannot be loaded: (libcuda|DLL)") as caught:
        load(name)
    assert caught.value.reason == "library-missing"


@pytest.mark.parametrize("error", ["ImportError('undefined symbol: cuCtxCreate_v4')", "KeyError('x')"])
def test_a_broken_package_passes_through(folder: Path, error: str) -> None:
    name = package(folder, "assay_broken", f"raise {error}")
    with pytest.raises((ImportError, KeyError)) as caught:
        load(name)
    assert not isinstance(caught.value, UnavailableError)


def test_pathfinders_class_says_that_a_library_is_missing() -> None:
    missing = type("DynamicLibNotFoundError", (RuntimeError,), {})
    with pytest.raises(UnavailableError) as caught, naming_missing_library("NVRTC"):
        raise missing("Failure finding libnvrtc.so")
    assert caught.value.reason == "library-missing"
