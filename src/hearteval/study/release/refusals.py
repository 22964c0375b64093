"""Why a study may not be released as it is: what tells who somebody is, keys, and small groups."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from hearteval.config import keys_at_hand
from hearteval.domain import (
    Assignment,
    Completion,
    Item,
    Judgment,
    Label,
    Rater,
    Rating,
    canonical_json,
)
from hearteval.errors import StoreError
from hearteval.items.screening import find_identifying
from hearteval.store.people.persons import Submission

FEWEST_ALIKE = 5
"""People who are alike in all that is said of them, at least (k-anonymity; Sweeney 2002)."""
SHORTEST_KNOWN = 4
"""Characters of a platform's id or a link's label that is looked for."""
MOST_LISTED = 20
GROUP = "group"
OWN_PSEUDONYM = re.compile(r"P-[0-9A-Z]{8}")
NAMES = ("dialogue_id", "writer_id")
"""Fields that somebody else may have filled, though they are called ids."""
PATTERNS = {
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "secret key": re.compile(
        r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b"
        r"|\bhf_[A-Za-z0-9]{20,}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    ),
}
"""What no text of a release holds."""


class Finding(NamedTuple):
    """Something that may not be passed on; the very words are told nobody."""

    where: str
    """A record as ``kind id``, or a file."""
    what: str


def find_private(
    records: Mapping[type[Any], Sequence[Any]],
    files: Mapping[str, bytes],
    *,
    submissions: Iterable[Submission],
) -> list[Finding]:
    """Look through all that a release is to hold for what it may not."""
    known = [*_known(submissions)]
    found = [
        Finding(name, what)
        for name, content in files.items()
        for what in _look(content.decode(errors="replace"), known)
    ]
    found += [
        Finding(f"rater {one.id}", "a name from elsewhere, which may be no pseudonym")
        for one in records.get(Rater, ())
        if one.kind == "human" and not OWN_PSEUDONYM.fullmatch(one.name)
    ]
    written = {one.writer_id: one.id for one in records.get(Completion, ()) if one.writer_id}
    found += [
        Finding(f"writer of {id_}", "a name from elsewhere, which may be no pseudonym")
        for name, id_ in written.items()
        if not OWN_PSEUDONYM.fullmatch(name)
    ]
    by_people = _ids_by_people(records)
    spoken = {one.id: canonical_json(one).lower() for one in records.get(Item, ())}
    for kind, own in records.items():
        for one in own:
            text = json.dumps(_values(one), ensure_ascii=False)
            where = f"{kind.__name__.lower()} {one.id}"
            found += [Finding(where, what) for what in _look(text, known)]
            if one.id in by_people:
                about = spoken.get(by_people[one.id], "")
                found += [Finding(where, what) for what in _names_in(_words(one), about)]
    return found


def require_fit(found: Sequence[Finding], *, accepted: Set[str]) -> None:
    """Raise unless all that was found is accepted, by its record's id or kind, or its file.

    Raises:
        StoreError: Something is not; it lists where, and never what.
    """
    left = [one for one in found if accepted.isdisjoint(one.where.split())]
    if not left:
        return
    listed = "; ".join(f"{one.where}: {one.what}" for one in left[:MOST_LISTED])
    more = f"; and {len(left) - MOST_LISTED:,} more" if len(left) > MOST_LISTED else ""
    raise StoreError(
        f"nothing was released: something tells who somebody is, or opens a door: {listed}{more}."
        " Keep such a text out on the researcher's page; where somebody has looked and it tells"
        " nothing, say --accept ID, or for all names of people --accept rater --accept writer",
        ids=[one.where for one in left],
    )


def coarsen(
    people: Mapping[str, Mapping[str, Any]], *, is_allowed: bool
) -> Mapping[str, Mapping[str, Any]]:
    """Return what may be said of people, by pseudonym, so that `FEWEST_ALIKE` are always alike.

    What has the most different answers is left out of everybody first, the group last.

    Raises:
        StoreError: Fewer are alike, and leaving anything out was not allowed.
    """
    said = {name: dict(of) for name, of in people.items()}
    while small := _smallest_cell(said):
        if not is_allowed:
            n, keys = small
            raise StoreError(
                f"nothing was released: {', '.join(keys)} of people leave as few as {n} who are"
                f" alike, and {FEWEST_ALIKE} are asked for; say --coarsen to leave out what tells"
                " them apart",
                ids=keys,
            )
        values = {
            key: len({json.dumps(of.get(key)) for of in said.values()})
            for key in {key for of in said.values() for key in of}
        }
        widest = max(values, key=lambda key: (key != GROUP, values[key], key))
        said = {name: {k: v for k, v in of.items() if k != widest} for name, of in said.items()}
    return said


def _smallest_cell(said: Mapping[str, Mapping[str, Any]]) -> tuple[int, list[str]] | None:
    """Return the size of the smallest group of people who are alike, and what is said of them."""
    keys = sorted({key for of in said.values() for key in of})
    if not keys:
        return None
    cells = Counter(json.dumps(of, sort_keys=True) for of in said.values() if of)
    n = min(cells.values())
    return (n, keys) if n < FEWEST_ALIKE else None


def _known(submissions: Iterable[Submission]) -> Iterator[tuple[str, str]]:
    """Yield what is known of this study that nobody else may know, each with what it is."""
    for one in submissions:
        for id_ in (one.participant, one.submission):
            if id_ is not None and len(id_) >= SHORTEST_KNOWN:
                yield id_, "a platform's id of a person"
    yield from ((key, "a key of this computer") for key in keys_at_hand())


def _look(text: str, known: Iterable[tuple[str, str]]) -> Iterator[str]:
    for what, pattern in PATTERNS.items():
        if pattern.search(text):
            yield f"an {what}" if what[0] in "aeiou" else f"a {what}"
    for words, what in known:
        if words in text:
            yield what


def _names_in(text: str, spoken: str) -> Iterator[str]:
    """Say what kinds of identifying words people wrote that do not stand in what they read."""
    kinds = {kind for kind, words in find_identifying(text) if words.lower() not in spoken}
    yield from (f"{kind.replace('-', ' ')} in a person's words" for kind in sorted(kinds))


def _ids_by_people(records: Mapping[type[Any], Sequence[Any]]) -> dict[str, str]:
    """Return the item of every record that holds words of a person, by the record's id."""
    people = {one.id for one in records.get(Rater, ()) if one.kind == "human"}
    texts = {one.id: one for one in records.get(Completion, ())}
    found = {id_: one.item_id for id_, one in texts.items() if one.writer_id is not None}
    asked = {one.id: one for one in records.get(Assignment, ())}
    for one in records.get(Judgment, ()):
        of = asked[one.assignment_id]
        if of.rater_id in people:
            found[one.id] = texts[of.first_completion_id].item_id
    for one in (*records.get(Rating, ()), *records.get(Label, ())):
        if one.rater_id in people and one.completion_id in texts:
            found[one.id] = texts[one.completion_id].item_id
    return found


def _words(record: Any) -> str:
    match record:
        case Completion():
            return record.text
        case Judgment():
            return "\n".join((record.rationale, *record.reasons.values()))
        case Rating():
            return "\n".join(record.comments.values())
        case Label():
            return record.evidence
    return ""


def _values(record: Any) -> list[Any]:
    """Return the texts of a record that are no id."""
    return [
        value if isinstance(value, str) else json.dumps(value, default=str)
        for name in getattr(record, "__dataclass_fields__", ())
        if (not name.endswith("id") or name in NAMES)
        and name not in ("call", "created_at", "context")
        for value in [getattr(record, name)]
        if value
    ] + [turn.text for turn in getattr(record, "context", ())]
