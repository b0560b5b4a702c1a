"""Pages in a real browser, on a phone and on a desktop, light and dark, by keyboard and on paper."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.browser.conftest import Looked
from tests.report.markup import parse

NAMES = ("released", "rejected", "undecided", "rehearsed", "hostile")
A4 = (595, 842)
"""Points of an A4 sheet (ISO 216: 210 mm by 297 mm)."""

RULES = {
    "aria-allowed-role",
    "color-contrast",
    "document-title",
    "heading-order",
    "html-has-lang",
    "list",
    "region",
}
"""Some of what axe must have looked at; what it has not looked at has not passed."""


@pytest.fixture(params=NAMES)
def page(request: pytest.FixtureRequest, looked: Mapping[str, Looked]) -> Looked:
    """Return each page in turn."""
    return looked[request.param]


def test_it_was_looked_at_at_both_widths_in_both_schemes(page: Looked) -> None:
    circumstances = [(each["width"], each["scheme"]) for each in page.seen]
    assert circumstances == [
        (width, scheme) for width in ("phone", "desktop") for scheme in ("light", "dark")
    ]
    assert {each["colours"]["width"] for each in page.seen} == {360, 1280}


def test_it_says_nothing_to_the_console_asks_for_nothing_and_tries_nothing(page: Looked) -> None:
    for each in (*page.seen, page.print):
        assert each["console"] == each["errors"] == each["dialogs"] == []
        assert each["requests"] == [page.url]
        assert each.get("violated", []) == []


def test_nothing_is_wider_than_the_window(page: Looked) -> None:
    for each in page.seen:
        for state in ("folded", "unfolded"):
            assert each[state]["page"] == each[state]["window"], (each["width"], state)


def test_axe_finds_nothing_against_wcag_aa(page: Looked) -> None:
    for each in page.seen:
        assert each["violations"] == []
        assert each["unsure"] == []
        assert set(each["passes"]) >= RULES


def test_the_keyboard_reaches_everything_in_order_and_its_focus_is_seen(page: Looked) -> None:
    order = page.keyboard["order"]
    places = [at["place"] for at in order]
    assert places == sorted(places)
    assert [at for at in order if not at["ring"]] == []
    assert [at for at in order if not at["inside"]] == []
    assert len(order) == _reachable(page.html)
    assert page.keyboard["skipped"] == "report"
    assert page.keyboard["opened"] is True


def _reachable(html: bytes) -> int:
    """Return how many links, folds and scrolling parts are not folded away (none is folded twice)."""
    tree = parse(html)
    parts = tree.css("[tabindex='0']")
    folded = tree.css("details:not([open]) [tabindex='0']")
    return len(tree.css("a[href]")) + len(tree.css("summary")) + len(parts) - len(folded)


def test_light_is_light_and_dark_is_dark(page: Looked) -> None:
    for each in page.seen:
        bright = each["colours"]["bright"]
        assert bright > 0.85 if each["scheme"] == "light" else bright < 0.25, each["scheme"]


def test_only_what_is_qualified_is_green(page: Looked) -> None:
    for each in page.seen:
        assert (each["colours"]["green"] > 0) is (page.name == "released"), (each["width"], each["scheme"])


def test_paper_has_what_is_folded_but_no_logs_and_is_white(page: Looked) -> None:
    printed = page.print
    assert printed["folded"]
    assert all(printed["folded"])
    assert not any(printed["logs"])
    assert printed["nav"] == [False]
    assert printed["paper"] == "rgb(255, 255, 255)"


def test_it_prints_on_a4(page: Looked) -> None:
    assert _sheets(page) == {A4}


def _sheets(page: Looked) -> set[tuple[int, int]]:
    """Return the sizes of a page's sheets of paper, in points (ISO 32000-2, 7.7.3.3, "MediaBox")."""
    data = Path(page.print["pdf"]).read_bytes()
    assert data.startswith(b"%PDF-")
    boxes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", data)
    return {(round(float(width)), round(float(height))) for width, height in boxes}


def test_a_page_that_is_wrong_in_every_way_is_noticed_in_every_way(looked: Mapping[str, Looked]) -> None:
    bad = looked["bad"]
    for each in bad.seen:
        assert any("said" in line for line in each["console"])
        assert any("undefined" in error for error in each["errors"])
        assert each["dialogs"] == ["asked"]
        assert any(url.endswith("absent.png") for url in each["requests"])
        assert "object-src" in each["violated"]
        assert each["folded"]["page"] > each["folded"]["window"]
        assert {"color-contrast", "html-has-lang", "image-alt"} <= {
            found["id"] for found in each["violations"]
        }
        assert each["colours"]["green"] > 0
        assert each["colours"]["bright"] > 0.25  # in the dark too
    assert bad.keyboard["order"][0]["ring"] is False
    assert bad.keyboard["skipped"] != "report"
    assert bad.print["folded"] == [False]
    assert bad.print["logs"] == bad.print["nav"] == [True]
    assert A4 not in _sheets(bad)
