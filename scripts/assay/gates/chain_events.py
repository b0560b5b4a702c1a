"""Collects the chain child's events strictly into facts: known names, in the protocol's order, typed.

``assay.chain`` describes the events.  What breaks the order ends the child; what the events say is judged
elsewhere.  Nothing here waits or reads: events come in, facts come out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.judge.reading import MalformedFacts, get, mapping, number, objects, text, texts
from assay.model import Facts, Json

HOLDING, END = "holding", "end"

_PHASES = {
    "hello": 0,
    "opening": 1,
    "opened": 1,
    "compiling": 3,
    "compiled": 3,
    "running": 3,
    "result": 3,
    "chain": 3,
    "measuring": 3,
    "measured": 3,
    HOLDING: 5,
    "closed": 6,
    END: 7,
}
_DEVICE = {"before": 2, "after": 4}
_ONCE = frozenset({"hello", HOLDING, END})
_STEPS = {"open": 1, "device": 2, "compile": 3, "run": 3, "close": 6}
"""The phase of an ``error`` event by its step; the device is asked twice, so it may also come later."""

_ERROR = ("kind", "step", "runtime", "chain", "stage", "input", "reason", "code", "type", "message")
_HELLO = (
    *("schema", "executable", "version", "implementation", "prefix", "base_prefix", "path", "flags"),
    *("pycache_prefix", "environment"),
)


class OrderError(Exception):
    """An event that may not come now; the message says which and why."""


class Collector:
    """Takes one event after the other.

    Attributes:
        last: the name of the last event.
        tracebacks: of the errors, for the log.
    """

    def __init__(self, architecture: str) -> None:
        """Start with no event.

        Args:
            architecture: what CUDA images are compiled for, as they were requested.
        """
        self.last = ""
        self.tracebacks: list[str] = []
        self._architecture = architecture
        self._phase = -1
        self._count = 0
        self._seen: set[str] = set()
        self._child: dict[str, Json] = {}
        self._opened: list[Json] = []
        self._closed: list[Json] = []
        self._errors: list[Json] = []
        self._runtimes: dict[str, Json] = {}
        self._devices: dict[str, Json] = {"after": None, "before": None}
        self._chains: list[dict[str, Json]] = []
        self._stages: list[tuple[str, dict[str, Json]]] = []
        self._measured: list[Json] = []
        self._images: list[Json] = []
        self.modules: tuple[Facts, ...] = ()

    def take(self, event: Facts) -> None:
        """Take one event.

        Raises:
            OrderError: it may not come now.
            MalformedFacts: a field has another type than the protocol's.
        """
        name = text(event, "event")
        self._order(name, event)
        self.last = name
        self._count += 1
        if handler := _HANDLERS.get(name):
            handler(self, event)

    def _order(self, name: str, event: Facts) -> None:
        """Refuse an event that breaks the numbering or the protocol's order."""
        if number(event, "seq") != self._count:
            raise OrderError(f"event {self._count} has the number {event.get('seq')}")
        phase = self._phase_of(name, event)
        if phase is None:
            raise OrderError(f"event {self._count} is called {name[:60]!r}")
        if phase < self._phase or name in self._seen or (not self._count and name != "hello"):
            raise OrderError(f"event {self._count}, {name}, came after {self.last or 'nothing'}")
        self._phase = phase
        self._seen |= {name} & _ONCE

    def _phase_of(self, name: str, event: Facts) -> int | None:
        """Return the phase of an event, None where there is no such event."""
        if name == "device":
            return _DEVICE.get(text(event, "when"))
        if name == "error":
            step = _STEPS.get(text(event, "step"))
            return max(step, self._phase) if step is not None and self._phase < _PHASES[HOLDING] else step
        return _PHASES.get(name)

    def on_hello(self, event: Facts) -> None:
        """Keep who the child is."""
        self._child["hello"] = {name: event.get(name) for name in _HELLO}
        self._child["pid"] = number(event, "pid")

    def on_opened(self, event: Facts) -> None:
        """Keep a runtime's facts."""
        name = text(event, "runtime")
        self._opened.append(name)
        self._runtimes[name] = mapping(event, "facts")

    def on_closed(self, event: Facts) -> None:
        """Keep that a runtime was closed."""
        self._closed.append(text(event, "runtime"))

    def on_device(self, event: Facts) -> None:
        """Keep the driver's word about the device."""
        self._devices[text(event, "when")] = mapping(event, "device")

    def on_error(self, event: Facts) -> None:
        """Keep an error; its traceback goes to the log alone."""
        self._errors.append({name: event.get(name) for name in _ERROR})
        self.tracebacks.append(text(event, "traceback"))

    def on_compiled(self, event: Facts) -> None:
        """Keep what compiled a stage."""
        self._stage(event, "compiler")["compiler"] = text(event, "compiler")
        place: dict[str, Json] = {name: text(event, name) for name in ("chain", "stage")}
        self._images.append({**place, **self._image(event)})

    def on_chain(self, event: Facts) -> None:
        """Keep how a chain ended."""
        chain = self._chain(text(event, "chain"), "state")
        chain["state"], chain["missing"] = text(event, "state"), list(texts(event, "missing"))

    def on_result(self, event: Facts) -> None:
        """Keep one stage's values, image, transfers and launch."""
        given = text(event, "input")
        if given not in {"canonical", "fresh"}:
            raise MalformedFacts("input", "canonical or fresh")
        stage = self._stage(event, given)
        stage["runtime"], stage["entry"] = text(event, "runtime"), text(event, "entry")
        digest: Json = {"count": number(event, "count"), "sha256": text(event, "sha256")}
        stage[given] = list(texts(event, "values")) if event.get("values") is not None else digest
        image: Json = self._image(event)
        stage["loaded"] = [*(each for each in objects(stage, "loaded") if each != image), image]
        copies = [{**copy, "input": given} for copy in objects(event, "transfers")]
        stage["transfers"] = [*objects(stage, "transfers"), *copies]
        stage["runs"] = [*objects(stage, "runs"), self._run(event, given)]

    def on_measured(self, event: Facts) -> None:
        """Keep what one measurement gave."""
        facts = mapping(event, "facts")
        self._measured.append({**facts, "size": number(event, "size"), "task": text(event, "task")})

    def on_holding(self, event: Facts) -> None:
        """Keep which modules are imported; the parent hashes their files."""
        self.modules = objects(event, "modules")

    def _image(self, event: Facts) -> dict[str, Json]:
        """Return what a runtime was given."""
        kind = text(event, "image.kind")
        return {
            "arch": "" if kind == "wgsl" else self._architecture,
            "kind": kind,
            "sha256": text(event, "image.sha256"),
            "size": number(event, "image.size"),
        }

    def _run(self, event: Facts, given: str) -> Json:
        """Return how a kernel was launched."""
        names = ("block", "duration_ns", "grid")
        return {**{name: event.get(name) for name in names}, "input": given}

    def _chain(self, name: str, key: str) -> dict[str, Json]:
        """Return the chain of that name that has no ``key`` yet: a doubled one stands twice in the facts."""
        for chain in self._chains:
            if chain["name"] == name and key not in chain:
                return chain
        chain = {"name": name}
        self._chains.append(chain)
        return chain

    def _stage(self, event: Facts, key: str) -> dict[str, Json]:
        """Return the stage that an event names and that has no ``key`` yet, as ``_chain`` does."""
        chain, name = text(event, "chain"), text(event, "stage")
        for of, stage in self._stages:
            if of == chain and stage["name"] == name and key not in stage:
                return stage
        if not any(each["name"] == chain for each in self._chains):
            self._chain(chain, "state")
        stage = {"name": name}
        self._stages.append((chain, stage))
        return stage

    def facts(self) -> dict[str, Json]:
        """Return what was collected so far: ``adapter``, ``chains``, ``child`` and ``devices``."""
        child: dict[str, Json] = {
            "closed": self._closed,
            "errors": self._errors,
            "events": self._count,
            "opened": self._opened,
            "runtimes": self._runtimes,
        }
        measured: dict[str, Json] = (
            {"images": self._images, "measured": self._measured} if self._measured else {}
        )
        return {
            **measured,
            "adapter": get(self._runtimes, "wgpu.adapter"),
            "chains": [self._with_stages(chain) for chain in self._chains],
            "child": {**child, **self._child},
            "devices": self._devices,
        }

    def _with_stages(self, chain: dict[str, Json]) -> Json:
        """Return a chain with its stages; the first of several of one name has them."""
        first = next(each for each in self._chains if each["name"] == chain["name"])
        own = [stage for of, stage in self._stages if of == chain["name"]] if chain is first else []
        return {**chain, "stages": list[Json](own)}


_HANDLERS: Mapping[str, Callable[[Collector, Facts], None]] = MappingProxyType(
    {
        "hello": Collector.on_hello,
        "opened": Collector.on_opened,
        "closed": Collector.on_closed,
        "device": Collector.on_device,
        "error": Collector.on_error,
        "compiled": Collector.on_compiled,
        "chain": Collector.on_chain,
        "result": Collector.on_result,
        "measured": Collector.on_measured,
        HOLDING: Collector.on_holding,
    }
)
