"""The environment of the chain's children is built, never inherited."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SelectionError
from assay.gates.childenv import (
    ChildEnvironment,
    ChildFolders,
    ChildInputs,
    child_argv,
    child_environment,
)
from assay.gates.childtools import LoaderFolders
from assay.judge.injection import BRINGS_CODE, brings_code
from assay.model import Platform
from assay.selection import Selection

VALUES = {
    "BUN_PYTHON_EXECUTABLE": "/venv/bin/python",
    "PYTHONPATH": "/venv/lib/python3.12/site-packages",
    "BUV_RUNTIME_LIB": "/opt/libwgpu_native.so",
    "CUDA_PATH": "/usr/local/cuda-13.0/",
    "PATH": "/opt/bin:/usr/bin",
}
SELECTION = Selection(explicit=True, source="environment", values=VALUES)
FOLDERS = ChildFolders.below(Path("/scratch/child"))
LOADER = LoaderFolders(
    ("/usr/local/cuda-13.0/bin",), ("/usr/local/cuda-13.0/lib64",), "", {"NODEVICE_SELECT": "1"}
)

HOSTILE = {
    "CUDA_CACHE_PATH": "/old",
    "CUDA_INJECTION64_PATH": "/evil.so",
    "LD_AUDIT": "/evil.so",
    "LD_LIBRARY_PATH": "/evil",
    "LD_PRELOAD": "/evil.so",
    "NVCC_APPEND_FLAGS": "-DEVIL",
    "PYTHONHOME": "/evil",
    "PYTHONPATH": "/evil",
    "PYTHONSTARTUP": "/evil.py",
    "VK_INSTANCE_LAYERS": "EVIL",
    "VK_LAYER_PATH": "/evil",
    "WGPU_LIB_PATH": "/evil.so",
}


INPUTS = ChildInputs(
    selection=SELECTION,
    platform=Platform.LINUX,
    outside={},
    allow=(),
    interface="wgpu-native",
    folders=FOLDERS,
    loader=LOADER,
)


def built(outside: dict[str, str], **changed: Any) -> ChildEnvironment:  # noqa: ANN401  # any field of ChildInputs
    """Return the environment of a child on Linux, but for what is changed."""
    return child_environment(replace(INPUTS, outside=outside, **changed))


def test_linux_gets_exactly_the_selection_and_private_folders() -> None:
    assert built({"HOME": "/home/me", "USER": "me", "SECRET_TOKEN": "x"}).values == {
        "CUDA_CACHE_PATH": "/scratch/child/driver-cache",
        "CUDA_PATH": "/usr/local/cuda-13.0",
        "HOME": "/scratch/child/home",
        "LANG": "C.UTF-8",
        "LD_LIBRARY_PATH": "/usr/local/cuda-13.0/lib64",
        "NODEVICE_SELECT": "1",
        "PATH": "/usr/local/cuda-13.0/bin:/opt/bin:/usr/bin:/usr/local/bin:/bin",
        "PYCUDA_CACHE_DIR": "/scratch/child/pycuda",
        "PYTHONPATH": "/venv/lib/python3.12/site-packages",
        "PYTHONPYCACHEPREFIX": "/scratch/child/bytecode",
        "TMPDIR": "/scratch/child/tmp",
        "VK_LOADER_LAYERS_DISABLE": "~implicit~",
        "WGPU_LIB_PATH": "/opt/libwgpu_native.so",
        "XDG_CACHE_HOME": "/scratch/child/home/.cache",
    }


def test_what_brings_code_stays_out_even_when_the_plan_lists_it_and_is_named() -> None:
    environment = built(HOSTILE, allow=tuple(HOSTILE))
    assert not any("evil" in value.lower() for value in environment.values.values())
    assert environment.kept_out == tuple(sorted(HOSTILE))


def test_the_plans_list_lets_a_variable_in_and_it_is_not_called_kept_out() -> None:
    outside = {"CUDA_VISIBLE_DEVICES": "1", "VK_DRIVER_FILES": "/icd.json", "MY_OWN": "x"}
    environment = built(outside, allow=("CUDA_VISIBLE_DEVICES",))
    assert environment.values["CUDA_VISIBLE_DEVICES"] == "1"
    assert environment.kept_out == ("VK_DRIVER_FILES",)


def test_what_the_child_gets_all_the_same_is_not_called_kept_out() -> None:
    outside = {"PYTHONPATH": VALUES["PYTHONPATH"], "CUDA_PATH": "/usr/local/cuda-13.0", "LD_LIBRARY_PATH": ""}
    assert built(outside).kept_out == ()


def test_an_allowed_name_cannot_replace_what_is_built() -> None:
    environment = built({"HOME": "/home/me", "PATH": "/evil"}, allow=("HOME", "PATH"))
    assert environment.values["HOME"] == "/scratch/child/home"
    assert "/evil" not in environment.values["PATH"]


def test_another_interface_is_not_given_to_wgpu() -> None:
    assert "WGPU_LIB_PATH" not in built({}, interface="aphrody-ffi").values


def test_a_layers_switch_cannot_bring_code() -> None:
    loader = LoaderFolders(layer_switches={"LD_PRELOAD": "/evil.so", "PATH": "/evil", "HOME": "/evil"})
    values = built({}, loader=loader).values
    assert "LD_PRELOAD" not in values
    assert "/evil" not in values.values()


def test_windows_keeps_what_the_system_and_its_compiler_need() -> None:
    outside = {
        "SYSTEMROOT": r"D:\Windows",
        "include": r"C:\msvc\include",
        "LD_PRELOAD": "x",
        "AppData": r"C:\me",
    }
    selection = Selection(
        explicit=True, source="environment", values={**VALUES, "PATH": r"C:\cuda\bin;C:\msvc"}, separator=";"
    )
    loader = LoaderFolders((r"C:\cuda\bin\x64",))
    values = built(outside, platform=Platform.WINDOWS, selection=selection, loader=loader).values
    assert values["SYSTEMROOT"] == r"D:\Windows"
    assert values["include"] == r"C:\msvc\include"
    assert values["PATH"].split(";") == [
        r"C:\cuda\bin\x64",
        r"C:\cuda\bin",
        r"C:\msvc",
        r"D:\Windows\System32",
        r"D:\Windows",
        r"D:\Windows\System32\Wbem",
    ]
    assert values["TEMP"] == values["TMP"] == "/scratch/child/tmp"
    assert values["APPDATA"] == "/scratch/child/home"
    assert not {"LD_LIBRARY_PATH", "VK_LOADER_LAYERS_DISABLE", "LD_PRELOAD", "AppData"} & set(values)


def test_wsl_is_built_as_linux_and_macos_has_no_library_path() -> None:
    assert built({}, platform=Platform.WSL).values == built({}).values
    assert "LD_LIBRARY_PATH" not in built({}, platform=Platform.MACOS).values


def test_the_command_is_the_selected_interpreter_isolated() -> None:
    argv = child_argv(SELECTION, Path("/scratch/chain.zip"), "run", "--events", "3")
    assert argv == ("/venv/bin/python", "-s", "-B", "/scratch/chain.zip", "run", "--events", "3")


def test_no_interpreter_is_named_as_missing() -> None:
    with pytest.raises(SelectionError, match="BUN_PYTHON_EXECUTABLE is not set"):
        child_argv(Selection(explicit=False, source="none", values={}), Path("/scratch/chain.zip"))


NAMES = st.one_of(
    st.sampled_from(sorted(HOSTILE)),
    st.builds(
        lambda a, b: a + b, st.sampled_from(BRINGS_CODE), st.text(string.ascii_uppercase + "_", max_size=8)
    ),
    st.text(string.ascii_letters + "_", min_size=1, max_size=12),
)


@given(st.dictionaries(NAMES, st.just("/outside")), st.sampled_from(Platform))
def test_nothing_that_brings_code_is_ever_inherited(outside: dict[str, str], platform: Platform) -> None:
    values = built(outside, allow=tuple(outside), platform=platform).values
    assert not [name for name, value in values.items() if brings_code(name) and value == "/outside"]


@given(st.dictionaries(NAMES, st.text(max_size=6)))
def test_without_an_allow_list_the_outside_changes_nothing(outside: dict[str, str]) -> None:
    assert built(outside).values == built({}).values


def test_only_what_is_claimed_needs_bytecode_of_its_own() -> None:
    assert child_environment(INPUTS).values["PYTHONPYCACHEPREFIX"] == str(FOLDERS.bytecode)
    assert "PYTHONPYCACHEPREFIX" not in child_environment(replace(INPUTS, own_bytecode=False)).values
