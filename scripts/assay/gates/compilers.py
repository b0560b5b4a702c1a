"""Observes the compilers of a toolkit: which nvcc would be started, and which host compiler it would start.

The facts are described in ``assay.judge.compiler``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.gates.context import Context
from assay.gates.layout import Toolkit, literal, origin_of
from assay.gates.probes import Probes, Said
from assay.judge.compiler import CLANG, GCC, LINK, MSVC, SCRIPT
from assay.machine import Machine
from assay.model import Facts, Json, Platform
from assay.plan.versions import release

NVCC = "nvcc"
CCBIN = "NVCC_CCBIN"
"""The host compiler or its folder (nvcc, "--compiler-bindir"); only an allowed variable reaches nvcc."""

CC1PLUS = "-print-prog-name=cc1plus"
"""Asks gcc where its C++ compiler is; it answers with the bare name where it has none (GCC manual)."""

PROFILE = "nvcc.profile"
SCRIPT_LIMIT = 1 << 16
VISUAL_STUDIO = r"C:\Program Files (x86)\Microsoft Visual Studio\Installer\vswhere.exe"
"""Where Visual Studio's installer keeps vswhere (Microsoft: vswhere)."""

_INSTALLED = (r"C:\Program Files\Microsoft Visual Studio", r"C:\Program Files (x86)\Microsoft Visual Studio")
_RELEASE = re.compile(r"release (\d+\.\d+), V(\d+\.\d+\.\d+)")
_HERE = re.compile(r"^#\$ _HERE_=(.+)$", re.MULTILINE)
_ARCHITECTURE = re.compile(r"^compute_(\d+)$", re.MULTILINE)
_TARGET = re.compile(
    r"(?P<quote>[\"'])(?P<quoted>[^\"'\n]*[/\\]nvcc(?:\.exe)?)(?P=quote)|(?P<bare>/[^\s\"';]*/nvcc)\b"
)
_STARTED = re.compile(r"^#\$ (?![A-Z_]+=)(?P<command>.*\s-D__CUDACC__.*)$", re.MULTILINE)
_DRIVE = re.compile(r"\b[A-Za-z]:\\")
"""A Windows path: a backslash separates folders there, and escapes a blank elsewhere."""
_TOOLSET = re.compile(r"[/\\]VC[/\\]Tools[/\\]MSVC[/\\](\d+\.\d+(?:\.\d+)*)", re.IGNORECASE)
_DOTTED = re.compile(r"\b\d{1,3}\.\d{1,3}(?:\.\d{1,5})?\b")
_NAMED = re.compile(r"(?:gcc|g\+\+|cc|c\+\+)-(\d{1,2}(?:\.\d{1,2})*)$")
_CLANG_NAMED = re.compile(r"clang(?:\+\+)?(?:-(\d{1,2}))?$")
_CONDITION = re.compile(r"^\s*#\s*if\s+(?P<condition>.*)$", re.MULTILINE)
_ERRORS: Mapping[str, tuple[str, str]] = {
    GCC: ("unsupported GNU version!", "__GNUC__"),
    CLANG: ("unsupported clang version!", "__clang_major__"),
    MSVC: ("unsupported Microsoft Visual Studio version!", "_MSC_VER"),
}
"""By family, the words of host_config.h's #error, and the macro that it compares."""


def first_nvcc(machine: Machine, folders: Sequence[str]) -> Facts:
    """Return the first nvcc of a search path: what kind of file, what it starts, and of which toolkit."""
    path = machine.which(NVCC, folders)
    if path is None:
        return {"path": ""}
    beside = machine.paths.join(machine.paths.dirname(path), PROFILE)
    target = machine.followed(path)
    kind = LINK if machine.is_link(path) else "file"
    if machine.binary(target, symbols=False).format == "script":
        target, kind = script_target(machine, target), SCRIPT
    known = machine.paths.basename(target).lower() in {
        NVCC,
        f"{NVCC}.exe",
    }  # else a compiler cache in its name
    return {
        "kind": kind,
        "origin": origin_of(machine, target) if known else "",
        "path": path,
        "profile": kind == SCRIPT or machine.exists(beside),
        "target": target,
    }


def script_target(machine: Machine, path: str) -> str:
    """Return the nvcc that a wrapper script starts, ``""`` where it names none."""
    text = machine.peek(path, SCRIPT_LIMIT).text
    named = [match["quoted"] or match["bare"] for match in _TARGET.finditer(text)]
    return next((name for name in named if name != path and machine.is_file(name)), "")


def ask_nvcc(probes: Probes, path: str) -> Facts:
    """Return nvcc's own word: its version, and the architectures that it builds for."""
    said = probes.program("nvcc-version", (path, "--version"))
    match = _RELEASE.search(said.text)
    problem = said.problem or ("" if match or not said.asked else "its answer names no release")
    listed = probes.program("nvcc-architectures", (path, "--list-gpu-arch")) if match else Said(asked=False)
    return {
        "architectures": list(dict.fromkeys(_ARCHITECTURE.findall(listed.text))),
        "asked": said.asked,
        "problem": problem if said.asked else "",
        "version": match[2] if match else "",
    }


def dry_run(probes: Probes, nvcc: str, scratch: Path) -> str:
    """Return what nvcc would do, in its own words; it reads no source and starts nothing but the compiler."""
    source = str(scratch / "host.cu")
    return probes.program("nvcc-dryrun", (nvcc, "--dryrun", "-ptx", source, "-o", f"{source}.ptx")).text


def with_origin(machine: Machine, first: Facts, planned: str) -> Facts:
    """Return the first nvcc with the origin that nvcc itself tells, where its script does not say."""
    match = _HERE.search(planned)
    if first.get("origin") or not first["path"] or not match:
        return first
    target = machine.paths.join(match[1].strip(), NVCC)
    return {**first, "origin": origin_of(machine, target), "target": target}


def host_compiler(context: Context, child: Machine, probes: Probes, planned: str) -> Facts:
    """Return the host compiler that nvcc would start from the children's environment.

    Args:
        context: the gate's view of the run.
        child: the machine with the children's environment.
        probes: whom to ask.
        planned: what ``dry_run`` returned.
    """
    windows = context.platform is Platform.WINDOWS
    name = parse_started(planned) or _chosen(child) or ("cl.exe" if windows else "gcc")
    path = name if child.paths.isabs(name) else child.which(name)
    if path is None or not child.is_file(path):
        elsewhere = context.machine.which_all(child.paths.basename(name))
        return {
            "family": "",
            "found": list(elsewhere),
            "name": name,
            "problem": f"nvcc would start {name}, not found",
        }
    if windows or child.paths.basename(path).lower() in {"cl.exe", "cl"}:
        return {"family": MSVC, "name": name, "path": path, "version": _msvc_version(child, path)}
    said = probes.program("host-compiler", (path, "--version"))
    family, version = parse_compiler(said.text) if not said.problem else ("", "")
    shown_family, shown_version = _shown(child, path)
    plus = probes.program("host-compiler-cc1plus", (path, CC1PLUS)) if family == GCC else Said(asked=False)
    return {
        "asked": said.asked,
        "cplusplus": plus.text.strip() != "cc1plus" if plus.asked and not plus.problem else None,
        "family": family or shown_family,
        "name": name,
        "path": path,
        "problem": said.problem if said.asked else "",
        "real": child.followed(path),
        "version": version or shown_version,
    }


def _chosen(child: Machine) -> str:
    """Return the host compiler that the environment names, ``""`` for nvcc's default."""
    named = child.getenv(CCBIN)
    if named and child.is_dir(named):
        return str(child.paths.join(named, "cl.exe" if child.view.windows else "gcc"))
    return named


def parse_started(text: str) -> str:
    """Return the host compiler in the output of ``nvcc --dryrun``: the program of its preprocessing step."""
    match = _STARTED.search(text)
    if not match:
        return ""
    try:
        words = shlex.split(match["command"], posix=not _DRIVE.search(match["command"]))
    except ValueError:
        return ""
    return words[0].strip('"') if words else ""


def parse_compiler(text: str) -> tuple[str, str]:
    """Return family and version of what ``--version`` printed; empty where it is neither gcc nor clang."""
    first = text.strip().splitlines()[0] if text.strip() else ""
    bare = re.sub(r"\([^()]*\)", " ", first)
    version = _DOTTED.search(bare)
    if "clang" in first.lower():
        return CLANG, version[0] if version else ""
    if "Free Software Foundation" in text or re.search(r"\b(?:gcc|g\+\+|GCC)\b", first):
        return GCC, version[0] if version else ""
    return "", ""


def _shown(machine: Machine, path: str) -> tuple[str, str]:
    """Return family and version as the file's name shows them, links followed (``gcc`` -> ``gcc-12``)."""
    name = machine.paths.basename(machine.followed(path))
    if match := _CLANG_NAMED.search(name):
        return CLANG, match[1] or ""
    match = _NAMED.search(name)
    return GCC, match[1] if match else ""


def _msvc_version(machine: Machine, path: str) -> str:
    """Return the toolset of a ``cl.exe``: of its folder, else of its file version (19.44 is of 14.44)."""
    if match := _TOOLSET.search(path):
        return match[1]
    numbers = release(machine.binary(path, symbols=False).version)
    return ".".join(map(str, (14, *numbers[1:]))) if numbers[:1] == (19,) else ""


def accepted_range(machine: Machine, toolkit: Toolkit) -> Facts:
    """Return the host compilers that the toolkit's ``host_config.h`` accepts, by family."""
    join, top = machine.paths.join, literal(toolkit.top)
    places = [
        join(top, *folder, "crt", "host_config.h") for folder in (("include",), ("targets", "*", "include"))
    ]
    file = next((path for place in places for path in machine.glob(place)), "")
    return parse_range(machine.peek(file).text) if file else {}


def parse_range(text: str) -> Facts:
    """Return ``{family: {low, below}}`` as ``host_config.h`` bounds it by #if and #error; null: no bound."""
    found: dict[str, Json] = {}
    for family, (words, macro) in _ERRORS.items():
        for error in re.finditer(rf"#\s*error\s[^\n]*{re.escape(words)}", text):
            conditions = [m["condition"] for m in _CONDITION.finditer(_joined(text[: error.start()]))]
            own = next((each for each in reversed(conditions) if macro in each), "")
            if own and family not in found:
                found[family] = _bounds(own, macro)
    return found


def _joined(text: str) -> str:
    """Return text with continued lines joined (C11, 5.1.1.2, phase 2)."""
    return text.replace("\\\r\n", " ").replace("\\\n", " ")


def _bounds(condition: str, macro: str) -> Facts:
    """Return the bounds of a condition that refuses a compiler (``M > 15``, ``M < 1920 || M >= 1950``)."""
    low: int | None = None
    below: int | None = None
    for sign, digits in re.findall(rf"{re.escape(macro)}\s*(<=|>=|<|>)\s*(\d{{1,6}})", condition):
        number = int(digits)
        if sign in {">", ">="}:
            bound = number + (sign == ">")
            below = bound if below is None else min(below, bound)
        else:
            bound = number + (sign == "<=")
            low = bound if low is None else max(low, bound)
    return {"below": below, "low": low}


def msvc_facts(context: Context, probes: Probes) -> Facts:
    """Return the MSVC toolsets that are installed, as vswhere or the folders show them; Windows only."""
    machine = context.machine
    if context.platform is not Platform.WINDOWS:
        return {}
    argv = (VISUAL_STUDIO, "-all", "-products", "*", "-property", "installationPath", "-utf8")
    said = (
        probes.program("vswhere", argv)
        if machine.exists(VISUAL_STUDIO) or not machine.is_real
        else Said(asked=False)
    )
    told = [line.strip() for line in said.text.splitlines() if line.strip() and not said.problem]
    bases = [literal(path) for path in told] or [f"{place}\\*\\*" for place in _INSTALLED]
    folders = [path for base in bases for path in machine.glob(f"{base}\\VC\\Tools\\MSVC\\*")]
    versions = [match[1] for path in folders if (match := _TOOLSET.search(path))]
    ordered = sorted(set(versions), key=release)
    return {"asked": said.asked, "folders": list(folders), "toolsets": list(ordered)}
