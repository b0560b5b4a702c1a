"""``assay verify BUNDLE``."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from assay.canonical import parse
from assay.commands.given import existing
from assay.commands.output import print_json
from assay.errors import BundleError, UsageError
from assay.evidence.asking import Wanted
from assay.evidence.names import MANIFEST_BYTES
from assay.evidence.show import verification_lines
from assay.evidence.verify import verifying
from assay.files import read_bounded
from assay.model import Tier
from assay.plan import Plan, load_plan, parse_plan

if TYPE_CHECKING:
    from assay.evidence.keys import PublicKey

PYPROJECT = "pyproject.toml"


def run(options: argparse.Namespace) -> int:
    """Verify a bundle; return 0, 1, 3 or 4 as the reader's own copy finds (DESIGN, "Exit codes")."""
    with verifying(existing(options.bundle), wanted_of(options)) as (verified, _):
        pass
    if not options.json:
        print("\n".join(verification_lines(verified)))
    print_json(verified.to_json(), wanted=options.json)
    return verified.exit_code


def wanted_of(options: argparse.Namespace) -> Wanted:
    """Return what the reader wants of a bundle.

    Raises:
        PlanError, StorageError, UsageError: a plan or a key that is named cannot be read.
    """
    return Wanted(
        datetime.now(UTC),
        expect_digest=options.expect_digest,
        accept=frozenset(options.accept),
        tier=Tier(options.tier) if options.tier else None,
        plan=read_plan(options.plan) if options.plan else None,
        not_older_than=None if options.not_older_than is None else _age(options.not_older_than),
        challenge=options.challenge,
        key=read_key(options.key) if options.key else None,
        attestations=options.attestations,
        claims=tuple(options.claim),
        archive=options.archive,
        trust=tuple(map(read_key, options.trust)),
    )


def _age(days: int) -> timedelta:
    """Return an age in days.

    Raises:
        UsageError: no run can be that old.
    """
    try:
        return timedelta(days=days)
    except OverflowError as error:
        raise UsageError(f"the age is {days} days", f"at most {timedelta.max.days} days", "") from error


def read_key(file: Path) -> PublicKey:
    """Return the reader's public key.

    Raises:
        StorageError: the file cannot be read.
        UsageError: it holds no such key.
    """
    from assay.evidence.keys import read_public_key  # noqa: PLC0415  # who brings no key need not wait

    return read_public_key(file)


def read_plan(file: Path) -> Plan:
    """Return the reader's own plan: that of a project's ``pyproject.toml``, or a ``plan.json``'s.

    Raises:
        PlanError: the plan is wrong.
        StorageError: the file cannot be read.
        UsageError: it is neither.
    """
    if file.name == PYPROJECT:
        return load_plan(file.parent)
    data = read_bounded(file, MANIFEST_BYTES)
    try:
        document = parse(data, member=file.name)
    except BundleError as error:  # a broken plan of the reader's is no broken bundle
        raise UsageError(
            f"{file} {error.observed}", error.expected or "a plan.json", "name the plan you expect"
        ) from error
    if not isinstance(document, dict) or "plan" not in document:
        raise UsageError(
            f"{file} holds no plan", "a pyproject.toml or a plan.json", "name the plan you expect"
        )
    return parse_plan(document["plan"], "plan")
