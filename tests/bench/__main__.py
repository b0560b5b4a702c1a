"""Benchmarks: what must stay fast, beside what it is compared to.  ``nox -s bench`` runs them; no test does.

Each line gives median and spread (lowest to highest) of the measured thing, the same of its comparison or the
bound, their ratio, and where it is known the floor: the ratio that this machine's processors allow at best.
The exit code is 1 when a bound is missed, whatever the floor is.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from assay.model import Platform
from assay.selection import resolve_selection
from tests.bench.archive import archive_lines
from tests.bench.diagnose import diagnose_lines
from tests.bench.engine import engine_share
from tests.bench.evidence import evidence_lines
from tests.bench.hosted import hosted_lines
from tests.bench.kernels import kernel_lines
from tests.bench.measure import Line, table
from tests.bench.rehearse import inner_loop, second_rehearsal
from tests.bench.report import report_lines
from tests.bench.start import verify_start, version_start

PROJECT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run every benchmark, print the table, and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        lines: list[Line] = [version_start(), verify_start(PROJECT), engine_share(Path(folder))]
        empty = Path(folder) / "empty"
        empty.mkdir()
        lines += diagnose_lines(PROJECT, empty)
        lines += evidence_lines(Path(folder))
        lines += archive_lines(PROJECT, Path(folder))
        lines += report_lines(PROJECT, Path(folder))
        lines += kernel_lines(PROJECT, Path(folder))
        lines += hosted_lines(resolve_selection({}, PROJECT, None, Platform.LINUX), Path(folder))
        lines += [inner_loop(PROJECT, Path(folder)), second_rehearsal(PROJECT)]
    sys.stdout.write(table(lines))
    return 1 if any(line.missed for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
