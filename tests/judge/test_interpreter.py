"""What the names of CPython's shared libraries say."""

from __future__ import annotations

import sys
import sysconfig

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.interpreter import library_name


@pytest.mark.gate
@pytest.mark.parametrize(
    ("name", "version", "flags"),
    [
        ("libpython3.12.so.1.0", (3, 12), ""),
        ("libpython3.12d.so.1.0", (3, 12), "d"),
        ("libpython3.13t.so.1.0", (3, 13), "t"),
        ("libpython3.14td.so.1.0", (3, 14), "dt"),
        ("libpython3.7m.so.1.0", (3, 7), ""),
        ("libpython3.12.dylib", (3, 12), ""),
        ("python312.dll", (3, 12), ""),
        ("python312_d.dll", (3, 12), "d"),
        ("python313t.dll", (3, 13), "t"),
        ("Python313t_d.DLL", (3, 13), "dt"),
        ("python39.dll", (3, 9), ""),
    ],
)
def test_a_librarys_name_says_version_and_abi(name: str, version: tuple[int, int], flags: str) -> None:
    said = library_name(name)
    assert said is not None
    assert (said.version, said.flags) == (version, frozenset(flags))


@pytest.mark.parametrize("name", ["libpython3.so", "python3.dll", "libpython.so", "libpythonic3.12.so", ""])
def test_the_stable_abi_and_other_libraries_are_none_of_a_version(name: str) -> None:
    assert library_name(name) is None


def test_this_interpreters_own_name_says_its_own_version() -> None:
    name = sysconfig.get_config_var("INSTSONAME") or ""
    said = library_name(name)
    if said is None:  # a static build names an archive
        assert name.endswith((".a", ".lib")) or not name
    else:
        assert said.version == sys.version_info[:2]


@given(st.text())
def test_no_name_is_too_odd(name: str) -> None:
    said = library_name(name)
    assert said is None or len(said.version) == 2
