"""What gate ``throughput`` measured: bounds and what was reached, plots, and the numbers behind them."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Iterator, Mapping

from assay.judge.cold import CHAIN, SCRIPT, turns_of, warm_median
from assay.judge.reading import MalformedFacts, mapping, number, objects, text
from assay.judge.speed import FLOORS, bounded, median
from assay.model import Facts
from assay.plan.values import Throughput
from assay.report.plot import log_plot
from assay.report.subject import Subject
from assay.report.view import HopBar, Hops, Plot, SpeedView, Table

GATE = "throughput"

_PATHS = {
    "chain.ns": "chain through host memory",
    "script.ns": "documentation-style script",
    "shared.ns": "shared buffer",
}
_HOPS = {"pycuda": "PyCUDA hop", "wgpu": "wgpu hop", "nvrtc": "NVRTC hop"}
_FLOOR_ROWS = {
    "floors.device-copy": "device copy",
    "floors.pinned-to-device": "pinned copy to the device",
    "floors.pinned-to-host": "pinned copy to the host",
    "floors.empty-launch": "empty launch",
    "floors.empty-dispatch": "empty dispatch",
    "kernels.nvrtc": "CUDA kernel",
    "kernels.wgpu": "WGSL kernel",
}
_ITEM = 4
_TICKS = {1: "1", 2**7: "2⁷", 2**14: "2¹⁴", 2**20: "2²⁰", 2**27: "2²⁷"}


def speed_of(subject: Subject) -> SpeedView | None:
    """Return what was measured, None where nothing was, or nothing that can be read."""
    speed, facts = subject.run.document.plan.throughput, subject.facts(GATE)
    if speed is None:
        return None
    try:
        sizes = {number(each, "size") or 0: each for each in objects(facts, "measured")}
    except MalformedFacts:
        return None
    if not sizes:
        return None
    return SpeedView(
        bounds=_bounds(speed, facts, sizes),
        plot=_plot(sizes),
        hops=tuple(_hops(speed, sizes)),
        sizes=_sizes(sizes),
        floors=_floors(sizes.get(speed.floor_size, {})),
        memory=_memory(sizes),
        cold=_cold(facts),
    )


def _bounds(speed: Throughput, facts: Facts, sizes: Mapping[int, Facts]) -> Table:
    """Return what the plan asks at least, and what was reached."""
    seen = bounded(sizes.get(speed.floor_size, {}), facts)
    rows = []
    for name, bound in speed.floors:
        reached = "not measured"
        with contextlib.suppress(MalformedFacts):
            reached = f"{FLOORS[name](seen)} %"
        rows.append((name, reached, f"{bound} %"))
    return Table(f"Bounds, over {speed.floor_size:,} values", ("ratio", "reached", "at least"), tuple(rows))


def _median(facts: Facts, path: str) -> int | None:
    """Return a median in nanoseconds, None where there is none."""
    with contextlib.suppress(MalformedFacts):
        return median(facts, path)
    return None


def _plot(sizes: Mapping[int, Facts]) -> Plot | None:
    """Return bytes of input a second by size."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for path, name in _PATHS.items():
        taken = [(size, _median(each, path)) for size, each in sorted(sizes.items())]
        lines[name] = [(size, size * _ITEM / ns) for size, ns in taken if ns]
    ticks: dict[float, str] = {float(at): label for at, label in _TICKS.items()}
    return log_plot("Values through each path, by their number", lines, ticks, "GB/s of input")


def _hops(speed: Throughput, sizes: Mapping[int, Facts]) -> Iterator[Hops]:
    """Yield each hop's time at the bounded size, of the chain and of the script."""
    seen = sizes.get(speed.floor_size)
    if seen is None:
        return
    found = {name: dict(_of_hops(seen, part)) for part, name in (("chain", "chain"), ("script", "script"))}
    longest = max((ns for hops in found.values() for ns in hops.values()), default=0)
    for name, hops in found.items():
        bars = tuple(HopBar(_HOPS[hop], _time(ns), max(1, 1000 * ns // longest)) for hop, ns in hops.items())
        yield Hops(f"Time by hop, {name}, over {speed.floor_size:,} values", bars)


def _of_hops(seen: Facts, part: str) -> Iterator[tuple[str, int]]:
    """Yield the median nanoseconds of each hop."""
    with contextlib.suppress(MalformedFacts):
        runs = objects(seen, f"{part}.hops")
        for hop in _HOPS:
            taken = [number(run, hop) or 0 for run in runs]
            if taken and min(taken) > 0:
                yield hop, int(statistics.median(taken))


def _sizes(sizes: Mapping[int, Facts]) -> Table:
    """Return the medians of each path by size."""
    rows = tuple(
        (f"{size:,}", *(_told(_median(each, path)) for path in _PATHS))
        for size, each in sorted(sizes.items())
    )
    return Table("Medians by number of values", ("values", *_PATHS.values()), rows)


def _floors(seen: Facts) -> Table:
    """Return the floors and the kernels at the bounded size."""
    rows = tuple((name, _told(_median(seen, path))) for path, name in _FLOOR_ROWS.items())
    return Table("Floors and kernels", ("what", "median"), rows)


def _memory(sizes: Mapping[int, Facts]) -> Table:
    """Return the peaks of device and host memory of each path by size."""
    rows = []
    for size, each in sorted(sizes.items()):
        for part in ("chain", "script", "shared"):
            with contextlib.suppress(MalformedFacts):
                memory = mapping(each, f"{part}.memory")
                device, host = number(memory, "device"), number(memory, "host_peak")
                if device is not None:
                    rows.append((f"{size:,}", part, _mib(device), "" if host is None else _mib(host)))
    return Table("Peak memory", ("values", "path", "of the device", "of the process"), tuple(rows))


def _cold(facts: Facts) -> Table:
    """Return how soon the first exact result was there, by part."""
    rows: list[tuple[str, ...]] = []
    with contextlib.suppress(MalformedFacts):
        cold = mapping(facts, "cold")
        for style in (CHAIN, SCRIPT):
            rows.append((style, "first exact result, median", _time(warm_median(cold, style))))
            for turn in turns_of(cold, style)[-1:]:
                rows += [
                    (
                        style,
                        text(part, "name"),
                        _time((number(part, "end") or 0) - (number(part, "begin") or 0)),
                    )
                    for part in objects(turn, "parts")
                ]
    return Table(
        "From the start of a process (parts of the last turn)", ("what", "part", "time"), tuple(rows)
    )


def _mib(size: int) -> str:
    """Return a number of bytes in MiB."""
    return f"{size / (1 << 20):,.1f} MiB"


def _time(taken: int) -> str:
    """Return nanoseconds in the unit in which they are read."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if taken >= size:
            return f"{taken / size:.3g} {unit}" if taken < 1000 * size else f"{taken / size:,.0f} {unit}"
    return f"{taken} ns"


def _told(taken: int | None) -> str:
    """Return a duration in words."""
    return "not measured" if taken is None else _time(taken)
