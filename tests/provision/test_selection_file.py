from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ProvisionError
from assay.provision.compiler import HostCompiler
from assay.provision.environments import Environment
from assay.provision.interpreter import Interpreter
from assay.provision.selection_file import selection_text, selection_values
from assay.provision.toolkit import Toolkit
from assay.selection import VARIABLES, read_selection

INTERPRETER = Interpreter(
    executable="/usr/bin/python3",
    version="3.12.3",
    abi="cp312",
    machine="x86_64",
    libc="glibc 2.39",
    base="/usr/bin/python3.12",
    include="/usr/include/python3.12",
    headers=True,
    libpython="/lib/p.so",
    modules=(),
)
COMPILER = HostCompiler("/opt/gcc/bin/gcc", "/opt/gcc/bin/g++", "g++")

paths = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=f"\0{os.pathsep}"), min_size=1, max_size=20
)


@given(st.dictionaries(st.sampled_from(VARIABLES), st.one_of(paths, st.lists(paths, min_size=1, max_size=3))))
def test_what_is_written_is_what_a_selection_reads(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, str | list[str]]
) -> None:
    path = tmp_path_factory.mktemp("file") / "selection.toml"
    path.write_bytes(selection_text(values).encode())
    expected = {
        name: value if isinstance(value, str) else os.pathsep.join(value) for name, value in values.items()
    }
    assert read_selection(path) == expected


def environment(folder: Path, *, provider: bool) -> Environment:
    resources = folder / "site/wgpu/resources"
    resources.mkdir(parents=True)
    if provider:
        (resources / "libwgpu_native-release.so").write_bytes(b"")
    return Environment(folder / "bin/python", folder / "site")


def test_the_toolkit_s_compiler_is_first_and_the_host_compiler_on_the_path(tmp_path: Path) -> None:
    toolkit = Toolkit(Path("/usr/local/cuda-13.0"), 13000, ())
    values = selection_values(environment(tmp_path, provider=True), toolkit, INTERPRETER, COMPILER)
    assert values["PATH"] == ["/usr/local/cuda-13.0/bin", "/opt/gcc/bin"]
    assert values["BUN_PYTHON_LIBPYTHON"] == "/lib/p.so"
    assert values["BUV_RUNTIME_LIB"] == f"{tmp_path}/site/wgpu/resources/libwgpu_native-release.so"


def test_a_static_interpreter_has_no_shared_library_to_name(tmp_path: Path) -> None:
    static = replace(INTERPRETER, libpython="")
    toolkit = Toolkit(Path("/cuda"), 13000, ())
    values = selection_values(environment(tmp_path, provider=True), toolkit, static, COMPILER)
    assert "BUN_PYTHON_LIBPYTHON" not in values


def test_a_wgpu_without_its_library_is_an_error(tmp_path: Path) -> None:
    toolkit = Toolkit(Path("/cuda"), 13000, ())
    with pytest.raises(ProvisionError, match="libwgpu_native-release"):
        selection_values(environment(tmp_path, provider=False), toolkit, INTERPRETER, COMPILER)
