"""A selection of small files, a played chain child in its interpreter, and the real parent over it."""

from __future__ import annotations

import contextlib
import hashlib
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.gates.chain import observe_child
from assay.gates.chain_request import make_request
from assay.gates.chain_session import Deadlines
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.childzip import make_child_zip
from assay.gates.probes import RecordedProbes
from assay.judge.chain import judge
from assay.judge.tier import derive_tier
from assay.model import Facts, Finding, Tier
from tests.gates.running import Bench, bench
from tests.judge.chainfacts import STAGES, earlier_facts, plan_document

NVML = {"driver_version": "580.159.04", "gpus": [], "refused": []}
PLAYING = Path(__file__).with_name("playing.py")
ENOUGH = Deadlines(after={}, rest=60.0, end=30.0)


@dataclass
class Playground:
    """Folders of a selection, and what a played child makes of it.

    Attributes:
        folder: holds everything.
        play: what the child plays.
        environ: the environment outside.
        answers: recorded answers of probes.
        deadlines: of the child's events.
        executable: the selected interpreter; the virtual environment's where it is None.
    """

    folder: Path
    play: dict[str, Any] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=lambda: {"chain": {"nvml": {"facts": NVML}}})
    deadlines: Deadlines = ENOUGH
    executable: Path | None = None

    @property
    def provider(self) -> Path:
        """Return the selected provider."""
        return self.folder / "provider" / "libwgpu_native.so"

    @property
    def nvrtc(self) -> Path:
        """Return the toolkit's NVRTC."""
        return self.folder / "toolkit" / "lib64" / "libnvrtc.so.13"

    @property
    def driver(self) -> Path:
        """Return the driver that the caller's library path names."""
        return self.folder / "driver" / "libcuda.so.1"

    @property
    def site(self) -> Path:
        """Return the selected site-packages."""
        return self.folder / "site"

    @property
    def venv_site(self) -> Path:
        """Return the interpreter's own site-packages."""
        (found,) = (self.folder / "venv").glob("lib/python3*/site-packages")
        return found

    def file(self, name: str, text: str) -> Path:
        """Write a file below the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def prepare(self) -> None:
        """Make the selection: an interpreter without packages, and files that only have names."""
        venv.EnvBuilder(symlinks=True, with_pip=False).create(self.folder / "venv")
        for path in (self.provider, self.nvrtc, self.driver):
            self.file(str(path.relative_to(self.folder)), f"the bytes of {path.name}")
        self.site.mkdir()
        for _, _, source, *_ in STAGES:
            self.file(f"project/kernels/pipeline/{source}", source)

    def plan(self) -> dict[str, Any]:
        """Return a plan for rehearsal that pins the provider and allows the played adapter."""
        plan = {**plan_document(), "software-adapters": {"linux": ["llvmpipe"]}, "tier": "rehearsal"}
        for pin in plan["provider"]:
            pin["sha256"] = hashlib.sha256(b"the bytes of libwgpu_native.so").hexdigest()
        return plan

    def selection(self) -> dict[str, str]:
        """Return the selection's variables."""
        return {
            "BUN_PYTHON_EXECUTABLE": str(self.executable or self.folder / "venv" / "bin" / "python"),
            "BUV_RUNTIME_LIB": str(self.provider),
            "CUDA_PATH": str(self.folder / "toolkit"),
            "PYTHONPATH": str(self.site),
        }

    def facts(self) -> dict[str, Facts]:
        """Return the facts of the gates before."""
        executable = Path(self.selection()["BUN_PYTHON_EXECUTABLE"])
        digest = hashlib.sha256(executable.read_bytes()).hexdigest()
        provider = self.plan()["provider"][0]
        return {
            **earlier_facts(),
            "environment": {"selected": {"BUN_PYTHON_EXECUTABLE": {"sha256": digest}}},
            "provider": {"interface": "wgpu-native", "pin": "wgpu-native", "sha256": provider["sha256"]},
        }

    @contextlib.contextmanager
    def bench(self, deadline_s: int = 120) -> Iterator[Bench]:
        """Yield a gate's context over this selection."""
        environ = {"LD_LIBRARY_PATH": str(self.driver.parent), **self.environ}
        with bench(
            self.folder / "bench",
            plan=self.plan(),
            project=self.folder / "project",
            selection=self.selection(),
            environ=environ,
            facts=self.facts(),
            deadline_s=deadline_s,
        ) as made:
            yield made

    def setup(self, on: Bench) -> ChildSetup:
        """Return the real child's setup with the played child's zip in its place."""
        setup = prepare_child(on.context)
        sources = self.folder / "sources"
        sources.mkdir()
        (sources / "__init__.py").touch()
        (sources / "__main__.py").write_bytes(PLAYING.read_bytes())
        maps = [str(path) for path in (self.provider, self.nvrtc, self.driver)]
        play = {**self.play, "maps": [*maps, *self.play.get("maps", [])]}
        (sources / "plays.py").write_text(f"PLAY = {play!r}\n")
        made = make_child_zip(self.folder / "sources", sources)
        # On a machine with a driver of its own the caller's library path would not be given.
        driver = str(self.driver.parent)
        return replace(setup, argv=(*setup.argv[:-1], str(made.path)), zip=made, driver_folder=driver)


@dataclass(frozen=True)
class Played:
    """What the parent saw of a played child, and what the judge found."""

    facts: Facts
    findings: tuple[Finding, ...]
    tier: Tier | None
    log: str
    exit: int | str | None

    def ids(self) -> list[str]:
        """Return the ids of the findings, sorted."""
        return sorted(finding.id for finding in self.findings)


def exit_of(on: Bench) -> int | str | None:
    """Return the exit of the last command, None where none was started."""
    return on.context.commands[-1].exit if on.context.commands else None


def play(ground: Playground, deadline_s: int = 120) -> Played:
    """Start the played child under the real parent, and judge what it saw."""
    with ground.bench(deadline_s) as on:
        request = make_request(on.context, on.case())
        setup = ground.setup(on)
        facts = on.observe(
            lambda context: observe_child(
                context, setup, request, RecordedProbes(ground.answers), ground.deadlines
            )
        )
        tier = derive_tier(on.case(), facts)
        return Played(facts, judge(on.case(), facts), tier, on.logged(), exit_of(on))
