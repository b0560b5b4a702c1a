"""The command line of the child: ``run``, ``measure``, ``compile``, ``probe``.

The package says what they speak.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from . import compile as compilation
from . import probe, runtimes, spec
from .events import Events, open_descriptor, wait
from .failures import RequestError
from .measure import measure
from .measure_spec import parse_measure
from .run import Surroundings, driver_facts, run

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
    one = entries.add_parser("run", help="run chains")
    one.add_argument("--request", required=True)
    one.add_argument("--events", type=int, required=True)
    one.add_argument("--control", type=int, required=True)
    one.set_defaults(entry=_run)
    also = entries.add_parser("measure", help="measure what is shared and how fast it is")
    also.add_argument("--request", required=True)
    also.add_argument("--events", type=int, required=True)
    also.add_argument("--control", type=int, required=True)
    also.set_defaults(entry=_measure)
    two = entries.add_parser("compile", help="make PTX and CUBIN of every CUDA source")
    two.add_argument("--request", required=True)
    two.add_argument("--output", type=Path, required=True)
    two.set_defaults(entry=_compile)
    three = entries.add_parser("probe", help="tell about interpreter and machine")
    three.add_argument("--result", type=Path, required=True)
    three.add_argument("--serial", action="store_true", help="tell the GPU's serial number too")
    three.add_argument("parts", nargs="+", choices=probe.NAMES, metavar="PART")
    three.set_defaults(entry=_probe)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    """Run chains."""
    around = _surroundings(arguments)
    return FAILED if run(spec.parse_run(_request(arguments.request)), around) else DONE


def _measure(arguments: argparse.Namespace) -> int:
    """Measure what is shared and how fast it is."""
    around = _surroundings(arguments)
    return FAILED if measure(parse_measure(_request(arguments.request)), around) else DONE


def _surroundings(arguments: argparse.Namespace) -> Surroundings:
    """Return what an entry reaches outside itself by."""
    events = Events(open_descriptor(arguments.events, os.O_WRONLY))
    control = open_descriptor(arguments.control, os.O_RDONLY)
    return Surroundings(events, partial(wait, control), runtimes.opener, driver_facts)


def _compile(arguments: argparse.Namespace) -> int:
    """Make images."""
    request = spec.parse_compile(_request(arguments.request))
    return FAILED if compilation.compile_all(request, arguments.output) else DONE


def _probe(arguments: argparse.Namespace) -> int:
    """Tell about interpreter and machine."""
    failed = probe.probe(tuple(arguments.parts), arguments.result, serial=arguments.serial)
    return FAILED if failed else DONE


def _request(name: str) -> bytes:
    """Return the request's bytes from a file, or from standard input for ``-``.

    Raises:
        RequestError: it is too long or cannot be read.
    """
    try:
        if name == "-":
            data = sys.stdin.buffer.read(spec.REQUEST_LIMIT + 1)
        else:
            with Path(name).open("rb") as stream:
                data = stream.read(spec.REQUEST_LIMIT + 1)
    except OSError as error:
        raise RequestError("", f"cannot be read: {error}") from error
    if len(data) > spec.REQUEST_LIMIT:
        raise RequestError("", f"is longer than {spec.REQUEST_LIMIT} bytes")
    return data
