"""What a plan wants measured: buffers that two sides share, and the speed of a chain."""

from __future__ import annotations

from assay.errors import PlanError
from assay.model import Json
from assay.plan.kernels import FILE_NAME, MOST_EACH
from assay.plan.reading import SHA256, Table
from assay.plan.values import SharedBuffers, Throughput

MOST_SIZE = 1 << 30
"""Most values of a measurement: 4 GiB, which wgpu's largest buffer is just below."""

MOST_SIZES, MOST_TURNS = 32, 200
"""Bounds what a receipt holds: every turn of every part is recorded."""

CHAIN_NAME = r"[a-z][a-z0-9-]{0,63}"
_ENTRY = r"[A-Za-z_][A-Za-z0-9_]{0,62}"


FLOORS = (
    "kernel-of-device-copy",
    "copies-of-pinned-copies",
    "wgpu-of-script",
    "chain-of-script",
    "chain-of-pinned-copies",
    "shared-of-chain",
    "cold-of-script",
)
"""Names of bounds; each is a ratio of two speeds of one run, in percent, and must be reached."""


def parse_shared_buffers(table: Table) -> SharedBuffers | None:
    """Read ``[tool.assay.shared-buffers]``, None where it is not there.

    Raises:
        PlanError: a key is unknown or wrong.
    """
    if "shared-buffers" not in table.names():
        return None
    below = table.table("shared-buffers")
    found = SharedBuffers(
        chain=below.text("chain", match=CHAIN_NAME),
        shader=below.text("shader", match=CHAIN_NAME),
        kernel=below.text("kernel", match=CHAIN_NAME),
        source=below.text("source", match=FILE_NAME),
        sha256=below.text("sha256", match=SHA256.pattern),
        entry=below.text("entry", match=_ENTRY),
        each=below.number("each", 1, low=1, high=MOST_EACH),
    )
    below.finish()
    return found


def shared_buffers_json(shared: SharedBuffers) -> dict[str, Json]:
    """Return the form that ``parse_shared_buffers`` reads."""
    return dict(vars(shared))


def parse_throughput(table: Table) -> Throughput | None:
    """Read ``[tool.assay.throughput]``, None where it is not there.

    Raises:
        PlanError: a key is unknown or wrong.
    """
    if "throughput" not in table.names():
        return None
    below = table.table("throughput")
    sizes = below.each("sizes", _size)
    floors = _floors(below.table("floors", {}))
    found = Throughput(
        chain=below.text("chain", match=CHAIN_NAME),
        sizes=sizes,
        turns=below.number("turns", 9, low=3, high=MOST_TURNS),
        floor_size=below.number("floor-size", sizes[-1] if sizes else 1, low=1, high=MOST_SIZE),
        floors=floors,
    )
    below.finish()
    if not 1 <= len(sizes) <= MOST_SIZES or len(set(sizes)) != len(sizes):
        raise PlanError(below.at("sizes"), f"has {len(sizes)} sizes", f"1 to {MOST_SIZES}, each once", "")
    if found.floor_size not in sizes:
        raise PlanError(below.at("floor-size"), f"is {found.floor_size}", "one of sizes", "")
    return found


def throughput_json(throughput: Throughput) -> dict[str, Json]:
    """Return the form that ``parse_throughput`` reads."""
    return {
        "chain": throughput.chain,
        "floor-size": throughput.floor_size,
        "floors": dict(throughput.floors),
        "sizes": list(throughput.sizes),
        "turns": throughput.turns,
    }


def _size(value: object, path: str) -> int:
    """Read a number of values."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_SIZE:
        raise PlanError(path, f"is {value!r}", f"an integer from 1 to {MOST_SIZE}", "")
    return value


def _floors(table: Table) -> tuple[tuple[str, int], ...]:
    """Read the bounds in percent."""
    for name in table.names():
        if name not in FLOORS:
            raise PlanError(table.at(name), "is no known bound", f"one of {', '.join(FLOORS)}", "")
    return tuple((name, table.number(name, low=1, high=10**6)) for name in FLOORS if name in table.names())
