"""Judges gate ``abi``: every selected binary, and what it loads, fits this machine's processor and C library.

Facts (``gates.abi`` writes them)::

    machine {arch, libc {kind, version, provides}, os {id, version}}
    arch          the processor of the selected interpreter, ``""`` where none is selected
    files [{
        what      interpreter, libpython, host library, provider, extension module (PyCUDA's)
        path
        binary    as ``gates.files`` records one
        loader    whether the program interpreter that it names is there; null where it names none
        needs []  versions of symbols that it needs
        libraries [{name, needed_by, path, problem}]     as the children's loader takes them; ``path`` is null
                                                         where it finds none, or none that it can load
        unmet [{version, library, path, needed_by, highest}]     versions that a library which was found lacks
    }]
    driver        the driver's libcuda {path, found, binary} on a machine with musl; else null

What a file is as a whole (missing, cut off, a script) is for the gates ``environment`` and ``provider``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.libc import GLIBC_LIBRARY, libc_conflicts, not_looked_for
from assay.judge.reading import MalformedFacts, flag, get, mapping, objects, text, texts
from assay.judge.recorded import filled, some, there
from assay.judge.systempackages import with_package
from assay.model import Facts, Finding, Platform

RULES = 1

INTERPRETER, LIBPYTHON, HOST = "interpreter", "libpython", "host library"
BUN, PROVIDER, EXTENSION = "Bun", "provider", "extension module"

DRIVERS_OWN = frozenset({"libcuda.so.1", "libnvidia-ml.so.1", "nvcuda.dll", "nvml.dll"})
"""Libraries that come with a driver and not with a system: gate ``driver`` judges them."""

_PYTHON = re.compile(r"python3\d*(?:t)?(?:_d)?\.dll", re.IGNORECASE)
"""CPython's own library, which on Windows is in the process before any extension module."""

_MUSL = "musl"


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what does not fit; nothing where every binary would be loaded."""
    files = [file for file in objects(facts, "files") if is_library(file)]
    return (
        *_driver(case, facts),
        *_asked(case, facts),
        *(each for file in files for each in _file(case, facts, file)),
    )


def is_library(file: Facts) -> bool:
    """Say whether a file is a program or library to be loaded, and was read."""
    whole = text(file, "binary.format") in {"elf", "pe"} and not text(file, "binary.problem")
    return whole or text(file, "what") == EXTENSION


def _asked(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that there is no interpreter to hold the others against; a diagnosis claims nothing of them."""
    if not case.diagnosis and not text(facts, "arch"):
        yield finding("ABI-NO-INTERPRETER", "no interpreter that can be read is selected")


def _driver(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a driver made for glibc lies on a system with musl."""
    driver = mapping(facts, "driver")
    if text(facts, "machine.libc.kind") != _MUSL or GLIBC_LIBRARY not in texts(driver, "binary.needed"):
        return
    system, musl = text(facts, "machine.os.id") or "this system", text(facts, "machine.libc.version")
    needs = text(driver, "binary.glibc_needed")
    what = f"{GLIBC_LIBRARY}{f' (GLIBC_{needs})' if needs else ''}"
    found = "" if flag(driver, "found") else ", and musl's loader does not look there"
    observed = f"{text(driver, 'path')} needs {what}{found}; {system} runs {_MUSL} {musl}".rstrip()
    where = (text(driver, "path"),)
    yield finding("ABI-DRIVER-GLIBC", observed, where=where, platform=case.platform)


def _file(case: Case, facts: Facts, file: Facts) -> Iterator[Finding]:
    """Yield what is wrong with one file, the first reason that ends its load."""
    path, what = text(file, "path"), text(file, "what")
    problem = text(file, "binary.problem")
    if problem:
        yield finding("ABI-UNREADABLE", f"{what}: {problem}", where=(path,), platform=case.platform)
        return
    wanted = text(facts, "machine.arch") if what == INTERPRETER else text(facts, "arch")
    arch = text(file, "binary.arch")
    if wanted and arch != wanted:
        observed = f"the {what} is for {arch}, {_loads(what)} for {wanted}"
        yield finding("ABI-ARCHITECTURE", observed, expected=wanted, where=(path,), platform=case.platform)
        return
    conflicts = list(libc_conflicts(mapping(file, "binary"), mapping(facts, "machine")))
    for observed, expected in conflicts:
        yield finding(
            "ABI-LIBC", f"{what}: {observed}", expected=expected, where=(path,), platform=case.platform
        )
    if not conflicts:
        yield from _loader(case, file)
        yield from _libraries(case, facts, file)
        yield from _versions(case, file)


def _loads(what: str) -> str:
    """Return who loads a file, in words."""
    return "the machine is" if what == INTERPRETER else "the interpreter"


def _loader(case: Case, file: Facts) -> Iterator[Finding]:
    """Yield that the program interpreter which a file names is not there."""
    if flag(file, "loader") is False:
        named = text(file, "binary.interpreter")
        observed = f"{text(file, 'path')} names {named}, which is not there"
        yield finding("ABI-LOADER-MISSING", observed, where=(named,), platform=case.platform)


def missing(file: Facts) -> tuple[Facts, ...]:
    """Return the needed libraries that the loader would not find, or fail on; a driver's own are left out."""
    return tuple(
        library
        for library in objects(file, "libraries")
        if not text(library, "path") and not _is_elsewhere(file, text(library, "name"))
    )


def _is_elsewhere(file: Facts, name: str) -> bool:
    """Say whether a library is not the system's to have: a driver's, or CPython's in its own process."""
    own = text(file, "what") == EXTENSION and _PYTHON.fullmatch(name) is not None
    return own or name.lower() in DRIVERS_OWN


def _libraries(case: Case, facts: Facts, file: Facts) -> Iterator[Finding]:
    """Yield the needed libraries that lack.

    Raises:
        MalformedFacts: a needed library was not looked for; only the loader itself need not be.
    """
    name = not_looked_for(texts(file, "binary.needed"), objects(file, "libraries"))
    if name is not None:
        raise MalformedFacts("files", f"the library {name} among those that were looked for")
    lacking = missing(file)
    if lacking:
        observed = f"{text(file, 'what')}: {'; '.join(_lacking(each, file) for each in lacking)}"
        names = dict.fromkeys(text(each, "name") for each in lacking)
        system = text(facts, "machine.os.id")
        expected = ", ".join(with_package(name, system) for name in names)
        where = (text(file, "path"),)
        yield finding("ABI-LIBRARIES", observed, expected=expected, where=where, platform=case.platform)


def _lacking(library: Facts, file: Facts) -> str:
    """Return one library that lacks, and what needs it where that is not the file itself."""
    asking, problem = text(library, "needed_by"), text(library, "problem")
    via = f" (needed by {asking})" if asking and asking != text(file, "path") else ""
    return (
        f"{text(library, 'name')}: {problem}{via}" if problem else f"{text(library, 'name')} not found{via}"
    )


def _versions(case: Case, file: Facts) -> Iterator[Finding]:
    """Yield the versions of symbols that libraries which were found lack."""
    unmet = objects(file, "unmet")
    if not unmet:
        return
    observed = "; ".join(
        f"{text(each, 'needed_by')} needs {text(each, 'version')} of {text(each, 'library')}; "
        f"{text(each, 'path')} has {text(each, 'highest') or 'none of that family'}"
        for each in unmet
    )
    expected = ", ".join(dict.fromkeys(text(each, "version") for each in unmet))
    where = tuple(dict.fromkeys(text(each, "path") for each in unmet))
    yield finding(
        "ABI-SYMBOL-VERSION",
        f"{text(file, 'what')}: {observed}",
        expected=expected,
        where=where,
        platform=case.platform,
    )


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    del case  # the sentence is about this machine alone
    names = dict.fromkeys(text(file, "what") for file in objects(facts, "files") if is_library(file))
    kind = f"{text(facts, 'machine.libc.kind')} {text(facts, 'machine.libc.version')}".strip()
    system = " with ".join(part for part in (text(facts, "machine.arch"), kind) if part)
    return f"{', '.join(names)} and every library that they need are there and fit this machine: {system}"


def check(case: Case, facts: Facts) -> None:
    """Ask for the machine and for every binary that the claim names.

    Raises:
        MalformedFacts: something is not recorded.
    """
    claim(case, facts)  # raises where a fact that it names is malformed
    there(facts, "driver", "machine.libc", "machine.os")
    filled(facts, "machine.arch")
    if case.platform is not Platform.WINDOWS:
        filled(facts, "machine.libc.kind")
    some(facts, "files")
    for at, file in enumerate(objects(facts, "files")):
        there(file, "libraries", "loader", "needs", "unmet")
        if not is_library(file):
            continue
        filled(file, "binary.arch", "path", "what")
        if get(file, "binary.needed") is None:
            raise MalformedFacts(f"files.{at}.binary.needed", "recorded")
    if not any(text(file, "what") == INTERPRETER for file in objects(facts, "files")):
        raise MalformedFacts("files", "a list with the interpreter")
