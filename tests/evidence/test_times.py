"""Times are RFC 3339 in UTC with Z, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evidence.times import read_time, write_time


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.integers(-720, 720))  # noqa: DTZ001  # the zone is drawn beside it
def test_what_is_written_is_read_in_whole_seconds(moment: datetime, minutes: int) -> None:
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert read_time(write_time(moment)) == moment.astimezone(UTC).replace(microsecond=0)


def test_the_form() -> None:
    assert write_time(datetime(2026, 11, 30, 7, 8, 9, 999_999, tzinfo=UTC)) == "2026-11-30T07:08:09Z"
    assert read_time("2026-11-30T07:08:09.123456789Z") == datetime(2026, 11, 30, 7, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30T07:08:09",
        "2026-11-30T07:08:09+00:00",
        "2026-11-30t07:08:09z",
        "2026-11-30 07:08:09Z",
        "2026-11-31T07:08:09Z",
        "2026-13-01T07:08:09Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T07:08:09.Z",
        "٢٠٢٦-11-30T07:08:09Z",
        "2026-11-30T07:08:09Z\n",
        "20261130T070809Z",
    ],
)
def test_other_forms_and_times_that_do_not_exist_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not RFC 3339|day|month|hour"):
        read_time(text)
