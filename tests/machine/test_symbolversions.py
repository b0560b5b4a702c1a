"""Versions of symbols: what a library that is found defines, against what is needed of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine.loader import resolve_needed
from assay.machine.symbolversions import Unmet, family, numbers, unmet_versions
from tests.machines.build_elf import elf_bytes
from tests.machines.building import Builder

LIB = "/usr/lib/x86_64-linux-gnu"


def unmet(folder: Path, needs: list[str], provides: list[str]) -> tuple[Unmet, ...]:
    builder = Builder(folder)
    builder.program(
        "/usr/bin/sh",
        elf_bytes(kind="executable", interpreter="/lib64/ld-linux-x86-64.so.2", needed=["libc.so.6"]),
    )
    builder.file(f"{LIB}/libc.so.6", elf_bytes(soname="libc.so.6", provides=["GLIBC_2.36"]))
    builder.file(f"{LIB}/libx.so.1", elf_bytes(soname="libx.so.1", needed=["libc.so.6"], provides=provides))
    builder.file("/opt/ext.so", elf_bytes(needed=["libx.so.1"], needs={"libx.so.1": needs}))
    machine = builder.machine(stated={"os": "linux", "arch": "x86_64"})
    return unmet_versions(machine, resolve_needed(machine, "/opt/ext.so"))


@pytest.mark.parametrize(
    ("needs", "provides", "expected"),
    [
        (["X_1.2"], ["X_1.2"], []),
        (["X_1.2"], ["X_1.3"], []),  # families grow
        (["X_1.10"], ["X_1.9"], ["X_1.10"]),
        (["X_1.2", "X_1.4"], ["X_1.1"], ["X_1.4"]),  # the highest tells all
        (["X_1.2", "Y_1"], ["X_1.1", "Z_9"], ["X_1.2", "Y_1"]),
        (["X_1.2"], [], []),  # a library without versions is taken with a warning
        (["LIBFOO"], ["LIBFOO"], []),
        (["LIBFOO"], ["LIBBAR"], ["LIBFOO"]),
    ],
)
def test_what_is_needed_and_not_defined_is_named(
    needs: list[str], provides: list[str], expected: list[str], tmp_path: Path
) -> None:
    assert [one.version for one in unmet(tmp_path / "machine", needs, provides)] == expected


def test_the_highest_that_there_is_is_told(tmp_path: Path) -> None:
    (one,) = unmet(tmp_path / "machine", ["X_1.10"], ["X_1.2", "X_1.9", "Y_7"])
    assert (one.highest, one.path, one.needed_by) == ("X_1.9", f"{LIB}/libx.so.1", "/opt/ext.so")


@given(st.text(max_size=60))
def test_any_name_has_a_family_with_numbers_or_neither(name: str) -> None:
    assert bool(family(name)) == bool(numbers(name))


@given(st.lists(st.integers(0, 99999), min_size=1, max_size=4))
def test_numbers_are_read_as_numbers(parts: list[int]) -> None:
    name = "GLIBCXX_" + ".".join(map(str, parts))
    assert (family(name), numbers(name)) == ("GLIBCXX", tuple(parts))
