"""An archive in a repository of an OCI registry (OCI distribution and image specifications, 1.1).

A bundle is an artifact with a type of its own, tagged with its digest; what is about a bundle is an artifact
whose ``subject`` it is, so other tools find it as a referrer.  Each has a tag of its own, made of the
bundle's digest, the beginning of its own and its part: two writers never write different things under one
tag, and the tags tell what there is.

A registry without the referrers API gets the index that stands in for it.  Nothing there keeps two writers
from losing one another's entry; the tags lose nothing, and archiving again puts an entry back.

Credentials are those of Docker's configuration, as ``oras`` reads them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import oras.defaults
import requests

from assay.archive.registry_client import REMEDY, Client, told
from assay.archive.store import LARGEST, Bytes, Listing, bytes_of, digest_of, not_whole, other_there
from assay.download import Limits
from assay.errors import DepositError, UsageError
from assay.evidence.filed import Name, Part, parse_name
from assay.files import CHUNK, atomic_writer, private_folder, write_atomic

TYPES: Final[Mapping[Part, str]] = {
    Part.BUNDLE: "application/vnd.gpu-assay.bundle.v1",
    Part.ATTESTATIONS: "application/vnd.gpu-assay.attestations.v1",
    Part.SIGSTORE: "application/vnd.dev.sigstore.bundle.v0.3+json",
    Part.SUPERSEDE: "application/vnd.gpu-assay.supersede.v1",
    Part.REVOKE: "application/vnd.gpu-assay.revoke.v1",
}
"""Artifact type by part; of a Sigstore bundle it is the format's own media type."""

_LAYERS: Final[Mapping[Part, str]] = {
    Part.BUNDLE: "application/x-tar",
    Part.SIGSTORE: "application/vnd.dev.sigstore.bundle.v0.3+json",
}
_LINES = "application/jsonl"

_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
"""What stands where an image has its configuration (OCI image specification, "Guidance for an empty
descriptor")."""

_MANIFEST, _INDEX = oras.defaults.default_manifest_media_type, oras.defaults.default_index_media_type
_FOUND, _ABSENT = 200, 404
_STORED = frozenset({200, 201, 202})
_MANIFEST_BYTES = 1 << 22
"""Largest manifest that registries take (OCI distribution specification, "Pushing Manifests")."""

_SHORT = 32
"""Hex digits of a file's digest in its tag: a tag has at most 128 characters."""

_TAG = re.compile(rf"[0-9a-f]{{64}}(?:\.[0-9a-f]{{{_SHORT}}}\.[a-z.]{{1,32}})?")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(rf"{_PART}(?:/{_PART})*")
"""Names of repositories (OCI distribution specification, "Pulling manifests")."""

_STANDS_IN = re.compile(r"sha256-[0-9a-f]{64}")
"""The tag of the index of referrers (OCI distribution specification, "Referrers Tag Schema")."""

_MERGES = 5
"""Tries to put a referrer into an index that others write at the same time."""

_LIMITS = Limits(size=LARGEST, seconds=3600.0)
_LARGE = 64 << 20
"""Bytes from which a file is sent in pieces: ``oras`` has the whole of one in memory."""


@dataclass(frozen=True)
class _Held:
    """A manifest as the registry gave it: what it says, and the digest and size of its bytes."""

    document: Mapping[str, Any]
    digest: str
    size: int

    def descriptor(self) -> dict[str, Any]:
        """Return what other manifests name it by."""
        return {"digest": self.digest, "mediaType": _MANIFEST, "size": self.size}

    def layer(self) -> str:
        """Return the digest of its one layer."""
        (layer,) = self.document["layers"]
        return str(layer["digest"])


class RegistryStore:
    """An archive in a repository of a registry."""

    def __init__(self, repository: str, *, insecure: bool = False, limits: Limits = _LIMITS) -> None:
        """Name the repository.

        Args:
            repository: host and name, as in ``registry.example/team/evidence``.
            insecure: whether to talk without TLS.
            limits: the ends of each transfer.

        Raises:
            UsageError: it is no repository.
        """
        host, _, name = repository.partition("/")
        if not host or not _REPOSITORY.fullmatch(name):
            raise UsageError(f"{repository!r} is no repository", "oci://HOST/NAME", "correct the address")
        self._place = f"oci{'+http' if insecure else ''}://{repository}"
        self._client = Client(host, insecure=insecure, limits=limits)
        self._container = self._client.get_container(f"{host}/{name}")

    @property
    def place(self) -> str:
        """Return the address."""
        return self._place

    def listing(self) -> Listing:
        """Return what the repository's tags tell.

        Raises:
            UsageError: there is no such repository.
            DepositError: it cannot be asked, or a tag is not what it says.
        """
        with told(self._place):
            self._sign_in()
            if self._ask("tags/list?n=1", "GET").status_code == _ABSENT:
                raise UsageError(f"{self._place} is no archive: there is no such repository", "one", "")
            tags = sorted(self._client.get_tags(self._container))
            read = {tag: self._name_of(tag) for tag in tags if not _STANDS_IN.fullmatch(tag)}
        names = sorted((name for name in read.values() if name is not None), key=str)
        return Listing(tuple(names), tuple(tag for tag, name in read.items() if name is None))

    def put(self, name: Name, file: Path) -> bool:
        """Put a file under a name; see ``Store.put``.

        The manifest comes last: until then nothing has the name.
        """
        with told(self._place):
            return self._put(name, file)

    def _put(self, name: Name, file: Path) -> bool:
        """Put a file under a name."""
        self._sign_in()
        sent, held = bytes_of(file), self._manifest(_tag(name))
        if held is not None and held.layer() != f"sha256:{sent.sha256}":
            raise other_there(self._place, name)
        subject = None if name.part is Part.BUNDLE else self._bundle_of(name).descriptor()
        kept = held or self._push(name, file, sent, subject)
        if subject is not None:
            self._refer(subject["digest"], {**kept.descriptor(), "artifactType": TYPES[name.part]})
        return held is None

    @contextlib.contextmanager
    def opened(self, name: Name) -> Iterator[Path]:
        """Yield a file's bytes, fetched for the block.

        Raises:
            DepositError: it cannot be fetched, or is not what its manifest says.
            StorageError: there is no place for it.
        """
        with private_folder("assay-archive-") as folder:
            path = folder / "fetched"
            with told(self._place):
                self._fetch(name, path)
            try:
                yield path
            finally:
                path.unlink(missing_ok=True)

    def _fetch(self, name: Name, path: Path) -> None:
        """Fetch a file, whole or not at all."""
        self._sign_in()
        held = self._manifest(_tag(name))
        if held is None:
            raise DepositError(
                f"{self._place} does not hold {name}", "a file of the archive", "list it first"
            )
        with atomic_writer(path) as stream:
            found = digest_of(chunk for chunk in self._blob(held.layer()) if stream.write(chunk))
            if f"sha256:{found.sha256}" != held.layer():
                observed = f"{self._place} gave bytes with SHA-256 {found.sha256} for {name}"
                raise DepositError(observed, held.layer(), "look at the registry and its disk")

    def _sign_in(self) -> None:
        """Let ``oras`` find the credentials that Docker's configuration has for the registry."""
        self._client.sign_in(self._container)

    def _push(self, name: Name, file: Path, sent: Bytes, subject: Mapping[str, Any] | None) -> _Held:
        """Push a file and the manifest that gives it its name, and return that as the registry has it."""
        media = _LAYERS.get(name.part, _LINES)
        layer = {"digest": f"sha256:{sent.sha256}", "mediaType": media, "size": sent.size}
        self._upload(file, layer)
        found = digest_of(self._blob(str(layer["digest"])))
        if found != sent:
            raise not_whole(self._place, name, found, sent)
        config = self._empty()
        title = {oras.defaults.annotation_title: str(name)}
        document: dict[str, Any] = {
            "artifactType": TYPES[name.part],
            "config": config,
            "layers": [{**layer, "annotations": title}],
            "mediaType": _MANIFEST,
            "schemaVersion": 2,
            **({} if subject is None else {"subject": dict(subject)}),
        }
        return self._tagged(_tag(name), document, _MANIFEST)

    def _upload(self, file: Path, layer: Mapping[str, Any]) -> None:
        """Upload a file as a blob, unless it is there."""
        large = int(layer["size"]) >= _LARGE
        _check(
            self._client.upload_blob(str(file), self._container, dict(layer), do_chunked=large),
            f"{self._place} refused {layer['size']} bytes",
        )

    def _empty(self) -> dict[str, Any]:
        """Upload the empty configuration and return its descriptor."""
        found = digest_of([_EMPTY])
        layer = {"digest": f"sha256:{found.sha256}", "mediaType": _EMPTY_TYPE, "size": found.size}
        with private_folder("assay-archive-") as folder:
            file = folder / "empty.json"
            write_atomic(file, _EMPTY)
            self._upload(file, layer)
        return layer

    def _tagged(self, tag: str, document: Mapping[str, Any], media: str) -> _Held:
        """Put a manifest under a tag, and return what the registry then has there."""
        data = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
        url = f"{self._client.prefix}://{self._container.manifest_url(tag)}"
        answer = self._client.do_request(url, "PUT", data=data, headers={"Content-Type": media})
        _check(answer, f"{self._place} refused the manifest {tag}")
        held = self._manifest(tag)
        if held is None or held.document != document:
            raise DepositError(f"{self._place} does not hold the manifest {tag} as it was sent", "it", REMEDY)
        return held

    def _manifest(self, tag: str) -> _Held | None:
        """Return the manifest of a tag, None where there is none."""
        answer = self._ask(f"manifests/{tag}", "GET", Accept=f"{_MANIFEST}, {_INDEX}")
        if answer.status_code == _ABSENT:
            return None
        _check(answer, f"{self._place} does not give the manifest {tag}")
        data = answer.content
        if len(data) > _MANIFEST_BYTES:
            raise DepositError(
                f"{self._place}: the manifest {tag} is too large", f"{_MANIFEST_BYTES} bytes", ""
            )
        return _Held(json.loads(data), f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))

    def _bundle_of(self, name: Name) -> _Held:
        """Return the manifest of the bundle that a file is about."""
        held = self._manifest(_tag(Name(name.bundle)))
        if held is None:
            raise DepositError(
                f"{self._place} does not hold the bundle {name.bundle}, which {name} is about",
                "the bundle first",
                "archive the bundle: assay archive BUNDLE --to …",
            )
        return held

    def _refer(self, digest: str, descriptor: Mapping[str, Any]) -> None:
        """See to it that an artifact is found as a referrer of a manifest.

        Where the registry has no referrers API, the client keeps the index that stands in for it (OCI
        distribution specification, "Pushing Manifests with Subject"); another writer may do the same at the
        same moment, so it is read back.
        """
        if self._ask(f"referrers/{digest}", "GET").status_code == _FOUND:
            return
        tag = digest.replace(":", "-")
        for _ in range(_MERGES):
            held = self._manifest(tag)
            named = list(held.document["manifests"]) if held else []
            if descriptor in named:
                return
            document = {"manifests": [*named, dict(descriptor)], "mediaType": _INDEX, "schemaVersion": 2}
            with contextlib.suppress(DepositError):  # another writer's index: it is read anew
                self._tagged(tag, document, _INDEX)
        raise DepositError(f"{self._place} does not keep the index of referrers {tag}", "it", REMEDY)

    def _name_of(self, tag: str) -> Name | None:
        """Return the name that a tag stands for, None where it is of another tool."""
        if not _TAG.fullmatch(tag):
            return None
        bundle, _, rest = tag.partition(".")
        short, _, part = rest.partition(".")
        if not rest:
            return Name(bundle)
        held = self._manifest(tag)
        sha256 = held.layer().removeprefix("sha256:") if held else ""
        name = parse_name(f"{bundle}.{sha256}.{part}")
        if name is not None and not sha256.startswith(short):
            raise DepositError(
                f"{self._place}: the tag {tag} names another file", "its own", "look at the registry"
            )
        return name

    def _blob(self, digest: str) -> Iterator[bytes]:
        """Yield a blob in pieces."""
        with self._client.get_blob(self._container, digest, stream=True) as answer:
            _check(answer, f"{self._place} does not give {digest}")
            yield from answer.iter_content(CHUNK)

    def _ask(self, what: str, method: str, **headers: str) -> requests.Response:
        """Ask for something of the repository."""
        url = f"{self._client.prefix}://{self._container.registry}/v2/{self._container.api_prefix}/{what}"
        return self._client.do_request(url, method, headers=headers)


def _tag(name: Name) -> str:
    """Return a file's tag."""
    if name.part is Part.BUNDLE:
        return name.bundle
    return f"{name.bundle}.{name.sha256[:_SHORT]}.{name.part.value}"


def _check(answer: requests.Response, observed: str) -> None:
    """Refuse an answer that is not as hoped.

    Raises:
        DepositError: the registry refused.
    """
    if answer.status_code not in _STORED:
        said = " ".join(answer.text[:300].split()) if answer.text else ""
        raise DepositError(f"{observed}: HTTP {answer.status_code} {said}".rstrip(), "its consent", REMEDY)
