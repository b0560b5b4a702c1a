"""What the parent sees of a held process, and what runs at an interpreter's start."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.gates.chain_seen import look, mapped_facts, module_facts, startup_facts
from assay.gates.childenv import ChildEnvironment, ChildFolders, ChildSetup
from assay.gates.childzip import ChildZip
from assay.judge.reading import mapping, objects, text
from assay.machine import Machine, live
from assay.machine.stated import Stated
from assay.model import Json

NOWHERE = 2**22 + 1
"""A process number beyond Linux's greatest (proc_sys_kernel(5), pid_max)."""


def machine(root: Path, **files: str) -> Machine:
    """Return a machine with files given by path (``__`` for a slash)."""
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Machine(root, MappingProxyType({}), Stated(os="linux", arch="x86_64"))


@pytest.fixture
def mapped(tmp_path: Path) -> Iterator[Path]:
    """Return a file that this process has mapped for execution."""
    path = tmp_path / "libcuda.so.1"
    path.write_bytes(b"driver\0" + b"580.159.04\0")
    with path.open("rb") as stream, _code(stream.fileno()):
        yield path


def _code(descriptor: int) -> mmap.mmap:
    """Map a file for execution."""
    return mmap.mmap(descriptor, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)


def version_file(version: str) -> str:
    """Return what the kernel module shows."""
    return f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build\n"


def test_a_mapped_library_is_recorded_with_its_digest(tmp_path: Path, mapped: Path) -> None:
    facts = mapped_facts(os.getpid(), machine(tmp_path / "root"))
    (found,) = [each for each in objects(facts, "mapped") if text(each, "path") == str(mapped)]
    assert text(found, "sha256") == hashlib.sha256(mapped.read_bytes()).hexdigest()
    assert facts["unseen"] == ""
    assert facts["device_nodes"] == []


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("580.159.04", ("contents", "580.159.04")),
        ("580.159.0", ("", "")),
        ("80.159.04", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_driver_that_has_no_version_in_its_name_has_it_inside(
    tmp_path: Path, mapped: Path, module: str, expected: tuple[str, str]
) -> None:
    here = machine(tmp_path / "root", proc__driver__nvidia__version=version_file(module))
    library = mapping(mapped_facts(os.getpid(), here), "libcuda")
    assert (text(library, "told_by"), text(library, "version")) == expected
    assert text(library, "path") == str(mapped)


@pytest.mark.parametrize(
    ("name", "version"), [("libcuda.so.580.159.04", "580.159.04"), ("libcuda.so.1.1", "")]
)
def test_a_driver_is_installed_under_its_version(tmp_path: Path, name: str, version: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"driver")
    with path.open("rb") as stream, _code(stream.fileno()):
        library = mapping(mapped_facts(os.getpid(), machine(tmp_path / "root")), "libcuda")
    assert text(library, "version") == version


def test_a_device_is_never_read(tmp_path: Path) -> None:
    with Path("/dev/zero").open("rb") as stream, mmap.mmap(stream.fileno(), 4096, mmap.MAP_PRIVATE, 5):
        facts = mapped_facts(os.getpid(), machine(tmp_path))
    (found,) = [each for each in objects(facts, "mapped") if text(each, "path") == "/dev/zero"]
    assert text(found, "sha256") == ""


def test_without_a_driver_there_is_none(tmp_path: Path) -> None:
    assert mapped_facts(os.getpid(), machine(tmp_path / "root"))["libcuda"] is None


def test_a_process_that_is_gone_is_unseen_and_says_so(tmp_path: Path) -> None:
    facts = mapped_facts(NOWHERE, machine(tmp_path))
    assert str(NOWHERE) in text(facts, "unseen")
    assert facts["mapped"] == []


def test_a_system_that_shows_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "available", lambda: False)
    assert look(os.getpid()).unseen == "this system does not show what a process has mapped"


def setup_of(folder: Path) -> ChildSetup:
    """Return a child's setup below a folder."""
    folders = ChildFolders.below(folder)
    made = ChildZip(folder / "chain.zip", "ab" * 32, 1, ())
    return ChildSetup((), ChildEnvironment({}, ()), folders, made)


def test_modules_are_hashed_where_they_lie(tmp_path: Path) -> None:
    setup = setup_of(tmp_path)
    source = tmp_path / "x.py"
    source.write_text("X = 1\n")
    cached = str(tmp_path / "bytecode" / "x.cpython-312.pyc")
    told: list[dict[str, Json]] = [
        {"cached": cached, "file": str(source), "loader": "SourceFileLoader", "name": "x"},
        {"cached": str(tmp_path / "x.pyc"), "file": str(source), "loader": "SourceFileLoader", "name": "y"},
        {"cached": None, "file": str(tmp_path / "gone.so"), "loader": "ExtensionFileLoader", "name": "z"},
        {
            "cached": None,
            "file": f"{setup.zip.path}/assay_chain/run.py",
            "loader": "zipimporter",
            "name": "r",
        },
        {"cached": None, "file": "bad\0name", "loader": "", "name": "b"},
    ]
    digest = hashlib.sha256(b"X = 1\n").hexdigest()
    facts = {"modules": module_facts(told, setup)}
    assert [
        (text(each, "name"), text(each, "bytecode"), text(each, "sha256"))
        for each in objects(facts, "modules")
    ] == [
        ("x", "private", digest),
        ("y", "elsewhere", digest),
        ("z", "none", ""),
        ("r", "none", "ab" * 32),
        ("b", "none", ""),
    ]
    assert text(objects(facts, "modules")[3], "file") == "chain.zip/assay_chain/run.py"


HELLO = {
    "base_prefix": "/usr",
    "path": [
        "/run/chain.zip",
        "/venv/lib/python3.12/site-packages",
        "/usr/lib/python3.12",
        "/other/site-packages",
    ],
    "prefix": "/venv",
}


def test_only_importing_lines_of_the_interpreters_own_sites_run_at_its_start(tmp_path: Path) -> None:
    site = "venv__lib__python3.12__site-packages"
    files = {
        f"{site}__a.pth": "# import nothing\n/somewhere\nimport spy\nimport\tother\nimportant\n",
        f"{site}__.hidden.pth": "import hidden\n",
        f"{site}__b.txt": "import text\n",
        "other__site-packages__c.pth": "import elsewhere\n",
    }
    facts = startup_facts(machine(tmp_path, **files), HELLO)
    path = "/venv/lib/python3.12/site-packages/a.pth"
    assert facts["pth"] == [{"line": "import spy", "path": path}, {"line": "import\tother", "path": path}]


def test_preloaded_libraries_and_layers_are_recorded(tmp_path: Path) -> None:
    manifest = '{"layer": {"name": "VK_LAYER_X", "library_path": "libGLX_nvidia.so.0"}}'
    files = {
        "etc__ld.so.preload": "/usr/lib/libspy.so\n /x.so",
        "etc__vulkan__implicit_layer.d__x.json": manifest,
    }
    facts = startup_facts(machine(tmp_path, **files), HELLO)
    assert facts["preload"] == ["/usr/lib/libspy.so", "/x.so"]
    assert facts["layers"] == [
        {
            "drivers": True,
            "library": "libGLX_nvidia.so.0",
            "manifest": "/etc/vulkan/implicit_layer.d/x.json",
            "name": "VK_LAYER_X",
        }
    ]
