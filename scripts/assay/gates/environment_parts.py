"""Observes a selection: what is selected, what each binary says of itself, what is installed.

The facts are described in ``assay.judge.environment``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.gates.childview import child_view
from assay.gates.context import Context
from assay.gates.disclosed import disclosed
from assay.gates.distributions import (
    OWNERS,
    distribution_facts,
    distributions_in,
    module_files,
    owned,
    python_of,
)
from assay.gates.environment import hidden
from assay.gates.files import is_quoted, machine_facts, record
from assay.gates.locked import locks_of
from assay.gates.probes import Probes, Said, probes_of
from assay.judge.interpreter import CPYTHON
from assay.judge.selected import FILE
from assay.judge.variables import VARIABLES, Form
from assay.machine import Machine
from assay.machine.system import normal_arch
from assay.model import Facts, Json, Platform
from assay.plan.values import Plan
from assay.selection import EXECUTABLE, LIBPYTHON

_ASK_LIBPYTHON = (
    "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).Py_GetVersion; f.restype = ctypes.c_char_p; "
    "sys.stdout.write(f().decode())"
)
"""``Py_GetVersion`` needs no started interpreter (CPython, "Initialization, Finalization, and Threads")."""

_NAMED = re.compile(r"python(\d)\.(\d+)|python(\d)(\d+)\.")
_CONFIGURED = re.compile(r"^version(?:_info)?\s*=\s*([0-9.]+)", re.MULTILINE)
_REPORTED = re.compile(r"\d+\.\d+\.\d+\S*")
_PARTS = ("interpreter", "packages", "shadow")
_MODULE_PARTS = {"cuda": "cuda.bindings"}


def observe_selected(context: Context) -> Facts:
    """Return the facts of the selection on this machine."""
    machine, probes = context.machine, probes_of(context)
    asked = probes.begin(_PARTS) if machine.is_file(context.selection.executable or "") else None
    selected = _selected(context)  # large files are hashed while the interpreter answers
    said = asked.result() if asked and _is_file(selected, EXECUTABLE) else {}
    interpreter = _interpreter(
        context, said.get("interpreter", Said(asked=False, problem="there is no interpreter"))
    )
    library = _libpython(context, probes, interpreter) if _is_file(selected, LIBPYTHON) else {}
    folders = _path_of(context, interpreter)
    child = child_view(context)
    return {
        "disclosed": disclosed(context),
        "distributions": _distributions(machine, folders, said.get("packages"), _text(interpreter, "prefix")),
        "explicit": context.selection.explicit,
        "hidden": hidden(machine, child.machine.env),
        "ignored": list(context.selection.ignored),
        "interpreter": interpreter,
        "kept_out": [name for name in child.kept_out if name not in context.selection.values],
        "libpython": library,
        "local": _local(machine, folders, said.get("shadow")),
        "machine": machine_facts(machine),
        "modules": _modules(machine, said.get("shadow")),
        "selected": _reported(selected, interpreter, library),
        "site_packages": [_site(machine, path) for path in context.selection.site_packages],
        "source": context.selection.source,
        "variables": _variables(context),
    }


def _variables(context: Context) -> Facts:
    """Return each set variable as it was written."""
    forms = {variable.name: variable.form for variable in VARIABLES}
    found: dict[str, Json] = {}
    for name, value in sorted(context.selection.values.items()):
        listed = forms.get(name) is Form.FOLDERS
        entries = value.split(context.selection.separator) if listed and value else [value]
        quotable = listed and context.platform is Platform.WINDOWS  # cmd takes quoted entries of a list
        found[name] = {
            "empty": sum(not entry for entry in entries) if listed and value else 0,
            "given": value,
            "quoted": not quotable and any(map(is_quoted, entries)),
        }
    return found


def _selected(context: Context) -> dict[str, dict[str, Json]]:
    """Return the record of each selected file and of the toolkit's folder."""
    plan, found = context.plan, {}
    for variable in VARIABLES:
        value = context.selection.get(variable.name)
        if value and variable.form is not Form.FOLDERS:
            parsed = variable.examined_by == "environment"
            facts = record(context.machine, value, parsed=parsed)
            found[variable.name] = {**facts, "built_by": _built_by(plan, variable.name)}
    return found


def _built_by(plan: Plan, variable: str) -> Json:
    """Return who built a binary as the plan declares it, which nothing here verifies."""
    text = plan.built_by.get(variable)
    return None if text is None else {"text": text, "verified": False}


def _is_file(selected: Mapping[str, Mapping[str, Json]], variable: str) -> bool:
    """Say whether a selected file is there."""
    return selected.get(variable, {}).get("state") == FILE


def _interpreter(context: Context, said: Said) -> dict[str, Json]:
    """Return what the interpreter says of itself, and what its files say."""
    told = said.facts
    build = told.get("build")
    built = build if isinstance(build, Mapping) else {}
    debug, threaded = bool(built.get("Py_DEBUG")), bool(built.get("Py_GIL_DISABLED"))
    shared = built.get("Py_ENABLE_SHARED")
    return {
        "abiflags": ("t" if threaded else "") + ("d" if debug else ""),
        "arch": normal_arch(_text(told, "machine")),
        "asked": said.asked,
        "base_prefix": _text(told, "base_prefix"),
        "debug": debug,
        "executable": _text(told, "executable"),
        "file_version": _file_version(context.machine, context.selection.executable or ""),
        "free_threaded": threaded,
        "implementation": _text(told, "implementation").lower(),
        "libc": _text(told, "libc"),
        "libdir": _text(built, "LIBDIR"),
        "prefix": _text(told, "prefix"),
        "problem": said.problem,
        "shared": None if shared is None else bool(shared),
        "site_packages": _texts(told, "site_packages"),
        "soabi": _text(built, "SOABI"),
        "version": _text(told, "version"),
        "version_text": _text(told, "version_text"),
    }


def _text(facts: Facts, name: str) -> str:
    """Return a told text, ``""`` where something else was told."""
    value = facts.get(name)
    return value if isinstance(value, str) else ""


def _texts(facts: Facts, name: str) -> list[Json]:
    """Return a told list of texts."""
    value = facts.get(name)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list | tuple) else []


def _file_version(machine: Machine, executable: str) -> str:
    """Return the version that files show: ``pyvenv.cfg`` (PEP 405), or the binary's own name."""
    if not executable:
        return ""
    folder = machine.paths.dirname(executable)
    for place in (folder, machine.paths.dirname(folder)):
        if match := _CONFIGURED.search(machine.peek(machine.paths.join(place, "pyvenv.cfg"), 1 << 16).text):
            return match[1]
    named = [executable, *machine.binary(executable, symbols=False).needed]
    if machine.is_file(executable):
        named.insert(1, machine.followed(executable))
    for name in named:
        if match := _NAMED.search(machine.paths.basename(name)):
            return f"{match[1] or match[3]}.{match[2] or match[4]}"
    return ""


def _libpython(context: Context, probes: Probes, interpreter: Facts) -> dict[str, Json]:
    """Return what the selected libpython offers, its own word, and whether it is the interpreter's."""
    machine, path = context.machine, context.selection.libpython or ""
    exports = machine.binary(path).exports
    reported = Said(asked=False, problem="it was not asked")
    if interpreter["version"] and set(CPYTHON) <= exports:
        argv = (context.selection.executable or "", "-I", "-S", "-B", "-c", _ASK_LIBPYTHON, path)
        reported = probes.program("libpython", argv)
    match = _REPORTED.search(reported.text) if not reported.problem else None
    return {
        "inside": _inside(machine, path, interpreter),
        "problem": reported.problem,
        "reported": match[0] if match else "",
        "reported_text": reported.text.strip()[:300] if match else "",
        "symbols": sorted(exports & set(CPYTHON)),
    }


def _inside(machine: Machine, path: str, interpreter: Facts) -> bool | None:
    """Say whether a library lies in the interpreter's own installation; None where that is not known."""
    places = [_text(interpreter, "base_prefix"), _text(interpreter, "libdir")]
    if not any(places):
        return None
    real = machine.followed(path)
    separator = machine.paths.sep
    return any(
        real.startswith(machine.followed(place).rstrip(separator) + separator) for place in places if place
    )


def _path_of(context: Context, interpreter: Facts) -> tuple[str, ...]:
    """Return the folders that packages come from: PYTHONPATH's, then the interpreter's own."""
    own = [str(path) for path in _texts(interpreter, "site_packages")]
    return tuple(dict.fromkeys((*context.selection.site_packages, *own)))


def _distributions(machine: Machine, folders: Sequence[str], said: Said | None, prefix: str) -> list[Json]:
    """Return what is installed: what the interpreter tells first, then what else the folders show."""
    locks = locks_of(machine, prefix)
    read = {
        (one.name, one.folder): distribution_facts(machine, one)
        for f in folders
        for one in distributions_in(machine, f)
    }
    told: list[Facts] = []
    for each in _objects(said.facts if said else {}, "distributions"):
        known = read.pop((_text(each, "name"), _text(each, "location").rstrip("/\\")), {})
        told.append({**known, **each})
    return [{**each, "lock_sha256": locks.of(each)} for each in (*told, *read.values())]


def _objects(facts: Facts, name: str) -> tuple[Facts, ...]:
    """Return a told list of objects."""
    value = facts.get(name)
    return (
        tuple(each for each in value if isinstance(each, Mapping)) if isinstance(value, list | tuple) else ()
    )


def _site(machine: Machine, path: str) -> dict[str, Json]:
    """Return the record of a site-packages folder, with the CPython version that its path names."""
    return {**record(machine, path, parsed=False), "version": python_of(path)}


def _modules(machine: Machine, said: Said | None) -> Facts:
    """Return whether and where the interpreter finds what the chain imports."""
    if said is None or not said.facts:
        return {}
    found: dict[str, Json] = {}
    for name in OWNERS:
        spec = said.facts.get(name)
        told = spec if isinstance(spec, Mapping) else {}
        folders = _texts(told, "folders")
        found[name] = {"file": told.get("file"), "folders": folders, "found": bool(told)}
        part = _MODULE_PARTS.get(name)
        if part:
            inner = part.partition(".")[2]
            there = any(machine.is_dir(machine.paths.join(str(folder), inner)) for folder in folders)
            found[part] = {"found": there}
    return found


def _local(machine: Machine, folders: Sequence[str], said: Said | None) -> list[Json]:
    """Return files named as a package that the chain imports, and whether they reach the children."""
    near = [machine.says.cwd] if machine.says.cwd else []
    found: dict[str, Facts] = {}
    for module in OWNERS:
        reaching = [(*each, True) for each in _first(machine, module, folders, said)]
        for folder, file, reaches in (
            *reaching,
            *((*each, False) for each in module_files(machine, module, near)),
        ):
            fact: dict[str, Json] = {
                "file": file,
                "module": module,
                "owned": owned(machine, module, folder),
                "reaches": reaches,
                "rival": any(owned(machine, module, each) for each in folders if each != folder),
            }
            found.setdefault(file, fact)
    return [fact for fact in found.values() if not fact["owned"]]


def _first(machine: Machine, module: str, folders: Sequence[str], said: Said | None) -> list[tuple[str, str]]:
    """Return where ``module`` is imported from: what the interpreter tells, else what the folders show."""
    spec = said.facts.get(module) if said and said.facts else None
    file = _text(spec, "file") if isinstance(spec, Mapping) else ""
    if said and said.facts:
        folder = machine.paths.dirname(file)
        package = machine.paths.basename(file).startswith("__init__.")
        return [(machine.paths.dirname(folder) if package else folder, file)] if file else []
    return list(module_files(machine, module, folders))[:1]


def _reported(
    selected: Mapping[str, Mapping[str, Json]], interpreter: Facts, library: Facts
) -> dict[str, Json]:
    """Add to each binary its own word about version, revision and build type."""
    kind = " ".join(
        word
        for word, on in (("debug", interpreter["debug"]), ("free-threaded", interpreter["free_threaded"]))
        if on
    )
    words: dict[str, dict[str, Json]] = {
        EXECUTABLE: {
            "build_type": kind or ("release" if interpreter["version"] else ""),
            "revision": interpreter["version_text"],
            "version": interpreter["version"],
        },
        LIBPYTHON: {
            "build_type": "",
            "revision": library.get("reported_text", ""),
            "version": library.get("reported", ""),
        },
    }
    return {name: {**facts, "reported": words.get(name, {})} for name, facts in selected.items()}
