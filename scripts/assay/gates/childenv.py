"""Builds the environment of the chain's children from the selection and the plan's allow-list.

Law 3, nothing is inherited: no preloaded library, audit module, CUDA injection or Vulkan layer comes in by
a variable, and of ``PYTHON*`` only what the selection has.  What was set outside and is kept out is named,
so that the judge can warn.  ``child_environment`` is a pure function; ``prepare_child`` makes the folders
and the zip for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.errors import SelectionError
from assay.files import storage_errors
from assay.gates.childtools import LoaderFolders, loader_folders
from assay.gates.context import Context
from assay.judge.injection import brings_code, changes_loading
from assay.judge.reading import text
from assay.model import Platform
from assay.plan.values import WGPU_NATIVE
from assay.selection import EXECUTABLE, SITE_PACKAGES, Selection

if TYPE_CHECKING:
    from assay.gates.childzip import ChildZip

FLAGS = ("-s", "-B")
"""No user site-packages; no bytecode written.  The empty cache prefix keeps old bytecode from being read."""

LAYERS_OFF = ("VK_LOADER_LAYERS_DISABLE", "~implicit~")
"""Vulkan loader, "Layer Special Case Options": keeps every implicit layer out (loader 1.3.234 and newer)."""

_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_WINDOWS_NEEDS = (
    *("SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "ProgramData", "ProgramFiles"),
    *("ProgramFiles(x86)", "CommonProgramFiles", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "OS"),
    *("INCLUDE", "LIB", "LIBPATH", "VSINSTALLDIR", "VCINSTALLDIR", "VCToolsInstallDir", "VCToolsVersion"),
    *("WindowsSdkDir", "WindowsSDKVersion", "UniversalCRTSdkDir", "UCRTVersion"),
)
"""What Windows itself and the compiler that nvcc calls need; none of it loads code into a process."""


@dataclass(frozen=True)
class ChildFolders:
    """Private folders of a child, all empty when it starts; ``base`` holds them."""

    base: Path
    home: Path
    tmp: Path
    bytecode: Path
    pycuda: Path
    driver_cache: Path
    work: Path

    @classmethod
    def below(cls, base: Path) -> ChildFolders:
        """Return the folders below ``base``, not made yet."""
        names = ("home", "tmp", "bytecode", "pycuda", "driver-cache", "work")
        return cls(base, *(base / name for name in names))

    def all(self) -> tuple[Path, ...]:
        """Return every folder."""
        return self.home, self.tmp, self.bytecode, self.pycuda, self.driver_cache, self.work


@dataclass(frozen=True)
class ChildInputs:
    """What a child's environment is built from.

    Attributes:
        selection: the artifact set under qualification.
        platform: the platform of the run.
        outside: the environment that the run was started in.
        allow: the plan's allow-list; what brings code stays out all the same.
        interface: the provider's interface; ``wgpu-native`` is loaded through ``WGPU_LIB_PATH``.
        folders: the child's private folders.
        loader: folders that programs and libraries are found in.
        rehearsal: variables of what takes a GPU's place.
        own_bytecode: give the child the empty bytecode cache of its folders in the place of what lies about.
    """

    selection: Selection
    platform: Platform
    outside: Mapping[str, str]
    allow: Sequence[str]
    interface: str | None
    folders: ChildFolders
    loader: LoaderFolders
    rehearsal: Mapping[str, str] = field(default_factory=dict)
    own_bytecode: bool = True

    def fold(self, name: str) -> str:
        """Return a variable's name as the platform compares it."""
        return name.upper() if self.platform is Platform.WINDOWS else name


@dataclass(frozen=True)
class ChildEnvironment:
    """The whole environment of a child, and the names of variables that were set outside and kept out."""

    values: Mapping[str, str]
    kept_out: tuple[str, ...]


@dataclass(frozen=True)
class ChildSetup:
    """All that is needed to start a child.

    Attributes:
        argv: its command, complete but for the entry and its arguments.
        environment: its whole environment, and what was kept out of it.
        folders: its private folders.
        zip: what it runs from.
        driver_folder: the folder of the driver's libraries that it was given, ``""`` where it needs none.
    """

    argv: tuple[str, ...]
    environment: ChildEnvironment
    folders: ChildFolders
    zip: ChildZip
    driver_folder: str = ""

    @property
    def env(self) -> Mapping[str, str]:
        """Return the child's environment."""
        return self.environment.values

    @property
    def cwd(self) -> Path:
        """Return the child's empty working folder, where no local module can shadow a package."""
        return self.folders.work


def prepare_child(
    context: Context, *, name: str = "child", interface: str | None = None, rehearsed: bool = False
) -> ChildSetup:
    """Make a child's zip and private folders in the gate's scratch folder, and its environment.

    Args:
        context: the gate's view of the run.
        name: a folder name, one for each child of a gate.
        interface: the provider's interface; None takes what the provider gate saw, if it ran.
        rehearsed: in a rehearsal, give it what takes a GPU's place.

    Raises:
        SelectionError: no interpreter is selected.
        GateError: the chain package is not installed whole.
        StorageError: a folder or file cannot be written.
    """
    from assay.gates.childzip import make_child_zip  # noqa: PLC0415  # what only sees a child's view makes none

    folders = ChildFolders.below(context.scratch / name)
    for folder in folders.all():
        with storage_errors("make", folder):
            folder.mkdir(parents=True)
    made = make_child_zip(context.scratch / name)
    if interface is None:
        interface = text(context.facts.get("provider", {}), "interface")
    rehearsal = context.rehearsal if rehearsed else None
    inputs = ChildInputs(
        selection=context.selection,
        platform=context.platform,
        outside=context.machine.env,
        allow=context.plan.allow_environment,
        interface=interface,
        folders=folders,
        loader=loader_folders(context.machine, context.selection, context.platform, rehearsal),
        rehearsal=rehearsal.variables(folders.base) if rehearsal else {},
        own_bytecode=context.claims,
    )
    argv = child_argv(context.selection, made.path)
    return ChildSetup(argv, child_environment(inputs), folders, made, inputs.loader.driver)


def child_argv(selection: Selection, archive: Path, *entry: str) -> tuple[str, ...]:
    """Return the command of a child: the selected interpreter, ``-s -B``, the zip, the entry.

    Raises:
        SelectionError: no interpreter is selected.
    """
    if selection.executable is None:
        raise SelectionError(f"{EXECUTABLE} is not set", "the interpreter that runs the chain", "select one")
    return (selection.executable, *FLAGS, str(archive), *entry)


def child_environment(inputs: ChildInputs) -> ChildEnvironment:
    """Return the environment of a child; later groups win, so nothing let in replaces what is built."""
    values = {
        **_allowed(inputs),
        **_search(inputs),
        **_selected(inputs),
        **_private(inputs),
        **inputs.rehearsal,
    }
    return ChildEnvironment(MappingProxyType(dict(sorted(values.items()))), _kept_out(inputs, values))


def _allowed(inputs: ChildInputs) -> dict[str, str]:
    """Return what the plan and the platform let in."""
    needs = _WINDOWS_NEEDS if inputs.platform is Platform.WINDOWS else ()
    wanted = {inputs.fold(name) for name in (*inputs.allow, *needs)}
    return {
        name: value
        for name, value in inputs.outside.items()
        if inputs.fold(name) in wanted and not brings_code(name)
    }


def _private(inputs: ChildInputs) -> dict[str, str]:
    """Return the variables that point into private folders, so that no cache of another run is read."""
    home, tmp = str(inputs.folders.home), str(inputs.folders.tmp)
    values = {
        "CUDA_CACHE_PATH": str(inputs.folders.driver_cache),
        "HOME": home,
        "PYCUDA_CACHE_DIR": str(inputs.folders.pycuda),
        "TMPDIR": tmp,
    }
    if inputs.own_bytecode:
        values["PYTHONPYCACHEPREFIX"] = str(inputs.folders.bytecode)
    if inputs.platform is Platform.WINDOWS:
        return {**values, "APPDATA": home, "LOCALAPPDATA": home, "USERPROFILE": home, "TEMP": tmp, "TMP": tmp}
    return {**values, "LANG": "C.UTF-8", "XDG_CACHE_HOME": f"{home}/.cache"}


def _selected(inputs: ChildInputs) -> dict[str, str]:
    """Return the selection's own variables."""
    selection = inputs.selection
    given = {
        "CUDA_PATH": selection.toolkit,
        SITE_PACKAGES: selection.separator.join(selection.site_packages),
        "WGPU_LIB_PATH": selection.provider if inputs.interface == WGPU_NATIVE else None,
    }
    return {name: value for name, value in given.items() if value}


def _search(inputs: ChildInputs) -> dict[str, str]:
    """Return where programs and libraries are looked for: in the toolkit, the selection, the system."""
    loader, selection = inputs.loader, inputs.selection
    folders = dict.fromkeys((*loader.programs, *selection.path, *_system_path(inputs)))
    values = {"PATH": selection.separator.join(folders)}
    if inputs.platform not in {Platform.LINUX, Platform.WSL}:
        return values
    switches = {name: value for name, value in loader.layer_switches.items() if not brings_code(name)}
    if loader.libraries:
        values["LD_LIBRARY_PATH"] = ":".join(loader.libraries)
    return {**switches, LAYERS_OFF[0]: LAYERS_OFF[1], **values}


def _system_path(inputs: ChildInputs) -> tuple[str, ...]:
    """Return the system's own folders of programs."""
    if inputs.platform is not Platform.WINDOWS:
        return _SYSTEM_PATH
    named = (value for name, value in inputs.outside.items() if name.upper() == "SYSTEMROOT")
    root = next(named, r"C:\Windows")
    return rf"{root}\System32", root, rf"{root}\System32\Wbem"


def _kept_out(inputs: ChildInputs, values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the telling variables whose outside value the child does not get."""
    inside = {inputs.fold(name): value for name, value in values.items()}
    return tuple(
        sorted(
            name
            for name, value in inputs.outside.items()
            if changes_loading(name) and value and inside.get(inputs.fold(name)) != value
        )
    )
