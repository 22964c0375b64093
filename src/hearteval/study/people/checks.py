"""Checks and repeats among a person's comparisons: their records, and what came of them."""

from hearteval.analysis.data import judgment_rows
from hearteval.analysis.quality.answers import (
    CheckKind,
    CheckRecords,
    PersonAnswers,
    answers_of_people,
)
from hearteval.domain import Assignment, Completion, Judgment, Pair, Rater, Rating, Study, System
from hearteval.judgments.people_checks import ROLE, SCORE, checks_study_id
from hearteval.store.base import Store


def read_answers(store: Store, study: Study) -> dict[str, PersonAnswers]:
    """Return what each person of a study answered beside its ranking, by rater id.

    Checks and repeats are there where the study asked for them, triads wherever somebody compared
    three replies to one item in all pairs.
    """
    people = {rater.id for rater in store.iter(Rater, study) if rater.kind == "human"}
    rows = [r for r in judgment_rows(store.judgment_table(study)) if r.rater_id in people]
    pairs = store.find(Pair, sorted({row.pair_id for row in rows}))
    return answers_of_people(rows, pairs, _stored(store, study), store.people.seconds(study.id))


def _stored(store: Store, study: Study) -> CheckRecords:
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
    kinds: dict[str, CheckKind] = {
        pair.id: "gold" if of[pair.completion_ids[0]][ROLE].startswith("gold") else "attention"
        for pair in keyed
    }
    return CheckRecords(
        kinds=kinds,
        scores={id_: settings[SCORE] for id_, settings in of.items() if SCORE in settings},
        assignments=assigned,
        judgments=list(store.iter(Judgment, checks)),
        ratings=ratings,
    )
