"""A chain child that plays: it speaks the protocol over values of its own, and breaks it as it is told.

It runs from a zip as the real one does, in an interpreter without packages; ``plays.PLAY`` beside it says
what to do.  Keys, all optional::

    hang, mute, die     before which event it hangs, exits without a word, or is killed
    say                 {event: raw bytes written before that event}
    fault               a name of ``FAULTS``
    maps                files that it maps for execution before it holds still
    imports             [folder, module] put on the path and imported before it holds still
    wrong               [chain, stage, input, index, word]: one wrong value
    errors              [[phase event, fields]]: error events before that event
    skip                [event, runtime or stage]: events left out
    exit                its exit status after its last event
"""

from __future__ import annotations

import hashlib
import importlib
import json
import mmap
import os
import signal
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLAY: dict[str, Any] = importlib.import_module(f"{__package__}.plays").PLAY

ADAPTER = {
    "adapter_type": "CPU",
    "backend_type": "Vulkan",
    "device": "llvmpipe",
    "device_id": 0,
    "vendor_id": 0x10005,
}
DEVICE = {"cuda_version": 13000, "name": "played", "pci_bus": "0000:00:00.0", "uuid": "GPU-played"}
KERNELS: dict[str, Callable[[float], float]] = {"twice": lambda x: 2 * x, "add_one": lambda x: x + 1}
FLOOD = 10_000


class Speaker:
    """Writes events, and breaks off as the play says."""

    def __init__(self, events: int, control: int) -> None:
        self.events, self.control, self.seq = events, control, 0
        self.opened: list[str] = []

    def say(self, event: str, **fields: object) -> None:
        """Write one event after whatever the play puts before it."""
        self.break_off(event)
        for phase, error in PLAY.get("errors", []):
            if phase == event:
                self.write({**error, "event": "error"})
        if [event, fields.get("runtime") or fields.get("stage")] not in PLAY.get("skip", []):
            self.write({**fields, "event": event})

    def write(self, value: dict[str, object]) -> None:
        """Write an object with its number."""
        self.raw(json.dumps({**value, "seq": self.seq}).encode() + b"\n")
        self.seq += 1

    def raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        view = memoryview(data)
        while view:
            view = view[os.write(self.events, view) :]

    def break_off(self, event: str) -> None:
        """Do what the play says for the moment before an event."""
        if PLAY.get("mute") == event:
            os._exit(0)
        if PLAY.get("die") == event:
            os.kill(os.getpid(), signal.SIGKILL)
        if PLAY.get("hang") == event:
            self.hang()
        if event in PLAY.get("say", {}):
            self.raw(PLAY["say"][event].encode("latin-1"))
        if PLAY.get("fault", [""])[0] == event:
            FAULTS[PLAY["fault"][1]](self)

    def hang(self) -> None:
        """Wait for something that never comes: its end is for the parent to bring about."""
        read, _ = os.pipe()
        os.read(read, 1)


def flood(speaker: Speaker) -> None:
    """Write events for ever."""
    while True:
        speaker.write({"event": "running"})


def long_line(speaker: Speaker) -> None:
    """Write a line without an end."""
    while True:
        speaker.raw(b"x" * 65536)


def print_events(speaker: Speaker) -> None:
    """Take standard output for the event descriptor."""
    speaker.events = 1


def chatter(_: Speaker) -> None:
    """Print to both streams, as libraries do."""
    os.write(1, b'{"event": "end"}\n')
    os.write(2, b"\xff\xfe a warning\n")


def print_much(_speaker: Speaker) -> None:
    """Print more than any pipe holds."""
    for _ in range(16):
        os.write(1, b"y" * 65536)


def close(speaker: Speaker) -> None:
    """Close the event descriptor and run on."""
    os.close(speaker.events)
    speaker.hang()


def fork(speaker: Speaker) -> None:
    """Leave a process behind that holds the event descriptor, and end."""
    if os.fork() == 0:
        speaker.hang()
    os._exit(0)


def fork_away(speaker: Speaker) -> None:
    """Leave a process behind that left the group and holds the output; an alarm ends it."""
    if os.fork() == 0:
        os.setsid()
        os.close(speaker.events)
        signal.alarm(5)
        signal.pause()


def abort(_: Speaker) -> None:
    """End as a process does whose library aborts."""
    os.kill(os.getpid(), signal.SIGABRT)


FAULTS: dict[str, Callable[[Speaker], None]] = {
    "abort": abort,
    "chatter": chatter,
    "close": close,
    "flood": flood,
    "fork": fork,
    "fork-away": fork_away,
    "long-line": long_line,
    "print-events": print_events,
    "print-much": print_much,
}


def main(argv: list[str]) -> int:
    """Play."""
    options = dict(zip(argv[1::2], argv[2::2], strict=True))
    request = json.loads(Path(options["--request"]).read_text())
    speaker = Speaker(int(options["--events"]), int(options["--control"]))
    speaker.say("hello", **hello())
    for runtime in dict.fromkeys(
        stage["runtime"] for chain in request["chains"] for stage in chain["stages"]
    ):
        speaker.say("opening", runtime=runtime)
        speaker.say("opened", runtime=runtime, facts=runtime_facts(runtime))
        speaker.opened.append(runtime)
    speaker.say("device", when="before", device=DEVICE)
    for chain in request["chains"]:
        play_chain(speaker, chain)
    speaker.say("device", when="after", device=DEVICE)
    kept = [map_code(path) for path in PLAY.get("maps", [])]
    for folder, name in PLAY.get("imports", []):
        sys.path.insert(0, folder)
        importlib.import_module(name)
    speaker.say("holding", pid=os.getpid(), runtimes=speaker.opened, modules=modules())
    os.read(speaker.control, 1)
    for runtime in PLAY.get("closing", speaker.opened[::-1]):
        speaker.say("closed", runtime=runtime)
    speaker.say("end", errors=len(PLAY.get("errors", [])))
    speaker.break_off("exit")
    del kept
    return int(PLAY.get("exit", 1 if PLAY.get("errors") else 0))


def play_chain(speaker: Speaker, chain: dict[str, Any]) -> None:
    """Compile and run one chain."""
    images = {}
    for stage in chain["stages"]:
        speaker.say("compiling", chain=chain["name"], stage=stage["name"])
        images[stage["name"]] = image_of(stage)
        place = {"chain": chain["name"], "compiler": "played 1.0", "duration_ns": 5, "stage": stage["name"]}
        speaker.say("compiled", image=images[stage["name"]], **place)
    for name in ("canonical", "fresh"):
        given = [number(word) for word in chain[name]]
        for stage in chain["stages"]:
            given = [KERNELS[stage["entry"]](value) for value in given]
            place = {"chain": chain["name"], "input": name, "stage": stage["name"]}
            speaker.say("running", runtime=stage["runtime"], **place)
            result = result_of(chain["name"], stage, name, given)
            speaker.say("result", image=images[stage["name"]], **place, **result)
    speaker.say("chain", chain=chain["name"], state="complete", missing=[])


def result_of(chain: str, stage: dict[str, Any], name: str, values: list[float]) -> dict[str, object]:
    """Return what a result event says, with the play's wrong value."""
    words = [struct.pack(">f", value).hex() for value in values]
    if PLAY.get("wrong", [None])[:3] == [chain, stage["name"], name]:
        words[PLAY["wrong"][3]] = PLAY["wrong"][4]
    copies = [
        {"bytes": 4 * len(words), "direction": direction, "runtime": stage["runtime"]}
        for direction in ("host-to-device", "device-to-host")
    ]
    return {
        "block": [256, 1, 1],
        "count": len(words),
        "duration_ns": 7,
        "entry": stage["entry"],
        "grid": [1, 1, 1],
        "runtime": stage["runtime"],
        "sha256": hashlib.sha256(bytes.fromhex("".join(words))).hexdigest(),
        "transfers": copies,
        "values": words,
    }


def image_of(stage: dict[str, Any]) -> dict[str, object]:
    """Return what a stage loads."""
    wgsl = stage["runtime"] == "wgpu"
    data = (stage["text"] if wgsl else f"ptx of {stage['name']}").encode()
    kind = "wgsl" if wgsl else "ptx"
    return {
        "kind": kind,
        "name": stage["name"],
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
    }


def runtime_facts(runtime: str) -> dict[str, object]:
    """Return what a runtime says of itself."""
    if runtime == "wgpu":
        return {"adapter": ADAPTER, "library": os.environ.get("WGPU_LIB_PATH", "")}
    return {"context": hex(len(runtime))}


def hello() -> dict[str, object]:
    """Return what the real child says of itself."""
    flags = {name: int(getattr(sys.flags, name)) for name in ("dont_write_bytecode", "no_user_site")}
    return {
        "base_prefix": sys.base_prefix,
        "environment": sorted(os.environ),
        "executable": sys.executable,
        "flags": flags,
        "implementation": "CPython",
        "path": sys.path,
        "pid": os.getpid(),
        "prefix": sys.prefix,
        "pycache_prefix": sys.pycache_prefix,
        "schema": "assay/chain-events/1",
        "version": ".".join(map(str, sys.version_info[:3])),
    }


def modules() -> list[dict[str, object]]:
    """Return the imported modules that came from a file."""
    found = []
    for name, module in sorted(sys.modules.items()):
        file, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
        if file:
            loader = type(getattr(spec, "loader", None)).__name__
            found.append(
                {"cached": getattr(spec, "cached", None), "file": file, "loader": loader, "name": name}
            )
    return found


def map_code(path: str) -> mmap.mmap:
    """Map a file for execution, as a loader would."""
    with Path(path).open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)


def number(word: str) -> float:
    """Return the value of a word."""
    value: float = struct.unpack(">f", bytes.fromhex(word))[0]
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
