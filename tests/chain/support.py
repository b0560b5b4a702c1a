"""What the chain's tests share: kernels as requests, and a child that is spoken to as the gates do."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from assay.gates.childzip import make_child_zip
from assay.selection import Selection

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
DRIVER = Path(__file__).resolve().parent / "driver" / "libcuda.c"
CHAINS = ("pipeline", "consolidation", "cuda-only")

DEADLINE_S = 120.0
"""Seconds until a child is killed; it takes two."""

Document = dict[str, Any]


def words(values: Sequence[int]) -> list[str]:
    """Return integers as float32 words (IEEE 754 binary32, big-endian), by way of ``struct``."""
    return [struct.pack(">f", value).hex() for value in values]


def numbers(given: Sequence[str]) -> list[float]:
    """Return the values of words."""
    return [struct.unpack(">f", bytes.fromhex(word))[0] for word in given]


def chain(name: str, *, fresh: Sequence[int] = (5, 7)) -> Document:
    """Return one of the project's chains as a request has it."""
    only_compiled = compiled_chain(name)
    values = tomllib.loads((KERNELS / name / "chain.toml").read_text())["values"]
    canonical = range(values["start"], values["start"] + values["count"])
    return {**only_compiled, "canonical": words(canonical), "fresh": words(fresh)}


def compiled_chain(name: str) -> Document:
    """Return one of the project's chains as a request to compile has it."""
    table = tomllib.loads((KERNELS / name / "chain.toml").read_text())
    keys = ("name", "runtime", "source", "entry", "input")
    stages = [
        {key: stage[key] for key in keys} | {"text": (KERNELS / name / stage["source"]).read_text()}
        for stage in table["stage"]
    ]
    return {"name": name, "stages": stages}


def run_request(chains: Sequence[Document], nvcc: str = "nvcc", **changes: object) -> Document:
    """Return a request of ``run`` over the given chains."""
    return {
        "schema": "assay/chain-run/1",
        "architecture": "sm_75",
        "nvcc": nvcc,
        "ordinal": 0,
        "adapter": {"backend": "Vulkan", "vendor": 0x10DE, "software": []},
        "chains": list(chains),
        **changes,
    }


def compile_request(
    chains: Sequence[Document], nvcc: str, architectures: Sequence[str] = ("sm_75",)
) -> Document:
    """Return a request of ``compile``."""
    return {
        "schema": "assay/chain-compile/1",
        "architectures": list(architectures),
        "nvcc": nvcc,
        "chains": list(chains),
    }


def nvcc_of(selection: Selection) -> str:
    """Return the selected nvcc."""
    assert selection.toolkit is not None
    return str(Path(selection.toolkit) / "bin" / "nvcc")


@dataclass(frozen=True)
class Ended:
    """A child that ended: its events, exit status, and log (both streams)."""

    events: list[Document]
    exit: int
    log: str

    def of(self, kind: str) -> list[Document]:
        """Return the events of a kind."""
        return [event for event in self.events if event["event"] == kind]

    def kinds(self) -> list[str]:
        """Return the kinds of the events in order."""
        return [event["event"] for event in self.events]


@dataclass(frozen=True)
class Child:
    """The chain's zip in an interpreter, with an environment of its own."""

    executable: str
    scratch: Path
    env: Mapping[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = ()
    """What runs in the place of the zip."""

    def argv(self, *entry: str) -> list[str]:
        """Return the command line of an entry point."""
        if self.program:
            return [self.executable, "-s", "-B", *self.program, *entry]
        archive = self.scratch / "chain.zip"
        if not archive.exists():
            make_child_zip(self.scratch)
        return [self.executable, "-s", "-B", str(archive), *entry]

    def environment(self) -> dict[str, str]:
        """Return the child's whole environment."""
        temporary = self.scratch / "tmp"
        temporary.mkdir(exist_ok=True)
        base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.scratch), "LANG": "C.UTF-8"}
        return {**base, "TMPDIR": str(temporary), **self.env}

    def call(
        self, *entry: str, input_: bytes = b"", cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run an entry point to its end."""
        return subprocess.run(  # noqa: S603  # the child under test
            self.argv(*entry),
            input=input_,
            env=self.environment(),
            cwd=cwd,
            capture_output=True,
            check=False,
            timeout=DEADLINE_S,
        )

    def compile(self, request: Document, output: Path, cwd: Path | None = None) -> Document:
        """Run ``compile`` and return its result with the exit status as ``exit``."""
        output.mkdir()
        data = json.dumps(request).encode()
        done = self.call("compile", "--request", "-", "--output", str(output), input_=data, cwd=cwd)
        return {**json.loads((output / "result.json").read_text()), "exit": done.returncode}

    def probe(self, *parts: str, cwd: Path | None = None) -> Document:
        """Run ``probe`` and return the parts."""
        result = self.scratch / "probe.json"
        self.call("probe", "--result", str(result), *parts, cwd=cwd)
        told: Document = json.loads(result.read_text())["parts"]
        return told

    def run(self, request: Document, held: Callable[[int], object] = lambda _pid: None) -> Ended:
        """Run ``run``; while it holds still, call ``held`` with its process number."""
        return self._driven("run", request, held)

    def measure(self, request: Document, held: Callable[[int], object] = lambda _pid: None) -> Ended:
        """Run ``measure``, as ``run``."""
        return self._driven("measure", request, held)

    def _driven(self, name: str, request: Document, held: Callable[[int], object]) -> Ended:
        """Run an entry that sends events."""
        path = self.scratch / "request.json"
        path.write_text(json.dumps(request))
        events, write = os.pipe()
        read, control = os.pipe()
        entry = (name, "--request", str(path), "--events", str(write), "--control", str(read))
        with (self.scratch / "log").open("w+b") as log, os.fdopen(control, "wb") as control_stream:
            child = subprocess.Popen(  # noqa: S603  # the child under test
                self.argv(*entry), env=self.environment(), pass_fds=(write, read), stdout=log, stderr=log
            )
            os.close(write)
            os.close(read)
            watchdog = threading.Timer(DEADLINE_S, child.kill)
            watchdog.start()
            got = []
            with os.fdopen(events, "rb") as stream:
                for line in stream:
                    got.append(json.loads(line))
                    if got[-1]["event"] == "holding":
                        held(child.pid)
                        control_stream.close()
            code = child.wait()
            watchdog.cancel()
        return Ended(got, code, (self.scratch / "log").read_text(errors="replace"))


def child_of(selection: Selection, scratch: Path, **env: str) -> Child:
    """Return a child in the selected interpreter."""
    assert selection.executable is not None
    return Child(selection.executable, scratch, env)


def compile_driver(selection: Selection, folder: Path) -> Path:
    """Compile the tests' CUDA driver into ``folder``, with every name that the selected PyCUDA needs."""
    (module,) = Path(selection.site_packages[0]).glob("pycuda/_driver*.so")
    with module.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(section, SymbolTableSection)
        symbols = list(section.iter_symbols())
    needed = {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
    defined = set(re.findall(r"^Result (cu\w+)\(", DRIVER.read_text(), re.MULTILINE))
    others = sorted(name for name in needed - defined if re.match(r"cu[A-Z]", name))
    (folder / "others.h").write_text("".join(f"ONLY_EXISTS({name})\n" for name in others))
    library = folder / "libcuda.so.1"
    compile_library(DRIVER, library, f"-I{folder}", "-Wl,-soname,libcuda.so.1", "-ldl")
    return library


def compile_library(source: Path, library: Path, *options: str) -> None:
    """Compile C into a shared library."""
    compiler = shutil.which("cc")
    assert compiler is not None
    argv = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), *options]
    subprocess.run(argv, check=True, timeout=DEADLINE_S)  # noqa: S603  # the host's compiler


@contextlib.contextmanager
def open_pipe() -> Any:  # noqa: ANN401  # a pair of descriptors, closed as far as the test has not
    """Yield a pipe's two descriptors."""
    read, write = os.pipe()
    try:
        yield read, write
    finally:
        for descriptor in (read, write):
            with contextlib.suppress(OSError):
                os.close(descriptor)
