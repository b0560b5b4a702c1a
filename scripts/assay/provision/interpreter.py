"""What the interpreter of a selection is: version, ABI, headers, shared library."""

from __future__ import annotations

import json
from dataclasses import dataclass

from assay.errors import GateError, UsageError
from assay.provision.children import Children
from assay.provision.lockfile import PYTHONS

_DEADLINE_S = 60

_PROBE = """
import importlib.util, json, os, platform, sys, sysconfig
get = sysconfig.get_config_var
names = [get("INSTSONAME") or "", get("LDLIBRARY") or ""]
folders = [get("LIBDIR") or "", os.path.join(get("LIBDIR") or "", get("MULTIARCH") or "")]
paths = [os.path.join(folder, name) for folder in folders for name in names if ".so" in name]
print(json.dumps({
    "executable": sys.executable,
    "implementation": sys.implementation.name,
    "version": platform.python_version(),
    "abi": "cp%d%d%s" % (*sys.version_info[:2], getattr(sys, "abiflags", "")),
    "machine": platform.machine(),
    "libc": " ".join(platform.libc_ver()),
    "base": os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
    "include": sysconfig.get_path("include"),
    "headers": os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")),
    "libpython": next((os.path.realpath(path) for path in paths if os.path.isfile(path)), ""),
    "modules": [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name)],
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """One CPython.

    Attributes:
        executable: absolute path.
        version: full version, such as ``3.12.3``.
        abi: ABI tag of extension modules, such as ``cp312`` (PEP 425).
        machine: processor, such as ``x86_64``.
        libc: name and version of the C library, such as ``glibc 2.39``, or blank.
        base: real path of the interpreter that it is or, in a virtual environment, that it stands on.
        include: folder of ``Python.h``.
        headers: whether ``Python.h`` is there.
        libpython: its shared library, or ``""`` for a static build.
        modules: which of ``venv`` and ``ensurepip`` it has.
    """

    executable: str
    version: str
    abi: str
    machine: str
    libc: str
    base: str
    include: str
    headers: bool
    libpython: str
    modules: tuple[str, ...]

    @property
    def minor(self) -> str:
        """Return ``3.12`` for 3.12.3."""
        return ".".join(self.version.split(".")[:2])


def describe(children: Children, executable: str) -> Interpreter:
    """Ask an interpreter what it is.

    Raises:
        UsageError: it does not run, is no CPython of a supported version, or lacks what provisioning needs.
    """
    try:
        argv = [executable, "-I", "-c", _PROBE]
        ended = children.run("the interpreter's description", argv, deadline_s=_DEADLINE_S)
    except GateError as error:
        raise _unfit(executable, f"cannot be run: {error.observed}") from error
    try:
        said = json.loads(ended.stdout)
        implementation, modules = said.pop("implementation"), tuple(said.pop("modules"))
        found = Interpreter(modules=modules, **said)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        said_last = children.last_words(ended)
        raise _unfit(executable, f"does not run as a Python interpreter: {said_last}") from error
    _require_supported(found, implementation)
    return found


def _require_supported(found: Interpreter, implementation: str) -> None:
    """Check implementation, version, ABI and modules."""
    if implementation != "cpython" or found.minor not in PYTHONS or not found.abi[-1].isdigit():
        raise _unfit(found.executable, f"is {implementation} {found.version} ({found.abi})")
    if missing := sorted({"venv", "ensurepip"} - set(found.modules)):
        package = f"python{found.minor}-venv"
        raise _unfit(found.executable, f"lacks {' and '.join(missing)} (Debian and Ubuntu: {package})")


def require_headers(interpreter: Interpreter) -> None:
    """Check that extension modules can be built.

    Raises:
        UsageError: ``Python.h`` is missing.
    """
    if not interpreter.headers:
        package = f"python{interpreter.minor}-dev"
        raise _unfit(
            interpreter.executable, f"has no Python.h in {interpreter.include} (Debian and Ubuntu: {package})"
        )


def _unfit(executable: str, what: str) -> UsageError:
    """Return the error of an interpreter that cannot be selected."""
    return UsageError(
        f"{executable} {what}",
        f"CPython {PYTHONS[0]} to {PYTHONS[-1]}, not free-threaded, with venv, ensurepip and headers",
        "install what it lacks, or name another interpreter with --python",
    )
