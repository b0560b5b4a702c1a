"""A selection is explicit or embedded, and says what it ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import SelectionError
from assay.model import Platform
from assay.selection import DECIDING, EMBEDDED_FILE, VARIABLES, read_selection, resolve_selection

pytestmark = pytest.mark.gate

FILE = '[selection]\nBUN_PYTHON_EXECUTABLE = "/sel/bin/python"\nPATH = ["/a", "/b"]\nCUDA_PATH = "/cuda/"\n'


def embedded(project: Path) -> None:
    (project / EMBEDDED_FILE).parent.mkdir()
    (project / EMBEDDED_FILE).write_text(FILE)


def test_common_variables_alone_never_make_an_explicit_selection(tmp_path: Path) -> None:
    embedded(tmp_path)
    environ = {"CUDA_PATH": "/usr/local/cuda", "PATH": "/usr/bin", "PYTHONPATH": "/x"}
    selection = resolve_selection(environ, tmp_path, None, Platform.LINUX)
    assert (selection.explicit, selection.source) == (False, "embedded")
    assert selection.toolkit == "/cuda"
    assert selection.ignored == ("PYTHONPATH", "CUDA_PATH")


@pytest.mark.parametrize("variable", DECIDING)
def test_each_deciding_variable_makes_an_explicit_selection(tmp_path: Path, variable: str) -> None:
    embedded(tmp_path)
    environ = {variable: "/chosen", "CUDA_PATH": "/usr/local/cuda", "PATH": "/usr/bin:/bin"}
    selection = resolve_selection(environ, tmp_path, None, Platform.LINUX)
    assert (selection.explicit, selection.source) == (True, "environment")
    assert selection.get(variable) == "/chosen"
    assert selection.toolkit == "/usr/local/cuda"
    assert selection.path == ("/usr/bin", "/bin")


def test_a_variable_that_is_set_but_empty_chooses_nothing(tmp_path: Path) -> None:
    selection = resolve_selection({"BUV_RUNTIME_LIB": ""}, tmp_path, None, Platform.LINUX)
    assert (selection.explicit, selection.source, selection.provider) == (False, "none", None)


def test_a_file_wins_over_the_environment_and_names_what_it_overrides(tmp_path: Path) -> None:
    file = tmp_path / "chosen.toml"
    file.write_text(FILE)
    environ = {"BUN_PYTHON_EXECUTABLE": "/other", "CUDA_PATH": "/cuda/", "PATH": "/usr/bin"}
    selection = resolve_selection(environ, tmp_path, file, Platform.LINUX)
    assert selection.explicit
    assert selection.executable == "/sel/bin/python"
    assert selection.ignored == ("BUN_PYTHON_EXECUTABLE",)


def test_windows_lists_are_split_at_semicolons(tmp_path: Path) -> None:
    environ = {"BUV_RUNTIME_LIB": r"C:\p.dll", "PATH": r"C:\a;C:\b;"}
    selection = resolve_selection(environ, tmp_path, None, Platform.WINDOWS)
    assert selection.path == (r"C:\a", r"C:\b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[selection",
        "[other]\n",
        "[selection]\nLD_PRELOAD = '/x'\n",
        "[selection]\nPATH = 3\n",
        "[selection]\nPATH = ['a', 1]\n",
        "[selection]\n[extra]\n",
        "selection = 1\n",
    ],
)
def test_another_form_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "chosen.toml"
    file.write_text(text)
    with pytest.raises(SelectionError):
        read_selection(file)


@pytest.mark.parametrize("make", ["absent", "folder", "binary"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, make: str) -> None:
    file = tmp_path / "chosen.toml"
    if make == "folder":
        file.mkdir()
    if make == "binary":
        file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SelectionError, match=r"chosen\.toml"):
        read_selection(file)


@given(st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=20), max_size=7))
def test_any_environment_resolves(environ: dict[str, str]) -> None:
    selection = resolve_selection(environ, Path("/nonexistent"), None, Platform.LINUX)
    assert selection.explicit is any(environ.get(name) for name in DECIDING)
