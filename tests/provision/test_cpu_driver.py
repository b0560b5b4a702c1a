"""The CPU's driver is built once for what it is made of, whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.cpu_driver import PACKAGE, SOURCES, CpuDriver, make_cpu_driver, source_files
from tests.provision.world import script

GCC = HostCompiler(str(shutil.which("gcc")), str(shutil.which("g++")), "g++ here")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> CpuDriver:
    """Return a driver that this machine's compiler made."""
    folder = tmp_path_factory.mktemp("driver")
    return make_cpu_driver(Children({"PATH": "/usr/bin:/bin"}, folder / "log"), GCC, folder / "drivers")


def test_its_folder_holds_the_library_and_the_whole_package(driver: CpuDriver) -> None:
    python = {name for name in source_files(SOURCES) if name.endswith(".py") and name != "driver/start.py"}
    package = driver.folder / PACKAGE
    assert {path.relative_to(package).as_posix() for path in package.rglob("*.py")} == python
    assert driver.library.is_file()
    assert (driver.folder / "start.py").is_file()
    assert driver.folder.name == driver.digest[:16]


def test_it_is_made_once_and_anew_for_another_compiler_or_source(
    driver: CpuDriver, children: Children, tmp_path: Path
) -> None:
    inode = driver.library.stat().st_ino
    cache = driver.folder.parent
    assert make_cpu_driver(children, GCC, cache) == driver
    assert driver.library.stat().st_ino == inode
    changed = tmp_path / "rehearsal"
    shutil.copytree(SOURCES, changed, ignore=shutil.ignore_patterns("__pycache__"))
    (changed / "memory.py").write_text("# another\n")
    assert make_cpu_driver(children, GCC, cache, changed).digest != driver.digest
    other = HostCompiler(GCC.cc, GCC.cxx, "another")
    assert make_cpu_driver(children, other, cache).digest != driver.digest


def test_a_compiler_that_fails_leaves_nothing(children: Children, tmp_path: Path) -> None:
    broken = HostCompiler(str(script(tmp_path / "cc", "echo no assembler >&2; exit 1")), GCC.cxx, "broken")
    with pytest.raises(ProvisionError, match="no assembler") as caught:
        make_cpu_driver(children, broken, tmp_path / "drivers")
    assert "CC" in caught.value.remedy
    assert list((tmp_path / "drivers").iterdir()) == []


def test_another_machine_is_refused(
    children: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(ProvisionError, match="riscv64"):
        make_cpu_driver(children, GCC, tmp_path)


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (["--cubin", "-arch", "sm_75", "kernel.cu"], "-lineinfo --ptx -arch sm_75 kernel.cu -o kernel.cubin"),
        (["--cubin", "-o", "a b.cubin", "x/k.cu"], "-lineinfo --ptx -o a b.cubin x/k.cu"),
        (["--ptx", "kernel.cu"], "--ptx kernel.cu"),
        (["--version"], "--version"),
    ],
)
def test_the_wrapper_makes_ptx_under_the_name_of_a_cubin(
    driver: CpuDriver, tmp_path: Path, given: list[str], passed: str
) -> None:
    script(tmp_path / "nvcc", 'echo "$@"')
    env = {"PATH": f"{driver.nvcc.parent}:{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([str(driver.nvcc), *given], env=env, capture_output=True, text=True, check=True)  # noqa: S603  # the wrapper
    assert done.stdout.strip() == passed


def test_the_wrapper_without_a_compiler_says_so(driver: CpuDriver) -> None:
    env = {"PATH": f"{driver.nvcc.parent}:/usr/bin:/bin"}
    done = subprocess.run([str(driver.nvcc)], env=env, capture_output=True, text=True, check=False)  # noqa: S603  # the wrapper
    assert done.returncode == 127
    assert "no other nvcc" in done.stderr
