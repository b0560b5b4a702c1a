"""What was taken is given back, and the first error is the one that is told."""

from __future__ import annotations

from typing import NoReturn

import pytest

from assay.chain.release import releasing


def broken() -> NoReturn:
    raise OSError("the context is dead")


def test_it_releases_after_the_block() -> None:
    done: list[str] = []
    with releasing(lambda: done.append("released")):
        done.append("worked")
    assert done == ["worked", "released"]


def test_it_releases_after_a_failure() -> None:
    done: list[str] = []
    with pytest.raises(KeyError), releasing(lambda: done.append("released")):
        raise KeyError
    assert done == ["released"]


def test_a_failing_release_does_not_hide_the_first_error() -> None:
    with pytest.raises(KeyError, match="launch"), releasing(broken):
        raise KeyError("launch")


def test_a_failing_release_is_told_when_nothing_else_failed() -> None:
    with pytest.raises(OSError, match="dead"), releasing(broken):
        pass
