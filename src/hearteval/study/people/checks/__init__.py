"""Checks, repeats and triads among a person's comparisons: which comes next, what came of them.

Checks and repeats are tasks of one person alone, of a study beside the one that people take part in
(`hearteval.judgments.people_checks`): the places of ordinary tasks are what they were without them.
For a triad an ordinary comparison is taken before others. When each comes: `checks.due`.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from hearteval.analysis.judgments import judgment_columns
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.quality.answers import CheckRecords, PersonAnswers, answers_of_people
from hearteval.domain import (
    Assignment,
    Completion,
    Judgment,
    Pair,
    Rater,
    Rating,
    Study,
    System,
    record_id,
)
from hearteval.judgments.people_checks import (
    ROLE,
    SCORE,
    CheckSet,
    assign_again,
    assign_check,
    checks_study,
    checks_study_id,
    make_checks,
)
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.store.base import Store
from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import ANY, Dealt, Lease, PlannedTask, Wish
from hearteval.study.people import Desk
from hearteval.study.people.checks.due import (
    Draw,
    is_check_due,
    is_gold,
    next_of_triad,
    repeat_due,
    triad_due,
)
from hearteval.study.people.task import kept, rater_of

KINDS_CHECKED = ("judge", "rate")
NOT_DONE = ("held", "lapsed")
"""States of a task that a person has in hand, or had."""
_CHECKS = "checks of people"


def checks_of(desk: Desk) -> Mapping[str, CheckSet]:
    """Return the checks of a study, by language; none where it asks for none. They never change."""
    if _CHECKS not in desk.kept:
        protocol, now = desk.settings.protocol, desk.session.now()
        desk.kept[_CHECKS] = {
            language: make_checks(texts, protocol=protocol, language=language, now=now)
            for language, texts in desk.settings.check_texts.items()
        }
    found: Mapping[str, CheckSet] = desk.kept[_CHECKS]
    return found


def store_checks(desk: Desk) -> None:
    """Store the checks beside the study, where people meet any."""
    if desk.settings.quality is None:
        return
    store, sets = desk.session.store, list(checks_of(desk).values())
    before = store.latest_study(checks_study_id(desk.study))
    made = checks_study(desk.study, before, sets)
    if made != before:
        store.add([*(one for each in sets for one in each.records), made], first_stays=True)


def given_check(desk: Desk, lease: Lease) -> Assignment:
    """Return what a task of one person alone asks: a check, or a pair once more."""
    (found,) = desk.session.store.find(Assignment, [lease.target_id], are_there=True)
    return found


def given_reply(desk: Desk, lease: Lease) -> str:
    """Return the id of the reply that an attention check of one person alone shows."""
    replies = (check.completion_ids[0] for one in checks_of(desk).values() for check in one.checks)
    return next(id_ for id_ in replies if _alone(lease.person_id, id_) == lease.target_id)


def _alone(person_id: str, completion_id: str) -> str:
    return record_id("check", {"person": person_id, "completion": completion_id})


def wish_of(desk: Desk, person: Person, kind: str, *, sitting: Sequence[datetime]) -> Wish:
    """Return what a person is to get next: a check, a repeat, a pair of a triad, or anything.

    `sitting` is when they answered without a long break, checks and repeats too.
    """
    quality = desk.settings.quality
    if quality is None or kind not in KINDS_CHECKED:
        return ANY
    given = desk.session.store.people.dealt(person, kind)
    alone = [one for one in given if one.study_id != desk.study.id]
    for one in alone:
        if one.state in NOT_DONE:
            return Wish(own=_own(desk, kind, one.target_id))
    draw = Draw(desk.study.seed, person.id)
    settings = desk.settings
    most = (quality.checks_within, settings.most_per_session, settings.load)
    within = min(n for n in most if n is not None)
    asked = desk.session.store.find(Assignment, [one.target_id for one in alone])
    repeated = {one.id for one in asked if one.repeat}
    checks = [one for one in alone if one.target_id not in repeated]
    answered = [one.answered_at for one in checks if one.state == "done"]
    is_due = is_check_due(
        quality,
        draw,
        n_sitting=len(sitting),
        n_checks=sum(at in sitting for at in answered),
        n_ever=len(answered),
        within=within,
    )
    if is_due:
        gold = is_gold(draw, n_ever=len(answered))
        found = _next_check(desk, person, kind, {one.target_id for one in checks}, gold=gold)
        if found is not None:
            return found
    if kind == "rate":
        return ANY
    shared = [one for one in given if one.study_id == desk.study.id]
    done = [one.target_id for one in shared if one.state == "done"]
    which = repeat_due(quality, draw, n_done=len(done), n_repeats=len(repeated))
    if which is not None:
        return _again(desk, person, done[which])
    due = triad_due(quality, draw, n_done=len(done), within=within)
    return ANY if due is None else Wish(_of_triad(desk, person, shared, done[due[0]], due[1]))


def _own(desk: Desk, kind: str, target_id: str, *, side: int = 0) -> PlannedTask:
    return PlannedTask(
        study_id=checks_study_id(desk.study), kind=kind, target_id=target_id, rank=side, n_places=1
    )


def _next_check(
    desk: Desk, person: Person, kind: str, known: Collection[str], *, gold: bool
) -> Wish | None:
    """Return the next check for a person, of a kind while there are any; None where all came."""
    found = checks_of(desk).get(person.language)
    seed, rater = desk.study.seed, rater_of(person)
    in_order = sorted(
        () if found is None else found.checks,
        key=lambda one: (
            (one.kind == "gold") != gold,
            seeded_rank(seed, person.id, one.completion_ids[0]),
        ),
    )
    for check in in_order:
        if check.pair is not None:
            given = assign_check(desk.study, check, rater)
            if given.id not in known:
                return _given(desk, check.pair, given, rater)
        elif (target_id := _alone(person.id, check.completion_ids[0])) not in known:
            return Wish(own=_own(desk, kind, target_id))
    return None


def _given(desk: Desk, pair: Pair, given: Assignment, rater: Rater) -> Wish:
    side = pair.completion_ids.index(given.first_completion_id)
    return Wish(own=_own(desk, "judge", given.id, side=side), records=[rater, given])


def _again(desk: Desk, person: Person, pair_id: str) -> Wish:
    """Return a pair once more, the other way round."""
    rater, pair = rater_of(person), kept(desk, Pair, pair_id)
    orders = {
        Assignment(
            study_id=desk.study.id, pair_id=pair.id, rater_id=rater.id, first_completion_id=one
        ).id: other
        for one, other in (pair.completion_ids, pair.completion_ids[::-1])
    }
    (before,) = desk.session.store.find(Assignment, sorted(orders))
    again = assign_again(desk.study, before, first_completion_id=orders[before.id])
    return _given(desk, pair, again, rater)


def _of_triad(
    desk: Desk, person: Person, given: Sequence[Dealt], anchor_id: str, n_pairs: int
) -> str:
    """Return the pair that brings a triad with an anchor to so many pairs; "" for none."""
    anchor = kept(desk, Pair, anchor_id)
    seen = [one.target_id for one in given if one.state != "skipped"]
    pairs = desk.session.store.find(Pair, seen)
    known = {one.completion_ids for one in pairs if one.item_id == anchor.item_id}
    free = desk.session.store.people.open_pairs(person, "judge", anchor.item_id)
    return next_of_triad(anchor.completion_ids, known, free, n_pairs=n_pairs)


def read_answers(store: Store, study: Study) -> dict[str, PersonAnswers]:
    """Return what each person of a study answered beside its ranking, by rater id.

    Checks and repeats are there where the study asked for them, triads wherever somebody compared
    three replies to one item in all pairs.
    """
    rows = judgment_columns(store.judgment_table(study, of_people=True))
    pairs = pairs_of(store.find(Pair, sorted(rows.pair.present)))
    return answers_of_people(
        rows, pairs, stored_checks(store, study), store.people.seconds(study.id)
    )


def stored_checks(store: Store, study: Study) -> CheckRecords:
    """Return the checks and repeats that were given to people; none where nobody asked for any."""
    checks = store.latest_study(checks_study_id(study))
    if checks is None:
        return CheckRecords(kinds={}, scores={})
    assigned = list(store.iter(Assignment, checks))
    ratings = list(store.iter(Rating, checks))
    keyed = store.find(Pair, sorted({one.pair_id for one in assigned if one.check is not None}))
    shown = {id_ for pair in keyed for id_ in pair.completion_ids}
    texts = store.find(Completion, sorted(shown | {one.completion_id for one in ratings}))
    systems = store.find(System, sorted({text.system_id for text in texts}))
    said = {system.id: system.settings for system in systems}
    of = {text.id: said[text.system_id] for text in texts}
    return CheckRecords(
        kinds={
            pair.id: "gold" if of[pair.completion_ids[0]][ROLE].startswith("gold") else "attention"
            for pair in keyed
        },
        scores={id_: settings[SCORE] for id_, settings in of.items() if SCORE in settings},
        assignments=assigned,
        judgments=list(store.iter(Judgment, checks)),
        ratings=ratings,
    )
