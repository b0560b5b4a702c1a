"""Pages are made of bundles of the small world; what is the same for many tests is made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.report.view import Page
from tests.evidence import support
from tests.report import worlds


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """Return the views of one bundle of each kind."""
    return worlds.views(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def world() -> Iterator[None]:
    """Enter the small world."""
    with pytest.MonkeyPatch.context() as patch:
        support.enter(patch)
        yield
