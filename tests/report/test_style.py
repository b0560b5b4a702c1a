"""The page's colours can be read: WCAG 2.2, 1.4.3 (text) and 1.4.11 (what is not text), worked out here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from importlib import resources

import pytest

STYLE = (resources.files("assay.report") / "templates" / "style.css").read_text("utf-8")

TEXT, GRAPHIC = 4.5, 3.0
"""Least contrast (WCAG 2.2, 1.4.3 AA and 1.4.11)."""

SURFACES = ("paper", "sheet", "soft")
WORDS = ("ink", "muted", "link", "calm", "good", "bad", "open", "practice")

_BLOCK = re.compile(r"(?::root|body\.is-good) \{([^}]*)\}")
_COLOUR = re.compile(r"--(\w+): (#[0-9a-f]{3}(?:[0-9a-f]{3})?);")


def schemes() -> Mapping[str, Mapping[str, str]]:
    """Return the colours by name of each scheme; what a scheme does not change is as in the light one."""
    light, rest = STYLE.split("@media (prefers-color-scheme: dark)", 1)
    dark, printed = rest.split("@media print", 1)
    first = _colours(light)
    return {"light": first, "dark": {**first, **_colours(dark)}, "print": {**first, **_colours(printed)}}


def _colours(text: str) -> dict[str, str]:
    """Return the colours that a part of the style names."""
    return {name: value for block in _BLOCK.findall(text) for name, value in _COLOUR.findall(block)}


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2, "relative luminance")."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.gate
def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)  # just not enough, as is well known


@pytest.mark.gate
@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_every_word_can_be_read_on_every_surface(scheme: str) -> None:
    colours = schemes()[scheme]
    found = {
        (word, surface): round(contrast(colours[word], colours[surface]), 2)
        for word, surface in itertools.product(WORDS, SURFACES)
    }
    assert {pair: ratio for pair, ratio in found.items() if ratio < TEXT} == {}


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_bars_stand_out_from_their_track(scheme: str) -> None:
    colours = schemes()[scheme]
    for bar in ("bar", "bad", "open"):
        assert contrast(colours[bar], colours["soft"]) >= GRAPHIC, bar
