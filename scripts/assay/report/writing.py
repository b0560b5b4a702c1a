"""From a bundle to a rendering of it: verified, rendered, written whole; of a broken one there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.errors import UsageError
from assay.evidence.asking import Wanted
from assay.evidence.steps import Run
from assay.evidence.verification import Verification
from assay.evidence.verify import verifying
from assay.files import write_atomic

BROKEN = 4
"""The exit code of ``verify`` for a bundle of which nothing may be passed on (DESIGN, "Exit codes")."""

Render = Callable[[Verification, Run], bytes]
"""Makes a rendering of a verified run, while its bundle is open."""


def write_rendering(bundle: Path, wanted: Wanted, target: Path, render: Render) -> tuple[Verification, bool]:
    """Verify a bundle, write its rendering, and return what it came to and if there is one.

    A bundle that is not intact, or that the reader's key did not sign although it says so, gets none.

    Args:
        bundle: the bundle.
        wanted: what the reader wants.
        target: where the rendering goes; what is there is replaced.
        render: makes it.

    Raises:
        UsageError: the reader wants something that cannot be, or the rendering in the bundle's place.
        StorageError: the bundle cannot be read, or the rendering not written.
    """
    if target.exists() and target.samefile(bundle):
        raise UsageError(f"{target} is the bundle", "another file", "name another with -o")
    with verifying(bundle, wanted, subject=True, judged=True) as (verified, run):
        if run is None or verified.exit_code == BROKEN:
            return verified, False
        data = render(verified, run)
    write_atomic(target, data)
    return verified, True
