"""Whether a binary fits a machine: C library and processor.  Shared by the gates that look at binaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.judge.reading import text, texts
from assay.model import Facts
from assay.plan.versions import release

GLIBC_LOADER = "ld-linux"
"""Part of the name of glibc's program interpreter (ld.so(8)); musl's is ``ld-musl-<arch>.so.1``."""

GLIBC_LIBRARY = "libc.so.6"
"""SONAME of glibc; musl's is ``libc.musl-<arch>.so.1`` or ``libc.so``."""


_LOADER = "ld-"
"""Beginning of the dynamic loader's own SONAME, which is in every process (ld.so(8))."""


def not_looked_for(needed: Sequence[str], libraries: Sequence[Facts]) -> str | None:
    """Return the first needed library that was not looked for, None where all were.

    Args:
        needed: names as a binary states them.
        libraries: ``[{name, …}]``, those that were looked for.
    """
    looked = {text(each, "name").lower() for each in libraries}
    left = (name for name in needed if name.lower() not in looked and not name.startswith(_LOADER))
    return next(left, None)


def libc_conflicts(binary: Facts, machine: Facts) -> Iterator[tuple[str, str]]:
    """Yield (observed, expected) where a binary asks more of the C library than the machine has.

    Args:
        binary: facts of a binary, as ``gates.files`` records them.
        machine: facts of the machine's C library: ``kind``, ``version``, ``provides``.
    """
    needs, kind = text(binary, "glibc_needed"), text(machine, "libc.kind")
    built_for = _built_for(binary)
    if not kind or text(binary, "format") != "elf":
        return
    if built_for and built_for != kind:
        need = f" and GLIBC_{needs}" if needs else ""
        yield (
            f"it is a {built_for} build (it needs {_why(binary)}{need}); the machine runs {kind}",
            f"a {kind} build",
        )
        return
    provides = text(machine, "libc.provides") or text(machine, "libc.version")
    if kind == "glibc" and needs and provides and release(needs) > release(provides):
        yield (
            f"it needs GLIBC_{needs}; the machine's glibc is {provides}",
            f"a build for glibc {provides} or older",
        )


def _built_for(binary: Facts) -> str:
    """Return ``glibc`` or ``musl`` as a binary's loader or libraries show it, ``""`` where neither does."""
    loader, needed = text(binary, "interpreter"), texts(binary, "needed")
    if "ld-musl" in loader or any(name.startswith("libc.musl") for name in needed):
        return "musl"
    if GLIBC_LOADER in loader or GLIBC_LIBRARY in needed or text(binary, "glibc_needed"):
        return "glibc"
    return ""


def _why(binary: Facts) -> str:
    """Return the library or loader that shows the C library a binary was built for."""
    libraries = [name for name in texts(binary, "needed") if name.startswith("libc.")]
    return libraries[0] if libraries else text(binary, "interpreter") or "its symbol versions"
