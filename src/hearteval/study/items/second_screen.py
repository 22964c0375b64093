"""The second screen of a study's items: who said what, what is replaced, what is accepted.

The items of such a study are candidates in an item file. `heart label` has models answer the
questions of ``item-screen``, people answer them on the pages, and what both come to is read here.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hearteval.config import StudySettings
from hearteval.config.people import readers_alone
from hearteval.domain import Item, Label, Rater, Study, hash_records
from hearteval.errors import SettingsError
from hearteval.items.accepted import Accepted, accept_items
from hearteval.items.dialogues import ItemFile
from hearteval.items.files import format_items, format_screenings
from hearteval.items.placeholders import (
    Detail,
    find_left,
    in_words,
    replace_details,
    settle_beside,
)
from hearteval.items.run import evidence_path, read_item_file, read_screenings
from hearteval.items.screen_agreement import ScreenAgreement, agree_on_items
from hearteval.items.screening import DEFAULT_TOPICS, Topics, screen_item, topics_of
from hearteval.items.second_screen import ITEM_SCREEN, Decision, Sources, decide, needs_person
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.study import write_whole
from hearteval.study.items.files import require_room
from hearteval.study.labels import labeler_rater
from hearteval.study.people import Desk, ItemReading
from hearteval.study.session import Session

Place = tuple[str, str, int]
"""Where an item comes from: its id changes where a detail is replaced, and this does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """What is known of a study's candidates.

    Attributes:
        labels: Of the candidates as they are now.
        beside: By item id, what was put in place of details beside the conversation, in words.
    """

    decisions: tuple[Decision, ...]
    labels: tuple[Label, ...]
    sources: Sources
    topics: Topics
    beside: Mapping[str, str]

    @property
    def agreement(self) -> ScreenAgreement:
        """How far labelers and people agree."""
        items = [one.item for one in self.decisions]
        return agree_on_items(items, self.labels, self.sources, load_taxonomy(ITEM_SCREEN))


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """What was replaced in a file of candidates.

    Attributes:
        details: By the id of the new item.
        by_hand: By item id, the questions whose detail nobody could replace without reading.
        refused: Rewritten items that a rule of the first screen now rejects, with the rule.
    """

    path: Path
    details: Mapping[str, Sequence[Detail]]
    by_hand: Mapping[str, Sequence[str]]
    refused: Mapping[str, str]


def read_screened(session: Session, study: Study, *, by_people: bool = True) -> Screened:
    """Read what labelers and people said of a study's items, and what becomes of each.

    What was replaced in an item before must not stand in it again, whoever overlooks it.
    """
    store, taxonomy = session.store, load_taxonomy(ITEM_SCREEN)
    topics = next((t.topics for t in session.settings.items if t.topics), DEFAULT_TOPICS)
    raters = (labeler_rater(one, taxonomy) for one in session.settings.labelers if one.model)
    sources = Sources(
        labelers={rater.id: rater.name for rater in raters},
        people={rater.id for rater in store.iter(Rater) if by_people and rater.kind == "human"},
    )
    items = {item.id: item for item in store.iter(Item, study)}
    known = {_place(item): item.id for item in items.values()}
    before = [one for one in store.iter(Item) if one.id not in items and _place(one) in known]
    every = store.iter(Label) if before else store.labels_of(study, ITEM_SCREEN)
    said: defaultdict[str, list[Label]] = defaultdict(list)
    for label in every:
        if label.taxonomy == ITEM_SCREEN and label.item_id is not None:
            said[label.item_id].append(label)
    settled = {
        item.id: decide(item, said[item.id], sources, topics=topics, taxonomy=taxonomy)
        for item in (*items.values(), *before)
    }
    for old in before:
        id_ = known[_place(old)]
        settled[id_] = _without_traces(settled[id_], settled[old.id], said[old.id])
    without = {id_: settle_beside(settled[id_], taxonomy) for id_ in items}
    decisions = [decision for decision, _ in without.values()]
    decisions.sort(key=lambda one: (one.item.dialogue_id, one.item.turn_index, one.item.id))
    return Screened(
        decisions=tuple(decisions),
        labels=tuple(label for id_ in items for label in said[id_]),
        sources=sources,
        topics=topics,
        beside={id_: words for id_, (_, words) in without.items() if words},
    )


def open_reading(session: Session, study: Study, *, is_of_all: bool, n_people: int) -> Desk:
    """Return a desk at which people read candidates: what is open of each, or all of every one.

    What is open is what labelers leave open: it stays the same while people answer. A study without
    a ``[people]`` has people who come to read and are asked nothing else.

    Raises:
        SettingsError: The study has no item file of its own.
    """
    candidates_file(session.settings)
    screened = read_screened(session, study, by_people=False)
    questions = {
        one.item.id: tuple(one.answers) if is_of_all else needs_person(one)
        for one in screened.decisions
    }
    waits = {one.item.id for one in screened.decisions if one.standing == "waiting"}
    order = sorted(
        questions, key=lambda id_: (id_ not in waits, seeded_rank(study.seed, "read", id_))
    )
    people = session.settings.people or readers_alone()
    settings = replace(session.settings, people=people)
    return Desk(
        session=replace(session, settings=settings),
        study=study,
        reading=ItemReading(
            questions={id_: questions[id_] for id_ in order if questions[id_]}, n_people=n_people
        ),
    )


def redact_candidates(session: Session, screened: Screened) -> Redacted:
    """Put placeholders in place of the details in the file of candidates, and log where.

    The file holds other items then, which are screened by the rules again and wait for labels.

    Raises:
        SettingsError: The study has no item file of its own.
    """
    path, taxonomy = candidates_file(session.settings), load_taxonomy(ITEM_SCREEN)
    read = read_items_to_change(path)
    screenings = list(read_screenings(path))
    topics_by_item = {one.item_id: topics_of(one.version) for one in screenings}
    found = [
        (one.item, replace_details(one, taxonomy))
        for one in screened.decisions
        if one.standing == "identifying"
    ]
    new: dict[str, Item] = {}
    refused: dict[str, str] = {}
    for old, done in found:
        if not done.details:
            continue
        new[old.id] = done.item
        topics = topics_by_item.get(old.id)
        again = () if topics is None else screen_item(done.item, topics=topics)
        screenings = [one for one in screenings if one.item_id != old.id] + list(again)
        refused.update((one.item_id, one.rule) for one in again if one.verdict == "fail")
    kept = [new.get(item.id, item) for item in read.items]
    if new:
        _log(path, [(old, done.item, done.details) for old, done in found])
        items = [item for item in kept if item.id not in refused]
        write_whole(path, format_items(items, canaries=read.canaries), is_private=True)
        if screenings:
            write_whole(evidence_path(path), format_screenings(screenings), is_private=True)
    return Redacted(
        path=path,
        details={done.item.id: done.details for _, done in found if done.details},
        by_hand={done.item.id: done.by_hand for _, done in found if done.by_hand},
        refused=refused,
    )


def accept_candidates(
    session: Session, screened: Screened, *, n: int, seed: int | None = None
) -> Accepted:
    """Choose the items of a study's candidates; nothing is written.

    Raises:
        SettingsError: The evidence beside the candidates cannot be read.
    """
    path = candidates_file(session.settings)
    return accept_items(
        screened.decisions,
        read_screenings(path),
        n=n,
        rng=np.random.default_rng(session.settings.seed if seed is None else seed),
        topics=screened.topics,
        version=load_taxonomy(ITEM_SCREEN).version,
        replaced={**_read_log(path), **screened.beside},
    )


def write_accepted(session: Session, accepted: Accepted, out: Path, *, replace_it: bool) -> str:
    """Write an item set with its evidence; return its hash.

    Raises:
        SettingsError: A file is there that holds other content, or there is no item to write.
    """
    path = candidates_file(session.settings)
    if out.resolve() == path.resolve():
        raise SettingsError(f"{out}: holds the candidates; give the items another --out")
    if not accepted.items:
        raise SettingsError(
            f"{path}: none of its {sum(accepted.standings.values())} candidates may be an item yet,"
            " so none is written",
            ids=(str(path),),
        )
    canaries = read_item_file(path).canaries
    files = {
        out: format_items(accepted.items, canaries=canaries),
        evidence_path(out): format_screenings(accepted.screenings),
    }
    for file, text in files.items():
        require_room(file, text, replace=replace_it)
    for file, text in files.items():
        write_whole(file, text, is_private=True)
    return hash_records(accepted.items)


def candidates_file(settings: StudySettings) -> Path:
    """Return the item file that a study's candidates stand in.

    Raises:
        SettingsError: They come from elsewhere, or from several files.
    """
    paths = [table.path for table in settings.items if table.source == "file"]
    if len(settings.items) != 1 or not paths or paths[0] is None:
        raise SettingsError(
            f"{settings.file}: items.source: a second screen is of one item file of candidates;"
            " make it with `heart items build --regular 600 --out candidates.jsonl`, or of your"
            " own dialogues with `heart items convert`",
            ids=("items.source",),
        )
    return paths[0]


def read_items_to_change(path: Path) -> ItemFile:
    """Read a file of whole items.

    Raises:
        SettingsError: It holds dialogues in another form, which cannot be written back.
    """
    read = read_item_file(path)
    if read.form != "items":
        raise SettingsError(
            f"{path}: holds dialogues; make it an item file with `heart items convert`, and name"
            " that one in the study file",
            ids=(str(path),),
        )
    return read


def log_path(path: Path) -> Path:
    """Return where it is logged what was replaced in an item file."""
    return path.with_name(path.name + ".redacted.jsonl")


def _place(item: Item) -> Place:
    return item.source, item.dialogue_id, item.turn_index


def _without_traces(now: Decision, before: Decision, labels: Sequence[Label]) -> Decision:
    left = find_left(before, labels, now.item)
    if not left or now.standing == "out":
        return now
    return replace(now, standing="identifying", reasons=(*now.reasons, *left))


def _log(path: Path, found: Iterable[tuple[Item, Item, Sequence[Detail]]]) -> None:
    """Add what was replaced: the kind of detail, the turn and the placeholder, never the detail."""
    log = log_path(path)
    lines = [log.read_text(encoding="utf-8")] if log.exists() else []
    lines += [
        json.dumps({"item_id": new.id, "was": old.id, **one._asdict()}) + "\n"
        for old, new, details in found
        for one in details
    ]
    write_whole(log, "".join(lines), is_private=True)


def _read_log(path: Path) -> dict[str, str]:
    """Return by item id what was replaced in it, in words; of what came of it too."""
    log = log_path(path)
    text = log.read_text(encoding="utf-8") if log.exists() else ""
    found: defaultdict[str, list[Detail]] = defaultdict(list)
    for line in filter(str.strip, text.split("\n")):
        try:
            one = json.loads(line)
            detail = Detail(*(one[key] for key in Detail._fields))
            found[one["item_id"]] += [*found.get(one["was"], ()), detail]
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(
                f"{log}: a line is no entry of what was replaced; restore the file",
                ids=(str(log),),
            ) from error
    return {item_id: in_words(details) for item_id, details in found.items()}
