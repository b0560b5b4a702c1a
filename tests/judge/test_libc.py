"""What a binary asks of the C library, against what the machine has."""

from __future__ import annotations

import pytest

from assay.judge.libc import libc_conflicts
from assay.model import Facts

GLIBC = {"format": "elf", "needed": ["libc.so.6"], "glibc_needed": "2.28", "interpreter": ""}
MUSL = {"format": "elf", "needed": ["libc.musl-x86_64.so.1"], "glibc_needed": "", "interpreter": ""}


def machine(kind: str, provides: str = "") -> Facts:
    return {"libc": {"kind": kind, "provides": provides, "version": provides}}


@pytest.mark.parametrize("provides", ["2.28", "2.39", "3.0"])
def test_a_c_library_as_new_as_needed_or_newer_is_healthy(provides: str) -> None:
    assert not list(libc_conflicts(GLIBC, machine("glibc", provides)))


@pytest.mark.gate
@pytest.mark.parametrize("provides", ["2.27", "2.9", "2.3.4"])
def test_an_older_one_is_named_with_both_versions(provides: str) -> None:
    ((observed, expected),) = libc_conflicts(GLIBC, machine("glibc", provides))
    assert "GLIBC_2.28" in observed
    assert provides in observed
    assert provides in expected


def test_a_glibc_build_on_musl_and_the_reverse_are_named() -> None:
    ((observed, _),) = libc_conflicts(GLIBC, machine("musl"))
    assert "glibc build" in observed
    assert "libc.so.6" in observed
    ((other, expected),) = libc_conflicts(MUSL, machine("glibc", "2.39"))
    assert "musl build" in other
    assert expected == "a glibc build"


def test_a_static_binary_and_an_unknown_machine_have_nothing_to_conflict() -> None:
    static = {"format": "elf", "needed": [], "glibc_needed": "", "interpreter": ""}
    assert not list(libc_conflicts(static, machine("musl")))
    assert not list(libc_conflicts(GLIBC, machine("")))
    assert not list(libc_conflicts({**GLIBC, "format": "pe"}, machine("musl")))
