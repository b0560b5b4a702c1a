"""The order of basic blocks: where threads that parted meet again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rehearsal.simt.graph import order

Graph = list[tuple[int, ...]]


def postdominators(graph: Graph) -> list[set[int]]:
    """Return for each block those on every path to the exit, by the textbook's equations.

    The exit is block n; blocks without successors lead there.
    """
    count = len(graph)
    everything = set(range(count + 1))
    found = [set(everything) for _ in range(count)] + [{count}]
    changed = True
    while changed:
        changed = False
        for block in range(count):
            after = [found[target] for target in graph[block] or (count,)]
            new = set.intersection(*after) | {block}
            changed |= new != found[block]
            found[block] = new
    return found


def immediate(found: list[set[int]], block: int) -> int:
    """Return the immediate post-dominator: the one that all the others post-dominate."""
    others = found[block] - {block}
    return next(p for p in others if others <= found[p])


def reaches_exit(graph: Graph) -> bool:
    """Return whether every block has a path to the exit."""
    good = {block for block, targets in enumerate(graph) if not targets}
    while True:
        more = {b for b, targets in enumerate(graph) if b not in good and good & set(targets)}
        if not more:
            return len(good) == len(graph)
        good |= more


def inner_paths(graph: Graph, start: int, stop: int) -> set[int]:
    """Return the blocks that can be reached behind ``start`` without going through ``stop``."""
    seen: set[int] = set()
    todo = [t for t in graph[start] if t != stop]
    while todo:
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            todo += [t for t in graph[block] if t != stop]
    return seen


@st.composite
def acyclic(draw: st.DrawFn) -> Graph:
    """Return a graph whose edges lead forwards."""
    count = draw(st.integers(2, 12))
    edges = [
        draw(st.lists(st.integers(block + 1, count - 1), min_size=1, max_size=2, unique=True))
        for block in range(count - 1)
    ]
    return [*map(tuple, edges), ()]


@pytest.mark.gate
@given(acyclic())
def test_both_sides_of_a_branch_come_before_the_immediate_postdominator(graph: Graph) -> None:
    found, numbered = postdominators(graph), order(graph)
    for block, targets in enumerate(graph):
        meeting = immediate(found, block)
        if len(targets) > 1 and meeting < len(graph):
            between = inner_paths(graph, block, meeting)
            assert all(numbered.rank[inner] < numbered.rank[meeting] for inner in between)


@given(st.lists(st.lists(st.integers(0, 9), max_size=2, unique=True), min_size=10, max_size=10))
def test_any_graph_gets_an_order(edges: list[list[int]]) -> None:
    """Every block and latch has one number; without the edges through latches no cycle is left."""
    graph: Graph = [tuple(targets) for targets in edges]
    numbered = order(graph)
    blocks = [block for block in numbered.sequence if block >= 0]
    assert sorted(blocks) == list(range(10))
    assert [numbered.sequence[rank] for rank in numbered.rank] == list(range(10))
    for block, targets in enumerate(graph):
        for target in targets:
            latch = numbered.latches.get((block, target))
            if latch is None:
                assert numbered.rank[target] > numbered.rank[block]
            else:
                assert numbered.sequence[latch] == -1 - target
                assert numbered.rank[target] <= numbered.rank[block] < latch


@pytest.mark.gate
def test_the_threads_of_one_iteration_meet_at_the_latch() -> None:
    """A loop 1 … 4 with a branch at 2 whose sides 3 and 4 both lead back to 1; 5 is behind it."""
    graph: Graph = [(1,), (2, 5), (3, 4), (1,), (1,), ()]
    numbered = order(graph)
    latch = numbered.latches[3, 1]
    assert latch == numbered.latches[4, 1]
    assert max(numbered.rank[3], numbered.rank[4]) < latch < numbered.rank[5]


@pytest.mark.gate
def test_who_left_an_inner_loop_waits_for_those_inside() -> None:
    """Loops 1 … 3 around 2; the inner one's exit 3 comes after its latch."""
    graph: Graph = [(1,), (2,), (2, 3), (1, 4), ()]
    numbered = order(graph)
    assert (
        numbered.rank[2]
        < numbered.latches[2, 2]
        < numbered.rank[3]
        < numbered.latches[3, 1]
        < numbered.rank[4]
    )


@pytest.mark.gate
def test_deep_nesting_and_long_chains_need_no_recursion() -> None:
    depth = 5000
    nested: Graph = [(block + 1,) for block in range(depth)]
    nested += [(2 * depth - block, block + 1) for block in range(depth, 2 * depth)] + [()]
    assert len(order(nested).rank) == len(nested)
    chain: Graph = [(block + 1,) for block in range(50_000)] + [()]
    assert order(chain).rank == tuple(range(50_001))
