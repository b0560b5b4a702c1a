from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.provision.estimate import estimate, require_space, sentence


def test_more_to_do_costs_more() -> None:
    least = estimate(toolkit=False, build=False, cores=2, offline=False)
    most = estimate(toolkit=True, build=True, cores=2, offline=False)
    assert least.download < most.download
    assert least.disk < most.disk <= most.peak
    assert least.seconds < most.seconds


def test_more_cores_take_less_time_and_offline_downloads_nothing() -> None:
    two, sixteen = (estimate(toolkit=True, build=True, cores=cores, offline=True) for cores in (2, 16))
    assert sixteen.seconds < two.seconds
    assert two.download == 0
    assert "downloads nothing" in sentence(two, 2)


def test_the_sentence_has_every_figure() -> None:
    expected = estimate(toolkit=True, build=True, cores=2, offline=False)
    said = sentence(expected, 2)
    for figure in (expected.download // 10**6, expected.disk // 10**6, expected.seconds):
        assert str(figure) in said


def test_too_little_space_is_an_error_and_just_enough_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")  # noqa: PYI024  # the shape of shutil.disk_usage's result
    expected = estimate(toolkit=True, build=True, cores=2, offline=False)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage(0, 0, expected.peak))
    require_space(tmp_path, expected)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage(0, 0, expected.peak - 1))
    with pytest.raises(StorageError, match="MB free"):
        require_space(tmp_path, expected)


def test_a_place_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot look at"):
        require_space(tmp_path / "absent", estimate(toolkit=False, build=False, cores=1, offline=True))
