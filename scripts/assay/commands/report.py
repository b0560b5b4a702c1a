"""``assay report BUNDLE``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from assay.commands.given import existing
from assay.commands.verify import wanted_of
from assay.errors import UsageError
from assay.evidence.asking import Wanted
from assay.evidence.show import verification_lines
from assay.evidence.verification import Verification

ENDINGS = {"html": ".html", "junit": ".junit.xml", "cyclonedx": ".cdx.json", "markdown": ".md"}
"""How the names of renderings end, by their format."""

Write = Callable[[Path, Wanted, Path], tuple[Verification, bool]]


def run(options: argparse.Namespace) -> int:
    """Write a rendering of a bundle; return 0 where it is written, 3 or 4 as ``verify`` says where not.

    Raises:
        UsageError: a package is not installed: the one-file copy of assay verifies without it.
    """
    try:
        write = _writer(options.format)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"a report needs the package {error.name}",
            "assay as it is installed, with what it needs",
            "install it: pip install gpu-assay; or read the bundle in a terminal: assay show BUNDLE",
        ) from error
    ending = ENDINGS[options.format]
    target = options.out or options.bundle.with_name(options.bundle.name.removesuffix(".tar") + ending)
    verified, written = write(existing(options.bundle), wanted_of(options), target)
    if written:
        print(f"report: {target}")
        return 0
    print("\n".join(verification_lines(verified)), file=sys.stderr)
    print("no report: nothing that a broken bundle says is passed on", file=sys.stderr)
    return verified.exit_code


def _writer(form: str) -> Write:
    """Return what writes a format; each imports what it alone needs.

    Raises:
        ModuleNotFoundError: that is not installed.
    """
    if form == "html":
        from assay.report.document import write_report  # noqa: PLC0415  # Jinja2

        return lambda bundle, wanted, target: write_report(bundle, wanted, target, readers=True)
    from assay.report.writing import write_rendering  # noqa: PLC0415  # as those below

    if form == "junit":
        from assay.report.junit import junit as render  # noqa: PLC0415  # XML
    elif form == "cyclonedx":
        from assay.report.materials import bill_of_materials as render  # noqa: PLC0415  # CycloneDX's library
    else:
        from assay.report.summary import summary as render  # noqa: PLC0415  # nobody else needs it
    return lambda bundle, wanted, target: write_rendering(bundle, wanted, target, render)
