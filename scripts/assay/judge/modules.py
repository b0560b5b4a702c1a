"""Judges which Python modules the child had imported, and what ran in it at start-up.

Facts::

    child.modules [{name, file, loader, bytecode, sha256, size}]
        ``file`` is rooted, or ``chain.zip/…`` for the chain's own; ``bytecode`` is ``private`` (the empty
        cache), ``elsewhere`` or ``none``; ``sha256`` is of the file while the child waited
    child.pth [{path, line}]        lines of .pth files that ``site`` executes
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.catalogue import finding
from assay.judge.injection import START_MODULES, is_known_start
from assay.judge.owner import Owners, below, owners_of, slashed
from assay.judge.reading import objects, text
from assay.model import Facts, Finding

ARCHIVE = "chain.zip"
"""Stands for the chain's zip in the file of a module."""

_SOURCELESS = "SourcelessFileLoader"
_DISTRIBUTIONS = ("/usr/lib/python3", "/etc/python3")
"""Where Debian and Ubuntu keep a ``sitecustomize`` of their system interpreter's own."""


def judge_modules(facts: Facts) -> Iterator[Finding]:
    """Yield each module that should not be in the child."""
    owners, modules = owners_of(facts), objects(facts, "child.modules")
    if not modules:
        yield finding("CHAIN-UNSEEN", "no imported module is recorded", where=("child.modules",))
    for module in modules:
        yield from _module(module, owners)
    for each in objects(facts, "child.pth"):
        path, line = text(each, "path"), text(each, "line")
        if not is_known_start(line):
            yield finding("CHAIN-MODULE-INJECTED", f"{path} runs {line[:200]!r}", where=(path,))


def _module(module: Facts, owners: Owners) -> Iterator[Finding]:
    """Yield what is wrong with one module."""
    name, file = text(module, "name"), text(module, "file")
    shown, plain = f"{name} from {file or 'nowhere'}", slashed(file)
    if name.partition(".")[0] in START_MODULES and not _is_distributions(plain, owners):
        yield finding("CHAIN-MODULE-INJECTED", shown, where=(file,))
    if below(plain, ARCHIVE):
        return
    if not owners.has_module(file):
        yield finding("CHAIN-MODULE-OUTSIDE", shown, where=(file,))
    sourceless = text(module, "loader") == _SOURCELESS or plain.endswith(".pyc")
    if sourceless or text(module, "bytecode") == "elsewhere":
        what = "has no source" if sourceless else "may come from a bytecode cache that is not private"
        yield finding("CHAIN-MODULE-BYTECODE", f"{shown} {what}", where=(file,))
    if not text(module, "sha256"):
        yield finding("CHAIN-LIBRARY-REPLACED", f"{shown} could not be hashed", where=(file,))


def _is_distributions(path: str, owners: Owners) -> bool:
    """Say whether a start-up module is the distribution's own, of its own interpreter."""
    return slashed(owners.base_prefix) == "/usr" and path.startswith(_DISTRIBUTIONS) and ".." not in path
