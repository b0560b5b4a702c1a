"""How commands speak: people read lines on stdout; with ``--json`` the lines go to stderr."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from assay.canonical import dumps
from assay.model import Json


def speaker(*, as_json: bool) -> Callable[[str], None]:
    """Return what prints a live line at once."""
    return functools.partial(print, file=sys.stderr if as_json else sys.stdout, flush=True)


@contextlib.contextmanager
def viewing(*, as_json: bool) -> Iterator[Callable[[str], None]]:
    """Yield what prints a run's lines: on a terminal in colours, what runs below them; else as they are."""
    stream = sys.stderr if as_json else sys.stdout
    if not coloured(stream):
        yield speaker(as_json=as_json)
        return
    from assay.commands.live import live_view  # noqa: PLC0415  # imports rich, which only a terminal needs

    with live_view(stream) as say:
        yield say


def print_lines(lines: Sequence[str]) -> None:
    """Print lines on stdout, in colours on a terminal that wants them, else as they are."""
    if coloured(sys.stdout):
        with contextlib.suppress(ImportError):  # the one-file copy has no rich, and shows all the same
            from assay.commands.live import print_styled  # noqa: PLC0415  # as in viewing

            print_styled(lines, sys.stdout)
            return
    print("\n".join(lines))


def coloured(stream: TextIO | None) -> bool:
    """Say whether a stream is a terminal that wants colours (no-color.org, and ``TERM=dumb``)."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream is not None and stream.isatty()


def print_json(document: Json, *, wanted: bool) -> None:
    """Print a document on stdout where it is wanted, in UTF-8 whatever the terminal has."""
    if wanted:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8")
        print(dumps(document).decode())
