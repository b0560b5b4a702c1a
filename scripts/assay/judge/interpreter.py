"""Judges interpreter, libpython and host library: one CPython, one ABI, one processor, one C library.

Facts::

    interpreter {asked, problem, version, abiflags[], shared, arch, file_version, …}
        ``version`` is its own word; ``file_version`` what its files say (pyvenv.cfg, the binary's name)
    libpython {reported, problem, symbols[], inside}
        ``reported`` is Py_GetVersion of the selected library; ``inside`` says that it lies in the
        interpreter's own installation; ``symbols`` are those of ``CPYTHON`` that it defines
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.libc import libc_conflicts
from assay.judge.reading import flag, mapping, text, texts
from assay.judge.selected import EXECUTABLE, FILE, HOST_LIBRARY, LIBPYTHON, readable
from assay.judge.variables import VARIABLES, Form, examined_here
from assay.model import Facts, Finding
from assay.plan.versions import release, satisfies

CPYTHON = ("PyGILState_Ensure", "PyObject_SelfIter", "Py_GetVersion", "Py_InitializeEx")
"""What an embedding program and NumPy take from libpython (CPython's C API; measured for NumPy)."""

_UNIX_NAME = re.compile(r"libpython(\d+)\.(\d+)([a-z]*)\.(?:so|dylib)")
_WINDOWS_NAME = re.compile(r"python(\d)(\d+)(t?)(_d)?\.dll", re.IGNORECASE)


@dataclass(frozen=True)
class LibraryName:
    """What libpython's name says: version (major, minor) and ABI flags (``d`` debug, ``t`` free-threaded)."""

    version: tuple[int, int]
    flags: frozenset[str]


def library_name(name: str) -> LibraryName | None:
    """Return what a SONAME or DLL name says, None where it is not libpython's.

    ``libpython3.13t.so.1.0`` and ``python313t_d.dll`` are free-threaded, ``d`` and ``_d`` debug builds
    (CPython: configure.ac, PCbuild/pyproject.props).
    """
    if match := _UNIX_NAME.match(name):
        return LibraryName((int(match[1]), int(match[2])), frozenset(match[3]) & {"d", "t"})
    if match := _WINDOWS_NAME.fullmatch(name):
        flags = {"t"} if match[3] else set()
        return LibraryName((int(match[1]), int(match[2])), frozenset(flags | ({"d"} if match[4] else set())))
    return None


def judge_interpreter(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the interpreter itself."""
    path = text(facts, f"selected.{EXECUTABLE}.path")
    if text(facts, f"selected.{EXECUTABLE}.state") != FILE:
        return
    if not flag(facts, "interpreter.asked"):
        if not case.diagnosis:  # which claims nothing of it: another machine's files cannot be asked
            problem = text(facts, "interpreter.problem") or path
            yield finding("ENVIRONMENT-INTERPRETER-UNASKED", problem, where=(path,))
    elif text(facts, "interpreter.problem") or not text(facts, "interpreter.version"):
        problem = text(facts, "interpreter.problem") or "it did not say its version"
        yield finding("ENVIRONMENT-INTERPRETER-FAILED", f"{path}: {problem}", where=(path,))
    wanted, version = case.plan.versions.get(case.platform, {}).get("python"), python_version(facts)
    if wanted and version and not satisfies(version, wanted):
        yield finding(
            "ENVIRONMENT-PYTHON-VERSION", f"CPython {version}", expected=f"CPython {wanted}", where=(path,)
        )
    name = text(facts, "interpreter.implementation")
    if name and name != "cpython":
        yield finding("ENVIRONMENT-PYTHON-VERSION", f"{name} {version}", expected="CPython", where=(path,))


def python_version(facts: Facts) -> str:
    """Return the interpreter's version: its own word, else what its files say."""
    return text(facts, "interpreter.version") or text(facts, "interpreter.file_version")


def judge_libraries(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where selected binaries do not belong together or to this machine."""
    library, host = readable(facts, LIBPYTHON), readable(facts, HOST_LIBRARY)
    if library:
        yield from _libpython(facts, library)
    if host:
        yield from _host_library(facts, host)
    yield from _processors(case, facts)
    for variable in (EXECUTABLE, LIBPYTHON, HOST_LIBRARY):
        binary = readable(facts, variable)
        for observed, expected in libc_conflicts(binary, mapping(facts, "machine")) if binary else ():
            where = (text(facts, f"selected.{variable}.path"),)
            yield finding("ENVIRONMENT-LIBC", f"{variable}: {observed}", expected=expected, where=where)


def _libpython(facts: Facts, library: Facts) -> Iterator[Finding]:
    """Yield where libpython and the interpreter are not of one build."""
    path, name = text(facts, f"selected.{LIBPYTHON}.path"), text(library, "soname")
    said = library_name(name)
    missing = sorted(set(CPYTHON) - set(texts(facts, "libpython.symbols")))
    if said is None or missing:
        lacking = f", lacks {', '.join(missing)}" if missing else ""
        yield finding(
            "ENVIRONMENT-LIBPYTHON-SYMBOLS",
            f"{path} calls itself {name or 'nothing'}{lacking}",
            where=(path,),
        )
        return
    yield from _same_version(facts, said, path)
    flags = frozenset(text(facts, "interpreter.abiflags")) & {"d", "t"}
    if text(facts, "interpreter.version") and said.flags != flags:
        yield finding(
            "ENVIRONMENT-LIBPYTHON-ABI",
            f"{name} is {_build(said.flags)}; the interpreter is {_build(flags)}",
            expected=_build(flags),
            where=(path,),
        )
    if flag(facts, "interpreter.shared") is False and flag(facts, "libpython.inside") is False:
        yield finding("ENVIRONMENT-LIBPYTHON-STATIC", f"{path} is not part of the interpreter", where=(path,))


def _same_version(facts: Facts, said: LibraryName, path: str) -> Iterator[Finding]:
    """Yield that libpython is of another version, by its name or by its own word."""
    version, reported = python_version(facts), text(facts, "libpython.reported")
    found = release(version)
    if not found:
        return
    by_name = ".".join(map(str, said.version))
    other_name = found[:2] != said.version[: len(found[:2])]
    other_word = bool(reported and text(facts, "interpreter.version")) and release(reported)[:3] != found[:3]
    if other_name or other_word:
        yield finding(
            "ENVIRONMENT-LIBPYTHON-VERSION",
            f"libpython is {by_name if other_name else reported}, the interpreter {version}",
            expected=f"libpython of CPython {version}",
            where=(path,),
        )


def _build(flags: frozenset[str]) -> str:
    """Return an ABI in words."""
    words = [word for sign, word in (("d", "debug"), ("t", "free-threaded")) if sign in flags]
    return f"a {' and '.join(words)} build" if words else "a release build with a GIL"


def _host_library(facts: Facts, host: Facts) -> Iterator[Finding]:
    """Yield that the host library was linked with another libpython."""
    found = release(python_version(facts))[:2]
    for needed in texts(host, "needed"):
        said = library_name(needed)
        if said and found and said.version != found:
            yield finding(
                "ENVIRONMENT-HOST-LIBRARY",
                f"it needs {needed}; the interpreter is {python_version(facts)}",
                where=(text(facts, f"selected.{HOST_LIBRARY}.path"),),
            )


def _processors(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each selected binary that is not of the interpreter's processor."""
    own = readable(facts, EXECUTABLE) or {}
    arch = text(own, "arch") or text(facts, "interpreter.arch")
    for variable in VARIABLES:
        other = readable(facts, variable.name) if variable.form is Form.FILE else None
        if other is None or not arch or not text(other, "arch") or not examined_here(variable, case.plan):
            continue
        if text(other, "arch") != arch:
            where = (text(facts, f"selected.{variable.name}.path"),)
            observed = f"{variable.name} is for {text(other, 'arch')}, the interpreter for {arch}"
            yield finding("ENVIRONMENT-ARCHITECTURE", observed, expected=arch, where=where)
