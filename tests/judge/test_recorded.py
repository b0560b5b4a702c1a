"""What a claim rests on is asked for: something missing, empty or of another kind is malformed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.judge.reading import MalformedFacts
from assay.judge.recorded import digest, filled, some, there, told
from assay.model import Facts

FACTS: Facts = {
    "null": None,
    "inner": {"text": "here", "empty": "", "flag": False},
    "list": [1],
    "none": [],
    "sha256": "ab" * 32,
    "zero": "0" * 64,
}


@pytest.mark.parametrize(
    ("ask", "kept", "missed"),
    [
        (there, ("null", "inner.empty"), ("gone", "inner.gone")),
        (filled, ("inner.text",), ("inner.empty", "null", "gone")),
        (told, ("inner.flag",), ("null", "inner.gone")),
        (some, ("list",), ("none", "gone")),
        (digest, ("sha256",), ("zero", "inner.text", "gone")),
    ],
)
def test_each_check_passes_what_is_recorded_and_names_what_is_not(
    ask: Callable[[Facts, str], None], kept: tuple[str, ...], missed: tuple[str, ...]
) -> None:
    for path in kept:
        ask(FACTS, path)
    for path in missed:
        with pytest.raises(MalformedFacts) as caught:
            ask(FACTS, path)
        assert caught.value.path == path


def test_a_digest_of_a_list_is_named_with_its_place() -> None:
    with pytest.raises(MalformedFacts) as caught:
        digest({}, "sha256", "modules.3.")
    assert caught.value.path == "modules.3.sha256"
