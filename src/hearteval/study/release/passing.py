"""What a release passes on: the records of a study, without words that may not leave it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from hearteval.domain import (
    LEFT_OUT,
    WITHDRAWN,
    Assignment,
    Attempt,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Rating,
    Screening,
    Study,
    System,
    is_tombstone,
)
from hearteval.judgments.calibration import calibration_study_id
from hearteval.judgments.drift import drift_study_id
from hearteval.judgments.halo import halo_study_id
from hearteval.judgments.stress_set.audit import audit_study_id
from hearteval.store.base import Store
from hearteval.store.records import Record
from hearteval.store.rows import TABLES
from hearteval.study.people.background import told_of
from hearteval.study.records.permitted import Permitted, may_be_passed_on, repeats
from hearteval.study.release.refusals import GROUP, coarsen

BESIDE: tuple[Callable[[Study], str], ...] = (
    audit_study_id,
    halo_study_id,
    calibration_study_id,
    drift_study_id,
)
"""Studies of a study's judges, which its results rest on too."""

QUOTE = 8
"""Words in a row that a reply has from its dialogue by repeating it, and not by chance."""


def members_of(store: Store, study: Study) -> dict[type[Any], dict[str, Any]]:
    """Return every record that a study's newest version rests on, by kind and id.

    What earlier versions alone name is left out, and so is what refers to it.
    """
    found: dict[type[Any], dict[str, Any]] = {kind: {} for kind in TABLES}
    beside = [store.latest_study(of(study)) for of in BESIDE]
    for one in (study, *filter(None, beside)):
        found[Study][one.id] = one
        for kind in TABLES:
            if kind is not Study:
                found[kind] |= {record.id: record for record in store.iter(kind, one)}
    who = {label.rater_id for label in found[Label].values()} - found[Rater].keys()
    found[Rater] |= {one.id: one for one in store.find(Rater, sorted(who))}
    for kind, holds in _REFERS.items():
        found[kind] = {id_: one for id_, one in found[kind].items() if holds(one, found)}
    return found


_Found = Mapping[type[Any], Mapping[str, Any]]
_NAMED: Mapping[str, type[Any]] = {
    "item_id": Item,
    "system_id": System,
    "rater_id": Rater,
    "completion_id": Completion,
    "assignment_id": Assignment,
    "judgment_id": Judgment,
    "pair_id": Pair,
    "first_completion_id": Completion,
}


def _is_whole(record: Any, found: _Found) -> bool:
    """Say whether all that a record refers to is there."""
    named = ((getattr(record, name, None), kind) for name, kind in _NAMED.items())
    return all(id_ is None or id_ in found[kind] for id_, kind in named)


def _is_whole_pair(pair: Any, found: _Found) -> bool:
    return pair.item_id in found[Item] and found[Completion].keys() >= set(pair.completion_ids)


_REFERS: Mapping[type[Any], Callable[[Any, _Found], bool]] = {
    Pair: _is_whole_pair,
    **dict.fromkeys((Assignment, Judgment, Rating, Label, Attempt), _is_whole),
}
"""In this order, each after what it may refer to."""


@dataclass(frozen=True)
class Passing(Permitted):
    """A study as a release has it; counts what it leaves out by what it is."""

    is_coarse: bool = False
    """Whether less may be said of people until enough are alike."""
    n_left_out: Counter[str] = field(default_factory=Counter)

    @cached_property
    def _members(self) -> dict[type[Any], dict[str, Any]]:
        return members_of(self.session.store, self.study)

    @cached_property
    def said(self) -> Mapping[str, Mapping[str, Any]]:
        """What is said of each person whose records are passed on, by pseudonym.

        Of whoever has withdrawn that is nothing. Who joined and did nothing hides nobody.
        """
        there = {one.name for one in self._members[Rater].values() if one.kind == "human"}
        people = self.session.store.people.people(self.study.id)
        known = {
            one.name: {**({GROUP: one.group} if one.group else {}), **told_of(one)}
            for one in people
            if one.name in there
        }
        gone = {one.name for one in people if one.withdrawn_at is not None}
        said = coarsen(
            {k: of for k, of in known.items() if k not in gone}, is_allowed=self.is_coarse
        )
        return {name: said.get(name, {}) for name in known}

    def records(self) -> Iterator[tuple[type[Any], list[Record]]]:
        """Yield what is passed on, kind by kind, in the order in which they may refer."""
        for kind, members in self._members.items():
            yield kind, [self._passed_on(members[id_]) for id_ in sorted(members)]

    @cached_property
    def unreadable(self) -> frozenset[str]:
        """Texts that may not leave: of people, and of corpora that are not ours to pass on."""
        if not self._closed_items:
            return super().unreadable
        repeating = {id_ for id_, one in self._members[System].items() if repeats(one)}
        texts = self._members[Completion].items()
        return super().unreadable | {
            id_ for id_, one in texts if one.system_id in repeating or self._quotes(one)
        }

    def _quotes(self, text: Completion) -> bool:
        """Say whether a reply, whoever gave it, repeats a dialogue that is not passed on."""
        closed = self._closed_runs.get(text.item_id)
        return closed is not None and not closed.isdisjoint(_runs(text.text))

    @cached_property
    def _closed_runs(self) -> dict[str, set[tuple[str, ...]]]:
        closed = (self._members[Item][id_] for id_ in self._closed_items)
        return {
            one.id: set().union(
                *(_runs(turn.text) for turn in one.context),
                *(_runs(text or "") for text in (one.reference, one.situation)),
            )
            for one in closed
        }

    @cached_property
    def _closed_items(self) -> frozenset[str]:
        items = self._members[Item].items()
        return frozenset(id_ for id_, one in items if not may_be_passed_on(one))

    def _passed_on(self, record: Record) -> Record:
        after = self._without_words(record)
        if after != record or is_tombstone(record):
            self.n_left_out[type(record).__name__.lower()] += 1
        return after

    def _without_words(self, record: Record) -> Record:  # noqa: PLR0911 - one line a kind
        match record:
            case Item():
                return record.without_texts() if record.id in self._closed_items else record
            case Screening():
                is_closed = record.item_id in self._closed_items
                return replace(record, evidence="") if is_closed else record
            case Completion():
                is_gone = record.id in self.unreadable or record.text == WITHDRAWN
                return replace(record, text=LEFT_OUT) if is_gone else record
            case Judgment():
                return record if self._may_reason(record) else _bare(record)
            case Rating():
                rater = self._members[Rater][record.rater_id]
                item_id = self._members[Completion][record.completion_id].item_id
                may_leave = item_id not in self._closed_items
                may_leave &= self.may_say(rater, record.id, record.completion_id)
                return record if may_leave else replace(record, comments={}, raw="")
            case Attempt():
                return replace(record, raw="", detail=None)
            case Label():
                may_leave = self.may_quote(record) and self._is_open(record)
                return record if may_leave else replace(record, evidence="")
            case Rater():
                return replace(record, group=self.said.get(record.name, {}).get(GROUP))
        return record

    def _may_reason(self, record: Judgment) -> bool:
        assignment = self._members[Assignment][record.assignment_id]
        pair = self._members[Pair][assignment.pair_id]
        rater = self._members[Rater][assignment.rater_id]
        # Whoever gives a reason may quote what they read.
        is_open = pair.item_id not in self._closed_items
        return is_open and self.may_say(rater, record.id, *pair.completion_ids)

    def _is_open(self, label: Label) -> bool:
        """Say whether what a label may quote is not of a dialogue that is not passed on."""
        if label.item_id is not None:
            return label.item_id not in self._closed_items
        if label.judgment_id is not None:
            judgment = self._members[Judgment][label.judgment_id]
            return self._may_reason(judgment)
        return label.completion_id not in self.unreadable


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return the words of a text, as many in a row as make a quote."""
    words = re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|\w+", text.casefold())  # a sign is a word
    return {tuple(words[k : k + QUOTE]) for k in range(len(words) - QUOTE + 1)}


def _bare(record: Judgment) -> Judgment:
    return replace(record, rationale="", reasons={}, raw="")
