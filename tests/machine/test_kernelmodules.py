"""The NVIDIA module on disk: for which kernels it was built, and what keeps it from loading."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import kernelmodules
from assay.machine.kernelmodules import LOCKDOWN, RELEASE_FILE, SECURE_BOOT, Guards, OnDisk
from tests.machines.building import Builder

RUNNING = "6.8.0-85-generic"
OLD = "6.8.0-71-generic"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    builder = Builder(tmp_path / "machine")
    builder.file(RELEASE_FILE, f"{RUNNING}\n")
    builder.link("/lib", "usr/lib")
    return builder


@pytest.mark.parametrize(
    "path",
    [
        "updates/dkms/nvidia.ko",  # DKMS on Debian and Ubuntu
        "updates/dkms/nvidia.ko.zst",
        "extra/nvidia/nvidia.ko.xz",  # akmods
        "weak-updates/nvidia/nvidia.ko",  # RHEL and SUSE
        "kernel/drivers/video/nvidia.ko",  # NVIDIA's installer
        "kernel/nvidia-580srv-open/nvidia.ko",  # Ubuntu's prebuilt modules
        "extramodules/nvidia.ko.gz",
    ],
)
def test_the_module_is_found_where_distributions_put_it(build: Builder, path: str) -> None:
    build.file(f"/usr/lib/modules/{RUNNING}/{path}")
    build.file(f"/usr/lib/modules/{RUNNING}/modules.dep", f"{path}:\nkernel/fs/ext4/ext4.ko: kernel/x.ko\n")
    assert kernelmodules.on_disk(build.machine()).built[0] == f"/lib/modules/{RUNNING}/{path}"


def test_modules_dep_alone_is_no_module_and_another_one_is_none(build: Builder) -> None:
    folder = f"/usr/lib/modules/{RUNNING}"
    build.file(f"{folder}/modules.dep", "updates/dkms/nvidia.ko:\n")
    build.file(f"{folder}/updates/dkms/nvidia-drm.ko")
    build.file(f"{folder}/updates/dkms/nvidia.ko.bak")
    build.file(f"{folder}/kernel/drivers/net/nvidiafb.ko")
    assert kernelmodules.on_disk(build.machine()) == OnDisk(RUNNING)


def test_a_module_of_another_kernel_is_told_apart(build: Builder) -> None:
    build.file(f"/usr/lib/modules/{OLD}/updates/dkms/nvidia.ko")
    build.folder_at(f"/usr/lib/modules/{RUNNING}/kernel")
    build.folder_at("/var/lib/dkms/nvidia/580.159.04/source")
    build.folder_at("/usr/src/nvidia-575.64.03")
    found = kernelmodules.on_disk(build.machine())
    assert (found.built, found.others) == ((), (OLD,))
    assert found.sources == ("575.64.03", "580.159.04")


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("blacklist nvidia", True),
        ("  blacklist   nvidia  ", True),
        ("install nvidia /bin/false", True),
        ("install nvidia /usr/bin/true", True),
        ("# blacklist nvidia", False),
        ("blacklist nvidiafb", False),
        ("blacklist nouveau", False),
        ("options nvidia NVreg_DeviceFileMode=0666", False),
        ("install nvidia /sbin/modprobe --ignore-install nvidia", False),
    ],
)
def test_what_keeps_the_module_out_is_named(build: Builder, line: str, *, kept: bool) -> None:
    build.file("/etc/modprobe.d/gpu.conf", f"alias x y\n{line}\n")
    expected = ("/etc/modprobe.d/gpu.conf",) if kept else ()
    assert kernelmodules.on_disk(build.machine()).blacklists == expected


def test_one_file_behind_two_folders_is_told_once(build: Builder) -> None:
    build.file("/usr/lib/modprobe.d/gpu.conf", "blacklist nvidia\n")
    assert len(kernelmodules.on_disk(build.machine()).blacklists) == 1


@pytest.mark.parametrize(
    ("value", "on"),
    [
        (b"\x06\0\0\0\x01", True),
        (b"\x06\0\0\0\0", False),
        (b"", None),
        (b"\x01", None),
        (b"\x06\0\0\0\x01\0", None),
    ],
)
def test_secure_boot_is_the_byte_after_the_attributes(
    build: Builder, value: bytes, *, on: bool | None
) -> None:
    build.file(SECURE_BOOT, value)
    assert kernelmodules.guards(build.machine()).secure_boot is on


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("none [integrity] confidentiality\n", "integrity"),
        ("[none] integrity confidentiality\n", "none"),
        ("none\n", ""),
        ("[]", ""),
    ],
)
def test_lockdown_is_the_mode_in_brackets(build: Builder, text: str, mode: str) -> None:
    build.file(LOCKDOWN, text)
    assert kernelmodules.guards(build.machine()).lockdown == mode


def test_a_machine_that_says_nothing_guards_nothing(build: Builder) -> None:
    assert kernelmodules.guards(build.machine()) == Guards()


@pytest.mark.parametrize("release", ["", "../../etc", "6.8 generic", "*", "x" * 200, "-rf"])
def test_a_release_that_is_none_is_not_followed(build: Builder, release: str) -> None:
    build.file(RELEASE_FILE, release)
    build.file("/etc/updates/nvidia.ko")
    found = kernelmodules.on_disk(build.machine())
    assert (found.release, found.built) == ("", ())


@given(text=st.text(max_size=200))
def test_no_configuration_is_too_odd(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    build = Builder(tmp_path_factory.mktemp("odd") / "machine")
    build.file(RELEASE_FILE, f"{RUNNING}\n")
    build.file(f"/lib/modules/{RUNNING}/modules.dep", text)
    build.file("/etc/modprobe.d/odd.conf", text)
    build.file(LOCKDOWN, text)
    found = kernelmodules.on_disk(build.machine())
    assert found.built == ()
    assert set(found.blacklists) <= {"/etc/modprobe.d/odd.conf"}
