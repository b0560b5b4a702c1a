"""Every test here happens in the small world of evidence, with a bundle that takes some writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.evidence.bundle import Bundle, write_bundle
from assay.signing import sign_bundle, sign_sigstore
from tests.evidence import support
from tests.evidence.keyring import ALICE

LARGE = bytes(range(256)) * 8000


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Enter the small world, with a cache of its own."""
    support.enter(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Return a bundle of 2 MB with what lies beside it."""
    build = support.Gate({"wheel": "made"}, artifacts={"large.bin": LARGE})
    made = write_bundle(support.make_run(tmp_path / "run", changed={"build": build}))
    sign_bundle(made.path, ALICE)
    sign_sigstore(made.path, ALICE)
    return made
