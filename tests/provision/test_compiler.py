from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.compiler import find_compiler
from tests.provision.world import script


def compilers(folder: Path, *names: str) -> str:
    """Write compilers that say their name, and return their folder."""
    for name in names:
        script(folder / name, f"echo '{name} 99.88.77'; echo more")
    return str(folder)


def test_the_first_usual_compilers_on_the_path_are_taken(children: Children, tmp_path: Path) -> None:
    found = find_compiler(children, {"PATH": compilers(tmp_path / "bin", "gcc", "g++", "cc", "c++")})
    assert found.cc == str(tmp_path / "bin/gcc")
    assert found.cxx == str(tmp_path / "bin/g++")
    assert found.version == "g++ 99.88.77"
    assert found.folder == str(tmp_path / "bin")


def test_the_variables_name_others(children: Children, tmp_path: Path) -> None:
    folder = compilers(tmp_path / "opt/gcc 13/bin", "gcc-13", "g++-13")
    environ = {
        "PATH": compilers(tmp_path / "bin", "gcc", "g++"),
        "CC": f"{folder}/gcc-13",
        "CXX": f"{folder}/g++-13",
    }
    found = find_compiler(children, environ)
    assert found.cc == f"{folder}/gcc-13"
    assert found.cxx == f"{folder}/g++-13"


@pytest.mark.parametrize(
    ("named", "taken"),
    [
        ("gcc", "g++"),
        ("x86_64-linux-gnu-gcc-13", "x86_64-linux-gnu-g++-13"),
        ("clang", "clang++"),
        ("icc", "icc"),
    ],
)
def test_a_c_compiler_as_cxx_gives_way_to_its_c_plus_plus_neighbour(
    children: Children, tmp_path: Path, named: str, taken: str
) -> None:
    folder = compilers(tmp_path / "bin", "gcc", named, taken)
    found = find_compiler(children, {"PATH": folder, "CXX": f"{folder}/{named}"})
    assert found.cxx == f"{folder}/{taken}"


def test_a_machine_without_a_compiler_is_told_what_to_install(children: Children, tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match=r"no g\+\+ or c\+\+ on PATH") as caught:
        find_compiler(children, {"PATH": compilers(tmp_path / "bin", "gcc")})
    assert "build-essential" in caught.value.remedy


def test_a_variable_that_names_nothing_is_named(children: Children, tmp_path: Path) -> None:
    environ = {"PATH": compilers(tmp_path / "bin", "gcc", "g++"), "CXX": "/nonexistent/g++"}
    with pytest.raises(ProvisionError, match=r"CXX names /nonexistent/g\+\+"):
        find_compiler(children, environ)


def test_a_compiler_that_does_not_run_is_named(children: Children, tmp_path: Path) -> None:
    folder = compilers(tmp_path / "bin", "gcc")
    script(tmp_path / "bin/g++", "echo cannot execute cc1plus >&2; exit 1")
    with pytest.raises(ProvisionError, match="cannot execute cc1plus"):
        find_compiler(children, {"PATH": folder})
