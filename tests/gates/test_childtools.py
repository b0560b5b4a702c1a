"""What a child's search paths need, found on fake machines."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.gates.childtools import (
    LoaderFolders,
    driver_folder,
    implicit_layers,
    loader_folders,
    toolkit_libraries,
)
from assay.machine import Machine
from assay.machine.stated import Stated
from assay.model import Platform
from assay.selection import Selection

TOOLKIT = "/usr/local/cuda-13.0"


def machine(root: Path, *files: str, env: dict[str, str] | None = None, system: str = "linux") -> Machine:
    """Return a machine that has the given (empty) files."""
    for file in files:
        path = root / file.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    root.mkdir(exist_ok=True)
    return Machine(root, MappingProxyType(env or {}), Stated(os=system, arch="x86_64"))


def selection(toolkit: str = TOOLKIT, site: str = "/venv/site-packages") -> Selection:
    """Return a selection of a toolkit and a site-packages folder."""
    return Selection(explicit=True, source="environment", values={"CUDA_PATH": toolkit, "PYTHONPATH": site})


@pytest.mark.parametrize("folder", ["lib64", "lib", "targets/x86_64-linux/lib"])
def test_every_layout_of_a_toolkit_is_understood(tmp_path: Path, folder: str) -> None:
    here = machine(tmp_path, f"{TOOLKIT}/{folder}/libnvrtc.so.13")
    assert toolkit_libraries(here, TOOLKIT) == (f"{TOOLKIT}/{folder}",)


def test_a_toolkit_without_nvrtc_gives_no_library_folder(tmp_path: Path) -> None:
    assert toolkit_libraries(machine(tmp_path, f"{TOOLKIT}/lib64/libcudart.so.13"), TOOLKIT) == ()


def test_a_bracket_in_the_toolkits_path_is_no_pattern(tmp_path: Path) -> None:
    here = machine(tmp_path, "/opt/cuda[1] x/lib/libnvrtc.so.13", "/opt/cuda1 x/lib64/libnvrtc.so.13")
    assert toolkit_libraries(here, "/opt/cuda[1] x") == ("/opt/cuda[1] x/lib",)


def test_the_driver_is_left_to_the_loaders_defaults(tmp_path: Path) -> None:
    env = {"LD_LIBRARY_PATH": "/planted"}
    here = machine(tmp_path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/planted/libcuda.so.1", env=env)
    assert driver_folder(here, selection()) == ""


def test_a_folder_of_the_loaders_configuration_is_a_default(tmp_path: Path) -> None:
    env = {"LD_LIBRARY_PATH": "/planted"}
    here = machine(tmp_path, "/usr/local/nvidia/lib64/libcuda.so.1", "/planted/libcuda.so.1", env=env)
    (tmp_path / "etc/ld.so.conf.d").mkdir(parents=True)
    (tmp_path / "etc/ld.so.conf").write_text("include /etc/ld.so.conf.d/*.conf\n")
    (tmp_path / "etc/ld.so.conf.d/nvidia.conf").write_text("# the driver\n/usr/local/nvidia/lib64\n")
    assert driver_folder(here, selection()) == ""


def test_a_mounted_driver_is_found_where_the_defaults_lack_it(tmp_path: Path) -> None:
    env = {"LD_LIBRARY_PATH": f"{TOOLKIT}/lib64/stubs:/usr/local/nvidia/lib:/usr/local/nvidia/lib64/"}
    files = (f"{TOOLKIT}/lib64/stubs/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1")
    assert driver_folder(machine(tmp_path, *files, env=env), selection()) == "/usr/local/nvidia/lib64"


@pytest.mark.parametrize(
    "entry", [f"{TOOLKIT}/compat", "/elsewhere/stubs", "/venv/site-packages/x", "relative"]
)
def test_neither_stub_nor_selection_is_ever_the_driver(tmp_path: Path, entry: str) -> None:
    here = machine(tmp_path, f"{entry}/libcuda.so.1", env={"LD_LIBRARY_PATH": entry})
    assert driver_folder(here, selection()) == ""


def test_the_toolkit_comes_before_the_driver(tmp_path: Path) -> None:
    files = (f"{TOOLKIT}/bin/nvcc", f"{TOOLKIT}/lib64/libnvrtc.so.13", "/drv/libcuda.so.1")
    found = loader_folders(
        machine(tmp_path, *files, env={"LD_LIBRARY_PATH": "/drv"}), selection(), Platform.LINUX
    )
    assert found == LoaderFolders((f"{TOOLKIT}/bin",), (f"{TOOLKIT}/lib64", "/drv"), "/drv", {})


def test_windows_finds_the_toolkits_dlls_on_path(tmp_path: Path) -> None:
    here = machine(tmp_path, "C/cuda/bin/x64/nvrtc64_130_0.dll", "C/cuda/bin/nvcc.exe", system="windows")
    found = loader_folders(here, selection("C:\\cuda", ""), Platform.WINDOWS)
    assert found == LoaderFolders(("C:\\cuda\\bin\\x64", "C:\\cuda\\bin"))


def test_nothing_selected_finds_nothing(tmp_path: Path) -> None:
    empty = Selection(explicit=False, source="none", values={})
    assert loader_folders(machine(tmp_path), empty, Platform.LINUX) == LoaderFolders()


MESA = {
    "file_format_version": "1.0.0",
    "layer": {
        "name": "VK_LAYER_MESA_device_select",
        "library_path": "libVkLayer_MESA_device_select.so",
        "disable_environment": {"NODEVICE_SELECT": "1"},
    },
}


def layer_file(root: Path, name: str, text: str) -> None:
    """Write a manifest of an implicit layer."""
    folder = root / "usr/share/vulkan/implicit_layer.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_an_implicit_layer_is_read_with_its_switch(tmp_path: Path) -> None:
    layer_file(tmp_path, "mesa.json", json.dumps(MESA))
    (layer,) = implicit_layers(machine(tmp_path))
    assert layer.manifest == "/usr/share/vulkan/implicit_layer.d/mesa.json"
    assert (layer.name, layer.library) == ("VK_LAYER_MESA_device_select", "libVkLayer_MESA_device_select.so")
    assert layer.switch == ("NODEVICE_SELECT", "1")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"layer": 3}', '{"layer": {"name": 3}}', "[" * 5000, "\udcff"]
)
def test_a_broken_manifest_is_no_layer(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "usr/share/vulkan/implicit_layer.d"
    folder.mkdir(parents=True)
    (folder / "x.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert implicit_layers(machine(tmp_path)) == ()


@pytest.mark.parametrize("switch", [None, 3, {}, {"A B": "1"}, {"X": 1}])
def test_a_layer_without_a_usable_switch_has_none(tmp_path: Path, switch: object) -> None:
    layer_file(tmp_path, "x.json", json.dumps({"layers": [{"name": "L", "disable_environment": switch}]}))
    assert [(layer.name, layer.switch) for layer in implicit_layers(machine(tmp_path))] == [("L", None)]
