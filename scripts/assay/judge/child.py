"""Judges how the chain child lived and ended: its errors, its end, the order of its runtimes, its isolation.

Facts::

    child.ended {reason, detail, awaiting, exit, abandoned, held}
        ``reason`` is ``done``, ``not-started``, ``order`` or how its events ended (``assay.process.Ending``)
    child.errors [{kind, step, runtime, chain, stage, input, reason, code, type, message}]
    child.opened, child.closed [runtime], in their order
    child.runtimes {runtime: facts}
    child.hello {version, flags, pycache_prefix, environment[], …}
    child.environment [name]        the variables that were given to it
    child.bytecode_folder           its private, empty bytecode cache
    child.printed                   bytes that it wrote to standard output and error
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.injection import brings_code
from assay.judge.reading import flag, mapping, number, objects, text, texts
from assay.judge.results import has_results
from assay.model import Facts, Finding

DONE = "done"

_ENDINGS = {
    "not-started": "CHAIN-CHILD-START",
    "deadline": "CHAIN-CHILD-DEADLINE",
    "flood": "CHAIN-CHILD-FLOOD",
    "malformed": "CHAIN-CHILD-MALFORMED",
    "exited": "CHAIN-CHILD-EXITED",
    "closed": "CHAIN-CHILD-CLOSED",
    "held": "CHAIN-CHILD-FORKED",
    "order": "CHAIN-CHILD-ORDER",
}
"""By reason; one that is not known here is an end without a word."""

_CUDA = ("pycuda", "nvrtc")


def judge_child(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the child's life and end, and with its isolation."""
    yield from judge_life(case, facts)
    yield from judge_isolation(facts)


def judge_isolation(facts: Facts) -> Iterator[Finding]:
    """Yield what a child printed where it has nothing to say, and where it was not isolated."""
    if number(facts, "child.printed"):
        yield finding(
            "CHAIN-CHILD-PRINTED", f"{number(facts, 'child.printed')} bytes on its output and error"
        )
    yield from _isolation(facts)


def judge_life(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the child's errors, its end, and how it opened and closed its runtimes."""
    yield from judge_end(case, facts)
    yield from _opened(case, facts)
    yield from judge_closing(facts)


def judge_end(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the errors that a child reported, and what is wrong with its end."""
    for error in objects(facts, "child.errors"):
        yield _error(case, error)
    yield from _ended(facts)


def ended_well(facts: Facts) -> bool:
    """Say whether the child came to its last event."""
    return text(facts, "child.ended.reason") == DONE


def _error(case: Case, error: Facts) -> Finding:
    """Return the finding of one error that the child reported."""
    kind, step = text(error, "kind"), text(error, "step")
    place = [text(error, name) for name in ("chain", "stage", "input", "runtime")]
    where = "/".join(part for part in place if part) or step
    reason, said = text(error, "reason") or text(error, "type"), text(error, "message")
    observed = f"{where}: {step}: {reason}: {said}"
    if kind == "unavailable":
        return finding("CHAIN-UNAVAILABLE", observed, where=(where,), platform=case.platform)
    return finding(
        "CHAIN-CLOSE-FAILED" if step == "close" else "CHAIN-STAGE-FAILED", observed, where=(where,)
    )


def _ended(facts: Facts) -> Iterator[Finding]:
    """Yield how the child ended, where that was not as it should."""
    reason, detail = text(facts, "child.ended.reason"), text(facts, "child.ended.detail")
    awaiting, code = text(facts, "child.ended.awaiting"), number(facts, "child.ended.exit")
    if reason != DONE:
        after = f"; it was to come to {awaiting}" if awaiting else ""
        observed = f"{detail or 'no end is recorded'}{after}"
        yield finding(_ENDINGS.get(reason, "CHAIN-CHILD-EXITED"), observed, where=("child.ended",))
    elif code != (1 if objects(facts, "child.errors") else 0):
        how = "did not end in time" if code is None else f"ended with exit {code}"
        yield finding("CHAIN-CHILD-EXIT", f"it said `end` and {how}", where=("child.ended",))
    if flag(facts, "child.ended.abandoned"):
        yield finding("CHAIN-CHILD-ABANDONED", "it still runs after it was killed", where=("child.ended",))
    if flag(facts, "child.ended.held") and reason != "held":
        observed = "a process that left its group holds its output open"
        yield finding("CHAIN-CHILD-FORKED", observed, where=("child.ended",))


def _opened(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each runtime that the plan's chains need and that was neither opened nor reported as missing."""
    told = {*texts(facts, "child.opened")} | {
        text(each, "runtime") for each in objects(facts, "child.errors")
    }
    needed = {stage.runtime for chain in case.plan.planned_chains(case.platform) for stage in chain.stages}
    for name in sorted(needed - told) if ended_well(facts) else ():
        yield finding("CHAIN-CHILD-ORDER", f"{name} was not opened", where=("child.opened",))


def judge_closing(facts: Facts) -> Iterator[Finding]:
    """Yield where the runtimes were not closed in reverse, or did not have a CUDA context each (law 8)."""
    opened, closed = texts(facts, "child.opened"), texts(facts, "child.closed")
    failed = {
        text(each, "runtime") for each in objects(facts, "child.errors") if text(each, "step") == "close"
    }
    expected = tuple(name for name in reversed(opened) if name not in failed)
    if ended_well(facts) and closed != expected:
        observed = f"opened {', '.join(opened) or 'none'}; closed {', '.join(closed) or 'none'}"
        yield finding("CHAIN-CLOSE-ORDER", observed, expected=", ".join(expected), where=("child.closed",))
    contexts = [text(facts, f"child.runtimes.{name}.context") for name in _CUDA if name in opened]
    if len(contexts) == len(_CUDA) and len(set(contexts)) == 1:
        yield finding("CHAIN-CONTEXT-SHARED", f"both had the context {contexts[0] or '(not told)'}")


def _isolation(facts: Facts) -> Iterator[Finding]:
    """Yield where the interpreter did not start as it was told to, or got a variable that was not given."""
    hello = mapping(facts, "child.hello")
    if not hello and not ended_well(facts) and not has_results(facts):
        return  # it never came to say hello, which its end tells
    for name, option in (("no_user_site", "-s"), ("dont_write_bytecode", "-B")):
        if number(hello, f"flags.{name}") != 1:
            yield finding(
                "CHAIN-ISOLATION", f"{option} is not in force", where=(f"child.hello.flags.{name}",)
            )
    prefix, folder = text(hello, "pycache_prefix"), text(facts, "child.bytecode_folder")
    if not folder or prefix != folder:
        observed = f"the bytecode cache is {prefix or 'beside the sources'}"
        yield finding("CHAIN-ISOLATION", observed, expected=folder, where=("child.hello.pycache_prefix",))
    given = frozenset(texts(facts, "child.environment"))
    for name in texts(hello, "environment"):
        if name not in given and brings_code(name):
            yield finding("CHAIN-ENVIRONMENT-UNASKED", f"{name} is set", where=("child.hello.environment",))
