"""The host's C and C++ compilers: what builds PyCUDA and what nvcc calls."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ProvisionError
from assay.provision.children import Children

_C = ("CC", ("gcc", "cc"))
_CXX = ("CXX", ("g++", "c++"))
_CXX_DRIVERS = {"gcc": "g++", "cc": "c++", "clang": "clang++"}
_C_DRIVER = re.compile(r"(?P<before>(?:.*-)?)(?P<driver>gcc|cc|clang)(?P<after>(?:-\d+)?)")

_DEADLINE_S = 60


@dataclass(frozen=True)
class HostCompiler:
    """The host compiler.

    Attributes:
        cc: absolute path of the C compiler.
        cxx: absolute path of the C++ compiler.
        version: first line of what the C++ compiler says of itself.
    """

    cc: str
    cxx: str
    version: str

    @property
    def folder(self) -> str:
        """Return the folder that must be on PATH for nvcc to find this compiler."""
        return str(Path(self.cxx).parent)


def find_compiler(children: Children, environ: Mapping[str, str]) -> HostCompiler:
    """Return the compilers that ``CC`` and ``CXX`` name, else the first ``gcc`` and ``g++`` on ``PATH``.

    Raises:
        ProvisionError: there is none, or it does not run.
    """
    cc, cxx = _find(environ, *_C), _plus_plus(_find(environ, *_CXX))
    ended = children.run("the host compiler's version", [cxx, "--version"], deadline_s=_DEADLINE_S)
    lines = ended.stdout.decode(errors="replace").splitlines()
    if ended.exit != 0 or not lines:
        raise ProvisionError(
            f"{cxx} --version failed: {children.last_words(ended)}",
            "a C++ compiler that runs",
            "repair it or name another in CXX",
        )
    return HostCompiler(cc, cxx, lines[0])


def _plus_plus(found: str) -> str:
    """Return the C++ driver beside a C driver: the C one compiles C++ but links no C++ library.

    Some machines set ``CXX`` to ``gcc``.  Another program, or one without a neighbour, is returned as it is.
    """
    path = Path(found)
    match = _C_DRIVER.fullmatch(path.name)
    if match is None:
        return found
    beside = path.with_name(f"{match['before']}{_CXX_DRIVERS[match['driver']]}{match['after']}")
    return str(beside) if beside.is_file() else found


def _find(environ: Mapping[str, str], variable: str, usual: tuple[str, ...]) -> str:
    """Return the absolute path of a compiler."""
    named = environ.get(variable, "").strip()
    for name in (named,) if named else usual:
        if found := shutil.which(name, path=environ.get("PATH", os.defpath)):
            return str(Path(found).absolute())
    what = (
        f"{variable} names {named}, which is not there"
        if named
        else f"there is no {' or '.join(usual)} on PATH"
    )
    raise ProvisionError(
        what,
        "a C and a C++ compiler: PyCUDA is built from source, and nvcc calls them",
        "install gcc and g++ (Debian and Ubuntu: build-essential), or name them in CC and CXX",
    )
