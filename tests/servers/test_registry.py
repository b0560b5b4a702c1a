"""An archive in a real OCI registry."""

from __future__ import annotations

import base64
import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.archive.audit import audit
from assay.archive.deposit import items_of
from assay.archive.folder import FolderStore
from assay.archive.registry import TYPES, RegistryStore
from assay.archive.replacing import keep, revoking
from assay.archive.retrieve import retrieve
from assay.download import Limits
from assay.errors import AssayError, DepositError, UsageError
from assay.evidence.bundle import Bundle
from assay.evidence.filed import Part
from assay.evidence.verify import verify_bundle
from tests.archive.shelves import NOW, contents, held, put, signed_bundle
from tests.evidence.keyring import ALICE
from tests.servers.proxy import Trouble, relay
from tests.servers.running import registry

QUICK = Limits(size=1 << 30, seconds=60.0, silence_s=10.0, retries=2, backoff_s=0.0)
NAME = "team/evidence"


def store_of(host: str) -> RegistryStore:
    """Return the archive at a host."""
    return RegistryStore(f"{host}/{NAME}", insecure=True, limits=QUICK)


def asked(host: str, what: str) -> Any:  # noqa: ANN401  # JSON of the registry
    """Return a document of the repository, asked without any client."""
    request = urllib.request.Request(f"http://{host}/v2/{NAME}/{what}")  # our own server
    request.add_header(
        "Accept", "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json"
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310  # our own server
        return {"digest": answer.headers["Docker-Content-Digest"], **json.load(answer)}


def test_what_is_put_is_listed_checked_and_comes_back(tmp_path: Path, bundle: Bundle) -> None:
    with registry(tmp_path / "server") as host:
        store = store_of(host)
        assert put(bundle, store) == [True, True, True]
        assert put(bundle, store) == [False, False, False]
        assert held(store) == contents(items_of(bundle.path, NOW))
        assert [each.problem for each in audit(store, NOW)] == [None, None, None]
        assert len(list(retrieve(bundle.digest, store.listing(), store, tmp_path / "kept", NOW))) == 3
    assert held(FolderStore(tmp_path / "kept")) == contents(items_of(bundle.path, NOW))


def test_it_is_an_artifact_of_its_own_type_with_attestations_as_referrers(
    tmp_path: Path, bundle: Bundle
) -> None:
    with registry(tmp_path / "server") as host:
        put(bundle, store_of(host))
        manifest = asked(host, f"manifests/{bundle.digest}")
        assert manifest["artifactType"] == "application/vnd.gpu-assay.bundle.v1"
        assert manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
        assert [layer["size"] for layer in manifest["layers"]] == [bundle.path.stat().st_size]
        index = asked(host, f"manifests/{manifest['digest'].replace(':', '-')}")
        assert {each["artifactType"] for each in index["manifests"]} == {
            TYPES[Part.ATTESTATIONS],
            "application/vnd.dev.sigstore.bundle.v0.3+json",
        }
        for each in index["manifests"]:
            referrer = asked(host, f"manifests/{each['digest']}")
            assert referrer["subject"]["digest"] == manifest["digest"]
            assert referrer["artifactType"] == each["artifactType"]


def test_a_statement_travels_and_verify_tells_it(tmp_path: Path, bundle: Bundle) -> None:
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    said = revoking(verified, "wrong driver", NOW)
    with registry(tmp_path / "server") as host:
        store = store_of(host)
        with pytest.raises(DepositError, match="does not hold the bundle"):
            keep(said.signed(ALICE.sign, ALICE.public), said, bundle.path, store)
        assert len(put(bundle, store)) == 4
        list(retrieve(bundle.digest, store.listing(), store, tmp_path / "kept", NOW))
    found = verify_bundle(
        bundle.path, expect_digest=bundle.digest, archive=tmp_path / "kept", trust=(ALICE.public,)
    )
    assert found.standing == "revoked: wrong driver"


def test_a_registry_that_is_gone_mid_upload_has_nothing_under_the_name(
    tmp_path: Path, bundle: Bundle
) -> None:
    with registry(tmp_path / "server") as host:
        with (
            relay(int(host.partition(":")[2]), Trouble(cut_sent=500_000)) as port,
            pytest.raises(DepositError, match="cannot be used"),
        ):
            put(bundle, store_of(f"127.0.0.1:{port}"))
        with pytest.raises(UsageError, match="is no archive"):
            store_of(host).listing()
        assert put(bundle, store_of(host)) == [True, True, True]


def test_a_byte_that_comes_back_changed_is_noticed_before_it_gets_a_name(
    tmp_path: Path, bundle: Bundle
) -> None:
    with registry(tmp_path / "server") as host:
        with (
            relay(int(host.partition(":")[2]), Trouble(flip_given=100_000)) as port,
            pytest.raises(DepositError, match="stored"),
        ):
            put(bundle, store_of(f"127.0.0.1:{port}"))
        with pytest.raises(UsageError, match="is no archive"):
            store_of(host).listing()


def test_a_disk_that_takes_no_more_is_said(tmp_path: Path, bundle: Bundle) -> None:
    with registry(tmp_path / "server", files_to=400_000) as host:
        with pytest.raises(DepositError):
            put(bundle, store_of(host))
        with pytest.raises(UsageError, match="is no archive"):
            store_of(host).listing()


def test_a_registry_that_only_reads_refuses(tmp_path: Path, bundle: Bundle) -> None:
    only_reads = {"maintenance": {"readonly": {"enabled": True}}}
    with registry(tmp_path / "server", storage=only_reads) as host, pytest.raises(DepositError) as refused:
        put(bundle, store_of(host))
    assert "nothing was lost here" in refused.value.remedy


def locked(folder: Path) -> dict[str, object]:
    """Return what lets only ``me`` in, with the password ``a``, hashed as in jBCrypt's published vectors."""
    users = folder / "users"
    users.write_text("me:$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe\n")
    return {"htpasswd": {"path": str(users), "realm": "evidence"}}


def test_a_registry_that_lets_nobody_in_is_told_as_it_is(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        registry(tmp_path / "server", auth=locked(tmp_path)) as host,
        pytest.raises(DepositError, match=r"cannot be used|HTTP 401") as refused,
    ):
        put(bundle, store_of(host))
    assert "docker login" in refused.value.remedy


def test_credentials_are_those_of_dockers_configuration(
    tmp_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with registry(tmp_path / "server", auth=locked(tmp_path)) as host:
        known = {"auths": {host: {"auth": base64.b64encode(b"me:a").decode()}}}
        (tmp_path / ".docker").mkdir()
        (tmp_path / ".docker" / "config.json").write_text(json.dumps(known))
        assert put(bundle, store_of(host)) == [True, True, True]
        assert held(store_of(host)) == contents(items_of(bundle.path, NOW))


def test_two_writers_at_once_lose_nothing(tmp_path: Path, bundle: Bundle) -> None:
    other = signed_bundle(tmp_path / "other", "2026-12-02T12:00:00Z")
    with registry(tmp_path / "server") as host:
        with ThreadPoolExecutor(4) as pool:
            writers = [pool.submit(put, each, store_of(host)) for each in (bundle, other) * 2]
            assert all(len(writer.result()) == 3 for writer in writers)
        wanted = {**contents(items_of(bundle.path, NOW)), **contents(items_of(other.path, NOW))}
        assert held(store_of(host)) == wanted


def test_damage_on_the_registrys_disk_is_found(tmp_path: Path, bundle: Bundle) -> None:
    with registry(tmp_path / "server") as host:
        store = store_of(host)
        put(bundle, store)
        size = bundle.path.stat().st_size
        (blob,) = [path for path in (tmp_path / "server").rglob("data") if path.stat().st_size == size]
        data = blob.read_bytes()
        blob.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
        assert [each.exit_code for each in audit(store, NOW)].count(3) == 1
        with pytest.raises(AssayError):
            list(retrieve(bundle.digest, store.listing(), store, tmp_path / "kept", NOW))
        assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("repository", ["host", "/name", "host/UPPER", "host/a//../b", "host/a:tag"])
def test_other_names_are_mistakes(repository: str) -> None:
    with pytest.raises(UsageError):
        RegistryStore(repository)
