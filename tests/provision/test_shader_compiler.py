"""glslang is the machine's, unpacked once without root, or missed in words."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from assay.gates.shaders import PROGRAM, unpacked_compiler
from assay.provision.children import Children
from assay.provision.shader_compiler import provide_shader_compiler
from tests.provision.test_software_adapter import children, machine, tools
from tests.provision.world import script

FOUND = r"printf 'Inst glslang-tools (12.0.0-2 Debian:12/oldstable [amd64])\n'"
DPKG = f"""
mkdir -p "$3/usr/bin"
: > "$3/usr/bin/{PROGRAM}"
"""


def test_it_is_unpacked_once_and_its_packages_are_recorded(tmp_path: Path) -> None:
    said = list[str]()
    run, project = children(tmp_path, tools(tmp_path / "bin", FOUND, DPKG)), tmp_path / "project"
    for _ in range(2):
        provide_shader_compiler(run, machine(tmp_path / "root"), project, said.append)
    assert unpacked_compiler(project).is_file()
    (folder,) = (project / ".assay/shaders").iterdir()
    assert folder.name == platform.machine()
    mark = json.loads((folder / "compiler.json").read_text())
    assert mark["packages"] == [{"name": "glslang-tools", "version": "12.0.0-2"}]
    assert len(said) == 1


def test_the_machine_s_own_is_enough(tmp_path: Path) -> None:
    own = tmp_path / "root/usr/bin" / PROGRAM
    own.parent.mkdir(parents=True)
    script(own, "exit 0")
    run = Children({"PATH": "/nowhere"}, tmp_path / "log")
    has_path = machine(tmp_path / "root", {"PATH": "/usr/bin"})
    provide_shader_compiler(run, has_path, tmp_path / "project", pytest.fail)
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    ("simulate", "dpkg"), [("exit 100", DPKG), (FOUND, "exit 3"), (FOUND, ":")], ids=["apt", "dpkg", "empty"]
)
def test_what_breaks_on_the_way_is_said_and_leaves_nothing(tmp_path: Path, simulate: str, dpkg: str) -> None:
    said = list[str]()
    run = children(tmp_path, tools(tmp_path / "bin", simulate, dpkg))
    provide_shader_compiler(run, machine(tmp_path / "root"), tmp_path / "project", said.append)
    assert list((tmp_path / "project/.assay/shaders").iterdir()) == []
    assert "gate shared-buffers will say so" in said[-1]
    assert "Debian and Ubuntu: glslang-tools" in said[-1]


def test_without_apt_it_is_said(tmp_path: Path) -> None:
    said = list[str]()
    run = Children({"PATH": str(tmp_path)}, tmp_path / "log")
    provide_shader_compiler(run, machine(tmp_path / "root"), tmp_path / "project", said.append)
    (line,) = said
    assert line.startswith(f"note: no {PROGRAM} on PATH, and no apt-get to bring it: gate shared-buffers")
    assert line.endswith("Debian and Ubuntu: glslang-tools; Fedora, Arch and Alpine: glslang")
