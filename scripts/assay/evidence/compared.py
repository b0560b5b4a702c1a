"""A comparison as plain text: what an auditor asks first stands first."""

from __future__ import annotations

from collections.abc import Iterator

from assay.evidence.changes import Change
from assay.evidence.claimed import NO_CLAIMS
from assay.evidence.compare import Comparison
from assay.evidence.plain import plain
from assay.evidence.show import problem_lines
from assay.evidence.timings import Timing, median, spread_of
from assay.evidence.verification import Verification
from assay.judge.claims import Established

_LISTED = 40
"""Changes of one section that are printed; ``--json`` has them all."""


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yield a comparison's lines."""
    yield from _bundle("A", found.old)
    yield from _bundle("B", found.new)
    if not found.intact:
        yield "not compared: nothing that a broken bundle says is passed on"
        return
    yield from _claims(found)
    yield from _bar(found)
    for name, changes in found.changes.items():
        yield from _section(name, changes)
    yield from _timings(found.timings)
    yield "subject: the same" if found.same_subject else "subject: different"


def _bundle(letter: str, verified: Verification) -> Iterator[str]:
    """Yield which bundle is which."""
    tier = verified.tier.value if verified.tier else "none seen"
    state = f"{verified.verdict.value} (tier: {tier})" if verified.intact else verified.integrity.value
    yield f"{letter}: {plain(verified.bundle)}: {state}, {verified.platform or 'no platform'}"
    yield f"   bundle digest {verified.bundle_digest or 'unknown'}"
    yield f"   subject digest {verified.subject_digest or 'unknown'}"
    yield from problem_lines(verified)


def _claims(found: Comparison) -> Iterator[str]:
    """Yield claims gained, lost, changed and kept."""
    claims = found.claims
    yield "claims:"
    yield from (f"  gained:  {_claim(claim)}" for claim in claims.gained)
    yield from (f"  lost:    {_claim(claim)}" for claim in claims.lost)
    for old, new in claims.changed:
        yield f"  changed: {_claim(old)}"
        yield f"       to: {_claim(new)}"
    yield from (f"  kept:    {_claim(claim)}" for claim in claims.kept)
    if claims == NO_CLAIMS:
        yield "  none in either"


def _claim(claim: Established) -> str:
    """Return a claim with its gates."""
    return f"{plain(claim.text)} [{', '.join(claim.gates)}]"


def _bar(found: Comparison) -> Iterator[str]:
    """Yield how the bar moved."""
    yield "the bar:" if found.bar else "the bar: the same plan"
    for move in found.bar:
        away = f" (neither run was on {move.platform.value})" if move.platform and not move.used else ""
        yield f"  {move.direction.value:8} {plain(move.path)}: {plain(move.text)}{away}"


def _section(name: str, changes: tuple[Change, ...]) -> Iterator[str]:
    """Yield one section."""
    yield f"{name}:" if changes else f"{name}: no difference"
    for change in changes[:_LISTED]:
        values = " -> ".join(plain(each) for each in (change.old, change.new) if each)
        yield f"  {change.kind.value:14} {plain(change.path)}: {values}"
    if len(changes) > _LISTED:
        yield f"  and {len(changes) - _LISTED} more (--json lists them)"


def _timings(found: tuple[Timing, ...]) -> Iterator[str]:
    """Yield the timings, each with its spread, and how far all of them scatter."""
    yield "timings (median, lowest to highest):"
    for timing in found:
        percent = f"{timing.percent} %" if timing.percent is not None else "not comparable"
        told = f"{percent}, {timing.moved} beyond both spreads" if timing.moved else percent
        yield f"  {plain(timing.path)}: {_seconds(timing.old)} -> {_seconds(timing.new)} ({told})"
    if spread := spread_of(found):
        yield f"  of all: {spread[1]} % ({spread[0]} to {spread[2]} %)"


def _seconds(durations: tuple[int, ...]) -> str:
    """Return median and spread in seconds."""
    if not durations:
        return "not recorded"
    low, high = durations[0] / 10**9, durations[-1] / 10**9
    middle = f"{median(durations) / 10**9:.6f} s"
    return middle if len(durations) == 1 else f"{middle} ({low:.6f} to {high:.6f}, {len(durations)} times)"
