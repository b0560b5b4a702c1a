"""``assay zip``."""

from __future__ import annotations

import argparse
import hashlib

from assay.evidence.toolchain import toolchain_bytes
from assay.files import storage_errors, write_atomic


def run(options: argparse.Namespace) -> int:
    """Write this package as one file that any Python runs, and print its digest; return 0."""
    data = toolchain_bytes()
    with storage_errors("create", options.out.parent):
        options.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(options.out, data)
    print(f"{options.out}: {len(data)} bytes")
    print(f"SHA-256: {hashlib.sha256(data).hexdigest()}")
    return 0
