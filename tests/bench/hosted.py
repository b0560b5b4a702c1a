"""CPython inside Bun: a call with an argument of 1 KB, and the chain beside plain CPython's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.gates.hosted import SOURCES
from assay.selection import BUN, EXECUTABLE, HOST_LIBRARY, LIBPYTHON, Selection
from tests.bench.measure import Line, Times, alternate, bounded, compared
from tests.chain.support import Child, Document, chain, child_of, compile_driver, nvcc_of, run_request
from tests.hosted.scripts import bun

CALLS = 1000
CALL_LIMIT_S = 50e-6
CHAIN_RATIO = 1.3
TURNS = 7

_CALLING = f"""
using python = new Python();
const text = "x".repeat(1024);
const turn = () => {{
  const began = Bun.nanoseconds();
  for (let at = 0; at < {CALLS}; at++) python.call("builtins:str", [text]);
  return Bun.nanoseconds() - began;
}};
turn();
console.log(JSON.stringify(Array.from({{ length: 11 }}, turn)));
"""

_CHAIN = """
const [archive, ...words] = Bun.argv.slice(2);
using python = new Python({ flags: ["-s", "-B"] });
python.execute("import sys; sys.path.insert(0, archive)", { archive });
process.exitCode = python.call("assay_chain.main:main", [words]);
"""


@dataclass(frozen=True)
class Hosted(Child):
    """The chain's zip in the CPython of a Bun."""

    script: Path = Path()

    def argv(self, *entry: str) -> list[str]:
        """Return the command line of an entry point."""
        archive = super().argv()[3]
        started = [self.executable, "--no-install", "--preload", str(SOURCES / "plugin.ts")]
        return [*started, str(self.script), archive, *entry]


def hosted_lines(selection: Selection, folder: Path) -> list[Line]:
    """Measure calls, then the chain inside Bun beside plain CPython's."""
    nanoseconds, ended = bun(selection, folder, _CALLING)
    if ended.returncode != 0:
        raise RuntimeError(ended.stderr)
    calls = Times(tuple(each / 1e9 for each in nanoseconds))
    return [
        bounded(f"{CALLS} calls from Bun, 1 KB each", calls, CALLS * CALL_LIMIT_S),
        _chain(selection, folder),
    ]


def _chain(selection: Selection, folder: Path) -> Line:
    """Measure the whole processes, start to end."""
    request = run_request([chain("cuda-only")], nvcc_of(selection), adapter=None)
    plain_folder, hosted_folder = folder / "plain", folder / "hosted"
    for each in (plain_folder, hosted_folder):
        each.mkdir()
    driver = compile_driver(selection, folder).parent
    libraries = f"{driver}:{selection.toolkit}/lib"
    environment = {"CUDA_PATH": selection.toolkit or "", "LD_LIBRARY_PATH": libraries}
    plain = child_of(selection, plain_folder, **environment)
    script = folder / "chain.ts"
    script.write_text(f'import {{ Python }} from "buv:python";\n{_CHAIN}')
    named = {name: selection.values[name] for name in (EXECUTABLE, LIBPYTHON, HOST_LIBRARY)}
    inside = Hosted(selection.values[BUN], hosted_folder, {**environment, **named}, script=script)
    hosted, beside = alternate(TURNS, lambda: _run(inside, request), lambda: _run(plain, request))
    return compared("the chain inside Bun", hosted, "in plain CPython", beside, CHAIN_RATIO)


def _run(child: Child, request: Document) -> None:
    """Run the chain once.

    Raises:
        RuntimeError: it did not do what it is measured for.
    """
    ended = child.run(request)
    if ended.exit != 0 or not ended.of("result"):
        raise RuntimeError(ended.log)
