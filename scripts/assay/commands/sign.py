"""``assay sign BUNDLE``."""

from __future__ import annotations

import argparse

from assay.signing import load_key, sign_bundle


def run(options: argparse.Namespace) -> int:
    """Sign what verifying a bundle shows; return 0 when the attestations are written."""
    key = load_key(options.key)
    path, shown = sign_bundle(options.bundle, key)
    tier = shown.conclusion.tier.value if shown.conclusion.tier else "none seen"
    print(f"signed: {shown.conclusion.verdict.value} (tier: {tier})")
    print(f"attestations: {path}")
    print(f"key id: {key.public.id}")
    return 0
