"""Every page is looked at once, by one script; the tests ask what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay import nox
from assay.report.page import render
from tests.browser.chromium import MissingError, run_script
from tests.project.files import PROJECT
from tests.report import worlds

RECEIPTS = PROJECT / "receipts"

BAD = b"""<!DOCTYPE html><html><head><title>bad</title>
<meta http-equiv="Content-Security-Policy" content="object-src 'none'">
<style>body { color: #999; background: #fff } a { outline: none !important } nav { background: #0a0 }
@page { size: A5 }</style></head><body>
<nav><p><a href="#1">one</a></p></nav><div style="width: 3000px">wide</div>
<details><summary>more</summary><dl><dd>folded</dd></dl></details><pre class="log">a log</pre>
<img src="absent.png"><object data="absent.html"></object>
<script>console.error("said"); alert("asked"); undefined.thing</script></body></html>
"""
"""A page that is wrong in every way that is looked for: what does not notice it notices nothing."""


@dataclass(frozen=True)
class Looked:
    """What was seen of one page, and the page."""

    name: str
    html: bytes
    url: str
    seen: tuple[Mapping[str, Any], ...]
    keyboard: Mapping[str, Any]
    print: Mapping[str, Any]


@pytest.fixture(scope="session")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Looked]:
    """Return every page as a browser showed it; without a browser this fails, for a skip would hide that."""
    folder = tmp_path_factory.mktemp("browser")
    html = pages(folder)
    files = {name: folder / f"{name}.html" for name in html}
    for name, data in html.items():
        files[name].write_bytes(data)
    wanted = {
        "out": str(folder),
        "pages": [{"file": str(path), "name": name} for name, path in files.items()],
    }
    try:
        told = run_script("look.mjs", wanted, folder)
    except MissingError as error:
        pytest.fail(str(error), pytrace=False)
    return {
        name: Looked(name, data, files[name].as_uri(), **told["pages"][name]) for name, data in html.items()
    }


def pages(folder: Path) -> Mapping[str, bytes]:
    """Return the page of a released bundle, and of one bundle of each kind of the small world."""
    name, digest = next(iter(nox.released(RECEIPTS).items()))
    anchored = replace(worlds.WANTED, expect_digest=digest)
    kinds = worlds.views(folder)
    return {
        "released": render(worlds.view(RECEIPTS / name, anchored)),
        **{kind: render(view) for kind, view in kinds.items() if kind != "qualified"},
        "bad": BAD,
    }
