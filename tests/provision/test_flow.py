from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from collections import namedtuple
from pathlib import Path

import pytest

from assay.errors import AssayError, ProvisionError, StorageError, UsageError
from assay.provision.built import built_wheels
from assay.provision.flow import provision
from assay.provision.job import require_linux
from assay.provision.store import Store, exclusive
from assay.selection import read_selection
from tests.provision.world import World, add_pycuda, make_toolkit, script
from tests.wheels import VERSION, make_wheel

Provisioned = tuple[World, tuple[str, ...]]
"""A world that has been provisioned, and what was said."""


def provisioned(world: World, **changed: object) -> list[str]:
    said: list[str] = []
    provision(world.request(**changed), said.append)
    return said


def store(world: World) -> Store:
    return Store(world.project / ".assay")


def nothing_looks_finished(world: World) -> bool:
    return not (
        store(world).selection.exists() or store(world).file.exists() or store(world).scratch.exists()
    )


def test_a_selection_around_a_toolkit_from_a_wheelhouse_names_every_part(
    provisioned_world: Provisioned,
) -> None:
    world, _ = provisioned_world
    values = read_selection(store(world).file)
    site = Path(values["PYTHONPATH"])
    assert Path(values["BUN_PYTHON_EXECUTABLE"]).parent.parent == store(world).selection
    assert Path(values["BUV_RUNTIME_LIB"]).read_bytes() == b"a library\n"
    assert (site / "pycuda/compiler.py").is_file()
    assert values["CUDA_PATH"] == str(world.toolkit)
    assert values["PATH"] == f"{world.toolkit}/bin:{world.bin}"


def test_the_selected_interpreter_is_a_copy_that_imports_what_was_installed(
    provisioned_world: Provisioned,
) -> None:
    world, _ = provisioned_world
    python = Path(read_selection(store(world).file)["BUN_PYTHON_EXECUTABLE"])
    code = "import numpy, pycuda.compiler, sys; print(sys.prefix)"
    ended = subprocess.run([python, "-I", "-B", "-c", code], capture_output=True, check=True)  # noqa: S603  # made here
    assert ended.stdout.decode().strip() == str(store(world).selection)
    assert not python.is_symlink()


def test_the_selection_has_no_pip_and_no_bytecode(provisioned_world: Provisioned) -> None:
    world, _ = provisioned_world
    site = Path(read_selection(store(world).file)["PYTHONPATH"])
    assert not (site / "pip").exists()
    assert not list(site.rglob("*.pyc"))


def test_size_and_time_are_said_before_anything_is_made(
    provisioned_world: Provisioned,
) -> None:
    _, said = provisioned_world
    assert "MB of disk" in said[1]
    assert " s (" in said[1]
    assert said[2] == "installing the packages"
    assert any(line.startswith("done in") for line in said)


def test_the_mark_holds_what_the_wheel_was_built_from(
    provisioned_world: Provisioned,
) -> None:
    world, _ = provisioned_world
    sdist = (world.wheelhouse / f"pycuda-{VERSION}.tar.gz").read_bytes()
    assert hashlib.sha256(sdist).hexdigest() in store(world).mark.read_text()


def test_pycuda_was_built_against_the_stub_and_is_kept_for_the_next_time(
    provisioned_world: Provisioned,
) -> None:
    world, said = provisioned_world
    assert "building PyCUDA's wheel with g++ 99.88.77" in said
    (built,) = built_wheels(store(world).wheels, "pycuda")
    assert built.sha256 in store(world).mark.read_text()
    assert list(store(world).stubs.glob("*/libcuda.so"))
    assert not store(world).scratch.exists()


def test_the_selection_file_has_one_table(provisioned_world: Provisioned) -> None:
    world, _ = provisioned_world
    assert set(tomllib.loads(store(world).file.read_text())) == {"selection"}


def test_the_second_call_needs_nothing_and_restores_only_a_lost_selection_file(world: World) -> None:
    provisioned(world)
    before = store(world).mark.stat()
    for path in world.wheelhouse.iterdir():
        path.unlink()
    store(world).file.unlink()
    said = provisioned(world)
    assert said == [f"the selection is there: {store(world).file}"]
    assert store(world).mark.stat().st_ino == before.st_ino
    assert store(world).file.is_file()


def test_a_file_with_another_digest_stops_it_before_anything_is_made(world: World) -> None:
    wheel = make_wheel(world.wheelhouse, {"numpy/__init__.py": b"evil = True\n"}, name="numpy")
    with pytest.raises(StorageError, match=r"numpy-1\.0-py3-none-any\.whl has the SHA-256") as caught:
        provisioned(world)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() in caught.value.observed
    assert nothing_looks_finished(world)


def test_missing_wheels_are_all_named(world: World) -> None:
    for name in ("wgpu", "cuda_bindings"):
        (world.wheelhouse / f"{name}-{VERSION}-py3-none-any.whl").unlink()
    with pytest.raises(StorageError, match=r"has no file of cuda-bindings 1\.0, wgpu 1\.0") as caught:
        provisioned(world)
    assert "--download" in caught.value.remedy
    assert nothing_looks_finished(world)


def test_a_wheel_for_another_interpreter_is_named_as_missing(world: World) -> None:
    wheel = world.wheelhouse / f"wgpu-{VERSION}-py3-none-any.whl"
    wheel.rename(world.wheelhouse / f"wgpu-{VERSION}-cp27-cp27m-win32.whl")
    with pytest.raises(StorageError, match=r"no file of wgpu==1\.0 for this interpreter"):
        provisioned(world)
    assert nothing_looks_finished(world)


def test_a_built_wheel_that_is_not_the_recorded_one_is_refused(world: World) -> None:
    wheel = next(world.wheelhouse.glob("pycuda-*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(StorageError, match="does not describe"):
        provisioned(world)
    assert nothing_looks_finished(world)


@pytest.mark.parametrize(
    "changed", [{"abi": "cp27"}, {"machine": "vax"}, {"libc": "glibc 99.0"}, {"toolkit": 12080}]
)
def test_a_built_wheel_for_something_else_is_not_taken(world: World, changed: dict[str, object]) -> None:
    sdist = world.wheelhouse / f"pycuda-{VERSION}.tar.gz"
    add_pycuda(world, sdist, **changed)
    sdist.unlink()
    with pytest.raises(StorageError, match=r"has no pycuda-1\.0\.tar\.gz"):
        provisioned(world)


def test_a_failed_trial_leaves_nothing_finished_and_what_the_toolkit_lacks_is_said(world: World) -> None:
    script(world.toolkit / "bin/nvcc", "echo 'unsupported GNU version' >&2; exit 1")
    (world.toolkit / "lib64/libnvrtc.so.13").unlink()
    said: list[str] = []
    with pytest.raises(ProvisionError, match="does not work") as caught:
        provision(world.request(), said.append)
    assert "host compiler" in caught.value.remedy
    assert any("has no NVRTC:" in line for line in said)
    assert nothing_looks_finished(world)


def test_another_toolkit_takes_the_place_only_when_its_selection_is_whole(
    world: World, tmp_path: Path
) -> None:
    provisioned(world)
    text, inode = store(world).file.read_bytes(), store(world).mark.stat().st_ino
    other = make_toolkit(tmp_path / "other toolkit")
    nvcc = (other / "bin/nvcc").read_bytes()
    script(other / "bin/nvcc", "exit 1")
    with pytest.raises(ProvisionError):
        provisioned(world, toolkit=other)
    assert store(world).file.read_bytes() == text
    assert store(world).mark.stat().st_ino == inode
    (other / "bin/nvcc").write_bytes(nvcc)
    provisioned(world, toolkit=other)
    assert read_selection(store(world).file)["CUDA_PATH"] == str(other)


def test_two_at_once_are_refused(world: World) -> None:
    with exclusive(store(world)), pytest.raises(StorageError, match="another process is provisioning"):
        provisioned(world)


def test_a_full_disk_is_known_beforehand(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024  # the shape of shutil.disk_usage's result
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage(1, 1, 0))
    with pytest.raises(StorageError, match="has 0 MB free"):
        provisioned(world)
    assert nothing_looks_finished(world)


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"python": "/nonexistent/python"}, UsageError, "cannot be run"),
        ({"python": "/bin/sh"}, UsageError, "does not run as a Python interpreter"),
        ({"toolkit": Path("/nonexistent")}, UsageError, "is not a folder"),
        ({"wheelhouse": Path("/nonexistent")}, UsageError, "is not a folder"),
        ({"environ": {"PATH": "/nonexistent"}}, ProvisionError, "no gcc or cc on PATH"),
        ({"environ": {"CC": "icc", "PATH": "/usr/bin"}}, ProvisionError, "CC names icc"),
    ],
)
def test_a_wrong_part_is_named(
    world: World, changed: dict[str, object], error: type[AssayError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        provisioned(world, **changed)
    assert caught.value.expected
    assert caught.value.remedy
    assert nothing_looks_finished(world)


def test_without_headers_nothing_is_built(world: World) -> None:
    for path in world.wheelhouse.glob("pycuda-*.whl*"):
        path.unlink()
    blind = script(
        world.bin / "blind-python",
        f'exec {sys.executable} "$@" | sed "s/\\"headers\\": true/\\"headers\\": false/"',
    )
    with pytest.raises(UsageError, match=r"has no Python\.h"):
        provisioned(world, python=str(blind))
    assert nothing_looks_finished(world)


def test_only_linux_is_provisioned() -> None:
    require_linux("linux")
    with pytest.raises(UsageError, match="not on darwin") as caught:
        require_linux("darwin")
    assert "--selection" in caught.value.remedy
