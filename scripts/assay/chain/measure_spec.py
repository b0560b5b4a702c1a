"""The request of ``measure``: a chain whose stages are measured, and what is shared between the sides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import spec
from .failures import RequestError
from .spec import Adapter, Chain, Stage

MEASURE = "assay/chain-measure/1"

MOST_VALUES = 1 << 30
_HEX = re.compile(r"(?:[0-9a-f]{8})+")
_MOST_TURNS = 1000
RUNTIMES = ("pycuda", "wgpu", "nvrtc")
"""Of the stages of a chain whose speed is measured, in their order; the last computes on a shared buffer."""


@dataclass(frozen=True)
class Sharing:
    """What runs on a shared buffer: SPIR-V with its entry and values per thread, and the CUDA stage."""

    spirv: bytes
    entry: str
    each: int
    kernel: str


@dataclass(frozen=True)
class Throughput:
    """How many values, each repeated how often."""

    sizes: tuple[int, ...]
    turns: int


@dataclass(frozen=True)
class MeasureRequest:
    """What ``measure`` does; ``chain.fresh`` is what longer inputs repeat."""

    architecture: str
    nvcc: str
    ordinal: int
    adapter: Adapter | None
    chain: Chain
    sharing: Sharing | None
    throughput: Throughput | None

    def stage(self, name: str) -> Stage:
        """Return the chain's stage of that name.

        Raises:
            RequestError: it has none.
        """
        for stage in self.chain.stages:
            if stage.name == name:
                return stage
        raise RequestError("chain.stages", f"has no stage {name!r}")


def parse_measure(data: bytes) -> MeasureRequest:
    """Parse a request of ``measure``.

    Raises:
        RequestError: it is wrong, with the dotted path of the key.
    """
    table = spec.document(data, MEASURE)
    request = MeasureRequest(
        architecture=table.text("architecture", spec.ARCHITECTURE),
        nvcc=table.text("nvcc"),
        ordinal=table.number("ordinal", 255),
        adapter=spec.adapter(table.value("adapter"), "adapter"),
        chain=spec.valued_chain(table.value("chain"), "chain"),
        sharing=_sharing(table.value("sharing"), "sharing"),
        throughput=_throughput(table.value("throughput"), "throughput"),
    )
    table.finish()
    _check(request)
    return request


def _check(request: MeasureRequest) -> None:
    """Refuse what no single key shows: nothing to measure, or stages that cannot be measured."""
    stages = request.chain.stages
    if len({stage.name for stage in stages}) != len(stages):
        raise RequestError("chain.stages", "names one twice")
    if request.sharing is None and request.throughput is None:
        raise RequestError("throughput", "is null, and nothing is shared either")
    if request.sharing is not None and request.stage(request.sharing.kernel).runtime != RUNTIMES[-1]:
        raise RequestError("sharing.kernel", f"is no {RUNTIMES[-1]} stage")
    if request.throughput is not None and tuple(stage.runtime for stage in stages) != RUNTIMES:
        raise RequestError("chain.stages", f"are not of {', '.join(RUNTIMES)}")
    if request.throughput is not None and request.adapter is None:
        raise RequestError("adapter", "is null although wgpu is measured")


def _sharing(value: object, path: str) -> Sharing | None:
    """Read what is shared."""
    if value is None:
        return None
    table = spec.Table(value, path)
    sharing = Sharing(
        spirv=bytes.fromhex(table.text("spirv", _HEX)),
        entry=table.text("entry", spec.ENTRY),
        each=table.number("each", spec.MOST_EACH),
        kernel=table.text("kernel", spec.NAME),
    )
    table.finish()
    if not sharing.each:
        raise RequestError(table.at("each"), "is 0")
    return sharing


def _throughput(value: object, path: str) -> Throughput | None:
    """Read what is measured."""
    if value is None:
        return None
    table = spec.Table(value, path)
    sizes = table.each("sizes", _size)
    throughput = Throughput(sizes, table.number("turns", _MOST_TURNS))
    table.finish()
    if not throughput.turns:
        raise RequestError(table.at("turns"), "is 0")
    return throughput


def _size(value: object, path: str) -> int:
    """Read a number of values."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_VALUES:
        raise RequestError(path, f"is not an integer from 1 to {MOST_VALUES}")
    return value
