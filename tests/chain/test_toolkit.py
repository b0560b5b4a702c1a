"""What cuda.pathfinder finds, and that one question that fails silences no other."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from assay.chain import toolkit
from assay.chain.failures import UnavailableError
from assay.selection import Selection
from tests.chain.support import child_of


class NotFoundError(RuntimeError):
    """A stand-in for pathfinder's error."""


def library(name: str) -> SimpleNamespace:
    if name == "nvvm":
        raise NotFoundError(f"Failure finding {name}")
    return SimpleNamespace(abs_path=f"/toolkit/lib/lib{name}.so", found_via="site-packages")


def pathfinder(monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    module = ModuleType("cuda.pathfinder")
    vars(module).update(
        {
            "__version__": "9.8.7",
            "load_nvidia_dynamic_lib": library,
            "locate_nvidia_header_directory": lambda _name: None,
            "find_nvidia_binary_utility": lambda name: f"/toolkit/bin/{name}",
            **changes,
        }
    )
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", module)


def test_each_answer_has_its_path_and_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    pathfinder(monkeypatch)
    told = toolkit.facts()
    assert told["version"] == "9.8.7"
    assert told["libraries"] == {
        "cudart": {"found_via": "site-packages", "path": "/toolkit/lib/libcudart.so"},
        "nvJitLink": {"found_via": "site-packages", "path": "/toolkit/lib/libnvJitLink.so"},
        "nvrtc": {"found_via": "site-packages", "path": "/toolkit/lib/libnvrtc.so"},
        "nvvm": {"error": {"message": "Failure finding nvvm", "type": "NotFoundError"}},
    }
    assert told["headers"] == dict.fromkeys(toolkit.HEADERS)
    assert told["binaries"] == {
        "nvcc": {"found_via": None, "path": "/toolkit/bin/nvcc"},
        "ptxas": {"found_via": None, "path": "/toolkit/bin/ptxas"},
    }


def test_an_older_pathfinder_answers_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    pathfinder(monkeypatch)
    monkeypatch.delattr(sys.modules["cuda.pathfinder"], "locate_nvidia_header_directory")
    told = toolkit.facts()
    assert told["headers"]["nvcc"]["error"]["type"] == "AttributeError"  # type: ignore[index]  # a table of tables
    assert told["libraries"]["nvrtc"]["path"] == "/toolkit/lib/libnvrtc.so"  # type: ignore[index]  # as above


def test_no_pathfinder_is_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)  # a blocked import
    with pytest.raises(UnavailableError) as caught:
        toolkit.facts()
    assert caught.value.reason == "package-missing"


def test_the_selected_interpreter_finds_the_selected_toolkit(selection: Selection, tmp_path: Path) -> None:
    assert selection.toolkit is not None
    told = child_of(selection, tmp_path).probe("pathfinder")["pathfinder"]["facts"]
    for name in ("nvrtc", "cudart", "nvvm"):
        found = told["libraries"][name]
        assert found["found_via"] == "site-packages"
        assert Path(found["path"]).is_relative_to(selection.toolkit)
    assert Path(told["binaries"]["nvcc"]["path"]).is_relative_to(selection.toolkit)
    assert (Path(told["headers"]["cudart"]["path"]) / "cuda.h").is_file()
