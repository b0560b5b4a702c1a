"""Probes: each part is told by itself; one that cannot tell silences no other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.chain import probe
from assay.selection import Selection
from tests.chain.support import Child, child_of, compile_library

NVML = """
#include <string.h>
int nvmlInitWithFlags(unsigned flags) { (void)flags; return 18; }
int nvmlInit_v2(void) { return 18; }
int nvmlInit(void) { return 18; }
const char *nvmlErrorString(int code) { (void)code; return "Driver/library version mismatch"; }
"""


def test_parts_are_told_beside_a_part_that_cannot_tell(tmp_path: Path) -> None:
    child = Child(sys.executable, tmp_path)
    bare = Child(sys.executable, tmp_path, program=("-S", child.argv()[-1]))  # no site-packages
    told = bare.probe("interpreter", "shadow", "pathfinder", "nvml", "adapters")
    assert list(told) == ["adapters", "interpreter", "nvml", "pathfinder", "shadow"]
    assert told["interpreter"]["facts"]["implementation"] == "CPython"
    assert told["shadow"]["facts"]["wgpu"] is None
    for part in ("adapters", "nvml", "pathfinder"):
        assert told[part]["error"]["reason"] == "package-missing"


def test_the_exit_status_says_whether_all_was_told(tmp_path: Path) -> None:
    child = Child(sys.executable, tmp_path)
    bare = Child(sys.executable, tmp_path, program=("-S", child.argv()[-1]))
    result = str(tmp_path / "result.json")
    assert bare.call("probe", "--result", result, "interpreter", "packages").returncode == 0
    assert bare.call("probe", "--result", result, "interpreter", "nvml").returncode == 1
    assert json.loads(Path(result).read_text())["schema"] == probe.SCHEMA


@pytest.mark.parametrize("parts", [[], ["nonsense"], ["interpreter", "nonsense"]])
def test_an_unknown_part_is_a_usage_error(tmp_path: Path, parts: list[str]) -> None:
    done = Child(sys.executable, tmp_path).call("probe", "--result", str(tmp_path / "result.json"), *parts)
    assert done.returncode == 2
    assert not (tmp_path / "result.json").exists()


def test_a_result_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    result = str(tmp_path / "no such folder" / "result.json")
    done = Child(sys.executable, tmp_path).call("probe", "--result", result, "interpreter")
    assert done.returncode == 3
    assert b"No such file" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_local_module_of_the_working_folder_does_not_come_in(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "numpy.py").write_text("raise SystemExit('it was run')\n")
    told = Child(sys.executable, tmp_path).probe("shadow", cwd=tmp_path / "work")
    assert str(tmp_path / "work") not in json.dumps(told)


def test_the_selection_is_told(selection: Selection, tmp_path: Path) -> None:
    told = child_of(selection, tmp_path).probe("packages", "shadow", "adapters")
    packages = {one["name"]: one for one in told["packages"]["facts"]["distributions"]}
    assert {"numpy", "pycuda", "wgpu", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-ml-py"} <= set(packages)
    assert all(len(one["record_sha256"]) == 64 for one in packages.values())
    for name, origin in told["shadow"]["facts"].items():
        places = [origin["file"], *origin["folders"]]
        site_packages = selection.site_packages[0]
        assert any(place and Path(place).is_relative_to(site_packages) for place in places), name
    assert told["adapters"]["facts"]["version"] == packages["wgpu"]["version"]
    assert Path(told["adapters"]["facts"]["library"]).is_file()


def test_nvml_of_another_version_is_told_by_its_code(selection: Selection, tmp_path: Path) -> None:
    (tmp_path / "nvml.c").write_text(NVML)
    compile_library(tmp_path / "nvml.c", tmp_path / "libnvidia-ml.so.1")
    child = child_of(selection, tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    error = child.probe("nvml")["nvml"]["error"]
    assert (error["kind"], error["code"]) == ("unavailable", 18)
    assert error["reason"] == "NVMLError_LibRmVersionMismatch"
