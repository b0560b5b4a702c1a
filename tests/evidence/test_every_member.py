"""Whatever is done to a member of a small signed bundle, or to the bundle's end, is detected.

Only the tar is made to fit again; the manifest and the signature are those of the honest bundle.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from assay.evidence.container import open_container
from assay.evidence.ustar import END, header, padded
from tests.evidence.every_byte import BROKEN, Signed

Member = tuple[str, bytes]


@pytest.fixture
def world() -> None:
    """Leave the small world of the other tests: this bundle is judged by the real rules."""


def members_of(signed: Signed) -> list[Member]:
    """Return every member, the manifest too, in its order."""
    with open_container(signed.bundle) as container:
        return [(entry.name, container.read(entry.name, entry.size)) for entry in container.entries]


def tar(members: list[Member]) -> bytes:
    """Return the tar of these members, whatever they are."""
    parts = (header(name, len(data)) + data.ljust(padded(len(data)), b"\0") for name, data in members)
    return b"".join(parts) + END


def rearranged(members: list[Member]) -> Iterator[tuple[str, list[Member]]]:
    """Yield what was done, and the members then."""
    numbers = range(len(members))
    for one, other in itertools.combinations(numbers, 2):
        moved = list(members)
        moved[one], moved[other] = members[other], members[one]
        yield f"{members[one][0]} and {members[other][0]} swapped", moved
        names = list(members)
        names[one] = (members[other][0], members[one][1])
        names[other] = (members[one][0], members[other][1])
        yield f"the names of {members[one][0]} and {members[other][0]} swapped", names
    for number, (name, data) in enumerate(members):
        before, after = members[:number], members[number + 1 :]
        yield f"{name} dropped", before + after
        yield f"{name} doubled", [*before, members[number], members[number], *after]
        yield f"{name} doubled at the end", [*members, members[number]]
        for renamed in (f"{name}x", name.upper(), f"x/{name}"):
            yield f"{name} named {renamed}", [*before, (renamed, data), *after]
        for changed in (data[:-1], data + b"\0", data + b"\n", b"", data * 2, data + bytes(1 << 20)):
            if changed != data:
                yield f"{name} of {len(changed)} bytes", [*before, (name, changed), *after]


def test_the_tar_is_made_as_the_bundle_was(signed: Signed) -> None:
    assert tar(members_of(signed)) == signed.bundle.read_bytes()


def test_every_member_is_where_and_what_was_signed(signed: Signed) -> None:
    members = members_of(signed)
    for what, others in rearranged(members):
        signed.bundle.write_bytes(tar(others))
        for verified in (signed.by_digest(), signed.by_key()):
            assert verified.exit_code == BROKEN, what
            assert verified.problems, what


def test_every_truncation_and_every_further_byte_is_detected(signed: Signed) -> None:
    whole = signed.bundle.read_bytes()
    for byte in range(256):
        signed.bundle.write_bytes(whole + bytes([byte]))
        assert signed.by_key().exit_code == BROKEN, byte
    with signed.bundle.open("r+b") as stream:
        for size in reversed(range(len(whole))):
            stream.truncate(size)
            assert signed.by_digest().exit_code == BROKEN, size
