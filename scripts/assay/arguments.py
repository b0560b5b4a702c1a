"""The command line as data: which commands there are, what each takes, and what it calls."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import __version__
from assay.commands.copies import run_in_this_copy
from assay.commands.evidence_options import (
    add_archive_options,
    add_attest_options,
    add_compare_options,
    add_keygen_options,
    add_release_options,
    add_revoke_options,
    add_sign_options,
    add_standing_options,
    add_supersede_options,
    add_zip_options,
)
from assay.model import Tier
from assay.provision.options import add_options as add_provision_options


@dataclass(frozen=True)
class Invocation:
    """A parsed command line: the module of its command, and its options."""

    module: str
    options: argparse.Namespace

    def run(self) -> int:
        """Import the command's module, only now, and return its exit code."""
        return run_in_this_copy(self.options.command, self.module, self.options)


def parse_arguments(arguments: list[str]) -> Invocation:
    """Parse a command line; argparse itself ends with exit code 2 on a mistake."""
    options = _parser(arguments).parse_args(arguments)
    return Invocation(f"assay.commands.{options.command}", options)


def _parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the options of those whose names are among the arguments."""
    parser = argparse.ArgumentParser(
        prog="assay", description="Qualify a GPU release and verify the evidence.", formatter_class=_formatter
    )
    parser.add_argument("--version", action="version", version=f"assay {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", prog=parser.prog)
    for name, purpose, add in _COMMANDS:
        command = commands.add_parser(name, help=purpose, description=purpose, formatter_class=_formatter)
        if name in arguments:  # argparse takes a millisecond for a few options
            add(command)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return what formats help, as wide as the terminal.

    argparse makes one for every option; left to itself it imports every compression that there is, with
    ``shutil``, to ask for the width.
    """
    return argparse.HelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    """Return the terminal's columns, 80 where there is none."""
    told = os.environ.get("COLUMNS", "")
    try:
        return int(told) if told.isdecimal() and int(told) else os.get_terminal_size().columns or 80
    except OSError:
        return 80


def _add_qualify(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``qualify``."""
    _add_run(parser)
    parser.add_argument(
        "--challenge", default="", metavar="HEX", help="an auditor's value, mixed into fresh values"
    )


def _add_gate(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``gate``."""
    parser.add_argument("gate", metavar="NAME", help="the gate; those it needs run before it")
    _add_run(parser)


def _add_rehearse(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``rehearse``."""
    parser.add_argument("gate", nargs="?", metavar="GATE", help="one gate and those it needs (default: all)")
    parser.add_argument("name", nargs="?", metavar="CHAIN", help="after `chain`: one chain, within seconds")
    parser.add_argument("--watch", action="store_true", help="run the chain again whenever it is saved")
    _add_run(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    """Add what every run takes."""
    _add_project(parser)
    parser.add_argument("--selection", type=Path, metavar="FILE", help="the selection, instead of variables")
    parser.add_argument("--artifact", type=Path, metavar="FILE", help="a wheel that is taken as it is")
    _add_json(parser)


def _add_diagnose(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``diagnose``."""
    parser.add_argument("--root", type=Path, metavar="DIR", help="another machine's root folder")
    parser.add_argument("--env-file", type=Path, metavar="FILE", help="its environment, as `env` prints it")
    parser.add_argument("--selection", type=Path, metavar="FILE", help="the selection, instead of variables")
    _add_project(parser)
    _add_json(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``explain``."""
    parser.add_argument("id", nargs="?", metavar="ID", help="a finding's id (default: list all)")
    _add_json(parser)


def _add_project(parser: argparse.ArgumentParser) -> None:
    """Add the project's folder."""
    parser.add_argument(
        "--project", type=Path, default=Path(), metavar="DIR", help="the project (default: here)"
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    """Add machine-readable output."""
    parser.add_argument("--json", action="store_true", help="print the same facts as JSON")


def _add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``verify``."""
    _add_wishes(parser)
    _add_json(parser)


def _add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``report``."""
    _add_wishes(parser)
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="the file (default: beside the bundle)"
    )
    parser.add_argument(
        "--format",
        choices=["html", "junit", "cyclonedx", "markdown"],
        default="html",
        help="a page, JUnit XML, a CycloneDX bill of materials, or a short summary (default: html)",
    )


def _add_wishes(parser: argparse.ArgumentParser) -> None:
    """Add a bundle and what its reader wants of it."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--expect-digest", metavar="SHA256", help="the bundle digest you were told another way"
    )
    parser.add_argument("--accept", action="append", default=[], choices=["unanchored", "rehearsed"])
    parser.add_argument("--tier", choices=[tier.value for tier in Tier], help="accept only this tier")
    parser.add_argument(
        "--plan", type=Path, metavar="FILE", help="the plan that you expect: a pyproject.toml"
    )
    parser.add_argument("--not-older-than", metavar="DAYS", type=int, help="refuse an older run")
    parser.add_argument("--challenge", metavar="HEX", help="the value that the run had to mix in")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the public key of whom you trust")
    parser.add_argument(
        "--attestations", type=Path, metavar="FILE", help="what the key signed (default: beside the bundle)"
    )
    add_standing_options(parser)


def _add_show(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``show``."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--subject", action="store_true", help="the subject digest too, which unpacks what was built"
    )


def _add_bundle(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``bundle``."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="a run folder, finished or not")


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``fetch``."""
    _add_project(parser)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a pinned provider with a URL (default: all here)"
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help="the folder (default: .assay/providers)")


_COMMANDS: tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...] = (
    ("qualify", "run every planned gate and leave a bundle", _add_qualify),
    ("rehearse", "run everything on the CPU, or one gate or chain; qualifies nothing", _add_rehearse),
    ("gate", "run one gate and those it needs; an outcome, no verdict", _add_gate),
    ("diagnose", "say what is wrong with a machine, the cause first", _add_diagnose),
    ("explain", "say what a finding means and what to do about it", _add_explain),
    ("verify", "check a bundle, trusting nothing in it", _add_verify),
    ("show", "print what a bundle says, after verifying it", _add_show),
    ("report", "render what a bundle says as a page, after verifying it", _add_report),
    ("compare", "say what changed between two bundles, claims and the bar first", add_compare_options),
    ("keygen", "make a key to sign with", add_keygen_options),
    ("sign", "sign what verifying a bundle shows", add_sign_options),
    ("attest", "sign a bundle in the form of another tool", add_attest_options),
    ("release", "check a set of bundles as one release", add_release_options),
    ("archive", "put bundles where they are found again, or ask such an archive", add_archive_options),
    ("supersede", "sign that a bundle replaces another one in some claims", add_supersede_options),
    ("revoke", "sign that a bundle must not be relied on any more", add_revoke_options),
    ("zip", "write the reader's own copy: one file that verifies anywhere", add_zip_options),
    ("bundle", "finish a run that was cut short into a bundle", _add_bundle),
    ("fetch", "bring a pinned provider from the plan's URL", _add_fetch),
    ("provision", "make the embedded selection, or fill a wheelhouse for one", add_provision_options),
)
