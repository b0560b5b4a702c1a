"""``assay attest BUNDLE --sigstore``."""

from __future__ import annotations

import argparse

from assay.signing import load_key, sign_sigstore


def run(options: argparse.Namespace) -> int:
    """Write the qualification as a key-signed Sigstore bundle; return 0 when it is written."""
    key = load_key(options.key)
    print(f"sigstore bundle: {sign_sigstore(options.bundle, key)}")
    print(f"key id: {key.public.id}")
    return 0
