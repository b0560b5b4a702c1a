"""``assay release A.tar B.tar …``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from assay.commands.output import print_json, speaker
from assay.errors import UsageError
from assay.evidence.dsse import LINE_BYTES
from assay.evidence.index import check_index, index_name, sign_index
from assay.evidence.keys import PublicKey, read_public_key
from assay.evidence.plain import plain
from assay.evidence.release import Release, check_release
from assay.files import read_bounded, write_atomic
from assay.signing import SigningKey, load_key


def run(options: argparse.Namespace) -> int:
    """Check a set of bundles as one release; return 0, 1, 3 or 4 as ``Release.exit_code`` says.

    With ``--key`` a complete release gets its signed index; with ``--check`` an index that is there is
    checked against the bundles.
    """
    key = load_key(options.key) if options.key else None
    trusted = _trusted(options, key)
    release = check_release(options.bundles, trusted)
    say = speaker(as_json=options.json)
    for line in release_lines(release):
        say(line)
    if release.exit_code == 0:
        say(_index(options, release, key, trusted))
    print_json(release.to_json(), wanted=options.json)
    return release.exit_code


def release_lines(release: Release) -> Iterator[str]:
    """Yield a release as plain text: members, the table of claims, faults, and whether it is released."""
    for each in release.candidates:
        state = each.verified.verdict.value if each.verified.intact else each.verified.integrity.value
        yield f"{plain(each.verified.bundle)}: {each.place}: {state}, signer {each.verified.signer.value}"
    places = sorted({each.place for each in release.candidates if each.verified.intact})
    claims = release.claims()
    width = max(map(len, [*claims, "claim"]))
    yield "  ".join(["claim".ljust(width), *places])
    for claim, held in claims.items():
        cells = [("yes" if held.get(place) else "-").ljust(len(place)) for place in places]
        yield "  ".join([claim.ljust(width), *cells]).rstrip()
    yield from (f"fault: {plain(fault)}" for fault in release.faults)
    yield "not released" if release.exit_code else "complete: every required member is qualified"


def _trusted(options: argparse.Namespace, key: SigningKey | None) -> PublicKey | None:
    """Return who must have signed the members."""
    if options.check and not options.trust:
        raise UsageError("--check was given without --trust", "the public key to check it with", "")
    if options.check and options.key:
        raise UsageError("--check was given with --key", "one of the two: check or sign", "")
    if options.trust:
        return read_public_key(options.trust)
    return key.public if key else None


def _index(
    options: argparse.Namespace, release: Release, key: SigningKey | None, trusted: PublicKey | None
) -> str:
    """Check the index or write it, and say so."""
    if options.check and trusted:
        check_index(read_bounded(options.check, LINE_BYTES), trusted, release)
        return f"released: key {trusted.id} signed {options.check}"
    if key is None:
        return "no index: nobody vouches for this release; sign it with --key FILE"
    path: Path = options.out or options.bundles[0].parent / index_name(release)
    data = sign_index(release, key.sign, key.public)
    write_atomic(path, data)
    return f"released: {path}, signed by key {key.public.id}"
