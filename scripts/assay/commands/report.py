"""``assay report BUNDLE``."""

from __future__ import annotations

import argparse
import sys

from assay.commands.given import existing
from assay.commands.verify import wanted_of
from assay.errors import UsageError
from assay.evidence.show import verification_lines


def run(options: argparse.Namespace) -> int:
    """Write a bundle's page; return 0 where it is written, 3 or 4 as ``verify`` says where there can be none.

    Raises:
        UsageError: Jinja2 is not installed: the one-file copy of assay verifies without it.
    """
    try:
        from assay.report.document import report_path, write_report  # noqa: PLC0415  # may be missing, as above
    except ModuleNotFoundError as error:
        raise UsageError(
            f"a page needs the package {error.name}",
            "assay as it is installed, with what it needs",
            "install it: pip install gpu-assay; or read the bundle in a terminal: assay show BUNDLE",
        ) from error
    target = options.out or report_path(options.bundle)
    verified, written = write_report(existing(options.bundle), wanted_of(options), target, readers=True)
    if written:
        print(f"report: {target}")
        return 0
    print("\n".join(verification_lines(verified)), file=sys.stderr)
    print("no report: nothing that a broken bundle says is passed on", file=sys.stderr)
    return verified.exit_code
