"""Judges gate ``hosted``: the chain in a CPython that lives inside one Bun process.

Facts (``gates.hosted`` writes them), besides those of gate ``chain``::

    hosted.exports [name]           functions of the host library's ABI that it exports
    hosted.scripts [{name, sha256, size}]       what Bun ran
    hosted.problem                  why Bun's report cannot be read, or ""
    hosted.steps {step: …}          what Bun's side told, as far as it came
        bun {same, kind, pid, version, revision}        ``same``: both modules have one constructor
        opened {abi}
        python {pid, prefix, base_prefix, version, executable, path[], numpy {file, version}}
        second {code, message}      what a second host in the process was answered
        chain {exit}
        gpu {echoed, results [{chain, stage, values[]}]}    single kernels through GpuRuntime
        closed {sent, received, unraisable [{type, message, traceback}]}    JSON carried, in UTF-16 units
        refused {code, message}, exception {type, message, traceback}      why it came no farther
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from assay.judge import chain
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.child import ended_well
from assay.judge.loaded import mapped_of
from assay.judge.owner import below, slashed
from assay.judge.reading import MalformedFacts, flag, mapping, number, objects, text, texts
from assay.judge.recorded import digest, filled, of_whole_facts, there
from assay.judge.resting import check_chain
from assay.judge.results import LISTED
from assay.judge.values import expected_words
from assay.model import Facts, Finding

RULES = 1

ABI = 1
"""``ASSAY_HOST_ABI`` of ``hosted/assay_host.h``."""

ABI_FUNCTIONS = (
    "assay_host_abi",
    "assay_host_call",
    "assay_host_close",
    "assay_host_free",
    "assay_host_open",
)
"""What a host library of this ABI exports (``hosted/assay_host.h``)."""

BUN, HOST, LIBPYTHON = "BUN_EXECUTABLE", "BUN_PYTHON_HOST_LIBRARY", "BUN_PYTHON_LIBPYTHON"

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "host-load": "HOSTED-LIBRARY-LOAD",
        "host-abi-missing": "HOSTED-LIBRARY-ABI",
        "host-abi-other": "HOSTED-LIBRARY-ABI",
        "host-symbol": "HOSTED-LIBRARY-ABI",
        "libpython-load": "HOSTED-LIBPYTHON",
        "libpython-symbol": "HOSTED-LIBPYTHON",
        "libpython-version": "HOSTED-LIBPYTHON",
    }
)
"""By the refusal's code; every other one keeps CPython from starting."""

_ALREADY = "already-open"


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the chain inside Bun.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if text(facts, "not_run"):
        lacking = ", ".join(texts(facts, "lacking"))
        return (finding("HOSTED-NOT-RUN", f"{text(facts, 'not_run')}: {lacking}", where=("not_run",)),)
    return (*_hosted(case, facts), *chain.judge_process(case, facts, BUN))


def _hosted(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong on Bun's side."""
    told = mapping(facts, "hosted.steps")
    if problem := text(facts, "hosted.problem"):
        yield finding("HOSTED-REPORT", problem, where=("hosted.steps",))
    yield from _refusals(facts, told)
    yield from _same(facts, told)
    yield from _selected(case, told)
    yield from _gpu(case, told)
    yield from _mapped(case, facts)
    yield from _ended(facts, told)


def _refusals(facts: Facts, told: Facts) -> Iterator[Finding]:
    """Yield why CPython was not opened, or what it raised outside the chain."""
    missing = sorted(set(ABI_FUNCTIONS) - set(texts(facts, "hosted.exports")))
    code = text(told, "refused.code")
    if code:
        observed = f"{code}: {text(told, 'refused.message')}"
        yield finding(REFUSED.get(code, "HOSTED-START"), observed, where=("hosted.steps.refused",))
    if missing and REFUSED.get(code) != "HOSTED-LIBRARY-ABI":
        observed = f"the host library does not export {', '.join(missing)}"
        yield finding("HOSTED-LIBRARY-ABI", observed, where=("hosted.exports",))
    if mapping(told, "exception"):
        yield _exception("HOSTED-EXCEPTION", mapping(told, "exception"), "hosted.steps.exception")
    for each in objects(told, "closed.unraisable"):
        yield _exception("HOSTED-UNRAISABLE", each, "hosted.steps.closed")


def _exception(entry: str, raised: Facts, where: str) -> Finding:
    """Return the finding of a Python exception, with the last line of its traceback that names a place."""
    places = [line.strip() for line in text(raised, "traceback").splitlines() if line.startswith("  File ")]
    at = f" ({places[-1]})" if places else ""
    return finding(entry, f"{text(raised, 'type')}: {text(raised, 'message')}{at}", where=(where,))


def _same(facts: Facts, told: Facts) -> Iterator[Finding]:
    """Yield where the two modules, the processes or the ABI are not one."""
    bun = mapping(told, "bun")
    if bun and (flag(bun, "same") is not True or text(bun, "kind") != "function"):
        yield finding("HOSTED-CONSTRUCTOR", "buv:python and pyjs:python do not have the same constructor")
    pids = {
        "Bun": number(bun, "pid"),
        "CPython": number(told, "python.pid"),
        "the chain": number(facts, "child.pid"),
    }
    if len({pid for pid in pids.values() if pid is not None}) > 1:
        observed = ", ".join(f"{name} {pid}" for name, pid in pids.items())
        yield finding("HOSTED-PROCESS", observed, where=("hosted.steps",))
    if mapping(told, "opened") and number(told, "opened.abi") != ABI:
        yield finding(
            "HOSTED-LIBRARY-ABI", f"ABI {number(told, 'opened.abi')}", where=("hosted.steps.opened",)
        )
    if mapping(told, "second") and text(told, "second.code") != _ALREADY:
        observed = f"{text(told, 'second.code')} {text(told, 'second.message')}".strip()
        yield finding("HOSTED-SECOND", observed, where=("hosted.steps.second",))


def _selected(case: Case, told: Facts) -> Iterator[Finding]:
    """Yield where the hosted CPython is not the selected one, and where NumPy is not its own."""
    python, wanted = mapping(told, "python"), mapping(case.facts.get("environment", {}), "interpreter")
    if not python:
        return
    for name in ("version", "prefix", "base_prefix"):
        if text(python, name) != text(wanted, name):
            observed = f"{name} is {text(python, name) or '(not told)'}"
            yield finding("HOSTED-PYTHON-OTHER", observed, expected=text(wanted, name), where=(name,))
    missing = sorted(set(_sites(case)) - {slashed(path) for path in texts(python, "path")})
    if missing:
        observed = f"{', '.join(missing)} is not on sys.path"
        yield finding("HOSTED-PYTHON-OTHER", observed, where=("hosted.steps.python.path",))
    file = slashed(text(python, "numpy.file"))
    if not any(below(file, site) for site in _sites(case)):
        observed = f"NumPy from {file or 'nowhere'}"
        yield finding("HOSTED-NUMPY", observed, where=("hosted.steps.python.numpy",))


def _sites(case: Case) -> tuple[str, ...]:
    """Return the selected site-packages, as gate environment recorded them."""
    sites = objects(case.facts.get("environment", {}), "site_packages")
    return tuple(slashed(text(site, "path")) for site in sites)


def _gpu(case: Case, told: Facts) -> Iterator[Finding]:
    """Yield where single kernels through GpuRuntime do not give what the chain's stages give."""
    if number(told, "chain.exit") != 0 or mapping(told, "refused") or mapping(told, "exception"):
        return  # it was not come to, and something else says why
    found = {
        (text(each, "chain"), text(each, "stage")): texts(each, "values")
        for each in objects(told, "gpu.results")
    }
    for key, values in _single(case).items():
        if found.get(key) != values:
            observed = f"{'/'.join(key)} gave {_first_other(found.get(key), values)}"
            yield finding("HOSTED-GPU-VALUE", observed, where=("hosted.steps.gpu.results",))
    if flag(told, "gpu.echoed") is not True:
        yield finding("HOSTED-JSON", "text of 10 MiB did not come back as it was sent")


def _first_other(found: tuple[str, ...] | None, values: tuple[str, ...]) -> str:
    """Return the first value that differs, in words."""
    if found is None:
        return "nothing"
    pairs = [
        (at, got, right) for at, (got, right) in enumerate(zip(found, values, strict=False)) if got != right
    ]
    return f"{pairs[0][1]} at {pairs[0][0]}, not {pairs[0][2]}" if pairs else f"{len(found)} values"


def _single(case: Case) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return what GpuRuntime's stages must give: those over the canonical values, without PyCUDA."""
    return {
        (planned.name, stage.name): expected
        for planned in case.plan.planned_chains(case.platform)
        if len(planned.values) <= LISTED
        for stage, expected in zip(planned.stages, expected_words(planned, planned.values), strict=True)
        if stage.input == "values" and stage.runtime in {"wgpu", "nvrtc"}
    }


def _mapped(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where Bun, libpython or the host library are not mapped as gate environment hashed them."""
    if not ended_well(facts):
        return
    digests = {each.sha256 for each in mapped_of(facts)}
    selected = mapping(case.facts.get("environment", {}), "selected")
    built, hashed = text(case.facts.get("build", {}), "host.sha256"), text(mapping(selected, HOST), "sha256")
    if built != hashed:
        observed = f"gate build recorded a host library of SHA-256 {built or '(none)'}"
        yield finding("HOSTED-MAPPED", observed, expected=f"SHA-256 {hashed}", where=("mapped",))
    for variable in (BUN, HOST, LIBPYTHON):
        wanted = text(mapping(selected, variable), "sha256")
        if wanted not in digests or not wanted:
            observed = f"no mapped file has the digest of {variable}"
            yield finding("HOSTED-MAPPED", observed, expected=f"SHA-256 {wanted}", where=("mapped",))


def _ended(facts: Facts, told: Facts) -> Iterator[Finding]:
    """Yield that CPython was opened and did not end cleanly."""
    opened = bool(mapping(told, "opened")) and not mapping(told, "refused")
    if opened and not mapping(told, "closed"):
        last = list(told)[-1] if told else "nothing"
        observed = f"Bun's report ends without it, after {last}"
        yield finding("HOSTED-CLOSE", observed, where=("hosted.steps",))
    if ended_well(facts) and number(told, "chain.exit") is None:
        yield finding("HOSTED-REPORT", "Bun's side did not tell how the chain ended", where=("hosted.steps",))


@of_whole_facts
def claim(case: Case, facts: Facts) -> str:
    """Return what a passed gate establishes."""
    bun, python = mapping(facts, "hosted.steps.bun"), mapping(facts, "hosted.steps.python")
    closed = mapping(facts, "hosted.steps.closed")
    selected = mapping(case.facts.get("environment", {}), "selected")
    sha256 = {name: text(mapping(selected, name), "sha256") for name in (BUN, HOST, LIBPYTHON)}
    return (
        f"CPython {text(python, 'version')} (libpython of SHA-256 {sha256[LIBPYTHON]}) inside the process of "
        f"Bun {text(bun, 'version')} (revision {text(bun, 'revision')}, SHA-256 {sha256[BUN]}), through a "
        f"host library of SHA-256 {sha256[HOST]}, one constructor behind buv:python and pyjs:python: "
        f"{chain.claim(case, facts)}; between Bun and Python every value is a host transfer as JSON "
        f"({number(closed, 'sent')} and {number(closed, 'received')} characters in this run)"
    )


def check(case: Case, facts: Facts) -> None:
    """Ask for what the claim rests on.

    Raises:
        MalformedFacts: it is not recorded.
    """
    check_chain(case, facts)
    there(facts, "hosted.problem", "hosted.steps.closed.unraisable")
    filled(facts, *(f"hosted.steps.bun.{name}" for name in ("kind", "revision", "version")))
    filled(facts, *(f"hosted.steps.python.{name}" for name in ("executable", "version", "numpy.version")))
    for name in ("hosted.steps.bun.pid", "hosted.steps.python.pid", "hosted.steps.opened.abi", "child.pid"):
        if number(facts, name) is None:
            raise MalformedFacts(name, "an integer")
    for name in ("sent", "received"):
        if not number(facts, f"hosted.steps.closed.{name}"):
            raise MalformedFacts(f"hosted.steps.closed.{name}", "how much JSON was carried")
    if not text(facts, "hosted.steps.second.code"):
        raise MalformedFacts("hosted.steps.second.code", "recorded")
    if not mapping(facts, "hosted.steps.gpu"):
        raise MalformedFacts("hosted.steps.gpu", "recorded")
    for at, each in enumerate(objects(facts, "hosted.scripts")):
        digest(each, "sha256", f"hosted.scripts.{at}.")
    if not objects(facts, "hosted.scripts"):
        raise MalformedFacts("hosted.scripts", "recorded")
