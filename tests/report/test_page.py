"""The page as a browser reads it: one file that says what the view says, and does nothing else."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections import Counter
from dataclasses import replace

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.page import environment, render
from assay.report.view import Page, Row
from tests.report.markup import filled, nodes, parse, shapes, skeleton, told
from tests.report.worlds import EVIL

KINDS = ("qualified", "rejected", "undecided", "rehearsed", "hostile")

ACTIVE = frozenset(
    [
        "applet",
        "audio",
        "base",
        "embed",
        "form",
        "frame",
        "iframe",
        "img",
        "input",
        "link",
        "object",
        "script",
        "video",
    ]
)
"""Elements that load, run, send or ask (WHATWG HTML)."""

ACTING = frozenset(["action", "data", "formaction", "ping", "src", "srcset", "style", "xlink:href"])
"""Attributes that do, beside those that begin with "on"."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@pytest.fixture(scope="module")
def html(pages: dict[str, Page]) -> dict[str, bytes]:
    """Return the page of each kind."""
    return {kind: render(view) for kind, view in pages.items()}


# ------------------------------------------------------------------------------------------- what it says


@pytest.mark.gate
def test_the_verdict_is_the_first_that_is_said(html: dict[str, bytes]) -> None:
    for kind in KINDS[:4]:
        assert told(html[kind], "h1") == [kind.capitalize()]
        body = told(html[kind], "body")[0].removeprefix("Skip to the report ")
        assert body.index(kind.capitalize()) < body.index("What verifying answers")
        assert told(html[kind], "title")[0].startswith(f"{kind.capitalize()}: gpu-thing")


@pytest.mark.gate
def test_only_a_qualified_page_may_be_green(html: dict[str, bytes]) -> None:
    tones = {kind: parse(html[kind]).css("body")[0].attributes["class"] for kind in KINDS}
    assert tones == {
        "qualified": "is-good",
        "rejected": "is-bad",
        "undecided": "is-open",
        "rehearsed": "is-practice rehearsal",
        "hostile": "is-bad",
    }
    style = told(html["qualified"], "style")[0]
    colours = re.findall(r"([^{}]*)\{[^{}]*--good: #", style)
    assert {colour.split("}")[-1].strip() for colour in colours} == {"body.is-good"}


def test_a_rehearsal_says_so_above_all_else(html: dict[str, bytes]) -> None:
    band = "Rehearsal: a CPU stood in for the GPU. This qualifies nothing."
    assert {kind: told(html[kind], ".band") for kind in KINDS} == {
        kind: [band] if kind == "rehearsed" else [] for kind in KINDS
    }
    assert "Established in rehearsal, of this CPU only" in told(html["rehearsed"], "h3")
    assert " qualified" not in told(html["rehearsed"], "main")[0].replace("Only a qualified run", "").replace(
        "What was qualified", ""
    )


@pytest.mark.gate
def test_claims_stand_apart_from_what_is_not_established(html: dict[str, bytes]) -> None:
    assert told(html["qualified"], ".claims:not(.open) li")[-1] == "the chain is exact chain"
    assert told(html["qualified"], ".claims.open li") == ["buffers are shared"]
    assert told(html["rejected"], ".claims:not(.open) li") == []
    assert told(html["rejected"], ".claims.open li") == ["the chain is exact", "buffers are shared"]
    assert "Nothing. Only a qualified run establishes claims." in told(html["rejected"], "#claims p")


def test_every_part_is_there(html: dict[str, bytes], pages: dict[str, Page]) -> None:
    data, view = html["qualified"], pages["qualified"]
    assert told(data, "#answers .name") == [answer.name for answer in view.answers]
    assert told(data, "#timeline .gate strong") == [bar.gate for bar in view.timeline.bars]
    assert told(data, "#findings h4 code") == ["TOOLKIT-SHADOWED"]
    assert len(told(data, "#values tbody tr")) == 37
    assert told(data, "#values .wrong") == []
    assert told(data, "#gates summary") == [
        f"{gate.name} {gate.outcome} {gate.summary}".strip() for gate in view.gates
    ]
    assert told(data, "#limits li")[0].startswith("Digests prove consistency: that nothing")
    assert told(data, "#machine dd")[0] == "GPU of this world"
    assert "SHA-256" in told(data, "#selection th")


@pytest.mark.gate
def test_a_wrong_value_is_open_and_marked(html: dict[str, bytes]) -> None:
    assert told(html["rejected"], "#values td.wrong") == ["14.5 (0x41680000) wrong"]
    assert told(html["rejected"], "#values dd.wrong") == ["36 of 37 right"]
    assert len(parse(html["rejected"]).css("#values > details[open]")) == 1
    assert parse(html["qualified"]).css("#values > details[open]") == []


def test_how_to_verify_names_this_bundles_own_digest(html: dict[str, bytes], pages: dict[str, Page]) -> None:
    digest = {row.name: row.value for row in pages["qualified"].identity}["Bundle digest"]
    commands = told(html["qualified"], "pre.command")
    assert commands[0] == f"assay verify 20261130T120000Z-01234567.tar --expect-digest {digest}"
    assert commands[3].startswith('BUNDLE=20261130T120000Z-01234567.tar tar -xf "$BUNDLE" sha256sum')


def test_a_log_is_shown_line_by_line(html: dict[str, bytes]) -> None:
    logs = {node.attributes["aria-label"]: node.text() for node in parse(html["qualified"]).css("pre.log")}
    assert logs["lint.log"].splitlines() == ["it ran"]


# ------------------------------------------------------------------------------------- what it never does


@pytest.mark.gate
def test_it_loads_runs_and_sends_nothing(html: dict[str, bytes]) -> None:
    for data in html.values():
        found = list(nodes(data))
        assert {node.tag for node in found} & ACTIVE == set()
        names = {name for node in found for name in node.attributes}
        assert names & ACTING == set()
        assert [name for name in names if name.startswith("on")] == []
        hrefs = {node.attributes["href"] or "" for node in found if "href" in node.attributes}
        assert hrefs
        assert {href[0] for href in hrefs} == {"#"}
        assert "url(" not in told(data, "style")[0]
        assert "@import" not in told(data, "style")[0]


@pytest.mark.gate
def test_its_policy_allows_its_own_style_alone(html: dict[str, bytes]) -> None:
    for data in html.values():
        (meta,) = parse(data).css("meta[http-equiv]")
        style = re.search(rb"<style>(.*?)</style>", data, re.DOTALL)
        assert style is not None
        only = f"'sha256-{base64.b64encode(hashlib.sha256(style[1]).digest()).decode()}'"
        assert meta.attributes == {
            "http-equiv": "Content-Security-Policy",
            "content": f"default-src 'none'; style-src {only}; base-uri 'none'; form-action 'none'",
        }


def test_the_policy_stands_before_all_that_it_rules(html: dict[str, bytes]) -> None:
    order = [node.tag for node in parse(html["hostile"]).css("head *")]
    assert order[:2] == ["meta", "meta"]
    assert order.index("style") > 2


@pytest.mark.gate
def test_a_hostile_bundle_adds_no_element_and_no_attribute(html: dict[str, bytes]) -> None:
    benign = set().union(*(shapes(html[kind]) for kind in KINDS[:4]))
    assert shapes(html["hostile"]) - benign <= {("span", "class"), ("p", "class")}
    assert {tag for tag, _ in shapes(html["hostile"])} <= {tag for tag, _ in benign}
    text = html["hostile"].decode()
    assert "<script" not in text
    assert "hit()" in text  # it is shown


@pytest.mark.gate
def test_what_steers_or_reorders_text_is_shown_and_not_done(html: dict[str, bytes]) -> None:
    text = html["hostile"].decode()
    assert not [letter for letter in text if letter != "\n" and not letter.isprintable()]
    shown = told(html["hostile"], "#machine dd")
    assert any("\\u001b]0;title\\u0007\\u202egnp.exe\\u2066\\u2069\\u200f\\ufeff" in each for each in shown)
    assert any("{{ 7 * 7 }}{% raw %}&#60;b&#62;" in each for each in shown)  # as it stands, not worked out


PARTS = ["<", ">", "/", "!", "--", "]]>", "script", "style", "svg", '"', "'", "=", "&", "\0", EVIL]
# Everything but lone surrogates, which no document of a bundle can hold (FORMATS, "JSON").
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.lists(
    st.sampled_from(PARTS), min_size=1
).map("".join)


@given(text=ANY_TEXT)
def test_no_text_anywhere_changes_what_the_page_is_made_of(pages: dict[str, Page], text: str) -> None:
    """Every string of the view is replaced: each element and attribute stays, and what it does."""
    for kind in ("rejected", "rehearsed"):
        assert skeleton(render(filled(pages[kind], text))) == skeleton(render(filled(pages[kind], "x")))


def test_a_very_long_text_is_cut(pages: dict[str, Page]) -> None:
    assert len(render(filled(pages["undecided"], "<" * 1_000_000))) < 5_000_000


# -------------------------------------------------------------------------------------------- how it is built


@pytest.mark.gate
@pytest.mark.parametrize("kind", KINDS)
def test_headings_are_in_order_and_landmarks_and_tables_are_named(html: dict[str, bytes], kind: str) -> None:
    tree = parse(html[kind])
    levels = [int(node.tag[1]) for node in nodes(html[kind]) if node.tag in HEADINGS]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert tree.css("html")[0].attributes["lang"] == "en"
    assert [len(tree.css(name)) for name in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    assert all(th.attributes.get("scope") for th in tree.css("th"))
    assert all(node.attributes.get("aria-label") for node in tree.css("nav, [role=region]"))
    assert all(node.attributes.get("tabindex") == "0" for node in tree.css("[role=region]"))


@pytest.mark.gate
@pytest.mark.parametrize("kind", KINDS)
def test_every_link_leads_somewhere_and_no_name_is_there_twice(html: dict[str, bytes], kind: str) -> None:
    tree = parse(html[kind])
    ids = Counter(node.attributes["id"] for node in tree.css("[id]"))
    assert [name for name, count in ids.items() if count > 1] == []
    targets = {(node.attributes["href"] or "")[1:] for node in tree.css("a[href]")}
    labels = {node.attributes["aria-labelledby"] for node in tree.css("[aria-labelledby]")}
    assert targets | labels <= set(ids)


@pytest.mark.gate
def test_the_same_view_gives_the_same_bytes(pages: dict[str, Page], html: dict[str, bytes]) -> None:
    assert {kind: render(view) for kind, view in pages.items()} == html


def test_a_name_that_a_template_misspells_is_an_error(pages: dict[str, Page]) -> None:
    templates = environment({"page.html": "{{ page.titel }}"})
    with pytest.raises(jinja2.UndefinedError):
        templates.get_template("page.html").render(page=pages["qualified"])


def test_empty_parts_say_that_they_are_empty(pages: dict[str, Page]) -> None:
    bare = replace(pages["undecided"], machine=(), gates=(), findings=(), not_established=(), identity=())
    data = render(replace(bare, selection=(Row("only", "one"),)))
    text = told(data, "main")[0]
    for words in (
        "Nothing was recorded of it.",
        "No gate ran.",
        "Findings None.",
        "The plan leaves no claim open.",
        "No chain left values.",
    ):
        assert words in text
