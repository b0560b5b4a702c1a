"""The largest released bundle as a page, in process and from its start, and shown in a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from assay.evidence.asking import Wanted
from assay.report.document import write_report
from tests.bench.measure import Line, alternate, bounded
from tests.bench.start import command, largest_released, running

TURNS = 15
REPORT_S = 0.3
START_S = 1.0
SHOW_S = 0.25


def report_lines(project: Path, folder: Path) -> list[Line]:
    """Measure a page of the largest released bundle of a project, written into ``folder``, and ``show``."""
    bundle, page = largest_released(project), folder / "page.html"
    wanted = Wanted(datetime.now(UTC))
    inside, whole, shown = alternate(
        TURNS,
        lambda: write_report(bundle, wanted, page, readers=True),
        running(command("report", str(bundle), "--out", str(page))),
        running(command("show", str(bundle))),
    )
    size = f"{bundle.stat().st_size / 1e6:.1f} MB, page {page.stat().st_size / 1e3:.0f} kB"
    return [
        bounded(f"report ({size})", inside, REPORT_S),
        bounded("assay report, from process start", whole, START_S),
        bounded("assay show, from process start", shown, SHOW_S),
    ]
