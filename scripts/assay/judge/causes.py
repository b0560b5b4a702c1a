"""Orders findings by cause: a root cause hides its consequences and lists them.

What follows from what is authored in the catalogue (``Entry.explains``) and holds transitively, also through
findings that are not there; a gate that could not run follows from what kept it from running.  A finding
without any of its causes stands on its own.  One that has several goes under the one that explains it most
directly, of equals under the first in the order of the causes, so that each finding stands exactly once.
Findings of one id are one cause, seen repeatedly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.model import Finding, Severity

Explains = Mapping[str, tuple[str, ...]]
"""By id of a finding, the ids of those that follow from it directly."""

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True)
class Found:
    """A finding and the gates that it came from, in the gates' order."""

    finding: Finding
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Cause:
    """A root cause.

    Attributes:
        finding: what was found.
        gates: the gates that it came from.
        again: the same finding of something else, in the order in which they were found.
        consequences: the findings that follow from it, in the order in which they were found.
        blocked: the gates that could not run for it, in the gates' order.
    """

    finding: Finding
    gates: tuple[str, ...]
    again: tuple[Found, ...] = ()
    consequences: tuple[Found, ...] = ()
    blocked: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """Return the worst severity of the cause and what follows from it."""
        every = (self.finding, *(each.finding for each in (*self.again, *self.consequences)))
        return min((each.severity for each in every), key=_RANK.__getitem__)


def by_cause(
    findings: Mapping[str, Sequence[Finding]], explains: Explains, blocked: Explains | None = None
) -> tuple[Cause, ...]:
    """Return the root causes: failures first, then errors, missing capabilities, warnings.

    Among equals the one that explains more comes first, then the one of the earlier gate.

    Args:
        findings: by gate, in the gates' order.
        explains: what follows from what.
        blocked: by gate that could not run, the gates that it would have needed and that did not pass.
    """
    found = _merged(findings)
    present = {each.finding.id for each in found}
    follows = {name: _reached(name, explains) for name in present}
    roots = [
        each
        for each in found
        if not any(each.finding.id in follows[other] for other in present - {each.finding.id})
    ]
    return tuple(_with_blocked(_shared_out(roots, found, follows), blocked or {}))


def _merged(findings: Mapping[str, Sequence[Finding]]) -> tuple[Found, ...]:
    """Return each finding once; two gates that found the very same are both named."""
    gates: dict[Finding, list[str]] = {}
    for gate, several in findings.items():
        for each in several:
            named = gates.setdefault(each, [])
            if gate not in named:
                named.append(gate)
    return tuple(Found(each, tuple(named)) for each, named in gates.items())


def _reached(name: str, explains: Explains) -> Mapping[str, int]:
    """Return every id that follows from one, directly (1) or through others (2 and more), without itself."""
    reached = {name: 0}
    waiting = deque([name])
    while waiting:
        at = waiting.popleft()
        fresh = [each for each in explains.get(at, ()) if each not in reached]
        reached |= dict.fromkeys(fresh, reached[at] + 1)
        waiting += fresh
    del reached[name]
    return reached


def _shared_out(
    roots: Sequence[Found], found: Sequence[Found], follows: Mapping[str, Mapping[str, int]]
) -> Iterator[Cause]:
    """Yield the causes in order, each with those of its consequences that none before it has."""
    waiting, left = list(roots), [each for each in found if each not in roots]
    while waiting:
        shares = {root: _share(root, left, waiting, follows) for root in waiting}
        root = min(waiting, key=lambda each: _weight(each, shares[each]))
        again = tuple(each for each in waiting if each is not root and each.finding.id == root.finding.id)
        waiting = [each for each in waiting if each is not root and each not in again]
        left = [each for each in left if each not in shares[root]]
        yield Cause(root.finding, root.gates, again, shares[root])


def _share(
    root: Found, left: Sequence[Found], roots: Sequence[Found], follows: Mapping[str, Mapping[str, int]]
) -> tuple[Found, ...]:
    """Return what follows from a root, but for what another root explains more directly."""

    def is_nearest(name: str) -> bool:
        own = follows[root.finding.id].get(name)
        others = (follows[each.finding.id].get(name) for each in roots)
        return own is not None and own <= min(other for other in others if other is not None)

    return tuple(each for each in left if is_nearest(each.finding.id))


def _weight(root: Found, share: Sequence[Found]) -> tuple[int, int]:
    """Return what orders the causes: the worst severity, and how much follows, most first."""
    worst = min(_RANK[each.finding.severity] for each in (root, *share))
    return worst, -len(share)


def _with_blocked(causes: Iterator[Cause], blocked: Explains) -> Iterator[Cause]:
    """Yield the causes with the gates that could not run for them; a gate goes under its first cause."""
    left = dict.fromkeys(blocked)
    for cause in causes:
        seen = {*cause.gates, *(gate for each in (*cause.again, *cause.consequences) for gate in each.gates)}
        own = tuple(gate for gate in left if seen & _reached(gate, blocked).keys())
        left = {gate: None for gate in left if gate not in own}
        yield replace(cause, blocked=own)
