"""The selection file of an embedded selection: one table whose keys are the variables."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.errors import ProvisionError
from assay.provision.compiler import HostCompiler
from assay.provision.environments import Environment
from assay.provision.interpreter import Interpreter
from assay.provision.toolkit import Toolkit
from assay.selection import BUN, EXECUTABLE, HOST_LIBRARY, LIBPYTHON, PATH, PROVIDER, SITE_PACKAGES, TOOLKIT

_PROVIDER = Path("wgpu/resources/libwgpu_native-release.so")
"""Where wgpu keeps its native library (``wgpu.backends.wgpu_native.lib_path``)."""


def selection_values(
    environment: Environment, toolkit: Toolkit, interpreter: Interpreter, compiler: HostCompiler
) -> dict[str, str | list[str]]:
    """Return value by variable.

    ``PATH`` names the toolkit's compiler first and then the host compiler that nvcc calls.

    Args:
        environment: the selection's environment.
        toolkit: the selected toolkit.
        interpreter: what the interpreter is.
        compiler: the host compiler.

    Raises:
        ProvisionError: wgpu came without its native library.
    """
    provider = environment.site_packages / _PROVIDER
    if not provider.is_file():
        raise ProvisionError(
            f"{provider} is not there", "wgpu with its native library", "write the locks anew"
        )
    values: dict[str, str | list[str]] = {EXECUTABLE: str(environment.python)}
    if interpreter.libpython:
        values[LIBPYTHON] = interpreter.libpython
    return values | {
        SITE_PACKAGES: str(environment.site_packages),
        PROVIDER: str(provider),
        TOOLKIT: str(toolkit.root),
        PATH: [str(toolkit.nvcc.parent), compiler.folder],
    }


def with_host(text: str, library: Path, bun: Path) -> str:
    """Return a selection file's text that names this host library and this Bun, and no other."""
    table = tomllib.loads(text)["selection"]
    return selection_text({**table, HOST_LIBRARY: str(library), BUN: str(bun)})


def selection_text(values: Mapping[str, str | Sequence[str]]) -> str:
    """Return the selection file (TOML).

    JSON's strings are TOML's basic strings but for DEL (TOML 1.0, "String").
    """
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in values.items()]
    return "# Written by `assay provision`.\n[selection]\n" + "".join(lines).replace("\x7f", "\\u007f")
