"""Renders a view as HTML: a pure function of the view and of the templates that ship with this copy.

Every string passes ``_harmless`` where it is written, wherever it comes from: what steers or reorders text
becomes visible.  Then Jinja2 escapes it.  The page's own style is the only thing that its
Content-Security-Policy allows, by digest.
"""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from assay.evidence.show import plain
from assay.report.view import Page

_PAGE, _STYLE = "page.html", "style.css"


def render(page: Page) -> bytes:
    """Return a page as UTF-8; the same view gives the same bytes."""
    folder = resources.files(__package__) / "templates"
    files = {each.name: each.read_text("utf-8") for each in folder.iterdir() if each.is_file()}
    style = files.pop(_STYLE)
    template = _environment(files).get_template(_PAGE)
    return template.render(page=page, style=Markup(style), policy=_policy(style)).encode()  # noqa: S704  # a file of this package


def _environment(files: dict[str, str]) -> Environment:
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
    """Return a string so that it neither steers nor reorders what stands around it."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _policy(style: str) -> str:
    """Return the Content-Security-Policy of the page (CSP Level 3): nothing but its own style, by digest."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
