from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import StorageError
from assay.provision.lockfile import (
    LOCKS,
    LOCKS_FOLDER,
    PYCUDA,
    TOOLKIT,
    Requirement,
    load_lock,
    locked,
    locks_digest,
    merged,
    parse_lock,
)

A, B = "a" * 64, "b" * 64

words = st.text("abcxyz019", min_size=1, max_size=6)
names = st.lists(words, min_size=1, max_size=3).map("-".join)
numbers = st.lists(st.integers(0, 999).map(str), min_size=1, max_size=4).map(".".join)
versions = st.builds(str.__add__, numbers, st.sampled_from(["", ".post1", "rc2"]))
markers = st.sampled_from(["", "sys_platform == 'linux'", "(platform_machine == 'x' or os_name == 'y')"])
hashes = st.frozensets(st.integers(0, 2**256 - 1).map("{:064x}".format), min_size=1, max_size=3)
requirements = st.builds(Requirement, names, versions, markers, hashes)


@given(st.lists(requirements, max_size=5, unique_by=lambda requirement: requirement.name))
def test_what_is_written_is_read_back(written: list[Requirement]) -> None:
    assert parse_lock("x.txt", "".join(each.line() for each in written)) == tuple(written)


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.invalid/simple",
        "--extra-index-url=https://example.invalid/simple",
        "--find-links wheels",
        "-r other.txt",
        "-e .",
        "numpy",
        "numpy==1.0",
        "numpy>=1.0 --hash=sha256:" + A,
        "numpy==1.0 --hash=md5:" + A,
        "numpy==1.0 --hash=sha256:" + A[1:],
        "numpy==1.0 --hash=sha256:" + A.upper(),
        "numpy @ https://example.invalid/numpy.whl --hash=sha256:" + A,
        "NumPy==1.0 --hash=sha256:" + A,
        "numpy==1.0 --hash=sha256:" + A + " --index-url=https://example.invalid",
        f"numpy==1.0 --hash=sha256:{A}\nnumpy==1.1 --hash=sha256:{B}",
    ],
)
def test_anything_but_a_hashed_exact_version_is_refused(line: str) -> None:
    with pytest.raises(StorageError, match=r"the lock x\.txt") as caught:
        parse_lock("x.txt", line + "\n")
    assert "nox -s lock" in caught.value.remedy


@given(st.text(max_size=200))
def test_any_text_is_a_lock_or_a_storage_error(text: str) -> None:
    try:
        assert all(requirement.hashes for requirement in parse_lock("x.txt", text))
    except StorageError as error:
        assert error.remedy  # noqa: PT017  # either way is right; what an error says is looked at


@pytest.mark.parametrize("name", LOCKS)
def test_a_shipped_lock_has_hashes_and_no_address(name: str) -> None:
    for suffix in (".in", ".txt"):
        text = (LOCKS_FOLDER / f"{name}{suffix}").read_text()
        assert not re.search(r"://|--(extra-)?index|--find-links|\.org|\.com|@", text)
    assert load_lock(name)


def test_the_shipped_locks_agree_on_every_package() -> None:
    found: dict[str, Requirement] = {}
    for name in LOCKS:
        for requirement in load_lock(name):
            assert found.setdefault(requirement.name, requirement) == requirement
    assert len(merged(LOCKS)) == len(found)


@pytest.mark.parametrize("name", LOCKS)
def test_each_input_is_in_its_lock(name: str) -> None:
    lines = (LOCKS_FOLDER / f"{name}.in").read_text().splitlines()
    wanted = [re.match(r"([a-z-]+)(?:\[.*\])?(.*)", line) for line in lines if not line.startswith("#")]
    for each in filter(None, wanted):
        version = locked(name, each[1]).version
        exact = each[2].removeprefix("==")
        if each[2].startswith("=="):
            assert version == exact or version.startswith(exact.removesuffix("*"))


def test_pycuda_is_locked_by_its_one_source_distribution() -> None:
    assert len(locked(PYCUDA, "pycuda").hashes) == 1


def test_the_toolkit_is_13_0_whose_ptx_a_13_0_driver_accepts() -> None:
    parts = {each.name: each.version for each in load_lock(TOOLKIT)}
    assert {"nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvvm"} <= set(parts)
    assert all(version.startswith("13.0.") for version in parts.values())


def test_each_toolkit_part_has_files_for_both_processors_and_windows() -> None:
    parts = [each for each in load_lock(TOOLKIT) if each.name.startswith("nvidia-")]
    assert all(len(each.hashes) >= 3 for each in parts)  # x86-64, aarch64, Windows


def test_a_changed_lock_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pycuda.txt").write_text(f"a==1 --hash=sha256:{A}\n")
    monkeypatch.setattr("assay.provision.lockfile.LOCKS_FOLDER", tmp_path)
    before = locks_digest(["pycuda"])
    (tmp_path / "pycuda.txt").write_text(f"a==1 --hash=sha256:{B}\n")
    assert locks_digest(["pycuda"]) != before


def test_two_versions_of_a_package_are_not_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, version in (("selection", "1"), ("pycuda", "2")):
        (tmp_path / f"{name}.txt").write_text(f"a=={version} --hash=sha256:{A}\n")
    monkeypatch.setattr("assay.provision.lockfile.LOCKS_FOLDER", tmp_path)
    load_lock.cache_clear()
    try:
        with pytest.raises(StorageError, match="another version of a"):
            merged(["selection", "pycuda"])
    finally:
        load_lock.cache_clear()


def test_a_package_that_a_lock_lacks_is_named() -> None:
    with pytest.raises(StorageError, match="does not have absent"):
        locked(PYCUDA, "absent")
