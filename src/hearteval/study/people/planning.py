"""What there is to do: texts are screened, then tasks opened for what may be shown.

Run again it adds only what is new, so it runs whenever somebody has written or reviewed. People get
the pairs that the judges get, or a random share of them within strata (SPEC section 5, Overlap).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hearteval.analysis.labels.people import LabelAgreement, agree_on_labels
from hearteval.analysis.labels.safety import SafetyResults, measure_screens
from hearteval.domain import Assignment, Completion, Item, Judgment, Label, Pair, Rater, System
from hearteval.items.second_screen import ITEM_SCREEN
from hearteval.judgments.plan.pairs import Candidate, choose_pairs, enumerate_pairs, seeded_rank
from hearteval.judgments.plan.run import most_while_people_write, standings_of
from hearteval.labels.safety import SAFETY, Standing
from hearteval.labels.taxonomy import TaxonomyName, Unit, load_taxonomy
from hearteval.labels.texts import reasons_text
from hearteval.steps.labels import screen_by_rules, texts_to_label
from hearteval.store.people.tasks import PlannedTask
from hearteval.study.people import Desk, ItemReading
from hearteval.study.people.checks import store_checks
from hearteval.study.people.labelling import (
    both_answers,
    is_to_settle,
    label_kind,
    labels_of_people,
    settle_kind,
)
from hearteval.study.people.languages import part_by_language
from hearteval.study.people.practice import store_examples
from hearteval.study.people.watch.held import list_held
from hearteval.study.people.watch.work import watch_work
from hearteval.study.report.screened import read_screened
from hearteval.study.session import stored_plan

LEVEL = 0.95
RANK_DIGITS = 15
"""Of a hash, as many as fit into a whole number of the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """What there is to do now."""

    n_released: int
    """Texts that may be shown."""
    n_waiting: int
    """Texts that wait for a person to read them."""
    n_kept_out: int
    n_new: int
    """Tasks that were not there before."""


def open_tasks(desk: Desk) -> Opened:
    """Screen what is new, and open the tasks that follow from what is stored."""
    store, study = desk.session.store, desk.study
    if desk.reading is not None:
        return _open_reading(desk, desk.reading)
    systems = {s.id: s for s in store.iter(System, study) if s.kind != "stress"}
    items = {item.id: item for item in store.iter(Item, study)}
    shown = {one.id for one in items.values() if one.is_within(desk.settings.edge)}
    all_texts = [
        c for c in store.iter(Completion, study) if c.system_id in systems and not c.is_withdrawn
    ]
    texts = [text for text in all_texts if text.item_id in shown]
    are_reasons_read = any(_is_of_reasons(one) for one in _labelled_by(desk))
    units: list[Unit] = ["completion", "reasons"] if are_reasons_read else ["completion"]
    screen_by_rules(store, study, units, now=desk.session.now)
    store_examples(desk)
    store_checks(desk)
    standings = standings_of(store, study)
    released = [text for text in texts if standings.get(text.id) == "released"]
    # Pairs are chosen among all, as those of the judges are, and then shown or not.
    to_choose = [text for text in all_texts if standings.get(text.id) == "released"]
    planned = [
        *_writing(desk, [items[id_] for id_ in items if id_ in shown]),
        *_reviews(desk, texts, standings),
        *(
            _judging(desk, to_choose, {id_: items[id_] for id_ in items if id_ in shown})
            if _may_judge(desk, shown, texts, standings)
            else ()
        ),
        *_labelling(desk, released, items, standings),
    ]
    tasks = part_by_language(desk, planned, items)
    n_new = store.people.plan(tasks)
    store.people.open_only(study.id, {task.id for task in tasks}, now=desk.session.now())
    return Opened(
        n_released=len(released),
        n_waiting=sum(standings.get(text.id) == "waiting" for text in texts),
        n_kept_out=sum(standings.get(text.id) == "kept-out" for text in texts),
        n_new=n_new,
    )


def _open_reading(desk: Desk, reading: ItemReading) -> Opened:
    """Open a task for each item that people read, and one more where two differ."""
    store, kind = desk.session.store, label_kind(ITEM_SCREEN)
    labels: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels_of_people(store, load_taxonomy(ITEM_SCREEN), sorted(reading.questions)):
        labels[label.text_id].append(label)
    here = {one.name for one in store.people.people(desk.study.id) if one.withdrawn_at is None}
    names = {rater.id: rater.name for rater in store.iter(Rater) if rater.name in here}
    # In their order: what decides about an item is asked before what is a label and no more.
    tasks = [
        replace(_task(desk, kind, id_, n_places=reading.n_people), rank=place)
        for place, id_ in enumerate(reading.questions)
    ]
    for id_ in reading.questions:
        if is_to_settle(labels[id_]):
            said = {names[one.rater_id] for one in labels[id_] if one.rater_id in names}
            settle, barred = settle_kind(ITEM_SCREEN), tuple(sorted(said))
            tasks.append(_task(desk, settle, id_, n_places=1, writers=barred))
    n_new = store.people.plan(tasks)
    store.people.open_only(desk.study.id, {task.id for task in tasks}, now=desk.session.now())
    return Opened(n_released=0, n_waiting=len(reading.questions), n_kept_out=0, n_new=n_new)


def describe_texts(desk: Desk) -> Mapping[str, Any]:
    """Return what a researcher's page says, by name, that takes reading all that was said.

    ``texts``: how many may be shown, wait, or are kept out; ``reviews``: how far reviewers agree;
    ``screens``: what screens hold and miss; ``labels``: what two who labelled said the same;
    ``watched``: how the work goes; ``held``: the texts that people were to read.
    """
    return {
        "watched": watch_work(desk),
        "held": list_held(desk) if desk.reading is None else [],
        "texts": count_standings(desk),
        "reviews": reviewers_agree(desk),
        "screens": screens_measured(desk),
        "labels": same_answers(desk),
    }


def count_standings(desk: Desk) -> Mapping[Standing, int]:
    """Count the texts that were screened and not withdrawn, by what becomes of them."""
    store, study = desk.session.store, desk.study
    standings = standings_of(store, study)
    texts = (text for text in store.iter(Completion, study) if not text.is_withdrawn)
    return Counter(standings[text.id] for text in texts if text.id in standings)


def reviewers_agree(desk: Desk) -> tuple[LabelAgreement, ...]:
    """Return how far people agree who read the same texts, or the same items of a second screen.

    They say whether a text may be shown, or answer the questions about an item.
    """
    store = desk.session.store
    taxonomy = SAFETY if desk.reading is None else ITEM_SCREEN
    people = {rater.id for rater in store.iter(Rater) if rater.kind == "human"}
    return agree_on_labels(store.labels_of(desk.study, taxonomy), people=people)


def screens_measured(desk: Desk) -> SafetyResults | None:
    """Return what screens hold and miss, by people who reviewed; None where none has read."""
    store, study = desk.session.store, desk.study
    systems = {s.id for s in store.iter(System, study) if s.kind != "stress"}
    texts = [c for c in store.iter(Completion, study) if c.system_id in systems]
    return measure_screens(*read_screened(store, study, texts), level=LEVEL)


def same_answers(desk: Desk) -> list[tuple[str, int, float]]:
    """Return how many texts two people labelled, by title of a taxonomy, and how much is the same.

    That is the share of their answers.
    """
    store, found = desk.session.store, []
    for taxonomy in map(load_taxonomy, _labelled_by(desk)):
        kind = label_kind(taxonomy.name)
        begun = store.people.targets(desk.study.id, kind, only_begun=True)
        by_text: defaultdict[str, list[Label]] = defaultdict(list)
        for label in labels_of_people(store, taxonomy, sorted(begun)):
            by_text[label.text_id].append(label)
        pairs = [said[:2] for one in by_text.values() if len(said := both_answers(one)) > 1]
        same = [
            first[key] == other[key]
            for first, other in pairs
            for key in taxonomy.keys
            if key in first and key in other
        ]
        if same:
            found.append((taxonomy.title, len(pairs), sum(same) / len(same)))
    return found


def _writing(desk: Desk, items: Sequence[Item]) -> list[PlannedTask]:
    n, store = desk.settings.writers_per_item, desk.session.store
    if any(one.kind == "human" and one.id in desk.study.pool for one in store.iter(System)):
        return []  # what people wrote is part of the board that is continued
    return [_task(desk, "write", item.id, n_places=n) for item in items] if n else []


def _reviews(
    desk: Desk, texts: Sequence[Completion], standings: Mapping[str, Standing]
) -> list[PlannedTask]:
    """Open a review of each text that waits; where people differ, for one person more.

    Reasons that people gave wait as replies do, while the replies that they may quote are there;
    what is held of a judge's nobody reads.
    """
    store = desk.session.store
    people = {rater.id: rater.name for rater in store.iter(Rater) if rater.kind == "human"}
    n_said: defaultdict[str, int] = defaultdict(int)
    judged = set()
    for label in store.labels_of(desk.study, SAFETY):
        n_said[label.text_id] += label.rater_id in people
        if label.judgment_id and standings.get(label.judgment_id) == "waiting":
            judged.add(label.judgment_id)
    waiting = {text.id: _writers(text) for text in texts if standings.get(text.id) == "waiting"}
    reasons = {j.assignment_id: j for j in store.find(Judgment, sorted(judged)) if reasons_text(j)}
    assigned = store.find(Assignment, sorted(reasons))
    here = {text.id for text in texts}
    pairs = store.find(Pair, sorted({asked.pair_id for asked in assigned}))
    whole = {pair.id for pair in pairs if here.issuperset(pair.completion_ids)}
    for asked in assigned:
        if asked.rater_id in people and asked.pair_id in whole:
            waiting[reasons[asked.id].id] = (people[asked.rater_id],)
    n_asked = desk.settings.reviewers_per_text
    return [
        _task(desk, "review", id_, n_places=max(n_asked, n_said[id_] + 1), writers=writers)
        for id_, writers in waiting.items()
    ]


def _may_judge(
    desk: Desk,
    item_ids: Collection[str],
    texts: Sequence[Completion],
    standings: Mapping[str, Standing],
) -> bool:
    """Say whether there is anything to judge yet, where judging waits for the last to write.

    Once it has begun it goes on, also where somebody withdraws and their place is free again.
    """
    settings = desk.settings
    kinds = ("judge", "rate")
    begun = any(desk.session.store.people.targets(desk.study.id, kind) for kind in kinds)
    if settings.judging_opens == "while-writing" or not settings.writers_per_item or begun:
        return True
    written = Counter(
        text.item_id
        for text in texts
        if text.writer_id is not None and standings.get(text.id) != "waiting"
    )
    return all(written[id_] >= settings.writers_per_item for id_ in item_ids)


def _judging(
    desk: Desk, released: Sequence[Completion], items: Mapping[str, Item]
) -> list[PlannedTask]:
    """Open what is to be judged of these items; pairs are chosen as if all items were shown."""
    n = desk.settings.raters_per_pair
    if not n:
        return []
    if desk.settings.protocol == "rating":
        return [
            _task(desk, "rate", text.id, n_places=n, writers=_writers(text))
            for text in released
            if text.item_id in items
        ]
    store, study = desk.session.store, desk.study
    candidates, _ = enumerate_pairs(released, display=study.display)
    policy = stored_plan(study)
    before = store.people.targets(study.id, "judge")
    chosen: Sequence[Candidate] = choose_pairs(
        candidates,
        policy,
        seed=study.seed,
        planned=before.union(*store.planned(study).values()),
        most=most_while_people_write(store, study, policy.comparisons),
        pool=study.pool,
    )
    chosen = [one for one in chosen if one.item_id in items]
    shared = _draw(desk, chosen, items, before)
    by_id = {text.id: text for text in released}
    new = [one for one in shared if one.id not in before]
    known = {pair.id for pair in store.find(Pair, [one.id for one in new])}
    store.add([one.pair for one in new if one.id not in known], first_stays=True)
    return [
        _task(
            desk,
            "judge",
            one.id,
            n_places=n,
            writers=tuple(name for id_ in one.completion_ids for name in _writers(by_id[id_])),
        )
        for one in shared
    ]


def _draw(
    desk: Desk, candidates: Sequence[Candidate], items: Mapping[str, Item], before: Collection[str]
) -> list[Candidate]:
    """Draw the pairs of people, so many or a share, within each two systems and subset of items."""
    strata = {one.id: (*one.system_ids, items[one.item_id].subset) for one in candidates}
    seed, n = desk.study.seed, desk.settings.sample
    if n is None:
        share = desk.settings.overlap
        return choose_share(candidates, strata, share=share, seed=seed, before=before)
    drawn = choose_sample(strata, n=n, seed=seed, begun=before, of="people")
    return [one for one in candidates if one.id in drawn]


def choose_share(
    candidates: Sequence[Candidate],
    stratum: Mapping[str, tuple[str, ...]],
    *,
    share: float,
    seed: int,
    before: Collection[str],
) -> list[Candidate]:
    """Choose a share of the pairs of each stratum, named by pair, by the seed.

    Pairs chosen `before`, by id, stay; of each stratum at least one pair is chosen.
    """
    strata: defaultdict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for one in candidates:
        strata[stratum[one.id]].append(one)
    found = []
    for members in strata.values():
        members.sort(key=lambda one: (one.id not in before, seeded_rank(seed, "people", one.id)))
        n = max(math.ceil(share * len(members)), sum(one.id in before for one in members))
        found += members[:n]
    return sorted(found, key=lambda one: one.id)


def _labelled_by(desk: Desk) -> tuple[TaxonomyName, ...]:
    asked = desk.session.settings.people_labels
    return () if asked is None else asked.taxonomies


def _is_of_reasons(taxonomy: TaxonomyName) -> bool:
    return "reasons" in load_taxonomy(taxonomy).of


class _Text(NamedTuple):
    """A text that people may label."""

    stratum: tuple[str, ...]
    writers: tuple[str, ...]


def _labelling(
    desk: Desk,
    released: Sequence[Completion],
    items: Mapping[str, Item],
    standings: Mapping[str, Standing],
) -> list[PlannedTask]:
    """Have people label a sample of the texts; where two differ, somebody else decides."""
    asked = desk.session.settings.people_labels
    if asked is None:
        return []
    store, found = desk.session.store, list[PlannedTask]()
    # Whoever has withdrawn can come to no task, and what they chose stays.
    here = {one.name for one in store.people.people(desk.study.id) if one.withdrawn_at is None}
    names = {rater.id: rater.name for rater in store.iter(Rater) if rater.name in here}
    replies = {
        text.id: _Text((text.system_id, items[text.item_id].subset), _writers(text))
        for text in released
    }
    for taxonomy in asked.taxonomies:
        kind = label_kind(taxonomy)
        begun = store.people.targets(desk.study.id, kind, only_begun=True)
        texts = _reasons(desk, taxonomy, standings) if _is_of_reasons(taxonomy) else replies
        strata = {text_id: text.stratum for text_id, text in texts.items()}
        chosen = choose_sample(strata, n=asked.n_texts, seed=desk.study.seed, begun=begun)
        labels: defaultdict[str, list[Label]] = defaultdict(list)
        for label in labels_of_people(store, load_taxonomy(taxonomy), sorted(chosen)):
            labels[label.text_id].append(label)
        for text_id in sorted(chosen):
            own = texts[text_id].writers
            found.append(_task(desk, kind, text_id, n_places=asked.per_text, writers=own))
            if is_to_settle(labels[text_id]):
                said = {names[one.rater_id] for one in labels[text_id] if one.rater_id in names}
                barred = (*own, *sorted(said))
                settle = settle_kind(taxonomy)
                found.append(_task(desk, settle, text_id, n_places=1, writers=barred))
    return found


def _reasons(
    desk: Desk, taxonomy: TaxonomyName, standings: Mapping[str, Standing]
) -> dict[str, _Text]:
    """Return the released reasons that labelers read too, whose they are, and of which kind."""
    store = desk.session.store
    asked = replace(load_taxonomy(taxonomy), n_comparisons=desk.session.settings.n_reasons)
    ids = [
        id_ for id_ in texts_to_label(store, desk.study, asked) if standings.get(id_) == "released"
    ]
    given = {one.assignment_id: one.id for one in store.find(Judgment, ids)}
    raters = {rater.id: rater for rater in store.iter(Rater, desk.study)}
    found = {}
    assigned = store.find(Assignment, sorted(given))
    about = {one.id: one.item_id for one in store.find(Pair, sorted({a.pair_id for a in assigned}))}
    items = {one.id: one for one in store.iter(Item, desk.study)}
    for one in assigned:
        if not items[about[one.pair_id]].is_within(desk.settings.edge):
            continue
        rater = raters[one.rater_id]
        own = (rater.name,) if rater.kind == "human" else ()
        found[given[one.id]] = _Text((rater.kind,), own)
    return found


def choose_sample(
    strata: Mapping[str, tuple[str, ...]],
    *,
    n: int,
    seed: int,
    begun: Collection[str],
    of: str = "label",
) -> frozenset[str]:
    """Choose `n` texts by the seed, from each stratum its share, and from each at least one.

    Strata are given by text, or by pair; `of` names the draw. What was `begun` stays, where it
    makes them more than `n` too: a study may have grown since.
    """
    members: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for text, stratum in strata.items():
        members[stratum].append(text)
    ranked = []
    for texts in members.values():
        texts.sort(key=lambda text: (text not in begun, seeded_rank(seed, of, text)))
        ranked += [(k / len(texts), text) for k, text in enumerate(texts)]
    ranked.sort(key=lambda one: (one[0], seeded_rank(seed, of, one[1])))
    first = {text for _, text in ranked[:n]}
    return frozenset(first | (strata.keys() & begun))


def _task(
    desk: Desk, kind: str, target_id: str, *, n_places: int, writers: tuple[str, ...] = ()
) -> PlannedTask:
    rank = int(seeded_rank(desk.study.seed, kind, target_id)[:RANK_DIGITS], 16)
    return PlannedTask(
        study_id=desk.study.id,
        kind=kind,
        target_id=target_id,
        rank=rank,
        n_places=n_places,
        writers=writers,
    )


def _writers(text: Completion) -> tuple[str, ...]:
    return () if text.writer_id is None else (text.writer_id,)
