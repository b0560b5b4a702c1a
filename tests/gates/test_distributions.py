"""Installed distributions and modules, read from folders as Python finds them."""

from __future__ import annotations

import importlib.machinery
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from assay.gates.distributions import (
    distribution_facts,
    distributions_in,
    module_files,
    owned,
    python_of,
)
from assay.judge.packages import normal
from assay.machine import Machine
from tests.machines.building import Builder

REAL = Machine(Path("/"), {})
HERE = sysconfig.get_paths()["purelib"]


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def test_this_interpreters_packages_are_those_that_importlib_finds() -> None:
    peers = {normal(one.metadata["Name"]): one.version for one in metadata.distributions(path=[HERE])}
    read = {one.name: one.version for one in distributions_in(REAL, HERE)}
    assert len(peers) > 5
    assert {name: version for name, version in read.items() if "+" not in version} == {
        name: version for name, version in peers.items() if "+" not in version
    }


def test_a_wheels_tags_and_records_digest_are_read(builder: Builder) -> None:
    info = "/site/cuda_bindings-13.0.3.dist-info"
    builder.file(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: cp312-cp312-linux_x86_64\nTag: py3-none-any\n")
    builder.file(f"{info}/RECORD", "")
    builder.folder_at("/site/numpy-1.26.4.egg-info")
    machine = builder.machine(stated={"os": "linux"})
    bindings, numpy = (distribution_facts(machine, one) for one in distributions_in(machine, "/site"))
    assert (bindings["name"], bindings["version"]) == ("cuda-bindings", "13.0.3")
    assert bindings["tags"] == ["cp312-cp312-linux_x86_64", "py3-none-any"]
    empty = (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # FIPS 180-4: SHA-256 of nothing
    )
    assert bindings["record_sha256"] == empty
    assert (numpy["name"], numpy["version"], numpy["tags"], numpy["record_sha256"]) == (
        "numpy",
        "1.26.4",
        [],
        None,
    )


def test_a_folder_that_is_not_there_has_none(builder: Builder) -> None:
    assert not distributions_in(builder.machine(stated={"os": "linux"}), "/nowhere")


def test_the_first_regular_package_or_module_of_a_path_wins(builder: Builder, tmp_path: Path) -> None:
    builder.file("/b/cuda.py")
    builder.file("/c/cuda/__init__.py")
    builder.folder_at("/a/cuda")
    machine = builder.machine(stated={"os": "linux"})
    found = list(module_files(machine, "cuda", ["/a", "/b", "/c"]))
    assert found == [("/b", "/b/cuda.py"), ("/c", "/c/cuda/__init__.py")]
    folders = [str(tmp_path / "machine" / "root" / name) for name in "abc"]
    peer = importlib.machinery.PathFinder.find_spec("cuda", folders)
    assert peer is not None
    assert peer.origin == f"{folders[1]}/cuda.py"


def test_a_package_comes_before_a_module_of_its_folder(builder: Builder) -> None:
    builder.file("/a/wgpu.py")
    builder.file("/a/wgpu/__init__.py")
    machine = builder.machine(stated={"os": "linux"})
    assert list(module_files(machine, "wgpu", ["/a"])) == [("/a", "/a/wgpu/__init__.py")]


def test_an_extension_module_counts(builder: Builder) -> None:
    builder.file("/a[1]/pycuda.cpython-312-x86_64-linux-gnu.so")
    machine = builder.machine(stated={"os": "linux"})
    assert [folder for folder, _ in module_files(machine, "pycuda", ["/a[1]"])] == ["/a[1]"]


def test_a_module_belongs_to_the_distribution_beside_it(builder: Builder) -> None:
    builder.folder_at("/site/nvidia_ml_py-13.0.dist-info")
    machine = builder.machine(stated={"os": "linux"})
    assert owned(machine, "pynvml", "/site")
    assert not owned(machine, "cuda", "/site")


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/opt/app/lib/python3.12/site-packages", "3.12"),
        ("/opt/app/lib64/python3.9/site-packages", "3.9"),
        ("/usr/lib/python3/dist-packages", ""),
        (r"C:\app\Lib\site-packages", ""),
    ],
)
def test_a_folders_path_names_its_python(path: str, version: str) -> None:
    assert python_of(path) == version
