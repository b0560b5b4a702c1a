from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import ProvisionError, StorageError, UsageError
from assay.provision.built import Provenance
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.pycuda_wheel import BuildTools, build_wheel, cached_wheel, configure_options, unpack
from assay.provision.toolkit import Toolkit, inspect_toolkit
from tests.provision.world import make_toolkit, script

MADE = Provenance("5" * 64, "cp312", "x86_64", "glibc 2.36", 13000, "g++ 99.88.77")
BUILDER = """
echo "$@" >> {log}
echo "CC=$CC HOME=$HOME" >> {log}
case "$2" in
*parallel_build.py) {build} ;;
-c) {load} ;;
esac
"""


def make_sdist(path: Path, members: dict[str, bytes]) -> Path:
    """Write a source distribution with these members."""
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    return make_sdist(
        tmp_path / "pycuda-1.0.tar.gz", {"pycuda-1.0/configure.py": b"", "pycuda-1.0/setup.py": b""}
    )


@pytest.fixture
def toolkit(tmp_path: Path) -> Toolkit:
    return inspect_toolkit(make_toolkit(tmp_path / "cuda"))


BUILDS = 'echo wheel > "$3/pycuda-1.0-py3-none-any.whl"'
"""What a builder does that works."""


def tools(children: Children, folder: Path, build: str, load: str = "true") -> BuildTools:
    """Return tools whose interpreter logs what it is asked, builds by ``build`` and loads by ``load``."""
    python = script(folder / "python", BUILDER.format(log=folder / "asked", build=build, load=load))
    return BuildTools(children, python, HostCompiler("/cc", "/c++", "c++"), folder / "stub", 3)


def places(folder: Path) -> tuple[Path, Path]:
    (folder / "scratch").mkdir()
    return folder / "scratch", folder / "cache"


def test_a_build_is_configured_for_the_toolkit_and_kept_with_its_record(
    children: Children, tmp_path: Path, sdist: Path, toolkit: Toolkit
) -> None:
    folders = places(tmp_path)
    working = tools(children, tmp_path, BUILDS)
    built = build_wheel(working, sdist, toolkit, MADE, folders)
    asked = (tmp_path / "asked").read_text()
    assert f"configure.py --cuda-root={toolkit.root} --cuda-inc-dir={toolkit.root}/include" in asked
    assert f"parallel_build.py {tmp_path}/scratch 3" in asked
    assert f"CC=/cc HOME={tmp_path}/scratch/source/pycuda-1.0" in asked
    assert cached_wheel(folders[1], MADE) == built
    assert cached_wheel(folders[1], replace(MADE, compiler="another")) is None


def test_a_newer_build_replaces_wheel_and_record_together(
    children: Children, tmp_path: Path, sdist: Path, toolkit: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    working, cache = tools(children, tmp_path, BUILDS), tmp_path / "cache"
    newer = replace(MADE, compiler="newer")
    for number, made in enumerate((MADE, newer)):
        (tmp_path / str(number)).mkdir()
        build_wheel(working, sdist, toolkit, made, (tmp_path / str(number), cache))
    assert cached_wheel(cache, MADE) is None
    assert cached_wheel(cache, newer) is not None
    (tmp_path / "2").mkdir()
    monkeypatch.setattr("assay.provision.pycuda_wheel.record", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build_wheel(working, sdist, toolkit, MADE, (tmp_path / "2", cache))
    assert cached_wheel(cache, newer) is cached_wheel(cache, MADE) is None


def interrupted(*_arguments: object) -> None:
    raise KeyboardInterrupt


def test_nothing_but_libcuda_is_linked_and_the_stub_is_on_no_run_time_path(toolkit: Toolkit) -> None:
    options = configure_options(toolkit, Path("/stub"))
    assert "--no-cuda-enable-curand" in options
    assert "--cudadrv-lib-dir=/stub" in options
    assert not any("rpath" in option for option in options)


@pytest.mark.parametrize("name", ["a,b", "a${HOME}b"])
def test_a_folder_that_the_configuration_would_misread_is_refused(toolkit: Toolkit, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be told"):
        configure_options(replace(toolkit, root=Path("/cuda") / name), Path("/stub"))
    with pytest.raises(UsageError, match="cannot be told"):
        configure_options(toolkit, Path("/project") / name)


@pytest.mark.parametrize("build", ["echo cuda.h missing >&2; exit 1", "true"])
def test_a_build_that_leaves_no_wheel_is_an_error(
    children: Children, tmp_path: Path, sdist: Path, toolkit: Toolkit, build: str
) -> None:
    with pytest.raises(ProvisionError, match="PyCUDA could not be compiled") as caught:
        build_wheel(tools(children, tmp_path, build), sdist, toolkit, MADE, places(tmp_path))
    assert "build-essential" in caught.value.remedy
    assert not (tmp_path / "cache").exists()


def test_an_extension_that_does_not_load_is_not_kept(
    children: Children, tmp_path: Path, sdist: Path, toolkit: Toolkit
) -> None:
    load = 'echo "$LD_LIBRARY_PATH: undefined symbol: cuArrayCreate_v2" >&2; exit 1'
    with pytest.raises(ProvisionError, match=r"could not be loaded.*\n.*undefined symbol") as caught:
        build_wheel(tools(children, tmp_path, BUILDS, load), sdist, toolkit, MADE, places(tmp_path))
    assert f"{tmp_path}/scratch/drivers: undefined" in caught.value.observed
    assert not (tmp_path / "cache").exists()


def test_a_configuration_that_fails_is_an_error(
    children: Children, tmp_path: Path, sdist: Path, toolkit: Toolkit
) -> None:
    broken = replace(tools(children, tmp_path, "true"), python=script(tmp_path / "broken", "exit 3"))
    with pytest.raises(ProvisionError, match="could not be configured: exit 3"):
        build_wheel(broken, sdist, toolkit, MADE, places(tmp_path))


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b\x08\x00cut off"])
def test_what_is_no_archive_is_said(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.tar.gz").write_bytes(data)
    with pytest.raises((ProvisionError, StorageError), match=r"x\.tar\.gz"):
        unpack(tmp_path / "x.tar.gz", tmp_path / "source")


@pytest.mark.parametrize("members", [{"a/configure.py": b"", "b/x": b""}, {"a/setup.py": b""}, {}])
def test_an_archive_of_something_else_is_said(tmp_path: Path, members: dict[str, bytes]) -> None:
    with pytest.raises(ProvisionError, match="no single top folder"):
        unpack(make_sdist(tmp_path / "x.tar.gz", members), tmp_path / "source")


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9])
def test_an_archive_that_is_cut_off_is_said(tmp_path: Path, kept: float) -> None:
    noise = hashlib.sha512(b"noise").digest() + bytes(range(256)) * 400
    whole = make_sdist(tmp_path / "whole.tar.gz", {"a/configure.py": noise}).read_bytes()
    (tmp_path / "x.tar.gz").write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises((ProvisionError, StorageError), match=r"x\.tar\.gz"):
        unpack(tmp_path / "x.tar.gz", tmp_path / "source")


def test_a_member_outside_is_not_written(tmp_path: Path) -> None:
    archive = make_sdist(tmp_path / "x.tar.gz", {"../outside": b"", "a/configure.py": b""})
    with pytest.raises(ProvisionError, match="outside"):
        unpack(archive, tmp_path / "source")
    assert not (tmp_path / "outside").exists()
