"""Machines that are made to mislead: whatever lies there, a diagnosis ends, with findings, within bounds."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.commands.output import print_json
from assay.engine.diagnose import Diagnosis, Wanted, diagnose
from assay.engine.diagnosed import exit_code, lines, to_json
from assay.model import Outcome
from tests.machines.described import build

HUGE = 1 << 30
LARGE = 1 << 24
PEAK = 96 << 20
"""Bytes: the largest that any reader takes at once is a few MiB, and several gates read side by side."""

MACHINES = (
    *(("healthy", name) for name in ("ubuntu", "fedora", "conda", "container", "wsl", "windows", "bare")),
    *(("faults", name) for name in ("driver-several", "driver-mismatch", "stub", "vulkan-several")),
)
GARBAGE = st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=300).map(lambda data: b"\x7fELF\2\1\1" + data),
    st.binary(max_size=300).map(lambda data: b"MZ" + data),
    st.sampled_from(
        [
            *(
                b"{" * 20000,
                b'{"ICD": [[[' * 900,
                b"[1e999]",
                b"9" * 20000,
                b"580.latest",
                b"v1.2.3.4.5.6",
                b"-1",
            ),
            *(
                b"\n" * 5000,
                b"../" * 2000,
                b"\xff\xfe\x00caf\xe9",
                b"NVRM version: NVIDIA Kernel Module  x.y.z\n",
            ),
        ]
    ),
)
Change = Callable[[Path], None]


def _gone(place: Path) -> None:
    place.unlink()


def _loop(place: Path) -> None:
    place.unlink()
    place.symlink_to(place.name)


def _pipe(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


def _folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def _device(place: Path) -> None:
    place.unlink()
    place.symlink_to("/dev/zero")


def _socket(place: Path) -> None:
    place.unlink()
    with (
        tempfile.TemporaryDirectory(dir="/tmp") as short,
        socket.socket(socket.AF_UNIX) as made,
    ):  # a socket's path is short
        made.bind(f"{short}/s")
        Path(f"{short}/s").rename(place)


def _large(place: Path) -> None:
    if not place.is_symlink():
        os.truncate(place, LARGE)


def _cut(place: Path) -> None:
    if not place.is_symlink():
        os.truncate(place, place.stat().st_size // 2)


def _odd_name(place: Path) -> None:
    (place.parent / os.fsdecode(b"libcuda.so.\xff\xfe")).write_bytes(b"x")


CHANGES: tuple[Change, ...] = (_gone, _loop, _pipe, _folder, _device, _socket, _large, _cut, _odd_name)


def _written(data: bytes) -> Change:
    """Return what puts other bytes in a file's place."""

    def write(place: Path) -> None:
        place.unlink()
        place.write_bytes(data)

    return write


def look_at(folder: Path) -> Diagnosis:
    """Diagnose a machine, and tell it in both forms."""
    with tempfile.TemporaryDirectory() as project:
        diagnosis = diagnose(Wanted(Path(project), root=folder))
    assert exit_code(diagnosis) in {0, 1, 3}
    assert all(line.isprintable() for line in lines(diagnosis))
    assert json.loads(json.dumps(to_json(diagnosis)))["exit"] == exit_code(diagnosis)
    broken = [each for each in diagnosis.looked if each.outcome is Outcome.ERROR]
    assert not [each.row.name for each in broken], [each.log for each in broken]
    return diagnosis


def files_of(root: Path) -> list[Path]:
    """Return every file and link below a root, sorted."""
    return sorted(Path(folder) / name for folder, _, names in os.walk(root) for name in names)


STEPS = st.lists(
    st.tuples(st.integers(0, 10_000), st.one_of(st.sampled_from(CHANGES), GARBAGE.map(_written))),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(MACHINES), STEPS)
def test_any_change_of_any_files_ends_in_findings(
    machine: tuple[str, str], steps: list[tuple[int, Change]]
) -> None:
    with tempfile.TemporaryDirectory() as below:
        folder = Path(below) / "machine"
        build(*machine, folder)
        files = files_of(folder / "root")
        for at, change in steps:
            place = files[at % len(files)]
            if os.path.lexists(place) and not place.is_dir():
                change(place)
        look_at(folder)


KERNEL = (
    "/proc/driver/nvidia/version",
    "/proc/modules",
    "/proc/sys/kernel/osrelease",
    "/sys/module/nvidia/version",
)
CONFIGURED = (
    "/etc/ld.so.conf",
    "/etc/os-release",
    "/var/log/messages",
    "/var/log/kern.log",
    "/var/lib/dpkg/status",
)
MANIFEST = "/usr/share/vulkan/icd.d/nvidia_icd.json"


def replaced(folder: Path, paths: Iterable[str], change: Change) -> None:
    """Build a healthy machine with some files changed; those that are not there are made first."""
    described = build("healthy", "ubuntu", folder)
    for path in paths:
        place = described.machine.view.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not os.path.lexists(place):
            place.touch()
        change(place)


def test_a_gigabyte_where_a_line_belongs_is_not_read_into_memory(tmp_path: Path) -> None:
    replaced(tmp_path / "machine", (*KERNEL, *CONFIGURED, MANIFEST), lambda place: os.truncate(place, HUGE))
    tracemalloc.start()
    try:
        diagnosis = look_at(tmp_path / "machine")
        assert tracemalloc.get_traced_memory()[1] < PEAK
    finally:
        tracemalloc.stop()
    assert "DRIVER-MODULE-UNTOLD" in {cause.finding.id for cause in diagnosis.causes}


@pytest.mark.parametrize(
    "change", [_pipe, _socket, _device, _folder, _loop], ids=lambda change: change.__name__[1:]
)
def test_what_is_no_file_blocks_nobody(tmp_path: Path, change: Change) -> None:
    libraries = ("/usr/lib/x86_64-linux-gnu/libcuda.so.580.159.04", "/usr/local/cuda-13.0/include/cuda.h")
    replaced(tmp_path / "machine", (*KERNEL, *CONFIGURED, MANIFEST, *libraries), change)
    assert exit_code(look_at(tmp_path / "machine")) == 1


def test_every_folder_that_may_not_be_read_is_a_finding_or_no_matter(tmp_path: Path) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    denied = {"denied": ["/usr/lib", "/proc", "/etc", "/opt", "/usr/local"]}
    (described.machine.view.root.parent / "machine.json").write_text(json.dumps(denied))
    assert exit_code(look_at(tmp_path / "machine")) == 1


def test_a_log_of_many_megabytes_is_read_at_its_end(tmp_path: Path) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    said = "NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n"
    log = described.machine.view.root / "var/log/kern.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("kernel: nothing of interest\n" * 400_000 + f"kernel: {said}" * 50_000)
    diagnosis = look_at(tmp_path / "machine")
    assert [cause.finding.id for cause in diagnosis.causes] == ["DRIVER-XID"]


@pytest.mark.parametrize(
    "version", ["latest", "580", "580..04", "-1.0", "9" * 400, "580.159.04\0", "\u0665\u0668\u0660.\u0661"]
)
def test_a_version_that_is_none_is_said_to_be_untold(tmp_path: Path, version: str) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    root = described.machine.view.root
    line = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build\n"
    (root / "proc/driver/nvidia/version").write_text(line)
    for module in ("nvidia", "nvidia_uvm"):
        (root / f"sys/module/{module}/version").write_text(f"{version}\n")
    assert "DRIVER-MODULE-UNTOLD" in {cause.finding.id for cause in look_at(tmp_path / "machine").causes}


def test_names_that_are_no_text_are_told_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described = build("healthy", "ubuntu", tmp_path / "machine")
    root = described.machine.view.root
    odd = root / os.fsdecode(b"usr/lib/x86_64-linux-gnu/libcuda.so.580.1.\xff1")
    odd.write_bytes(b"x")
    (root / "usr/lib/x86_64-linux-gnu/libcuda.so.1").unlink()
    (root / "usr/lib/x86_64-linux-gnu/libcuda.so.1").symlink_to(odd.name)
    diagnosis = look_at(tmp_path / "machine")
    print_json(to_json(diagnosis), wanted=True)
    assert json.loads(capsys.readouterr().out)["schema"] == "assay/diagnosis/1"
    assert exit_code(diagnosis) == 1
