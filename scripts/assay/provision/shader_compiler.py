"""The compiler of Vulkan shaders, glslang: the machine's, or unpacked for the project without root."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from assay import canonical
from assay.errors import ProvisionError
from assay.files import write_atomic
from assay.gates.shaders import PROGRAM, UNPACKED, unpacked_compiler
from assay.machine import Machine
from assay.model import Json
from assay.provision.apt import Packages, Unpacking, unpack
from assay.provision.children import Children
from assay.provision.job import Say

PACKAGES = ("glslang-tools",)
"""Debian's and Ubuntu's package."""

HINTS = "Debian and Ubuntu: glslang-tools; Fedora, Arch and Alpine: glslang"

_MARK = "compiler.json"


def provide_shader_compiler(children: Children, machine: Machine, project: Path, say: Say) -> None:
    """Unpack glslang for ``project`` where the machine has none; where that fails, say so.

    Args:
        children: how children are run.
        machine: the machine.
        project: the project's folder.
        say: tells the user.

    Raises:
        StorageError: a file cannot be written.
    """
    if machine.which(PROGRAM) or unpacked_compiler(project).is_file():
        return
    try:
        _unpack(children, project, say)
    except ProvisionError as error:
        say(f"note: {error.observed}: gate shared-buffers will say so; {error.remedy}")


def _unpack(children: Children, project: Path, say: Say) -> None:
    """Unpack it with apt-get.

    Raises:
        ProvisionError: it cannot be had.
    """
    if not shutil.which("apt-get", path=children.environment.get("PATH")):
        raise _missing(f"no {PROGRAM} on PATH, and no apt-get to bring it")
    say("unpacking a compiler of Vulkan shaders (glslang) into the project's cache")
    wanted = Unpacking("the shader compiler", PACKAGES, _missing, _describe)
    unpack(children, wanted, project / UNPACKED / platform.machine())


def _describe(kept: Path, target: Path, packages: Packages) -> None:
    """Write which packages were unpacked."""
    if not (kept / unpacked_compiler(Path()).relative_to(UNPACKED / platform.machine())).is_file():
        raise _missing(f"the unpacked packages hold no {PROGRAM}")
    mark: Json = {
        "packages": [{"name": name, "version": version} for name, version in packages],
        "place": str(target),
        "schema": "assay/shader-compiler/1",
    }
    write_atomic(kept / _MARK, canonical.dumps(mark))


def _missing(what: str) -> ProvisionError:
    return ProvisionError(
        what, f"{PROGRAM} (glslang) for the shader of gate shared-buffers", f"install it: {HINTS}"
    )
