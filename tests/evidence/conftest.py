"""Every test of evidence happens in the small world of ``support``."""

from __future__ import annotations

import pytest

from tests.evidence import support


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter the small world."""
    support.enter(monkeypatch)
