"""Makes the bundles that lie beside it: ``python -m tests.data.bundles.make RELEASED.tar``.

``1/qualified.tar`` is a run on real hardware in small: the facts of a released bundle under a plan with one
chain and without the gates over this project's own sources, with a toolchain of one line, without wheels and
images, and with the values that this other plan asks for.  ``1/undecided.tar`` is a run of one command.
Those under ``1/bad`` are that one with one thing wrong each.  The same bundle and ``assay`` give the same
bytes.  A later ``assay`` writes its own version and the newest rules of its gates: a schema version that was
released keeps its folder as it is, for ever.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assay import canonical
from assay.evidence import runfolder
from assay.evidence.bundle import write_bundle
from assay.evidence.facts import expand, spill
from assay.evidence.keys import PublicKey
from assay.evidence.runfolder import RunFolder, Start, create_run
from assay.evidence.verify import verify_bundle
from assay.judge.case import Case
from assay.judge.rules import judge_gate
from assay.judge.table import needed, row
from assay.judge.values import expected_words, fresh_values
from assay.model import Artifact, Command, Facts, Json, LogInfo, Platform, Receipt, outcome_of
from assay.plan import Plan, parse_plan, plan_json
from assay.signing import SigningKey, sign_bundle
from assay.zipped import zip_bytes
from tests.evidence.forging import Document, Members, edit_json, forge, members_of

HERE = Path(__file__).resolve().parent
NEWEST = HERE / "1"
STARTED = "2026-11-30T12:00:00Z"
NONCE = "00112233445566778899aabbccddeeff"
TOOLCHAIN = zip_bytes([("__main__.py", b"pass\n")])
CHAIN = "pipeline"
GATES = ("environment", "toolkit", "provider", "build", "chain")

Edit = Callable[[Document, Members], None]


def signer() -> SigningKey:
    """Return the key of these bundles, which is everybody's."""
    private = Ed25519PrivateKey.from_private_bytes(b"everybody's key, for tests alone")
    return SigningKey(PublicKey(private.public_key().public_bytes_raw()), private.sign)


def command_plan() -> Plan:
    """Return a plan of one command."""
    return parse_plan(
        {
            "project": "thing",
            "modules": ["thing"],
            "architectures": ["sm_75"],
            "gates": ["lint"],
            "command": [{"name": "lint", "argv": ["true"]}],
            "smoke": ["true"],
        }
    )


def smaller_plan(plan: Mapping[str, Any]) -> Plan:
    """Return a released bundle's plan with one chain and the gates up to it."""
    kept = {**plan, "gates": list(GATES), "command": [], "claim": [], "reference": []}
    kept["chains"] = {"linux": [CHAIN]}
    kept["kernels"] = {CHAIN: plan["kernels"][CHAIN]}
    kept["deadlines"] = {gate: plan["deadlines"][gate] for gate in GATES}
    return parse_plan({key: value for key, value in kept.items() if key not in {"release", "tiers"}})


def write_run(folder: Path, plan: Plan, seen: Mapping[str, Facts], commands: tuple[Command, ...]) -> Path:
    """Return the bundle of a run whose gates saw these facts."""
    run = create_run(folder, Start(STARTED, NONCE, "", Platform.LINUX, plan))
    for gate in plan.gates:
        _record(run, gate, seen, commands)
    run.close()
    return write_bundle(run.path).path


def _record(run: RunFolder, gate: str, seen: Mapping[str, Facts], commands: tuple[Command, ...]) -> None:
    """Judge a gate's facts by today's rules, as the engine does, and journal them."""
    document, found = run.document, row(run.document.plan, gate)
    earlier = {name: seen[name] for name in needed(document.plan, gate)}
    case = Case(document.plan, document.plan_digest, document.platform, NONCE, "", earlier)
    findings = judge_gate(case, found, found.rules, seen[gate])
    log = b"it ran\n"
    (run.path / f"{gate}.log").write_bytes(log)
    short, lists = spill(seen[gate])
    receipt = Receipt(
        gate=gate,
        outcome=outcome_of(findings),
        rules=found.rules,
        started=STARTED,
        duration_ns=1,
        deadline_ns=1,
        commands=commands,
        facts=short,
        findings=findings,
        artifacts=tuple(Artifact("facts-list.json", sha256, len(data)) for sha256, data in lists.items()),
        log=LogInfo(len(log), hashlib.sha256(log).hexdigest()),
    )
    run.record(receipt, lists=lists)


def facts_of(released: Path, plan: Plan) -> dict[str, Facts]:
    """Return the facts of a released bundle's gates, with the values that another plan asks for."""
    _, members = members_of(released)
    seen = {gate: _expanded(members, gate) for gate in GATES}
    case = Case(plan, canonical.digest(_given(plan)), Platform.LINUX, NONCE, "", {})
    seen["chain"] = {**seen["chain"], "chains": [_with_values(case, seen["chain"])]}
    for name in ("sources", "kernels", "kernels_again"):
        given: Any = seen["build"][name]
        seen["build"] = {**seen["build"], name: [each for each in given if _is_kept(each)]}
    sources: Any = seen["chain"]["sources"]
    return {**seen, "chain": {**seen["chain"], "sources": [each for each in sources if _is_kept(each)]}}


def _is_kept(entry: Mapping[str, Json]) -> bool:
    """Return whether something belongs to the chain that is kept."""
    chain, name = entry.get("chain"), entry.get("name")
    return chain == CHAIN if chain is not None else str(name).startswith(f"{CHAIN}.")


def _given(plan: Plan) -> Json:
    """Return a plan's canonical value."""
    return canonical.parse(canonical.dumps(plan_json(plan)))


def _expanded(members: Members, gate: str) -> Facts:
    """Return a gate's facts with every list in its place."""
    facts = canonical.parse(members[f"{gate}.json"])
    assert isinstance(facts, dict)
    value: Any = facts["facts"]
    return expand(value, lambda sha256: members[f"artifacts/{sha256}"])


def _with_values(case: Case, facts: Facts) -> Json:
    """Return the kept chain's facts with the right values for a plan and a nonce."""
    chains: Any = facts["chains"]
    chain = next(each for each in chains if each["name"] == CHAIN)
    planned = case.plan.kernels[CHAIN]
    canonical_words = expected_words(planned, planned.values)
    fresh_words = expected_words(planned, fresh_values(case, CHAIN))
    stages = [
        {**stage, "canonical": list(one), "fresh": list(other)}
        for stage, one, other in zip(chain["stages"], canonical_words, fresh_words, strict=True)
    ]
    return {**chain, "stages": stages}


def _drop(name: str) -> Edit:
    return lambda _, members: members.pop(name) and None  # type: ignore[return-value]  # the edit is what counts


def _receipt(**change: Json) -> Edit:
    return lambda _, members: edit_json(members, "lint.json", lambda value: value.update(change))


BAD: Mapping[str, tuple[Edit, str]] = MappingProxyType(
    {
        "exit-changed": (lambda _, members: members.update({"lint.exit": b"1\n"}), "lint.exit"),
        "log-missing": (_drop("lint.log"), "lint.json"),
        "member-added": (lambda _, members: members.update({"more.txt": b""}), "more.txt"),
        "outcome-changed": (_receipt(outcome="failed"), "lint.json"),
        "rules-unknown": (_receipt(rules=0), "lint.json"),
        "toolchain-changed": (lambda _, members: members.update({"toolchain.zip": b""}), "toolchain.zip"),
        "verdict-changed": (lambda manifest, _: manifest.update(verdict="qualified"), "manifest.json"),
    }
)
"""What is wrong with each bad bundle, and the member at which a reader is to find it."""


def make_bad(folder: Path) -> None:
    """Make the bad bundles anew from the undecided one, into a folder."""
    for name, (edit, _) in BAD.items():
        forge(NEWEST / "undecided.tar", folder / f"{name}.tar", edit)


def make_undecided(folder: Path) -> Path:
    """Return the bundle of one command."""
    facts: Facts = {"exit": 0, "last_words": "", "program": "true"}
    return write_run(folder, command_plan(), {"lint": facts}, (Command(("true",), 0),))


def main(released: Path) -> int:
    """Make everything anew from a released bundle, and return an exit code."""
    plan = smaller_plan(_plan_of(released))
    small = patch.object(runfolder, "toolchain_bytes", lambda: TOOLCHAIN)
    with small, tempfile.TemporaryDirectory() as folder:
        qualified = write_run(Path(folder) / "q", plan, facts_of(released, plan), ())
        undecided = make_undecided(Path(folder) / "u")
        for name, path in (("qualified", qualified), ("undecided", undecided)):
            verified = verify_bundle(path)
            if verified.problems or verified.verdict.value != name:
                raise RuntimeError(f"{name} came out as {verified.to_json()}")
            target = Path(shutil.copyfile(path, NEWEST / f"{name}.tar"))
            target.with_suffix(".intoto.jsonl").unlink(missing_ok=True)
            sign_bundle(target, signer())
    (NEWEST / "bad").mkdir(exist_ok=True)
    make_bad(NEWEST / "bad")
    return 0


def _plan_of(bundle: Path) -> Mapping[str, Any]:
    """Return a bundle's plan."""
    document: Any = canonical.parse(members_of(bundle)[1]["plan.json"])
    plan: Mapping[str, Any] = document["plan"]
    return plan


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
