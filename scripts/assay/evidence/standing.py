"""Whether a bundle still stands, as an archive tells it on the word of keys that the reader trusts.

Standing never changes integrity: a revoked bundle is what it was.  It is answered by looking for reasons
against the bundle, and whatever is unclear counts against it: a statement of a trusted key holds even where
the bundle that it names is not there, and a file that cannot be read may have been one.  What nobody can see
is a statement that an archive withholds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Protocol

from assay.evidence.archived import About
from assay.evidence.filed import Kind
from assay.evidence.keys import PublicKey
from assay.evidence.life import Named, Statement
from assay.evidence.times import read_time

MAX_BUNDLES = 256
"""Bundles whose statements are followed from one."""

_SHOWN = 20
"""Statements of others that are told."""


class State(StrEnum):
    """What standing comes to."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Seen:
    """A bundle as verifying showed it.

    Attributes:
        name: its run and digest.
        started: when it ran, RFC 3339 UTC; ``""`` where it is not intact.
        established: ids of the claims that it establishes.
        open: ids of the claims that it leaves open.
        problem: why it is not intact, ``""`` where it is.
    """

    name: Named
    started: str = ""
    established: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()
    problem: str = ""


class Source(Protocol):
    """What standing asks an archive."""

    def about(self, digest: str) -> About:
        """Return the statements about a bundle (hex)."""

    def look(self, digest: str) -> Seen | None:
        """Return a bundle, verified; None where the archive does not hold it."""


@dataclass(frozen=True)
class Standing:
    """Whether a bundle still stands.

    Attributes:
        state: the answer in a word.
        summary: the answer in a line.
        notes: whose word it is, what is unclear, and what others say.
        refusals: why it must not be relied on for what the reader asked.
    """

    state: State
    summary: str
    notes: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


def standing(bundle: Seen, source: Source, keys: Sequence[PublicKey], asked: Collection[str]) -> Standing:
    """Say whether an intact bundle still stands.

    Args:
        bundle: the bundle.
        source: the archive.
        keys: whose word counts.
        asked: ids of the claims that the reader relies on.
    """
    graph = _Graph(source, tuple(keys))
    digest = bundle.name.bundle_digest
    trusted, about = graph.statements(digest, trusted=True), graph.about(digest)
    revoked = [each for each in trusted if each.said.kind is Kind.REVOKE]
    replaced = _replacements(bundle, trusted, graph)
    notes = (
        *map(_told, trusted),
        *_never_had(bundle, trusted),
        *_unclear(bundle, replaced, graph),
        *_of_others(graph.statements(digest, trusted=False), keys),
        *about.problems,
    )
    lost = tuple(f"the claim {claim} is superseded" for claim in sorted(set(asked) & set(replaced)))
    unread = tuple(f"whether it still stands is unknown: {problem}" for problem in about.problems)
    if revoked:
        summary = "revoked: " + "; ".join(dict.fromkeys(each.said.reason for each in revoked))
        return Standing(State.REVOKED, summary, notes, (summary, *lost))
    if unread:
        summary = "unknown: not all that the archive holds about it can be read"
        return Standing(State.UNKNOWN, summary, notes, (*unread, *lost))
    if replaced:
        return Standing(State.SUPERSEDED, _summary(replaced), notes, lost)
    if not keys:
        summary = "unknown: without a key nobody's word counts"
        return Standing(State.UNKNOWN, summary, notes)
    return Standing(State.CURRENT, "current: nobody whom you trust says otherwise", notes)


@dataclass(frozen=True)
class _Replaced:
    """What replaces a bundle in one claim, and what replaces that, to the end.

    Attributes:
        direct: the bundles that replace it.
        latest: those that nothing replaces; none where all lead in circles.
        circle: bundles that replace one another in a circle.
    """

    direct: tuple[Named, ...]
    latest: tuple[Named, ...]
    circle: tuple[Named, ...]


@dataclass
class _Graph:
    """Which bundles replace which, read as far as it is asked; local to one answer."""

    source: Source
    keys: tuple[PublicKey, ...]
    read: dict[str, About] = field(default_factory=dict)
    signed: dict[str, tuple[tuple[Statement, bool], ...]] = field(default_factory=dict)
    seen: dict[str, Seen | None] = field(default_factory=dict)

    def about(self, digest: str) -> About:
        """Return what the archive holds about a bundle; nothing more once too many were asked for."""
        if digest not in self.read:
            full = len(self.read) >= MAX_BUNDLES
            problem = f"more than {MAX_BUNDLES} bundles replace one another"
            self.read[digest] = About(problems=(problem,)) if full else self.source.about(digest)
        return self.read[digest]

    def statements(self, digest: str, *, trusted: bool) -> tuple[Statement, ...]:
        """Return the statements about a bundle that a key signed, or those of others, by their dates."""
        if digest not in self.signed:
            found = sorted(
                self.about(digest).statements, key=lambda each: (each.said.issued, each.said.reason)
            )
            self.signed[digest] = tuple((each, each.signer(self.keys) is not None) for each in found)
        return tuple(each for each, signed in self.signed[digest] if signed is trusted)

    def look(self, digest: str) -> Seen | None:
        """Return another bundle, verified once."""
        if digest not in self.seen:
            self.seen[digest] = self.source.look(digest)
        return self.seen[digest]

    def replaced(self, claim: str, digest: str) -> _Replaced | None:
        """Return what replaces a bundle in a claim, None where nothing does."""
        after: dict[str, tuple[str, ...]] = {}
        names: dict[str, Named] = {}
        waiting = [digest]
        while waiting:
            here = waiting.pop()
            if here in after:
                continue
            new = [each.said.new for each in self.statements(here, trusted=True) if claim in each.said.claims]
            names = {**{each.bundle_digest: each for each in new if each is not None}, **names}
            after[here] = tuple(dict.fromkeys(each.bundle_digest for each in new if each is not None))
            waiting += after[here]
        if not after[digest]:
            return None
        ends = [names[here] for here, further in after.items() if not further]
        latest = tuple(sorted(ends, key=lambda name: (name.run, name.bundle_digest)))
        circle = tuple(names[each] for each in dict.fromkeys(_circle(after)))
        return _Replaced(tuple(names[each] for each in after[digest]), latest, circle)


def _circle(after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return digests that lead back to where they came from, none where there are none."""
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def _replacements(bundle: Seen, trusted: Sequence[Statement], graph: _Graph) -> dict[str, _Replaced]:
    """Return what replaces a bundle in each of the claims that it has."""
    named = {claim for each in trusted for claim in each.said.claims} & (bundle.established | bundle.open)
    found = {claim: graph.replaced(claim, bundle.name.bundle_digest) for claim in sorted(named)}
    return {claim: replaced for claim, replaced in found.items() if replaced is not None}


def _summary(replaced: Mapping[str, _Replaced]) -> str:
    """Return which claims are superseded, by the bundles that are the latest, or by the next ones."""
    by: dict[Named, list[str]] = {}
    for claim, each in replaced.items():
        for name in each.latest or each.direct:
            by.setdefault(name, []).append(claim)
    parts = (f"by {_name(name)}: {', '.join(claims)}" for name, claims in by.items())
    return f"superseded in these claims {'; '.join(parts)}"


def _told(each: Statement) -> str:
    """Return a statement in words."""
    said, key = each.said, f"key {each.envelope.keyid}, {each.said.issued}"
    if said.new is None:
        return f"revoked ({key}): {said.reason}"
    return f"superseded in {', '.join(said.claims)} by {_name(said.new)} ({key}): {said.reason}"


def _never_had(bundle: Seen, trusted: Sequence[Statement]) -> Iterator[str]:
    """Yield claims that are replaced though the bundle never had them."""
    had = bundle.established | bundle.open
    for each in trusted:
        if more := [claim for claim in each.said.claims if claim not in had]:
            key = each.envelope.keyid
            yield f"key {key} supersedes claims that this bundle never had: {', '.join(more)}"


def _unclear(bundle: Seen, replaced: Mapping[str, _Replaced], graph: _Graph) -> Iterator[str]:
    """Yield what is unclear about the bundles that replace this one."""
    for claim, each in replaced.items():
        if each.circle:
            names = " by ".join(map(_name, each.circle))
            yield f"a circle: in {claim} {names} is superseded, so none of them is the latest"
        if len(each.latest) > 1:
            names = " and by ".join(map(_name, each.latest))
            yield f"a conflict: {claim} is superseded by {names}, and neither replaces the other"
    latest: dict[str, set[str]] = {}
    for claim, each in replaced.items():
        for name in each.latest:
            latest.setdefault(name.bundle_digest, set()).add(claim)
    for digest, claims in latest.items():
        yield from _doubts(bundle, digest, claims, graph)


def _doubts(bundle: Seen, digest: str, claims: Collection[str], graph: _Graph) -> Iterator[str]:
    """Yield why a bundle that replaces another may be no evidence for these claims."""
    new = graph.look(digest)
    for each in graph.statements(digest, trusted=True):
        if each.said.kind is Kind.REVOKE:
            yield f"{digest}, which supersedes it, is itself revoked: {each.said.reason}"
    yield from graph.about(digest).problems
    if new is None:
        yield f"{digest}, which supersedes it, is not in the archive"
    elif new.problem:
        yield f"{digest}, which supersedes it, is not intact: {new.problem}"
    else:
        if more := sorted(set(claims) - new.established):
            yield f"{_name(new.name)}, which supersedes it, does not establish {', '.join(more)}"
        if read_time(new.started) <= read_time(bundle.started):
            yield f"{_name(new.name)}, which supersedes it, did not run after it: {new.started}"


def _of_others(others: Sequence[Statement], keys: Sequence[PublicKey]) -> Iterator[str]:
    """Yield what others say, whose word does not count."""
    ids = {key.id for key in keys}
    for each in others[:_SHOWN]:
        forged = " though that key did not sign it" if each.envelope.keyid in ids else ""
        yield f"not trusted{forged}: {_told(each)}"
    if len(others) > _SHOWN:
        yield f"not trusted: {len(others) - _SHOWN} more statements"


def _name(name: Named) -> str:
    """Return a bundle's name in words."""
    return f"{name.run} ({name.bundle_digest})"
