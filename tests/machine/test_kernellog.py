"""The kernel's log: NVIDIA's messages as reports show them, old and new, on one line or several."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import Machine, kernellog
from assay.machine.kernellog import FILES, MAX_EVENTS, TAIL, Event, events_of, read_log
from tests.machines.building import Builder

BOOT = "[    0.000000] Linux version 6.8.0-85-generic (buildd@host) (gcc 13.3.0) #85-Ubuntu SMP\n"

NEW_MISMATCH = """\
[ 1494.8] NVRM: API mismatch: the client 'nvidia-persiste' (pid 812)
[ 1494.8] NVRM: has the version 570.124.04, but this kernel module has
[ 1494.8] NVRM: the version 570.124.06.  Please make sure that this
[ 1494.8] NVRM: kernel module and all NVIDIA driver components
[ 1494.8] NVRM: have the same version.
"""
OLD_MISMATCH = """\
Mar 21 14:24:29 desktop kernel: [ 1494.815570] NVRM: API mismatch: the client has the version 340.76, but
Mar 21 14:24:29 desktop kernel: [ 1494.815570] NVRM: this kernel module has the version 331.113.  Please
Mar 21 14:24:29 desktop kernel: [ 1494.815570] NVRM: make sure that this kernel module and all NVIDIA driver
"""
ONE_LINE = (
    "NVRM: API mismatch: the client has the version 545.29.06, but this kernel module has "
    "the version 545.23.08.\n"
)
FIRMWARE = (
    "[    9.1] nvidia 0000:01:00.0: Direct firmware load for nvidia/550.76/gsp_ga10x.bin "
    "failed with error -2\n"
)
OPEN_NEEDED = """\
[    5.559842] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:2c58)
               NVRM: installed in this system requires use of the NVIDIA open kernel modules.
[    5.559858] NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x22:0x56:884)
[    5.560313] NVRM: GPU 0000:02:00.0: rm_init_adapter failed, device minor number 0
"""
GSP_NEEDED = """\
[    6.0] NVRM: The NVIDIA GPU 0000:17:00.0 (PCI ID: 10de:1bb3)
[    6.0] NVRM: installed in this system is not supported by open
[    6.0] NVRM: nvidia.ko because it does not include the required GPU
[    6.0] NVRM: System Processor (GSP).
"""
UNSUPPORTED = """\
NVRM: The NVIDIA GPU 0000:17:00.0 (PCI ID: 10de:1db6)
NVRM: installed in this system is not supported by the
NVRM: NVIDIA 590.48.01 driver release.
"""
LEGACY = """\
NVRM: The NVIDIA GeForce GT 710 GPU installed in this system is
NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please
"""
FALLEN = """\
[ 99.1] NVRM: GPU at PCI:0000:01:00: GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f7
[ 99.1] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
[ 99.1] NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.
"""
ABSENT = """\
NVRM: The NVIDIA GPU 0000:01:00.0
NVRM: (PCI ID: 10de:2684) installed in this system has
NVRM: fallen off the bus and is not responding to commands.
"""


def event(kind: str, count: int = 1, **says: str) -> Event:
    """Return an event."""
    return Event(kind, tuple(says.items()), count)


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            NEW_MISMATCH,
            [
                event(
                    "api-mismatch",
                    client="nvidia-persiste",
                    pid="812",
                    version="570.124.04",
                    module="570.124.06",
                )
            ],
        ),
        (OLD_MISMATCH, [event("api-mismatch", client="", pid="", version="340.76", module="331.113")]),
        (ONE_LINE, [event("api-mismatch", client="", pid="", version="545.29.06", module="545.23.08")]),
        (FIRMWARE, [event("firmware-missing", version="550.76", file="gsp_ga10x.bin", error="-2")]),
        (
            OPEN_NEEDED,
            [
                event("init-failed", bus="0000:02:00.0", code="0x22:0x56:884"),
                event("open-required", bus="0000:02:00.0", device="2c58"),
            ],
        ),
        (GSP_NEEDED, [event("gsp-required", bus="0000:17:00.0", device="1bb3")]),
        (UNSUPPORTED, [event("unsupported", bus="0000:17:00.0", device="1db6", version="590.48.01")]),
        (LEGACY, [event("legacy", version="470.xx")]),
        (FALLEN, [event("xid", bus="0000:01:00", number="79"), event("off-bus", bus="0000:01:00.0")]),
        (ABSENT, [event("off-bus", bus="0000:01:00.0")]),
        (
            "NVRM: RmInitAdapter failed! (0x26:0xffff:1227)",
            [event("init-failed", bus="", code="0x26:0xffff:1227")],
        ),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
            [event("xid", bus="0000:01:00", number="94")],
        ),
        ("Lockdown: modprobe: unsigned module loading is restricted; see man", [event("unsigned")]),
        ("nvidia: Loading of module with unavailable key is rejected", [event("unsigned")]),
        ("NVRM: This can occur when another driver was loaded and ", [event("claimed")]),
        ("usb 1-3: SerialNumber: 0123\nNVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.1\n", []),
        ("nvidia: module verification failed: signature and/or required key missing - tainting kernel", []),
        ("", []),
    ],
)
def test_each_message_is_understood_as_it_stands(text: str, found: list[Event]) -> None:
    assert sorted(events_of([text]), key=lambda each: each.kind) == sorted(found, key=lambda each: each.kind)


def test_an_event_that_repeats_is_counted_and_two_logs_of_one_boot_tell_it_once() -> None:
    twice = OPEN_NEEDED * 2
    (found,) = [each for each in events_of([twice, OPEN_NEEDED]) if each.kind == "open-required"]
    assert found.count == 2


def test_what_stands_before_the_last_start_is_of_another_boot(build: Builder) -> None:
    build.file("/var/log/kern.log", FALLEN + BOOT + FIRMWARE)
    found = read_log(build.machine())
    assert [each.kind for each in found.events] == ["firmware-missing"]
    assert found.sources == ("/var/log/kern.log",)


def test_every_file_and_the_recorded_ring_are_read(build: Builder) -> None:
    for path in FILES:
        build.file(path, BOOT + FIRMWARE)
    machine = build.machine(probes={"dmesg": {"exit": 0, "output": BOOT + NEW_MISMATCH}})
    found = read_log(machine)
    assert found.sources == ("dmesg", *FILES)
    assert sorted(each.kind for each in found.events) == ["api-mismatch", "firmware-missing"]


@pytest.mark.parametrize("recorded", ["timeout", [], {"exit": 1}, {"output": 3}])
def test_a_ring_that_told_nothing_is_a_problem_and_no_exception(build: Builder, recorded: object) -> None:
    found = read_log(build.machine(probes={"dmesg": recorded}))  # type: ignore[dict-item]  # of any form
    assert found.problems == ("dmesg: it told nothing",)


def test_a_log_that_is_denied_or_a_loop_is_a_problem(build: Builder) -> None:
    build.file("/var/log/kern.log", FALLEN)
    build.link("/var/log/syslog", "syslog")
    found = read_log(build.machine(stated={"denied": ["/var/log/kern.log"]}))
    assert found.events == ()
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "/var/log/kern.log",
        "/var/log/syslog",
    ]


def test_only_the_end_of_a_gigantic_log_is_read(build: Builder) -> None:
    with build.file("/var/log/kern.log").open("r+b") as stream:
        stream.truncate(1 << 30)
        stream.seek(0, 2)
        stream.write(FIRMWARE.encode())
    assert [each.kind for each in read_log(build.machine()).events] == ["firmware-missing"]
    assert TAIL < 1 << 30


def test_a_flood_of_events_is_bounded() -> None:
    flood = "".join(f"NVRM: Xid (PCI:0000:01:00): {number}, x\n" for number in range(1000))
    assert len(events_of([flood])) == MAX_EVENTS


def test_no_machine_has_a_log_and_that_is_no_problem(build: Builder) -> None:
    assert read_log(build.machine()) == kernellog.Log()


def test_the_running_kernels_ring_is_read_or_refused_at_once() -> None:
    found = read_log(Machine.real())
    named = [*found.sources, *(problem.partition(":")[0] for problem in found.problems)]
    assert "kernel ring buffer" in named


def test_nothing_of_other_lines_is_told() -> None:
    line = "[ 1.0] nvidia-nvlink: host rack7 serial 1650123456789 user alice\n"
    assert events_of([line + FALLEN]) == events_of([FALLEN])


PIECES = st.sampled_from(
    [
        NEW_MISMATCH,
        OLD_MISMATCH,
        FIRMWARE,
        OPEN_NEEDED,
        GSP_NEEDED,
        UNSUPPORTED,
        LEGACY,
        FALLEN,
        BOOT,
        "NVRM: ",
    ]
)


@given(st.lists(PIECES | st.text(max_size=60), max_size=8).map("".join))
def test_no_log_is_too_odd_and_words_stay_short(text: str) -> None:
    for each in events_of([text]):
        assert re.fullmatch(r"[a-z-]+", each.kind)
        assert all(len(word) <= 64 for _, word in each.says)
