"""Real bindings and programs on a machine that is else healthy: each trouble has its finding.

The library or program that is sick is made here; pynvml, cuda-python and NVRTC are the selection's own, in
the selected interpreter, started as on any machine.  Whoever is well answers from what was recorded.
"""

from __future__ import annotations

import copy
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from assay.engine.diagnose import Diagnosis, Wanted, diagnose
from assay.engine.diagnosed import exit_code
from assay.gates import probes as probes_module
from assay.gates.childenv import ChildSetup
from assay.gates.context import Context
from assay.gates.probes import LiveProbes, Probes, RecordedProbes, Said
from assay.process import Pending, running
from assay.process.pump import Pump
from assay.process.stopping import Sink, Stopped, stop
from assay.process.system import Running
from assay.process.values import Patience
from assay.selection import Selection
from tests.gates.running import Bench, bench
from tests.machines.described import build
from tests.plan.support import plan_table

ASKING = ("driver_linux", "toolkit_parts", "vulkan_parts", "environment_parts")
SILENT_S = 1.5
"""Seconds that a question may take here, where the one who is asked never answers."""

NVML = """
#include <unistd.h>
static int answer(void) { if (CODE == -1) for (;;) pause(); return CODE; }
int nvmlInit_v2(void) { return answer(); }
int nvmlInitWithFlags(unsigned int flags) { (void)flags; return answer(); }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { (void)code; return "as it was told"; }
"""
STUB = """
int cuInit(unsigned int flags) { (void)flags; return 34; }
int cuDriverGetVersion(int *version) { (void)version; return 34; }
static int look(const char *name, void **found) {
    const char *wanted = "cuInit";
    for (int at = 0; name[at] == wanted[at]; at++)
        if (!wanted[at]) { *found = (void *)cuInit; return 0; }
    *found = 0;
    return 0;
}
int cuGetProcAddress(const char *name, void **found, int version, unsigned long long flags)
{ (void)version; (void)flags; return look(name, found); }
int cuGetProcAddress_v2(const char *name, void **found, int version, unsigned long long flags, void *status)
{ (void)status; (void)version; (void)flags; return look(name, found); }
"""
"""A toolkit's stub exports the driver's functions, and each answers CUDA_ERROR_STUB_LIBRARY."""


def library(folder: Path, soname: str, source: str, *defines: str) -> Path:
    """Compile a shared library and return its folder."""
    folder.mkdir(parents=True)
    (folder / "source.c").write_text(source)
    command = ["cc", "-shared", "-fPIC", "-w", *defines, f"-Wl,-soname,{soname}", "source.c", "-o", soname]
    subprocess.run(command, cwd=folder, check=True)  # noqa: S603  # the host's own compiler
    return folder


class Asked(LiveProbes):
    """The machine itself, with a folder of libraries first on the loader's path."""

    def __init__(self, context: Context, folder: str) -> None:
        """Ask through a context."""
        super().__init__(context)
        self._folder = folder

    def _child(self) -> ChildSetup:
        """Return the child's setup with the folder put first."""
        setup = super()._child()
        values = setup.environment.values
        path = f"{self._folder}:{values.get('LD_LIBRARY_PATH', '')}"
        return replace(
            setup, environment=replace(setup.environment, values={**values, "LD_LIBRARY_PATH": path})
        )


@dataclass(frozen=True)
class Mixed:
    """Recorded answers, but for the parts and programs that are really asked.

    Attributes:
        recorded: who is well.
        live: who is really asked.
        parts: the parts of the chain's ``probe`` that are asked.
        programs: by name, the program that is started.
    """

    recorded: Probes
    live: Probes
    parts: frozenset[str] = frozenset()
    programs: Mapping[str, str] | None = None

    def begin(self, parts: Sequence[str], deadline_s: float = SILENT_S) -> Pending[Mapping[str, Said]]:
        """Ask each part where it is asked."""
        asked = [part for part in parts if part in self.parts]
        well = self.recorded.begin([part for part in parts if part not in self.parts], deadline_s)
        begun = self.live.begin(asked, max(SILENT_S, deadline_s)) if asked else None
        return Pending(lambda: {**well.result(), **(begun.result() if begun else {})})

    def start(self, name: str, argv: Sequence[str], deadline_s: float = SILENT_S) -> Pending[Said]:
        """Start a program, or read its recorded answer."""
        sick = (self.programs or {}).get(name)
        return (
            self.live.start(name, (sick, *argv[1:]), SILENT_S)
            if sick
            else self.recorded.start(name, argv, deadline_s)
        )

    def chain(self, parts: Sequence[str], deadline_s: float = SILENT_S) -> Mapping[str, Said]:
        """Ask and wait."""
        return self.begin(parts, deadline_s).result()

    def program(self, name: str, argv: Sequence[str], deadline_s: float = SILENT_S) -> Said:
        """Ask a program and wait."""
        return self.start(name, argv, deadline_s).result()


@pytest.fixture
def own(selection: Selection, tmp_path: Path) -> Iterator[Bench]:
    values = {name: selection.values[name] for name in ("BUN_PYTHON_EXECUTABLE", "PYTHONPATH")}
    with bench(tmp_path / "own", plan=plan_table(), selection=values) as made:
        yield made


@dataclass(frozen=True)
class Lab:
    """A healthy machine, on which somebody is made sick."""

    own: Bench
    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def diagnose(
        self, parts: Sequence[str] = (), *, libraries: Path | None = None, **programs: str
    ) -> Diagnosis:
        """Diagnose the machine; ``parts`` and ``programs`` are really asked."""
        described = build("healthy", "ubuntu", self.folder / "machine")
        tool = described.machine.view.host("/usr/bin/nvidia-smi")
        tool.touch()
        tool.chmod(0o755)
        (self.folder / "project").mkdir()

        def asked(_: Context) -> Probes:
            own = copy.copy(self.own.context)  # each gate asks from a folder of its own
            own.scratch = Path(tempfile.mkdtemp(dir=self.folder))
            return Mixed(
                RecordedProbes(described.machine.probes or {}),
                Asked(own, str(libraries or self.folder)),
                frozenset(parts),
                {name.replace("_", "-"): program for name, program in programs.items()},
            )

        for module in ASKING:
            self.monkeypatch.setattr(f"assay.gates.{module}.probes_of", asked)
        return diagnose(Wanted(self.folder / "project", root=self.folder / "machine"))


@pytest.fixture
def lab(own: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(own, tmp_path, monkeypatch)


def ids(diagnosis: Diagnosis) -> list[str]:
    """Return the roots, and make sure that every gate came to an end."""
    assert {each.row.name for each in diagnosis.looked} == {
        "environment",
        "toolkit",
        "driver",
        "abi",
        "vulkan",
    }
    assert all(each.facts for each in diagnosis.looked)
    return [cause.finding.id for cause in diagnosis.causes]


@pytest.mark.parametrize(
    ("code", "root"),
    [
        (18, "DRIVER-NVML-MISMATCH"),
        (9, "DRIVER-NVML-NOT-LOADED"),
        (15, "DRIVER-GPU-LOST"),
        (999, "DRIVER-NVML-UNKNOWN"),
    ],
)
def test_an_nvml_that_refuses_is_named_by_its_code(lab: Lab, code: int, root: str) -> None:
    folder = library(lab.folder / "nvml", "libnvidia-ml.so.1", NVML, f"-DCODE={code}")
    diagnosis = lab.diagnose(["nvml"], libraries=folder)
    assert ids(diagnosis) == [root]
    assert f"code {code}" in diagnosis.causes[0].finding.observed
    assert exit_code(diagnosis) == 1


def hurried(lab: Lab) -> None:
    """Let nobody have more time than ``SILENT_S``."""
    begin = LiveProbes.begin

    def soon(self: LiveProbes, parts: Sequence[str], deadline_s: float = 0) -> Pending[Mapping[str, Said]]:
        del deadline_s
        return begin(self, parts, SILENT_S)

    lab.monkeypatch.setattr(probes_module.LiveProbes, "begin", soon)


def test_an_nvml_that_hangs_is_named_and_the_run_goes_on(lab: Lab) -> None:
    folder = library(lab.folder / "nvml", "libnvidia-ml.so.1", NVML, "-DCODE=-1")
    hurried(lab)
    diagnosis = lab.diagnose(["nvml"], libraries=folder)
    assert ids(diagnosis) == ["DRIVER-NVML-SILENT"]
    assert [each.finding.id for each in diagnosis.causes[0].consequences] == ["TOOLKIT-NVML-SILENT"]
    assert exit_code(diagnosis) == 3


def test_a_child_that_cannot_be_killed_is_abandoned(lab: Lab) -> None:
    def give_up(process: Running, pump: Pump, sink: Sink, patience: Patience) -> Stopped:
        stop(process, pump, sink, patience)
        return Stopped(None, held=True)

    lab.monkeypatch.setattr(running, "stop", give_up)
    folder = library(lab.folder / "nvml", "libnvidia-ml.so.1", NVML, "-DCODE=-1")
    hurried(lab)
    diagnosis = lab.diagnose(["nvml"], libraries=folder)
    assert ids(diagnosis) == ["DRIVER-NVML-SILENT"]
    assert "cannot be killed" in diagnosis.causes[0].finding.observed


def test_a_stub_in_libcudas_place_is_named_by_what_it_answers(lab: Lab) -> None:
    folder = library(lab.folder / "stub", "libcuda.so.1", STUB)
    diagnosis = lab.diagnose(["cuda"], libraries=folder)
    assert ids(diagnosis) == ["TOOLKIT-STUB"]
    assert "34" in diagnosis.causes[0].finding.observed


def script(folder: Path, text: str) -> str:
    """Return a program that a shell runs."""
    made = folder / "program"
    made.write_text(f"#!/bin/sh\n{text}\n")
    made.chmod(0o755)
    return str(made)


def test_an_nvidia_smi_that_sleeps_for_ever_is_named(lab: Lab) -> None:
    diagnosis = lab.diagnose(nvidia_smi=script(lab.folder, "exec sleep 1000000"))
    assert ids(diagnosis) == ["DRIVER-SMI-SILENT"]
    assert exit_code(diagnosis) == 3


@pytest.mark.parametrize("text", ["exec sleep 1000000", "sleep 1000000 & wait"])
def test_an_nvcc_that_hangs_is_named(lab: Lab, text: str) -> None:
    diagnosis = lab.diagnose(nvcc_version=script(lab.folder, text))
    assert ids(diagnosis) == ["TOOLKIT-NVCC-FAILED"]
    assert "deadline" in diagnosis.causes[0].finding.observed


def test_a_real_nvrtc_without_its_builtins_is_named(selection: Selection, lab: Lab) -> None:
    given = Path(selection.values["CUDA_PATH"]) / "lib/libnvrtc.so.13"
    described = build("healthy", "ubuntu", lab.folder / "machine")
    folder = described.machine.view.host("/usr/local/cuda-13.0/targets/x86_64-linux/lib")
    for name in folder.glob("libnvrtc*"):
        name.unlink()
    shutil.copyfile(given, folder / "libnvrtc.so.13")
    (lab.folder / "project").mkdir()
    diagnosis = diagnose(Wanted(lab.folder / "project", root=lab.folder / "machine"))
    assert [cause.finding.id for cause in diagnosis.causes] == ["TOOLKIT-BUILTINS"]
    assert "libnvrtc-builtins.so.13.0" in diagnosis.causes[0].finding.observed
