"""``assay keygen``."""

from __future__ import annotations

import argparse

from assay.signing import make_key, public_path


def run(options: argparse.Namespace) -> int:
    """Write a new key and print where it is; return 0."""
    key = make_key(options.out)
    print(f"private key: {options.out} (keep it to yourself)")
    print(f"public key: {public_path(options.out)} (give it to readers, another way than the bundles)")
    print(f"key id: {key.id}")
    return 0
