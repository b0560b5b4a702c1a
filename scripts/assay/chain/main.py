"""The command line of the child: ``run``, ``measure``, ``cold``, ``compile``, ``probe``.

The package says what they speak.  Each imports what it needs when it is asked for: from a zip every module
is compiled anew.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .failures import RequestError

if TYPE_CHECKING:
    from .run import Surroundings

REQUEST_LIMIT = 64 << 20
"""Bytes of the largest request: 2**20 canonical values take 11 MiB."""

DONE, FAILED, USAGE, UNHEARD = 0, 1, 2, 3
"""Exit status: done; something is missing or failed; wrong request; the events could not be written."""


def main(argv: Sequence[str]) -> int:
    """Run the entry point that ``argv`` names and return the exit status."""
    arguments = _parser().parse_args(argv)
    entry: Callable[[argparse.Namespace], int] = arguments.entry
    try:
        return entry(arguments)
    except RequestError as error:
        sys.stderr.write(f"{error}\n")
        return USAGE
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return UNHEARD


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="assay-chain", allow_abbrev=False)
    entries = parser.add_subparsers(required=True)
    for name, does, entry in (
        ("run", "run chains", _run),
        ("measure", "measure what is shared and how fast it is", _measure),
    ):
        told = entries.add_parser(name, help=does)
        told.add_argument("--request", required=True)
        told.add_argument("--events", type=int, required=True)
        told.add_argument("--control", type=int, required=True)
        told.set_defaults(entry=entry)
    soon = entries.add_parser("cold", help="run one chain once, as soon after the start as it goes")
    soon.add_argument("--request", required=True)
    soon.add_argument("--result", type=Path, required=True)
    soon.add_argument("--began", type=int, required=True)
    soon.set_defaults(entry=_cold)
    two = entries.add_parser("compile", help="make PTX and CUBIN of every CUDA source")
    two.add_argument("--request", required=True)
    two.add_argument("--output", type=Path, required=True)
    two.set_defaults(entry=_compile)
    three = entries.add_parser("probe", help="tell about interpreter and machine")
    three.add_argument("--result", type=Path, required=True)
    three.add_argument("--serial", action="store_true", help="tell the GPU's serial number too")
    three.add_argument("parts", nargs="+", metavar="PART")
    three.set_defaults(entry=_probe)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    """Run chains."""
    from .run import run  # noqa: PLC0415  # see the module
    from .spec import parse_run  # noqa: PLC0415  # see the module

    around = _surroundings(arguments)
    return FAILED if run(parse_run(_request(arguments.request)), around) else DONE


def _measure(arguments: argparse.Namespace) -> int:
    """Measure what is shared and how fast it is."""
    from .measure import measure  # noqa: PLC0415  # see the module
    from .measure_spec import parse_measure  # noqa: PLC0415  # see the module

    around = _surroundings(arguments)
    return FAILED if measure(parse_measure(_request(arguments.request)), around) else DONE


def _surroundings(arguments: argparse.Namespace) -> Surroundings:
    """Return what an entry reaches outside itself by."""
    from . import runtimes  # noqa: PLC0415  # see the module
    from .events import Events, open_descriptor, wait  # noqa: PLC0415  # see the module
    from .run import Surroundings, driver_facts  # noqa: PLC0415  # see the module

    events = Events(open_descriptor(arguments.events, os.O_WRONLY))
    control = open_descriptor(arguments.control, os.O_RDONLY)
    return Surroundings(events, partial(wait, control), runtimes.opener, driver_facts)


def _cold(arguments: argparse.Namespace) -> int:
    """Run one chain once and write how long each part took."""
    from . import document  # noqa: PLC0415  # see the module
    from .cold import cold, parse_cold  # noqa: PLC0415  # see the module

    document.write(arguments.result, cold(parse_cold(_request(arguments.request)), arguments.began))
    return DONE


def _compile(arguments: argparse.Namespace) -> int:
    """Make images."""
    from .compile import compile_all  # noqa: PLC0415  # see the module
    from .spec import parse_compile  # noqa: PLC0415  # see the module

    request = parse_compile(_request(arguments.request))
    return FAILED if compile_all(request, arguments.output) else DONE


def _probe(arguments: argparse.Namespace) -> int:
    """Tell about interpreter and machine."""
    from . import probe  # noqa: PLC0415  # see the module

    if unknown := [name for name in arguments.parts if name not in probe.NAMES]:
        raise RequestError("", f"asks for {unknown[0]!r}, not one of {', '.join(probe.NAMES)}")
    failed = probe.probe(tuple(arguments.parts), arguments.result, serial=arguments.serial)
    return FAILED if failed else DONE


def _request(name: str) -> bytes:
    """Return the request's bytes from a file, or from standard input for ``-``.

    Raises:
        RequestError: it is too long or cannot be read.
    """
    try:
        if name == "-":
            data = sys.stdin.buffer.read(REQUEST_LIMIT + 1)
        else:
            with Path(name).open("rb") as stream:
                data = stream.read(REQUEST_LIMIT + 1)
    except OSError as error:
        raise RequestError("", f"cannot be read: {error}") from error
    if len(data) > REQUEST_LIMIT:
        raise RequestError("", f"is longer than {REQUEST_LIMIT} bytes")
    return data
