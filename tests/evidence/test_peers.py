"""What is written here is read by the tools that others use: the real ones, each in its own way."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as Result
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]  # exported, though not typed so

from assay import canonical
from assay.evidence.bundle import write_bundle
from assay.evidence.filed import Kind
from assay.evidence.index import sign_index
from assay.evidence.release import check_release
from assay.evidence.statement import PROVENANCE, QUALIFICATION, TEST_RESULT
from assay.evidence.verify import verify_bundle
from assay.model import Platform
from assay.signing import sign_bundle, sign_sigstore
from tests.evidence import support
from tests.evidence.forging import members_of
from tests.evidence.keyring import ALICE, MALLORY, envelopes, statement_of
from tests.evidence.lives import said_of
from tests.evidence.peers.install import HERE, peers_folder
from tests.evidence.support import Gate, found, make_run
from tests.evidence.test_release import member

SCHEMAS = Path(write_bundle.__code__.co_filename).with_name("schemas")
BUILT = Gate(
    {
        "origin": "built",
        "packaging": {"epoch": 0, "hatchling": "1.27", "python": "3.11.7"},
        "revision": "a" * 40,
        "sources": [{"chain": "pipeline", "sha256": "cd" * 32, "stage": "double"}],
    },
    artifacts={"thing-1-py3-none-any.whl": b"wheel bytes", "double.ptx": b"ptx"},
)


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """Return a bundle with its attestations."""
    bundle = write_bundle(make_run(tmp_path, changed={"build": BUILT}))
    return bundle.path, sign_bundle(bundle.path, ALICE)[0]


def statements(path: Path) -> dict[str, str]:
    """Return the statements of a file as JSON by type."""
    found_ = {}
    for each in envelopes(path):
        statement = statement_of(each)
        assert isinstance(statement, dict)
        found_[str(statement["predicateType"])] = each.payload.decode()
    return found_


def pem(public: bytes) -> str:
    """Return a public key in PEM."""
    key = Ed25519PublicKey.from_public_bytes(public)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form).decode()


# ------------------------------------------------------------------------------------- in-toto-attestation


@pytest.mark.gate
def test_in_toto_attestation_parses_and_validates_every_statement(signed: tuple[Path, Path]) -> None:
    found_ = statements(signed[1])
    assert set(found_) == {QUALIFICATION, TEST_RESULT, PROVENANCE}
    for text in found_.values():
        message = json_format.Parse(text, StatementMessage())
        Statement.copy_from_pb(message).validate()
        assert message.subject[0].name == signed[0].name
        assert json.loads(json_format.MessageToJson(message)) == json.loads(text)


@pytest.mark.gate
def test_its_predicates_have_every_field_that_is_written(signed: tuple[Path, Path]) -> None:
    found_ = {kind: json.dumps(json.loads(text)["predicate"]) for kind, text in statements(signed[1]).items()}
    result = json_format.Parse(found_[TEST_RESULT], Result())
    assert result.result == "PASSED"
    assert list(result.passed_tests) == list(support.GATES)
    provenance = json_format.Parse(found_[PROVENANCE], Provenance())
    assert provenance.run_details.metadata.invocation_id == signed[0].stem
    assert provenance.run_details.metadata.started_on.ToJsonString() == support.STARTED
    assert provenance.build_definition.resolved_dependencies[0].digest["gitCommit"] == "a" * 40


def test_a_rejected_run_is_a_failed_test_for_it_too(tmp_path: Path) -> None:
    failing = {"toolkit": Gate({"findings": [found()]})}
    bundle = write_bundle(make_run(tmp_path, changed=failing))
    text = statements(sign_bundle(bundle.path, ALICE)[0])[TEST_RESULT]
    result = json_format.Parse(json.dumps(json.loads(text)["predicate"]), Result())
    assert result.result == "FAILED"
    assert list(result.failed_tests) == ["toolkit", "build", "chain"]
    assert list(result.passed_tests) == ["environment", "provider", "lint"]


# ----------------------------------------------------------------------------------------- securesystemslib


@pytest.mark.gate
def test_securesystemslib_verifies_every_envelope(signed: tuple[Path, Path]) -> None:
    keys = {
        name: SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(key.public.raw), keyid=ALICE.public.id)
        for name, key in (("alice", ALICE), ("mallory", MALLORY))
    }
    lines = signed[1].read_bytes().splitlines()
    assert len(lines) == 3
    for line in lines:
        envelope = Envelope.from_dict(json.loads(line))
        assert set(envelope.verify([keys["alice"]], 1)) == {ALICE.public.id}
        with pytest.raises(VerificationError):
            envelope.verify([keys["mallory"]], 1)


# ------------------------------------------------------------------------------------------------- sigstore


@pytest.fixture(scope="session")
def npm() -> Path:
    """Return the folder of npm's peers; a test that needs them fails without, for a skip would hide that."""
    folder = peers_folder()
    if not (folder / "node_modules").is_dir() or shutil.which("node") is None:
        pytest.fail("this test needs Node.js and npm's peers: run `nox -s peers` first", pytrace=False)
    return folder


def sigstore(npm: Path, bundle: Path, key: Path, keyid: str) -> subprocess.CompletedProcess[str]:
    """Verify with npm's @sigstore/verify."""
    node = shutil.which("node")
    assert node is not None
    argv = [node, str(HERE / "verify.mjs"), str(bundle), str(key), keyid]
    return subprocess.run(  # noqa: S603  # argv is ours
        argv, capture_output=True, text=True, check=False, env={"PEERS": str(npm)}
    )


def test_npm_verifies_the_sigstore_form(signed: tuple[Path, Path], tmp_path: Path, npm: Path) -> None:
    path = sign_sigstore(signed[0], ALICE)
    alice, mallory = tmp_path / "alice.pem", tmp_path / "mallory.pem"
    alice.write_text(pem(ALICE.public.raw))
    mallory.write_text(pem(MALLORY.public.raw))
    ended = sigstore(npm, path, alice, ALICE.public.id)
    assert (ended.returncode, ended.stdout) == (0, "verified\n"), ended.stderr
    assert sigstore(npm, path, mallory, ALICE.public.id).returncode == 1
    document = json.loads(path.read_bytes())
    payload = json.loads(base64.b64decode(document["dsseEnvelope"]["payload"]))
    payload["predicate"]["verdict"] = "rejected"
    document["dsseEnvelope"]["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
    path.write_text(json.dumps(document))
    assert sigstore(npm, path, alice, ALICE.public.id).returncode == 1


# --------------------------------------------------------------------------------------------- JSON Schema


def refused(schema: str, *documents_: Path) -> set[str]:
    """Return the names of those documents that check-jsonschema refuses."""
    argv = [sys.executable, "-m", "check_jsonschema", "--output-format", "json", "--schemafile"]
    ended = subprocess.run(  # noqa: S603  # argv is ours
        [*argv, str(SCHEMAS / f"{schema}.schema.json"), *map(str, documents_)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in {0, 1}, ended.stderr
    report = json.loads(ended.stdout)
    names = {Path(each["filename"]).name for each in report["errors"]}
    assert (ended.returncode == 1) is bool(names)
    return names


def documents(tmp_path: Path) -> dict[str, bytes]:
    """Return one document of every schema, made by the real thing."""
    bundle = write_bundle(make_run(tmp_path / "run", changed={"build": BUILT}))
    manifest, members = members_of(bundle.path)
    (root, *_) = envelopes(sign_bundle(bundle.path, ALICE)[0])
    release = [
        member(tmp_path / "release", each) for each in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)
    ]
    index = tmp_path / "index.jsonl"
    index.write_bytes(sign_index(check_release(release, None), ALICE.sign, ALICE.public))
    (indexed,) = envelopes(index)
    verified = verify_bundle(bundle.path, key=ALICE.public, subject=True)
    said = {kind.value: canonical.dumps(said_of(kind).predicate()) for kind in Kind}
    return {
        **said,
        "manifest": canonical.dumps(manifest),
        "plan": members["plan.json"],
        "qualification": json.dumps(json.loads(root.payload)["predicate"]).encode(),
        "receipt": members["chain.json"],
        "release": json.dumps(json.loads(indexed.payload)["predicate"]).encode(),
        "verdict": canonical.dumps(verified.to_json()),
    }


def test_check_jsonschema_accepts_every_document_and_no_other(tmp_path: Path) -> None:
    made = documents(tmp_path)
    assert {f"{kind}.schema.json" for kind in made} == {path.name for path in SCHEMAS.iterdir()}
    for kind, data in made.items():
        document = json.loads(data)
        versions = {"right": document, "other": {**document, "schema": "assay/other/1"}}
        versions |= {"more": {**document, "more": 1}, "less": {"schema": document["schema"]}}
        paths = [tmp_path / f"{name}.json" for name in versions]
        for path, version in zip(paths, versions.values(), strict=True):
            path.write_text(json.dumps(version))
        assert refused(kind, *paths) == {"other.json", "more.json", "less.json"}, kind


def test_check_jsonschema_accepts_the_schemas_themselves_and_every_receipt(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "check_jsonschema", "--check-metaschema", *map(str, SCHEMAS.iterdir())]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603  # argv is ours
    assert ended.returncode == 0, ended.stdout
    findings = {"lint": Gate({"findings": [found()]}), "toolkit": Gate({}, log=None, commands=())}
    _, members = members_of(write_bundle(make_run(tmp_path, changed=findings)).path)
    receipts = [tmp_path / f"{gate}.json" for gate in support.GATES]
    for path in receipts:
        path.write_bytes(members[path.name])
    assert refused("receipt", *receipts) == set()


@pytest.mark.gate
def test_no_schema_allows_a_field_that_is_not_written(tmp_path: Path) -> None:
    for kind, data in documents(tmp_path).items():
        schema = json.loads((SCHEMAS / f"{kind}.schema.json").read_bytes())
        assert set(schema["properties"]) == set(schema["required"]) == set(json.loads(data))


# ------------------------------------------------------------------------------------------------- openssl


def test_openssl_reads_the_keys_that_are_made_and_verifies_what_they_sign(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    assert openssl is not None
    key, message, signature = tmp_path / "alice.pem", tmp_path / "message", tmp_path / "signature"
    key.write_text(pem(Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32).public_key().public_bytes_raw()))
    message.write_bytes(b"a message")
    signature.write_bytes(ALICE.sign(b"a message"))
    argv = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", str(key), "-rawin"]
    argv += ["-in", str(message), "-sigfile", str(signature)]
    assert subprocess.run(argv, check=False, capture_output=True).returncode == 0  # noqa: S603  # argv is ours
    message.write_bytes(b"another")
    assert subprocess.run(argv, check=False, capture_output=True).returncode != 0  # noqa: S603  # as above
