"""The tables of CUDA releases: their invariants, and rows against what releases print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.cuda import (
    ARCHITECTURES,
    DRIVER_CUDA,
    MINIMUM_DRIVER,
    architectures_of,
    cuda_of_driver,
    minimum_driver,
)
from assay.plan.versions import release

LISTED_BY_NVCC_13_0 = "75 80 86 87 88 89 90 100 110 103 120 121"


def test_both_columns_of_driver_branches_ascend() -> None:
    branches, versions = zip(*DRIVER_CUDA, strict=True)
    assert list(branches) == sorted(set(branches))
    assert [release(each) for each in versions] == sorted({release(each) for each in versions})


def test_the_least_driver_of_a_major_version_speaks_it() -> None:
    for major, branch in MINIMUM_DRIVER.items():
        assert release(cuda_of_driver(str(branch)))[0] == major


def test_architectures_ascend_by_release_and_never_repeat() -> None:
    releases = [first for first, _ in ARCHITECTURES]
    assert releases == sorted(set(releases))
    assert all(len(built) == len(set(built)) for _, built in ARCHITECTURES)


@pytest.mark.gate
def test_known_releases() -> None:
    assert set(architectures_of("13.0")) == set(LISTED_BY_NVCC_13_0.split())
    assert architectures_of("13.0.88") == architectures_of("13.5")
    assert "70" in architectures_of("12.9")
    assert "70" not in architectures_of("13.0")
    assert "120" not in architectures_of("12.6")
    assert "120" in architectures_of("12.8")
    assert "35" not in architectures_of("12.0")
    assert not architectures_of("10.2")
    assert not architectures_of("14.0")
    assert not architectures_of("13")


@pytest.mark.gate
@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        ("580.159.04", "13.0"),  # measured on an H200
        ("616.92", "13.4"),  # measured on Windows
        ("550.54.14", "12.4"),
        ("551.61", "12.4"),
        ("595.71.05", "13.2"),
        ("522.25", "11.8"),
        ("440.33", ""),
        ("999.88.77", ""),
        ("", ""),
    ],
)
def test_a_driver_speaks_the_cuda_of_its_branch(driver: str, cuda: str) -> None:
    assert cuda_of_driver(driver) == cuda


def test_each_major_version_needs_its_branch() -> None:
    assert [minimum_driver(each) for each in ("13.2", "12.0.1", "11.8", "14.0", "")] == [
        580,
        525,
        450,
        None,
        None,
    ]


@given(st.text(max_size=30))
def test_no_version_is_too_odd(text: str) -> None:
    assert isinstance(cuda_of_driver(text), str)
    assert isinstance(architectures_of(text), tuple)
    assert minimum_driver(text) in {None, *MINIMUM_DRIVER.values()}
