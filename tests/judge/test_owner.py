"""Whose a file is, told from its rooted path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.owner import Owner, Owners, below, is_drivers_name, is_libpython, name_of

VENV = Owners("$SELECTION", "/usr", "3.12", "")
PYENV = Owners("$SELECTION", "$HOME/.pyenv/versions/3.12.1", "3.12", "/drv")
WINDOWS = Owners("$SELECTION", "C:\\Python312", "3.12", "")


@pytest.mark.parametrize(
    ("owners", "path", "owner"),
    [
        (VENV, "$TOOLKIT/lib64/libnvrtc.so.13", Owner.TOOLKIT),
        (VENV, "$SELECTION/lib/python3.12/site-packages/x.so", Owner.SELECTION),
        (VENV, "$PYTHONPATH/x.so", Owner.SELECTION),
        (VENV, "$BUV_RUNTIME_LIB", Owner.SELECTION),
        (VENV, "/usr/lib/python3.12/lib-dynload/_ctypes.so", Owner.SELECTION),
        (VENV, "/usr/lib/python3/dist-packages/numpy/x.so", Owner.SELECTION),
        (VENV, "/usr/bin/python3.12", Owner.SELECTION),
        (VENV, "/usr/lib/x86_64-linux-gnu/libpython3.12.so.1.0", Owner.SELECTION),
        (VENV, "/usr/lib/x86_64-linux-gnu/libc.so.6", Owner.SYSTEM),
        (VENV, "/usr/local/nvidia/lib64/libcuda.so.580.1", Owner.SYSTEM),
        (VENV, "/usr/lib/wsl/lib/libcuda.so.1", Owner.SYSTEM),
        (VENV, "/usr/bin/spy.so", Owner.NOBODY),
        (VENV, "/opt/spy.so", Owner.NOBODY),
        (VENV, "$HOME/spy.so", Owner.NOBODY),
        (VENV, "$PROJECT/spy.so", Owner.NOBODY),
        (VENV, "$SELECTIONS/spy.so", Owner.NOBODY),
        (VENV, "/usr/lib/../../home/spy.so", Owner.NOBODY),
        (VENV, "$SELECTION/../spy.so", Owner.NOBODY),
        (VENV, "/usr/lib64x/spy.so", Owner.NOBODY),
        (VENV, "", Owner.NOBODY),
        (PYENV, "$HOME/.pyenv/versions/3.12.1/lib/libpython3.12.so.1.0", Owner.SELECTION),
        (PYENV, "/drv/libcuda.so.1", Owner.SYSTEM),
        (PYENV, "/drv/libnvidia-ptxjitcompiler.so.580.1", Owner.SYSTEM),
        (PYENV, "/drv/libspy.so", Owner.NOBODY),
        (PYENV, "/drv/deeper/libcuda.so.1", Owner.NOBODY),
        (WINDOWS, "$TOOLKIT\\bin\\x64\\nvrtc64_130_0.dll", Owner.TOOLKIT),
        (WINDOWS, "C:\\Windows\\System32\\nvcuda.dll", Owner.SYSTEM),
        (WINDOWS, "C:\\Python312\\DLLs\\_ctypes.pyd", Owner.SELECTION),
        (WINDOWS, "D:\\spy.dll", Owner.NOBODY),
    ],
)
def test_owners(owners: Owners, path: str, owner: Owner) -> None:
    assert owners.of(path) is owner


@pytest.mark.parametrize("prefix", ["/", "", "/usr", "C:", "$", "."])
def test_an_interpreter_that_claims_the_whole_system_does_not_get_it(prefix: str) -> None:
    owners = Owners(prefix, prefix, "3.12", "")
    assert owners.of("/opt/spy.so") is Owner.NOBODY
    assert owners.of("/usr/share/spy.so") is Owner.NOBODY


def test_the_systems_libraries_are_no_modules() -> None:
    assert not VENV.has_module("/usr/lib/x86_64-linux-gnu/spy.py")
    assert VENV.has_module("/usr/lib/python3.12/json/__init__.py")


@pytest.mark.parametrize(
    "name", ["libcuda.so.1", "libnvidia-glcore.so.580.1", "libGLX_nvidia.so.0", "libnvoptix.so.1"]
)
def test_names_of_the_drivers_libraries(name: str) -> None:
    assert is_drivers_name(name)


@pytest.mark.parametrize("name", ["libspy.so", "xlibcuda.so", "libcuda.so.1/../x", ""])
def test_other_names_are_not_the_drivers(name: str) -> None:
    assert not is_drivers_name(name)


@pytest.mark.parametrize(
    "path", ["/usr/lib/libpython3.12.so.1.0", "libpython3.13t.dylib", r"C:\x\python312.dll"]
)
def test_names_of_libpython(path: str) -> None:
    assert is_libpython(path)


@given(st.text(), st.text(), st.text(), st.text(), st.text())
def test_no_text_breaks_it(path: str, prefix: str, base: str, minor: str, driver: str) -> None:
    assert Owners(prefix, base, minor, driver).of(path) in Owner
    assert "/" not in name_of(path)


@given(st.text(st.characters(exclude_characters="/"), min_size=1, max_size=8))
def test_below_needs_a_whole_part(name: str) -> None:
    assert below(f"/a/{name}", "/a") is (name != "..")
    assert not below(f"/a{name}", "/a")
