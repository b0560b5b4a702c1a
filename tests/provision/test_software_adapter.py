"""lavapipe is the system's, unpacked once without root, or named with the package to install."""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.errors import ProvisionError
from assay.machine import Machine
from assay.machine.stated import Stated
from assay.provision.children import Children
from assay.provision.software_adapter import find_software_adapter, system_adapter, unpacked_adapter
from tests.provision.world import script

ICD = json.dumps(
    {
        "ICD": {"api_version": "1.1.230", "library_path": "/usr/lib/libvulkan_lvp.so"},
        "file_format_version": "1.0.0",
    }
)

APT = """
echo "$@" >> calls
case "$*" in
  *update*) mkdir -p lists ;;
  *--simulate*) {simulate} ;;
  *download*) for name in "$@"; do case $name in *=*) : > "${{name%%=*}}.deb" ;; esac; done ;;
esac
"""
FOUND = (
    r"printf 'Inst libvulkan1 (1.3.239.0-1 Debian:12/oldstable [amd64])\n"
    r"Inst mesa-vulkan-drivers [22.3.6-1] (22.3.6-2 Debian:12 [amd64]) []\n'"
)
DPKG = f"""
mkdir -p "$3/usr/share/vulkan/icd.d" "$3/usr/lib/abc"
printf '%s' '{ICD}' > "$3/usr/share/vulkan/icd.d/lvp_icd.json"
: > "$3/usr/lib/abc/libvulkan_lvp.so"
: > "$3/usr/lib/abc/libvulkan.so.1"
"""


def machine(root: Path, env: Mapping[str, str] = MappingProxyType({})) -> Machine:
    """Return a machine under a folder."""
    return Machine(root, MappingProxyType(dict(env)), Stated(os="linux", arch=platform.machine()))


def children(tmp_path: Path, programs: Path) -> Children:
    """Return how children are run where only these programs come before the system's."""
    return Children({"PATH": f"{programs}:/usr/bin:/bin"}, tmp_path / "log")


def tools(folder: Path, simulate: str = FOUND, dpkg: str = DPKG) -> Path:
    """Return a folder with an apt-get and a dpkg that play the real ones."""
    folder.mkdir()
    script(folder / "apt-get", APT.format(simulate=simulate))
    script(folder / "dpkg", dpkg)
    return folder


def test_it_is_unpacked_once_with_absolute_paths_and_versions(tmp_path: Path) -> None:
    cache, said = tmp_path / "cache", list[str]()
    run = children(tmp_path, tools(tmp_path / "bin"))
    found = find_software_adapter(run, machine(tmp_path / "root"), cache, said.append)
    library = json.loads(found.icd.read_text())["ICD"]["library_path"]
    assert Path(library).is_absolute()
    assert Path(library).is_file()
    assert found.packages == (("libvulkan1", "1.3.239.0-1"), ("mesa-vulkan-drivers", "22.3.6-2"))
    assert found.libraries == (Path(library).parent,)
    assert (found.origin, len(said)) == ("unpacked", 1)
    assert find_software_adapter(run, machine(tmp_path / "root"), cache, said.append) == found
    assert len(said) == 1
    assert [path.name for path in cache.iterdir()] == [platform.machine()]


def test_without_an_index_of_packages_a_private_one_is_fetched(tmp_path: Path) -> None:
    simulate = f"if [ -d lists ]; then {FOUND}; else echo E: no such package >&2; exit 100; fi"
    run = children(tmp_path, tools(tmp_path / "bin", simulate))
    assert find_software_adapter(run, machine(tmp_path / "root"), tmp_path / "cache", print).packages
    assert "Dir::State::lists=" in (tmp_path / "log").read_text()


def test_the_system_s_own_is_taken_where_loader_and_driver_are_there(tmp_path: Path) -> None:
    root, folder = tmp_path / "root", "usr/lib"
    manifest = root / "usr/share/vulkan/icd.d/lvp_icd.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    assert system_adapter(machine(root)) is None
    (root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(a_library(), root / folder / "libvulkan.so.1")
    found = system_adapter(machine(root))
    assert found is not None
    assert (str(found.icd), found.libraries) == ("/usr/share/vulkan/icd.d/lvp_icd.json", ())
    manifest.unlink()
    assert system_adapter(machine(root)) is None


def a_library() -> str:
    """Return any shared library of this machine: one that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "libc.so" in line or "musl" in line)


@pytest.mark.parametrize("dpkg", ["exit 3", ":"])
def test_what_breaks_on_the_way_leaves_nothing(tmp_path: Path, dpkg: str) -> None:
    run = children(tmp_path, tools(tmp_path / "bin", dpkg=dpkg))
    with pytest.raises(ProvisionError) as caught:
        find_software_adapter(run, machine(tmp_path / "root"), tmp_path / "cache", print)
    assert list((tmp_path / "cache").iterdir()) == []
    for distribution in ("Debian", "Ubuntu", "Fedora", "Arch", "Alpine"):
        assert distribution in caught.value.remedy


def test_without_apt_the_packages_are_named(tmp_path: Path) -> None:
    run = Children({"PATH": str(tmp_path)}, tmp_path / "log")
    with pytest.raises(ProvisionError, match="no apt-get") as caught:
        find_software_adapter(run, machine(tmp_path / "root"), tmp_path / "cache", print)
    assert "mesa-vulkan-drivers" in caught.value.remedy


@pytest.mark.parametrize("mark", ["", "{}", "[]", '{"schema": "assay/software-adapter/1"}', "no JSON"])
def test_a_folder_that_is_not_whole_is_made_anew(tmp_path: Path, mark: str) -> None:
    (tmp_path / "adapter.json").write_text(mark)
    assert unpacked_adapter(tmp_path) is None
