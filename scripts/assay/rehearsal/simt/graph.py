"""The order in which basic blocks are executed, so that diverged threads meet again as early as they can.

A thread group that took one side of a branch waits at the first block that the other side can still reach.
Blocks are numbered in topological order, loops in one piece, and the group at the lowest number always runs
next: whoever left a loop waits behind it, and both sides of a branch meet at its immediate post-dominator or
before (Diamos et al., "SIMD re-convergence at thread frontiers", MICRO 2011).  An edge back to a loop's head
goes through a *latch*, numbered last in the loop, where the threads of one iteration meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_NESTING = 64
"""Loops inside loops; what is nested deeper runs in the order of the text."""

MAX_WORK = 8
"""How often each block may be looked at on average; after that the rest runs in the order of the text."""

_FREE = 10_000


@dataclass(frozen=True)
class Order:
    """The numbering.

    Attributes:
        sequence: by number, the block, or for a latch -1 minus the block that is its loop's head.
        rank: by block, its number.
        latches: (from, to) -> number of the latch, for each edge back to a loop's head.
    """

    sequence: tuple[int, ...]
    rank: tuple[int, ...]
    latches: dict[tuple[int, int], int]


@dataclass(frozen=True)
class _Part:
    """Blocks still to be numbered, at a depth of loops; or a latch, with the loop that it closes."""

    nodes: frozenset[int]
    depth: int
    latch: int | None = None


def order(successors: Sequence[Sequence[int]], check: Callable[[], None] = lambda: None) -> Order:
    """Return the numbering of a graph whose block 0 is the entry.

    Args:
        successors: of each block; unreachable blocks are numbered too.
        check: called from time to time; may raise to stop.
    """
    sequence: list[int] = []
    latches: dict[tuple[int, int], int] = {}
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(block)
    todo = [_Part(frozenset(range(len(successors))), 0)]
    work = MAX_WORK * len(successors) + _FREE
    while todo:
        part = todo.pop()
        check()
        if part.latch is not None:
            _close(part, successors, latches, len(sequence))
            sequence.append(-1 - part.latch)
        elif part.depth > MAX_NESTING or work < 0:
            sequence.extend(sorted(part.nodes))
        else:
            work -= len(part.nodes)
            todo.extend(reversed(_split(part, successors, predecessors, sequence)))
    rank = [0] * len(successors)
    for number, block in enumerate(sequence):
        if block >= 0:
            rank[block] = number
    return Order(tuple(sequence), tuple(rank), latches)


def _split(
    part: _Part,
    successors: Sequence[Sequence[int]],
    predecessors: Sequence[Sequence[int]],
    sequence: list[int],
) -> list[_Part]:
    """Number what comes first and return the rest as parts, in order."""
    parts: list[_Part] = []
    for nodes in components(part.nodes, successors):
        if len(nodes) == 1 and nodes[0] not in successors[nodes[0]]:
            if parts:
                parts.append(_Part(frozenset(nodes), part.depth))
            else:
                sequence.append(nodes[0])
            continue
        head = _head(nodes, predecessors)
        inside = frozenset(nodes)
        parts.append(_Part(frozenset({head}), MAX_NESTING + 1))
        if len(nodes) > 1:
            parts.append(_Part(inside - {head}, part.depth + 1))
        parts.append(_Part(inside, part.depth, latch=head))
    return parts


def _close(
    part: _Part, successors: Sequence[Sequence[int]], latches: dict[tuple[int, int], int], number: int
) -> None:
    head = part.latch
    for node in part.nodes:
        for target in successors[node]:
            if target == head:
                latches.setdefault((node, target), number)


def _head(nodes: Sequence[int], predecessors: Sequence[Sequence[int]]) -> int:
    """Return the block through which a loop is entered, the first in the text if there are several."""
    inside = set(nodes)
    entered = (node for node in nodes if any(before not in inside for before in predecessors[node]))
    return min(entered, default=min(nodes))


def components(nodes: frozenset[int], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components in topological order (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(successors[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in nodes:
                    continue
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(successors[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_pop(stack, on_stack, node))
    return found[::-1]


def _pop(stack: list[int], on_stack: set[int], root: int) -> list[int]:
    component: list[int] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        component.append(node)
        if node == root:
            return component
