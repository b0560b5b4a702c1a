from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.provision import download
from assay.provision.built import built_wheels, record, record_path
from assay.provision.download import Wanted, add_built, check_wanted, fill_wheelhouse, platform_options
from assay.provision.environments import Environment
from assay.provision.lockfile import TOOLKIT, load_lock
from tests.provision.world import World, script
from tests.wheels import make_wheel

WANTED = Wanted(("3.12",), "x86_64", toolkit=False)


def test_the_wheels_of_another_python_and_processor_are_chosen() -> None:
    options = platform_options("3.14", "aarch64")
    chosen = list(itertools.pairwise(options))
    assert ("--python-version", "3.14") in chosen
    assert ("--only-binary", ":all:") in chosen
    assert {("--abi", abi) for abi in ("cp314", "abi3", "none")} <= set(chosen)
    tags = [value for option, value in chosen if option == "--platform"]
    assert {"manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"} <= set(tags)
    assert all(tag.endswith("_aarch64") for tag in tags)


@pytest.mark.parametrize("wanted", [replace(WANTED, pythons=("3.9",)), replace(WANTED, machine="vax")])
def test_what_has_no_locked_files_is_refused(wanted: Wanted) -> None:
    with pytest.raises(UsageError, match="not supported"):
        check_wanted(wanted)


def test_the_toolkit_is_left_out_where_the_machine_has_its_own() -> None:
    toolkit = {requirement.name for requirement in load_lock(TOOLKIT)}
    without = {requirement.name for requirement in WANTED.requirements}
    assert not toolkit & without
    assert toolkit <= {requirement.name for requirement in replace(WANTED, toolkit=True).requirements}
    assert "setuptools" in without
    assert "pycuda" not in without


def test_built_wheels_for_the_wanted_python_travel_with_their_records(world: World, tmp_path: Path) -> None:
    (built,) = built_wheels(world.wheelhouse, "pycuda")
    made = replace(built.provenance, abi="cp312", machine="x86_64")
    cache, folder = tmp_path / "wheels", tmp_path / "target"
    cache.mkdir()
    folder.mkdir()
    for name, provenance in (
        ("a", made),
        ("b", replace(made, abi="cp311")),
        ("c", replace(made, sdist="0" * 64)),
    ):
        record(make_wheel(cache, {}, name="pycuda", file_name=f"pycuda-1.0-{name}.whl"), provenance)
    assert add_built(cache, WANTED, folder) == [folder / "pycuda-1.0-a.whl"]
    assert [path.name for path in folder.iterdir() if path.suffix == ".json"] == [
        record_path(Path("pycuda-1.0-a.whl")).name
    ]


def test_each_python_is_asked_for_and_a_source_distribution_that_is_there_is_not(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = script(tmp_path / "pip/python", f'echo "$@" >> {tmp_path}/asked')
    monkeypatch.setattr(download, "make_tools", lambda *_arguments: Environment(asked, tmp_path))
    said: list[str] = []
    wanted = Wanted(("3.12", "3.13"), "x86_64", toolkit=True)
    fill_wheelhouse(world.request(), wanted, world.wheelhouse, said.append)
    lines = (tmp_path / "asked").read_text().splitlines()
    assert len(lines) == 2
    assert all(" download " in line and "--require-hashes" in line for line in lines)
    assert "--python-version 3.13" in lines[1]
    assert not any("--no-index" in line for line in lines)
    assert "built wheels of PyCUDA added: 0" in said[-2]
    assert not (world.project / ".assay/scratch").exists()
