"""Renders a view as HTML: a pure function of the view and of the templates that ship with this copy.

Every string passes ``_harmless`` where it is written, wherever it comes from: what steers or reorders text
becomes visible.  Then Jinja2 escapes it.  The page's own style is the only thing that its
Content-Security-Policy allows, by digest.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from jinja2 import DictLoader, Environment, StrictUndefined, Template

from assay.evidence.plain import plain
from assay.report.view import Page

_PAGE, _STYLE = "page.html", "style.css"


def render(page: Page) -> bytes:
    """Return a page as UTF-8; the same view gives the same bytes."""
    files = _files()
    style = files[_STYLE]
    return _template().render(page=page, style=style, policy=_policy(style)).encode()


@functools.cache
def _template() -> Template:
    """Return the page's template, compiled."""
    return environment(_files()).get_template(_PAGE)


@functools.cache
def _files() -> Mapping[str, str]:
    """Return the templates and the style by name, as they ship with this copy."""
    folder = resources.files(__package__) / "templates"
    return MappingProxyType(
        {each.name: each.read_text("utf-8") for each in folder.iterdir() if each.is_file()}
    )


def environment(files: Mapping[str, str]) -> Environment:
    """Return what renders templates: escaping always on, and nothing that is missing passes as empty."""
    return Environment(
        loader=DictLoader(files),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _harmless(value: object) -> object:
    """Return a string so that it neither steers nor reorders what stands around it.

    What templates made already is marked by ``__html__`` (MarkupSafe); no string of a bundle is.
    """
    return plain(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _policy(style: str) -> str:
    """Return the Content-Security-Policy of the page (CSP Level 3): nothing but its own style, by digest."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
