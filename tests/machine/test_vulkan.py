"""The Vulkan loader's search: folders in their order, variables, filters, and manifests of any form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import Machine
from assay.machine.vulkan import (
    MISSING,
    data_folders,
    driver_manifests,
    implicit_layers,
    library_path,
    matches,
)
from tests.machines.building import Builder

GOOD = {"file_format_version": "1.0.0", "ICD": {"library_path": "libx.so", "api_version": "1.3.0"}}
ICD = "/usr/share/vulkan/icd.d"


def machine(folder: Path, files: Mapping[str, object], env: Mapping[str, str] | None = None) -> Machine:
    builder = Builder(folder)
    for path, content in files.items():
        builder.file(path, content if isinstance(content, str) else json.dumps(content))
    return builder.machine({"HOME": "/home/me", **(env or {})}, stated={"os": "linux", "cwd": "/work"})


def test_folders_come_in_the_order_of_the_loaders_documentation(tmp_path: Path) -> None:
    places = [
        *("/home/me/.config", "/etc/xdg", "/etc", "/home/me/.local/share", "/usr/local/share", "/usr/share"),
    ]
    files = {f"{place}/vulkan/icd.d/a.json": GOOD for place in places}
    found = driver_manifests(machine(tmp_path / "machine", files))
    assert [each.path for each in found] == [f"{place}/vulkan/icd.d/a.json" for place in places]
    assert all(not each.problem and each.library == "libx.so" for each in found)


def test_xdg_variables_take_the_place_of_their_defaults(tmp_path: Path) -> None:
    env = {
        "XDG_CONFIG_HOME": "/c",
        "XDG_CONFIG_DIRS": "/d1:/d2",
        "XDG_DATA_HOME": "/h",
        "XDG_DATA_DIRS": "/s/",
    }
    assert data_folders(machine(tmp_path / "machine", {}, env)) == ("/c", "/d1", "/d2", "/etc", "/h", "/s")


def test_without_a_home_only_the_systems_folders_count(tmp_path: Path) -> None:
    found = data_folders(machine(tmp_path / "machine", {}, {"HOME": ""}))
    assert found == ("/etc/xdg", "/etc", "/usr/local/share", "/usr/share")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, [f"{ICD}/a.json", f"{ICD}/b.json"]),
        ({"VK_ICD_FILENAMES": f"{ICD}/b.json"}, [f"{ICD}/b.json"]),
        ({"VK_DRIVER_FILES": f"{ICD}/b.json:/opt/icd"}, [f"{ICD}/b.json", "/opt/icd/c.json"]),
        ({"VK_DRIVER_FILES": f"{ICD}/b.json", "VK_ICD_FILENAMES": f"{ICD}/a.json"}, [f"{ICD}/b.json"]),
        ({"VK_DRIVER_FILES": ""}, []),
        ({"VK_ADD_DRIVER_FILES": "/opt/icd"}, ["/opt/icd/c.json", f"{ICD}/a.json", f"{ICD}/b.json"]),
        ({"VK_ADD_DRIVER_FILES": "/opt/icd", "VK_DRIVER_FILES": f"{ICD}/a.json"}, [f"{ICD}/a.json"]),
        ({"VK_DRIVER_FILES": "c.json"}, ["/work/c.json"]),
    ],
)
def test_variables_override_and_add(env: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    files = {f"{ICD}/b.json": GOOD, f"{ICD}/a.json": GOOD, f"{ICD}/a.txt": GOOD, "/opt/icd/c.json": GOOD}
    assert [each.path for each in driver_manifests(machine(tmp_path / "machine", files, env))] == expected


def test_a_manifest_that_is_named_and_is_not_there_is_told(tmp_path: Path) -> None:
    (one,) = driver_manifests(machine(tmp_path / "machine", {}, {"VK_DRIVER_FILES": "/x/nvidia_icd.json"}))
    assert (one.path, one.problem, one.via) == ("/x/nvidia_icd.json", MISSING, "VK_DRIVER_FILES")


@pytest.mark.parametrize(
    ("filters", "matching"),
    [
        ("nvidia_icd.json", True),
        ("NVIDIA_ICD.JSON", True),
        ("nvidia*", True),
        ("*icd.json", True),
        ("*vid*", True),
        ("intel*,nvidia*", True),
        ("~all~", True),
        ("*", True),
        ("**", True),
        ("nvidia", False),
        ("*nvidia", False),
        ("icd*", False),
        ("", False),
        ("nv?dia*", False),  # only an asterisk at an end is a glob
    ],
)
def test_filters_are_globs_at_their_ends_in_any_case(filters: str, matching: bool) -> None:  # noqa: FBT001  # a case
    assert matches("nvidia_icd.json", filters) is matching


@pytest.mark.parametrize(
    ("env", "ignored"),
    [
        ({"VK_LOADER_DRIVERS_DISABLE": "a*"}, ["VK_LOADER_DRIVERS_DISABLE", ""]),
        ({"VK_LOADER_DRIVERS_SELECT": "a*"}, ["", "VK_LOADER_DRIVERS_SELECT"]),
        (
            {"VK_LOADER_DRIVERS_SELECT": "a*", "VK_LOADER_DRIVERS_DISABLE": "*"},
            ["", "VK_LOADER_DRIVERS_SELECT"],
        ),
        ({"VK_LOADER_DRIVERS_DISABLE": "~all~"}, ["VK_LOADER_DRIVERS_DISABLE"] * 2),
    ],
)
def test_filters_leave_drivers_out(env: dict[str, str], ignored: list[str], tmp_path: Path) -> None:
    made = machine(tmp_path / "machine", {f"{ICD}/a.json": GOOD, f"{ICD}/b.json": GOOD}, env)
    assert [each.ignored for each in driver_manifests(made)] == ignored


@pytest.mark.parametrize(
    ("library", "path"),
    [
        ("libGLX_nvidia.so.0", ""),
        ("/opt/libx.so", "/opt/libx.so"),
        ("./libx.so", f"{ICD}/libx.so"),
        ("../../../lib/libx.so", "/usr/lib/libx.so"),
    ],
)
def test_a_path_is_relative_to_the_manifest_and_a_name_is_looked_for(
    library: str, path: str, tmp_path: Path
) -> None:
    assert library_path(machine(tmp_path / "machine", {}), f"{ICD}/a.json", library) == path


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
MANIFEST = st.fixed_dictionaries(
    {},
    optional={
        "file_format_version": st.just("1.0.0") | JSON,
        "ICD": JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "library_path": st.just("libx.so") | JSON,
                "api_version": st.just("1.3.0") | JSON,
                "is_portability_driver": JSON,
                "library_arch": st.sampled_from(["32", "64"]) | JSON,
            },
        ),
        "layers": JSON | st.lists(JSON, max_size=2),
        "layer": JSON,
    },
)


@given(document=MANIFEST | JSON)
def test_a_manifest_is_taken_with_all_that_the_loader_asks_for_or_has_a_problem(
    document: Any,  # noqa: ANN401  # JSON of any form
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    made = machine(tmp_path_factory.mktemp("m") / "machine", {f"{ICD}/a.json": json.dumps(document)})
    (one,) = driver_manifests(made)
    icd = document.get("ICD") if isinstance(document, dict) else None
    whole = isinstance(icd, dict) and all(
        isinstance(table.get(name), str) and table[name]
        for table, name in ((document, "file_format_version"), (icd, "library_path"), (icd, "api_version"))
    )
    assert whole or one.problem
    if whole and icd is not None and not {"is_portability_driver", "library_arch"} & set(icd):
        assert not one.problem


@given(data=st.binary(max_size=200))
def test_bytes_of_any_kind_are_a_problem_and_never_an_exception(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("m")
    builder = Builder(folder / "machine")
    builder.file(f"{ICD}/a.json", data)
    builder.file("/usr/share/vulkan/implicit_layer.d/a.json", data)
    made = builder.machine(stated={"os": "linux"})
    assert driver_manifests(made)[0].problem
    assert implicit_layers(made) == ()


def test_deep_nesting_and_size_are_bounded(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "machine")
    builder.file(f"{ICD}/a.json", "[" * 200_000)
    builder.file(f"{ICD}/b.json", " " * (2 << 20))
    made = builder.machine(stated={"os": "linux"})
    assert all(each.problem for each in driver_manifests(made))


LAYER = {"name": "VK_LAYER_x", "library_path": "libx.so", "disable_environment": {"NO_X": "1"}}


@pytest.mark.parametrize(
    ("layer", "env", "active"),
    [
        (LAYER, {}, True),
        (LAYER, {"NO_X": ""}, False),
        ({**LAYER, "enable_environment": {"WITH_X": "1"}}, {}, False),
        ({**LAYER, "enable_environment": {"WITH_X": "1"}}, {"WITH_X": "0"}, False),
        ({**LAYER, "enable_environment": {"WITH_X": "1"}}, {"WITH_X": "1"}, True),
        (LAYER, {"VK_LOADER_LAYERS_DISABLE": "~implicit~"}, False),
        (LAYER, {"VK_LOADER_LAYERS_DISABLE": "~all~"}, False),
        (LAYER, {"VK_LOADER_LAYERS_DISABLE": "*layer_x"}, False),
        (LAYER, {"VK_LOADER_LAYERS_DISABLE": "*layer_y"}, True),
        (LAYER, {"VK_LOADER_LAYERS_DISABLE": "~all~", "VK_LOADER_LAYERS_ALLOW": "vk_layer_x"}, True),
    ],
)
def test_an_implicit_layer_is_loaded_unasked_unless_its_variables_say_otherwise(
    layer: dict[str, Any],
    env: dict[str, str],
    active: bool,  # noqa: FBT001  # a case
    tmp_path: Path,
) -> None:
    files = {"/usr/share/vulkan/implicit_layer.d/x.json": {"layer": layer}}
    (one,) = implicit_layers(machine(tmp_path / "machine", files, env))
    assert (one.name, one.library, one.active) == ("VK_LAYER_x", "libx.so", active)


def test_a_layer_that_only_gathers_others_has_no_library(tmp_path: Path) -> None:
    several = {"layers": [{"name": "VK_LAYER_meta", "component_layers": ["a"]}, LAYER]}
    found = implicit_layers(machine(tmp_path / "machine", {"/etc/vulkan/implicit_layer.d/x.json": several}))
    assert [each.name for each in found] == ["VK_LAYER_x"]
