"""Runs chains: opens every runtime that they need, runs each stage, holds still to be looked at, closes.

All runtimes are open at once, in one process.  They are closed in the reverse order of opening, whatever
failed.  Nothing is compared here: the child says what came out, the parent judges.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from . import document, driver, interpreter, words
from .compiling import image_to_run
from .events import Events, attempt
from .runtimes import Opener, Runtime, uses_cuda
from .spec import INPUTS, Chain, RunRequest, Stage
from .values import Image, Ran


@dataclass(frozen=True)
class Surroundings:
    """What ``run`` reaches outside itself by.

    Attributes:
        events: where events go.
        wait: blocks until the parent has looked.
        opener: gives the opener of a runtime by name.
        device: asks the driver about the device of a number.
    """

    events: Events
    wait: Callable[[], None]
    opener: Callable[[str], Opener]
    device: Callable[[int], Mapping[str, object]]


def driver_facts(ordinal: int) -> Mapping[str, object]:
    """Return what the CUDA driver says of a device; see ``driver``."""
    return driver.load().facts(ordinal)


def run(request: RunRequest, around: Surroundings) -> int:
    """Run every chain of a request and return how many errors were reported.

    Raises:
        OSError: the reader of the events has gone; runtimes are closed all the same.
    """
    events = around.events
    events.emit("hello", **interpreter.hello())
    with contextlib.ExitStack() as stack:
        opened = _open_all(request, around, stack)
        _device("before", request, around, opened)
        for chain in request.chains:
            _run_chain(chain, request, events, opened)
        _device("after", request, around, opened)
        events.emit("holding", runtimes=list(opened), **interpreter.loaded())
        around.wait()
    events.emit("end", errors=events.errors)
    return events.errors


def _open_all(
    request: RunRequest, around: Surroundings, stack: contextlib.ExitStack
) -> Mapping[str, Runtime]:
    """Open the runtimes in order of first use; one that cannot be opened is an error event."""
    opened: dict[str, Runtime] = {}
    for name in request.runtimes:
        around.events.emit("opening", runtime=name)
        open_it = partial(_open, name, request, around, stack)
        got = attempt(around.events, open_it, step="open", runtime=name)
        if got is not None:
            opened[name], facts = got
            around.events.emit("opened", runtime=name, facts=facts)
    return opened


def _open(
    name: str, request: RunRequest, around: Surroundings, stack: contextlib.ExitStack
) -> tuple[Runtime, object]:
    """Open one runtime, see to it that it is closed, and ask for its facts."""
    runtime = around.opener(name).open(request)
    stack.callback(_close, name, runtime, around.events)
    return runtime, document.plain(runtime.facts())  # what has no form is this runtime's error


def _close(name: str, runtime: Runtime, events: Events) -> None:
    """Close one runtime; neither its failure nor a reader that has gone keeps the others open."""
    with contextlib.suppress(OSError):
        try:
            runtime.close()
        except Exception as error:  # noqa: BLE001  # as in attempt
            events.error(error, step="close", runtime=name)
        else:
            events.emit("closed", runtime=name)


def _device(when: str, request: RunRequest, around: Surroundings, opened: Mapping[str, Runtime]) -> None:
    """Report the CUDA device where a runtime is open that uses it."""
    if not any(uses_cuda(name) for name in opened):
        return
    device = attempt(around.events, lambda: document.plain(around.device(request.ordinal)), step="device")
    if device is not None:
        around.events.emit("device", when=when, device=device)


def _run_chain(chain: Chain, request: RunRequest, events: Events, opened: Mapping[str, Runtime]) -> None:
    """Run one chain on both value sets, or say which runtimes it lacks."""
    missing = [name for name in chain.runtimes if name not in opened]
    if missing:
        events.emit("chain", chain=chain.name, state="not-run", missing=missing)
        return
    images = _images(chain, request, events)
    done = bool(images) and all(_run_input(chain, name, images, opened, events) for name in INPUTS)
    events.emit("chain", chain=chain.name, state="complete" if done else "incomplete", missing=[])


def _images(chain: Chain, request: RunRequest, events: Events) -> Mapping[str, Image]:
    """Return the image of each stage, or nothing where one could not be made."""
    images: dict[str, Image] = {}
    for stage in chain.stages:
        place = {"chain": chain.name, "stage": stage.name}
        events.emit("compiling", **place)
        begun = time.monotonic_ns()
        make = partial(image_to_run, chain, stage, request.architecture, request.nvcc)
        image = attempt(events, make, step="compile", runtime=stage.runtime, **place)
        if image is None:
            return {}
        made = {"compiler": image.compiler, "duration_ns": time.monotonic_ns() - begun}
        events.emit("compiled", **place, image=image.to_json(), **made)
        images[stage.name] = image
    return images


def _run_input(
    chain: Chain, name: str, images: Mapping[str, Image], opened: Mapping[str, Runtime], events: Events
) -> bool:
    """Run every stage of a chain on one value set and say whether all of them ran."""
    values = result = attempt(
        events, partial(words.to_array, chain.values(name)), step="run", chain=chain.name
    )
    for stage in chain.stages:
        given = values if stage.input == "values" else result
        if given is None:
            return False
        place = {"chain": chain.name, "stage": stage.name, "input": name, "runtime": stage.runtime}
        events.emit("running", **place)
        begun = time.monotonic_ns()
        launch = partial(opened[stage.runtime].run, images[stage.name], stage.entry, given)
        ran = attempt(events, launch, step="run", **place)
        if ran is None:
            return False
        taken = time.monotonic_ns() - begun
        events.emit("result", **place, **_result(stage, images[stage.name], ran, taken))
        result = ran.values
    return True


def _result(stage: Stage, image: Image, ran: Ran, duration_ns: int) -> dict[str, object]:
    """Return what a ``result`` event says of one run."""
    return {
        **words.report(ran.values),
        "block": ran.block,
        "duration_ns": duration_ns,
        "entry": stage.entry,
        "grid": ran.grid,
        "image": image.to_json(),
        "transfers": [transfer.to_json() for transfer in ran.transfers],
    }
