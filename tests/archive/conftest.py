"""Every test of archives happens in the small world of evidence."""

from __future__ import annotations

import pytest

from tests.evidence import support


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Enter the small world, with a cache of its own."""
    support.enter(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
