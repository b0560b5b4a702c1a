"""Where loaders look, in which order, and what put each place there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import places
from assay.machine.binary import Binary
from assay.machine.places import (
    Place,
    configured_places,
    default_folders,
    expand,
    glibc_places,
    library_folder,
    musl_places,
    processor_levels,
    windows_places,
    with_levels,
)
from tests.machines.building import Builder

V2 = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3"
V3 = f"{V2} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
V4 = f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def folders(found: tuple[Place, ...] | list[Place]) -> list[str]:
    return [place.folder for place in found]


def test_glibc_takes_rpath_before_the_variable_and_runpath_after_it(build: Builder) -> None:
    machine = build.machine({"LD_LIBRARY_PATH": "/env"}, stated={"arch": "x86_64"})
    old = Binary("/app/lib/old.so", rpath="/rpath")
    new = Binary("/app/lib/new.so", rpath="/ignored", runpath="/runpath")
    program = Binary("/app/bin/run", rpath="/program", interpreter="/lib64/ld.so")
    by_old = list(glibc_places(machine, (old, new, program)))
    assert folders(by_old)[:4] == ["/rpath", "/program", "/env", "/lib/x86_64-linux-gnu"]
    assert [place.found_via for place in by_old[:3]] == [
        "RPATH of /app/lib/old.so",
        "RPATH of /app/bin/run",
        "LD_LIBRARY_PATH",
    ]
    by_new = list(glibc_places(machine, (new, old, program)))
    assert folders(by_new)[:3] == ["/env", "/runpath", "/lib/x86_64-linux-gnu"]
    assert by_new[1].found_via == "RUNPATH of /app/lib/new.so"


@pytest.mark.parametrize("value", [":/a", "/a:", "/a::/b", ";/a"])
def test_an_empty_entry_is_the_working_folder_and_is_named(build: Builder, value: str) -> None:
    found = list(glibc_places(build.machine({"LD_LIBRARY_PATH": value}, stated={"cwd": "/work"}), ()))
    empty = [place for place in found if place.folder == "/work"]
    assert [place.found_via for place in empty] == ["LD_LIBRARY_PATH (an empty entry: the working folder)"]


def test_an_empty_variable_adds_nothing(build: Builder) -> None:
    for machine in (build.machine({"LD_LIBRARY_PATH": ""}), build.machine({})):
        assert {place.found_via for place in glibc_places(machine, ())} == {"default"}


def test_tokens(build: Builder) -> None:
    build.folder_at("/lib/x86_64-linux-gnu")
    machine = build.machine(stated={"arch": "x86_64"})
    assert expand(machine, "$ORIGIN/../lib:${ORIGIN}", "/app/bin") == "/app/bin/../lib:/app/bin"
    assert expand(machine, "/opt/$LIB/${PLATFORM}", "") == "/opt/lib/x86_64-linux-gnu/x86_64"
    assert expand(machine, "$ORIGINAL/$OTHER", "/x") == "$ORIGINAL/$OTHER"


def test_the_distributions_library_folder(build: Builder) -> None:
    machine = build.machine(stated={"arch": "aarch64"})
    assert library_folder(machine) == "lib"
    build.folder_at("/lib64")
    assert library_folder(machine) == "lib64"
    build.folder_at("/lib/aarch64-linux-gnu")
    assert library_folder(machine) == "lib/aarch64-linux-gnu"


def test_origin_is_where_a_program_really_lies_and_a_library_was_found(build: Builder) -> None:
    build.program("/opt/app/bin/run", "")
    build.link("/usr/bin/run", "/opt/app/bin/run")
    machine = build.machine()
    program = Binary("/usr/bin/run", runpath="$ORIGIN/../lib", interpreter="/lib64/ld.so")
    library = Binary("/usr/bin/run", runpath="$ORIGIN/../lib")
    assert next(glibc_places(machine, (program,))).folder == "/opt/app/bin/../lib"
    assert next(glibc_places(machine, (library,))).folder == "/usr/bin/../lib"


def test_the_configuration_and_what_it_includes(build: Builder) -> None:
    build.file(
        "/etc/ld.so.conf",
        "include ld.so.conf.d/*.conf\n\n# comment\n/last/ # why\nrelative\n/typed=libc6\n/\n",
    )
    build.file("/etc/ld.so.conf.d/b.conf", "/b\n/a\n")
    build.file("/etc/ld.so.conf.d/a.conf", "  /a\ninclude /etc/other.conf\n")
    build.file("/etc/other.conf", "/other\ninclude /etc/ld.so.conf\n")
    found = configured_places(build.machine())
    assert [(place.folder, place.found_via) for place in found] == [
        ("/a", "/etc/ld.so.conf.d/a.conf"),
        ("/other", "/etc/other.conf"),
        ("/b", "/etc/ld.so.conf.d/b.conf"),
        ("/last", "/etc/ld.so.conf"),
        ("/typed", "/etc/ld.so.conf"),
        ("/", "/etc/ld.so.conf"),
    ]
    assert all(place.names for place in found)


def test_configurations_that_include_each_other_come_to_an_end(
    build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        build.file(f"/etc/{number}.conf", f"/folder{number}\ninclude /etc/{number + 1}.conf\n")
    build.file("/etc/ld.so.conf", "include /etc/0.conf\ninclude /etc/ld.so.conf\n")
    assert folders(configured_places(build.machine())) == [f"/folder{number}" for number in range(9)]
    monkeypatch.setattr(places, "MAX_FOLDERS", 3)
    assert len(configured_places(build.machine())) == 3


def test_default_folders_depend_on_the_processor(build: Builder) -> None:
    assert default_folders(build.machine(stated={"arch": "x86_64"})) == (
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    )
    assert "/lib64" not in default_folders(build.machine(stated={"arch": "x86"}))


@pytest.mark.parametrize(
    ("flags", "levels"),
    [
        ("", ()),
        ("sse", ()),
        (V2, ("x86-64-v2",)),
        (V3.replace("avx2", ""), ("x86-64-v2",)),
        (V3, ("x86-64-v3", "x86-64-v2")),
        (V4, ("x86-64-v4", "x86-64-v3", "x86-64-v2")),
        (V4.replace("ssse3", ""), ()),
    ],
)
def test_levels_need_all_below_them(build: Builder, flags: str, levels: tuple[str, ...]) -> None:
    build.file("/proc/cpuinfo", f"flags\t: {flags}\n")
    build.folder_at("/usr/lib/glibc-hwcaps")
    machine = build.machine()
    assert processor_levels(machine) == levels
    special = [f"/usr/lib/glibc-hwcaps/{level}" for level in levels]
    assert list(with_levels(machine, "/usr/lib")) == [*special, "/usr/lib"]
    assert list(with_levels(machine, "/lib")) == ["/lib"]


def test_musl_takes_the_variable_then_every_rpath_of_the_chain_then_its_file(build: Builder) -> None:
    chain = (
        Binary("/app/a.so", runpath="$ORIGIN/x"),
        Binary("/app/bin/run", rpath="/r", interpreter="/lib/ld-musl"),
    )
    machine = build.machine({"LD_LIBRARY_PATH": ":/env::"}, stated={"arch": "x86_64"})
    found = list(musl_places(machine, chain))
    assert folders(found) == ["/env", "/app/x", "/r", "/lib", "/usr/local/lib", "/usr/lib"]
    build.file("/etc/ld-musl-x86_64.path", "/one:/two\n/three\n")
    found = list(musl_places(machine, ()))
    assert folders(found) == ["/env", "/one", "/two", "/three"]
    assert found[-1].found_via == "/etc/ld-musl-x86_64.path"


def test_an_empty_musl_file_leaves_no_default(build: Builder) -> None:
    build.file("/etc/ld-musl-x86_64.path", "")
    assert list(musl_places(build.machine(stated={"arch": "x86_64"}), ())) == []


def test_windows_orders(build: Builder) -> None:
    env = {"SystemRoot": "D:\\Win", "PATH": "C:\\cuda\\bin;C:\\other"}
    machine = build.machine(env, stated={"os": "windows", "cwd": "C:\\work"})
    chain = (Binary("C:\\site\\wgpu\\a.dll"), Binary("C:\\Python\\python.exe"))
    assert folders(list(windows_places(machine, chain, python=False))) == [
        "C:\\Python",
        "D:\\Win\\System32",
        "D:\\Win\\System",
        "D:\\Win",
        "C:\\work",
        "C:\\cuda\\bin",
        "C:\\other",
    ]
    assert folders(list(windows_places(machine, chain, python=True))) == [
        "C:\\site\\wgpu",
        "C:\\Python",
        "D:\\Win\\System32",
    ]
    assert folders(list(windows_places(build.machine({}, stated={"os": "windows"}), (), python=True))) == [
        "C:\\Windows\\System32"
    ]


@given(st.text("/ab#=\n: include*.conf", max_size=80))
def test_no_configuration_crashes_the_reader(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    build = Builder(tmp_path_factory.mktemp("machines") / "machine")
    build.file("/etc/ld.so.conf", text)
    assert all(place.folder.startswith("/") for place in configured_places(build.machine()))
