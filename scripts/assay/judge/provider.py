"""Judges gate ``provider``: the library that WGSL runs through is the pinned one, and fits this machine.

Facts (``gates.provider`` writes them)::

    path, sha256, size, pin, interface
    file record                      as in ``judge.selected``, with ``quoted``; ``binary`` is read only where
                                     the digest is one that the plan pins
    arch                             the processor of the interpreter that loads it
    machine {arch, libc}
    libraries [{name, path}]         each needed library, ``path`` null where the loader would not find it
    symbols [name]                   those of the pin that it exports
    vulkan {wanted, driver, path}    whether the chain needs Vulkan, whether there is a driver, and the loader
    wgpu {expects, reported, package}   wgpu-native's version as the package expects and the provider says it
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.libc import libc_conflicts, not_looked_for
from assay.judge.reading import MalformedFacts, flag, mapping, number, objects, text, texts
from assay.judge.selected import FILE, MISSING, UNREADABLE
from assay.model import Facts, Finding, Platform
from assay.plan.values import ProviderPin
from assay.plan.versions import release

RULES = 1

_FORMATS = {Platform.WINDOWS: "pe", Platform.MACOS: "mach-o"}
_STATES = {MISSING: "PROVIDER-MISSING", UNREADABLE: "PROVIDER-UNREADABLE"}


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the provider; nothing where it is the pinned one and fits."""
    stopped = tuple(_stopped(case, facts, pins_of(case)))
    if stopped:
        return stopped
    pin = _pin(case, facts)
    _check_named(facts, pin)
    binary = mapping(facts, "file.binary")
    wrong = tuple(_format(case, facts, binary))
    if wrong:
        return wrong
    return (
        *_architecture(facts, binary),
        *_libc(facts, binary),
        *_libraries(case, facts, binary),
        *_symbols(facts, pin),
        *_vulkan(facts),
        *_wgpu(facts),
    )


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    pin, version = _pin(case, facts), text(facts, "wgpu.reported")
    says = f", which calls itself wgpu-native {version}," if version else ""
    return (
        f"the provider is the pinned {pin.name} (SHA-256 {pin.sha256}){says} with interface {pin.interface}"
    )


def pins_of(case: Case) -> tuple[ProviderPin, ...]:
    """Return the plan's pins for the case's platform."""
    return tuple(pin for pin in case.plan.providers if pin.platform is case.platform)


def _pin(case: Case, facts: Facts) -> ProviderPin:
    """Return the pin that the file's digest fits.

    Raises:
        MalformedFacts: there is none, though the gate passed.
    """
    digest = text(facts, "file.sha256")
    for pin in pins_of(case):
        if pin.sha256 == digest:
            return pin
    raise MalformedFacts("file.sha256", "the digest of a pin")


def _check_named(facts: Facts, pin: ProviderPin) -> None:
    """Check that what later gates read of the provider is what was hashed.

    Raises:
        MalformedFacts: digest, pin, interface or path are named otherwise.
    """
    same = {
        "interface": pin.interface,
        "path": text(facts, "file.path"),
        "pin": pin.name,
        "sha256": pin.sha256,
    }
    for name, value in same.items():
        if text(facts, name) != value:
            raise MalformedFacts(name, f"{value!r}, as the hashed file has it")


def _stopped(case: Case, facts: Facts, pins: tuple[ProviderPin, ...]) -> Iterator[Finding]:
    """Yield why there is no pinned library to look at; the first reason that fits."""
    path, state = text(facts, "file.path"), text(facts, "file.state")
    where = (path,) if path else ()
    if not state:
        yield finding("PROVIDER-NONE", "BUV_RUNTIME_LIB is not set")
    elif flag(facts, "file.quoted"):
        yield finding("PROVIDER-QUOTED", "BUV_RUNTIME_LIB begins or ends with a quotation mark", where=where)
    elif state in _STATES:
        yield finding(_STATES[state], text(facts, "file.problem") or path, where=where)
    elif state != FILE:
        yield finding("PROVIDER-KIND", text(facts, "file.problem") or f"{path} is a {state}", where=where)
    elif number(facts, "file.size") == 0:
        yield finding("PROVIDER-EMPTY", f"{path} has no bytes", where=where)
    elif not pins:
        yield finding("PROVIDER-UNPINNED-PLATFORM", f"no pin is for {case.platform.value}", where=where)
    elif text(facts, "file.sha256") not in {pin.sha256 for pin in pins}:
        observed = f"{path} has SHA-256 {text(facts, 'file.sha256')} ({number(facts, 'file.size')} bytes)"
        expected = " or ".join(f"{pin.name} {pin.sha256}" for pin in pins)
        yield finding("PROVIDER-DIGEST", observed, expected=expected, where=where)


def _format(case: Case, facts: Facts, binary: Facts) -> Iterator[Finding]:
    """Yield that the pinned file is no library of this platform."""
    wanted, found = _FORMATS.get(case.platform, "elf"), text(binary, "format")
    problem = text(binary, "problem") if found != "mach-o" else ""
    if problem or found != wanted or text(binary, "kind") != "shared":
        observed = problem or f"{text(facts, 'file.path')} is {found or 'no binary'} ({text(binary, 'kind')})"
        yield finding("PROVIDER-FORMAT", observed, where=(text(facts, "file.path"),))


def _architecture(facts: Facts, binary: Facts) -> Iterator[Finding]:
    """Yield that the provider is for another processor than the interpreter, or the machine without one."""
    arch = text(facts, "arch") or text(facts, "machine.arch")
    if arch and text(binary, "arch") != arch:
        observed = f"the provider is for {text(binary, 'arch')}, the interpreter for {arch}"
        yield finding("PROVIDER-ARCHITECTURE", observed, expected=arch, where=(text(facts, "file.path"),))


def _libc(facts: Facts, binary: Facts) -> Iterator[Finding]:
    """Yield that the provider asks more of the C library than the machine has."""
    for observed, expected in libc_conflicts(binary, mapping(facts, "machine")):
        yield finding("PROVIDER-LIBC", observed, expected=expected, where=(text(facts, "file.path"),))


def _libraries(case: Case, facts: Facts, binary: Facts) -> Iterator[Finding]:
    """Yield the needed libraries that the loader would not find.

    Raises:
        MalformedFacts: a needed library was not looked for; only the loader itself need not be.
    """
    name = not_looked_for(texts(binary, "needed"), objects(facts, "libraries"))
    if name is not None:
        raise MalformedFacts("libraries", f"a list with {name}")
    missing = [text(each, "name") for each in objects(facts, "libraries") if not text(each, "path")]
    if missing:
        observed = f"not found: {', '.join(missing)}"
        where = (text(facts, "file.path"),)
        yield finding("PROVIDER-LIBRARIES", observed, where=where, platform=case.platform)


def _symbols(facts: Facts, pin: ProviderPin) -> Iterator[Finding]:
    """Yield the symbols of the pin that the provider does not export."""
    missing = sorted(set(pin.symbols) - set(texts(facts, "symbols")))
    if missing:
        expected = f"all {len(pin.symbols)} symbols of the pin"
        observed = f"not exported: {', '.join(missing)}"
        yield finding("PROVIDER-SYMBOLS", observed, expected=expected, where=(text(facts, "file.path"),))


def _vulkan(facts: Facts) -> Iterator[Finding]:
    """Yield that WGSL is to run on a driver that is there, but without a Vulkan loader."""
    if flag(facts, "vulkan.wanted") and flag(facts, "vulkan.driver") and not text(facts, "vulkan.path"):
        yield finding("PROVIDER-VULKAN-LOADER", "libvulkan.so.1 is not found", where=("vulkan",))


def _wgpu(facts: Facts) -> Iterator[Finding]:
    """Yield that package and provider are of different versions of wgpu-native, where both can be read."""
    expects, reported = text(facts, "wgpu.expects"), text(facts, "wgpu.reported")
    if release(expects) and release(reported) and release(expects) != release(reported):
        observed = (
            f"wgpu {text(facts, 'wgpu.package')} expects wgpu-native {expects}; the provider is {reported}"
        )
        yield finding("PROVIDER-WGPU-VERSION", observed, expected=f"wgpu-native {expects}", where=("wgpu",))
