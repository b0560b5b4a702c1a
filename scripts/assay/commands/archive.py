"""``assay archive BUNDLE… --to PLACE``, and ``list``, ``get`` and ``check`` of what lies there."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay.archive.index import Entry, query
from assay.archive.places import open_store
from assay.archive.store import Listing
from assay.commands.given import existing
from assay.commands.output import print_json, speaker
from assay.errors import UsageError
from assay.evidence.filed import Part
from assay.evidence.plain import plain
from assay.model import Json

if TYPE_CHECKING:
    from assay.archive.deposit import Deposited

_FILTERS = ("verdict", "tier", "platform", "project", "run")


def run(options: argparse.Namespace) -> int:
    """Put bundles into an archive, or ask it; return 0, of ``check`` 3 or 4 where something is wrong.

    Raises:
        UsageError: the words do not fit together.
        AssayError: the archive cannot be used, or a bundle is not intact.
    """
    first, *rest = options.words
    actions: dict[str, Callable[[argparse.Namespace, list[str]], int]] = {
        "check": _check,
        "get": _get,
        "list": _list,
    }
    if first in actions:
        return actions[first](options, rest)
    return _put(options)


def _put(options: argparse.Namespace) -> int:
    """Put bundles and what lies beside them; everything is looked at before anything is sent."""
    from assay.archive.deposit import deposit, items_of  # noqa: PLC0415  # what verifies, `list` need not wait for

    store = open_store(_wanted(options.to, "--to", "the archive's place"))
    now = datetime.now(UTC)
    items = [item for word in options.words for item in items_of(existing(Path(word)), now)]
    say, done = speaker(as_json=options.json), []
    for each in deposit(items, store):
        say(
            f"{'archived' if each.new else 'there already'}: {plain(each.item.file.name)} as {each.item.name}"
        )
        done.append(each)
    print_json(_deposited(store.place, done), wanted=options.json)
    return 0


def _list(options: argparse.Namespace, rest: list[str]) -> int:
    """List the bundles that meet what is asked."""
    _none(rest)
    store = open_store(_wanted(options.source, "--from", "the archive's place"))
    listing = store.listing()
    found = query(store, listing, datetime.now(UTC))
    shown = {digest: entry for digest, entry in found.items() if _fits(entry, options)}
    about = _about(listing)
    if not options.json:
        print("\n".join(_lines(shown, about)))
    bundles: list[Json] = [
        {
            "about": {part.value: count for part, count in sorted(about.get(digest, Counter()).items())},
            "bundle_digest": digest,
            "claims": list(entry.claims),
            **{name: getattr(entry, name) for name in (*_FILTERS, "started", "problem")},
        }
        for digest, entry in _in_order(shown)
    ]
    print_json(
        {"bundles": bundles, "place": store.place, "schema": "assay/archive-list/1"}, wanted=options.json
    )
    return 0


def _get(options: argparse.Namespace, rest: list[str]) -> int:
    """Take bundles and all that is about them into a folder that is an archive too."""
    from assay.archive.retrieve import digest_named, retrieve  # noqa: PLC0415  # as in _put

    store = open_store(_wanted(options.source, "--from", "the archive's place"))
    target = Path(_wanted(options.to, "--to", "the folder to keep them in"))
    if not rest:
        raise UsageError("`archive get` names no bundle", "a bundle digest", "see `assay archive list`")
    listing, say, done = store.listing(), speaker(as_json=options.json), []
    for digest in [digest_named(given, listing) for given in rest]:
        for each in retrieve(digest, listing, store, target, datetime.now(UTC)):
            say(f"{'fetched' if each.new else 'there already'}: {each.item.file}")
            done.append(each)
        say(f"verify it: assay verify {target / digest}.tar --expect-digest {digest} --archive {target}")
    print_json(_deposited(store.place, done), wanted=options.json)
    return 0


def _check(options: argparse.Namespace, rest: list[str]) -> int:
    """Read everything that an archive holds to its last byte."""
    from assay.archive.audit import audit  # noqa: PLC0415  # as in _put

    _none(rest)
    store = open_store(_wanted(options.source, "--from", "the archive's place"))
    say, found = speaker(as_json=options.json), []
    for each in audit(store, datetime.now(UTC)):
        if each.problem is not None:
            say(f"{plain(each.name)}: {plain(each.problem.observed)}, not {plain(each.problem.expected)}")
        found.append(each)
    wrong = [each for each in found if each.problem is not None]
    say(f"{store.place}: {len(found)} files, {len(wrong)} of them not as they should be")
    problems: list[Json] = [{"name": each.name, "problem": str(each.problem)} for each in wrong]
    document: Json = {"files": len(found), "problems": problems, "schema": "assay/archive-check/1"}
    print_json(document, wanted=options.json)
    return max((each.exit_code for each in found), default=0)


def _wanted(given: str | None, option: str, expected: str) -> str:
    """Return an option's value.

    Raises:
        UsageError: it was not given.
    """
    if given is None:
        raise UsageError(f"{option} was not given", expected, f"add {option} PLACE")
    return given


def _none(rest: list[str]) -> None:
    """Refuse further words.

    Raises:
        UsageError: there are some.
    """
    if rest:
        raise UsageError(f"{rest[0]} is one word too many", "options only", "see assay archive --help")


def _fits(entry: Entry, options: argparse.Namespace) -> bool:
    """Say whether a bundle is what was asked for."""
    same = all(getattr(options, name) in {None, getattr(entry, name)} for name in _FILTERS)
    return same and set(options.claim) <= set(entry.claims)


def _about(listing: Listing) -> dict[str, Counter[Part]]:
    """Return how many files of each part are about each bundle."""
    found: dict[str, Counter[Part]] = {}
    for name in listing.names:
        if name.part is not Part.BUNDLE:
            found.setdefault(name.bundle, Counter())[name.part] += 1
    return found


def _in_order(entries: dict[str, Entry]) -> list[tuple[str, Entry]]:
    """Return bundles in the order in which they ran."""
    return sorted(entries.items(), key=lambda item: (item[1].started, item[0]))


def _lines(entries: dict[str, Entry], about: dict[str, Counter[Part]]) -> Iterator[str]:
    """Yield a line a bundle; whose word the statements are is a matter of ``verify --archive``."""
    for digest, entry in _in_order(entries):
        more = [f"{count} {part.value}" for part, count in sorted(about.get(digest, Counter()).items())]
        words = [digest, entry.verdict, entry.tier, entry.platform, entry.run, entry.project, *more]
        yield "  ".join(
            [
                *(plain(word or "-") for word in words),
                *([f"NOT INTACT: {plain(entry.problem)}"] if entry.problem else []),
            ]
        )
    yield f"{len(entries)} bundles"


def _deposited(place: str, done: list[Deposited]) -> Json:
    """Return what was put or fetched, as JSON."""
    files: list[Json] = [{"name": str(each.item.name), "new": each.new} for each in done]
    return {"files": files, "place": place, "schema": "assay/archived/1"}
