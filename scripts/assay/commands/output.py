"""How commands speak: people read lines on stdout; with ``--json`` the lines go to stderr."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from assay.canonical import dumps
from assay.model import Json


def speaker(*, as_json: bool) -> Callable[[str], None]:
    """Return what prints a live line at once."""
    return functools.partial(print, file=sys.stderr if as_json else sys.stdout, flush=True)


def print_json(document: Json, *, wanted: bool) -> None:
    """Print a document on stdout where it is wanted, in UTF-8 whatever the terminal has."""
    if wanted:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")
        print(dumps(document).decode())
