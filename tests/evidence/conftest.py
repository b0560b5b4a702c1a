"""Every test of evidence happens in the small world of ``support``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evidence import support
from tests.evidence.every_byte import Signed, copied, remembered_signatures


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter the small world."""
    support.enter(monkeypatch)


@pytest.fixture
def signed(tmp_path: Path) -> Iterator[Signed]:
    """Return a small signed bundle of the real rules, which may be changed."""
    with remembered_signatures():
        yield copied(tmp_path)
