"""PTX of the samples, compiled once a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.selection import Selection
from tests.rehearsal.support import SAMPLES, Device, nvcc_ptx


@pytest.fixture(scope="session")
def sample(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Device]:
    """Return how a sample becomes a device with its module loaded."""
    folder = tmp_path_factory.mktemp("samples")
    texts: dict[str, str] = {}

    def load(name: str) -> Device:
        if name not in texts:
            texts[name] = nvcc_ptx(selection, SAMPLES / f"{name}.cu", folder / f"{name}.ptx")
        return Device(texts[name])

    return load
