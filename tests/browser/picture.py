"""Takes the README's picture anew: the beginning of the report of the first released bundle, beside it.

``nox -s picture`` runs it.  A picture depends on the fonts of the machine, so no test compares it.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from assay import nox
from assay.files import write_atomic
from assay.report.page import render
from tests.browser.chromium import MissingError, run_script
from tests.project.files import PROJECT
from tests.report import worlds

RECEIPTS = PROJECT / "receipts"


def main() -> int:
    """Take the picture, say where it is, and return an exit code."""
    name, digest = next(iter(nox.released(RECEIPTS).items()))
    target = RECEIPTS / f"{name.removesuffix('.tar')}.png"
    with tempfile.TemporaryDirectory(prefix="assay-picture-") as folder:
        page, picture = Path(folder, "page.html"), Path(folder, "picture.png")
        page.write_bytes(render(worlds.view(RECEIPTS / name, replace(worlds.WANTED, expect_digest=digest))))
        try:
            run_script("picture.mjs", {"page": str(page), "picture": str(picture)}, Path(folder))
        except MissingError as error:
            sys.stderr.write(f"picture: {error}\n")
            return 1
        write_atomic(target, picture.read_bytes())
    sys.stdout.write(f"picture: {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
