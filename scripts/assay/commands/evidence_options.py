"""The options of the commands over bundles that are there; loads nothing but argparse."""

from __future__ import annotations

import argparse
from pathlib import Path

KEY = Path(".assay/signing.key")
"""Where ``keygen`` puts a key: git never sees that folder."""


PYZ = Path("dist/assay.pyz")
"""Where ``zip`` puts the reader's own copy."""


_PLACES = "a folder, https://archive.example/FOLDER or oci://HOST/NAME"


def add_keygen_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``keygen``."""
    parser.add_argument(
        "--out",
        type=Path,
        default=KEY,
        metavar="FILE",
        help=f"the private key; its public half gets the ending .pub (default: {KEY})",
    )


def add_sign_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sign``."""
    _add_bundle(parser)
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the private key")


def add_attest_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``attest``."""
    add_sign_options(parser)
    parser.add_argument(
        "--sigstore", action="store_true", required=True, help="as a Sigstore bundle, signed by the key"
    )


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``compare``."""
    parser.add_argument("old", type=Path, metavar="A", help="the earlier bundle")
    parser.add_argument("new", type=Path, metavar="B", help="the later bundle")
    _add_json(parser)


def add_release_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``release``."""
    parser.add_argument("bundles", type=Path, nargs="+", metavar="BUNDLE", help="the members of the release")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="the private key: signs the index, and signed the members"
    )
    parser.add_argument(
        "--check", type=Path, metavar="FILE", help="check this index, signed by --trust, against the bundles"
    )
    parser.add_argument(
        "--trust",
        type=Path,
        metavar="FILE",
        help="the public key that signed the members (default: of --key)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the index (default: beside the first bundle)"
    )
    _add_json(parser)


def add_standing_options(parser: argparse.ArgumentParser) -> None:
    """Add what asks whether a bundle still stands."""
    parser.add_argument(
        "--claim",
        action="append",
        default=[],
        metavar="ID",
        help="a claim that you rely on: it must be established, and not superseded (again for more)",
    )
    parser.add_argument(
        "--archive", type=Path, metavar="DIR", help="the archive that says whether the bundle still stands"
    )
    parser.add_argument(
        "--trust",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a further public key whose word counts for that (again for more)",
    )


def add_zip_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``zip``."""
    parser.add_argument("--out", type=Path, default=PYZ, metavar="FILE", help=f"where (default: {PYZ})")


def _add_bundle(parser: argparse.ArgumentParser) -> None:
    """Add the bundle."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")


def _add_json(parser: argparse.ArgumentParser) -> None:
    """Add machine-readable output."""
    parser.add_argument("--json", action="store_true", help="print the same facts as JSON")


def add_archive_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``archive``."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="BUNDLE",
        help="bundles to archive with what lies beside them; or `list`, `check`, or `get DIGEST…`",
    )
    parser.add_argument("--to", metavar="PLACE", help=f"the archive, or of `get` the folder: {_PLACES}")
    parser.add_argument("--from", dest="source", metavar="PLACE", help="the archive that is asked")
    for name in ("verdict", "tier", "platform", "project", "run"):
        parser.add_argument(f"--{name}", help=f"list only bundles of this {name}")
    parser.add_argument(
        "--claim", action="append", default=[], metavar="ID", help="list only bundles that establish it"
    )
    _add_json(parser)


def add_supersede_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``supersede``."""
    parser.add_argument("bundle", type=Path, metavar="OLD", help="the bundle that is replaced")
    parser.add_argument("new", type=Path, metavar="NEW", help="the bundle that replaces it")
    parser.add_argument(
        "--claims", action="append", required=True, metavar="ID,ID", help="the claims that it replaces"
    )
    _add_statement(parser)


def add_revoke_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``revoke``."""
    _add_bundle(parser)
    _add_statement(parser)


def _add_statement(parser: argparse.ArgumentParser) -> None:
    """Add what every statement about a bundle has."""
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why, in one line")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the private key")
    parser.add_argument("--to", metavar="PLACE", help=f"put it into this archive at once: {_PLACES}")
