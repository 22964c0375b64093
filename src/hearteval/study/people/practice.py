"""Practice of those who rate: the keyed examples that judges score by `heart judges calibrate`.

What they say is kept in the same study of its own and enters no score. Nobody is told the keys: a
language model wrote them, and no person has checked them.
"""

from typing import NamedTuple

from hearteval.config import PeopleSettings
from hearteval.domain import Completion, Rating, RatingTarget
from hearteval.judgments.calibration import (
    KeyedExamples,
    calibration_study,
    calibration_study_id,
    keyed_examples,
)
from hearteval.judgments.plan.pairs import seeded_rank
from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.kinds import read_scores
from hearteval.study.people.task import Form, Shown, rater_of, turns_of

_EXAMPLES = "keyed examples"


class Example(NamedTuple):
    """A keyed example that a person is to score."""

    number: int
    """Its place in the person's own order, from 1: all that the page says of it."""
    n_examples: int
    shown: Shown


def asks_to_score(settings: PeopleSettings) -> bool:
    """Return whether people score keyed examples before they rate."""
    return settings.practice and settings.protocol == "rating" and settings.raters_per_pair > 0


def store_examples(desk: Desk) -> None:
    """Store the keyed examples beside the study, where people are to score them."""
    if not asks_to_score(desk.settings):
        return
    store, examples = desk.session.store, _examples(desk)
    before = store.latest_study(calibration_study_id(desk.study))
    made = calibration_study(desk.study, before, examples, before.rater_ids if before else ())
    if made != before:
        store.add(
            [*examples.systems, *examples.items, *examples.completions, made], first_stays=True
        )


def next_example(desk: Desk, person: Person) -> Example | None:
    """Return what a person is to score first; None where they may rate.

    Whoever came by a link for people who need no practice is asked nothing, nor who has rated
    before the study asked for it.
    """
    is_known = person.vetting == "passed" and person.practice is None
    if is_known or not asks_to_score(desk.settings):
        return None
    texts = _in_order(desk, person)
    of_study, rater = calibration_study_id(desk.study), rater_of(person)
    ids = [RatingTarget(of_study, text.id, rater.id, 0).id for text in texts]
    scored = {rating.id for rating in desk.session.store.find(Rating, ids)}
    number = next((k for k, id_ in enumerate(ids, start=1) if id_ not in scored), None)
    if number is None or desk.session.store.people.answered(person, "rate"):
        return None
    return _example(desk, texts, number)


def find_example(desk: Desk, person: Person, number: str) -> Example | None:
    """Return the example of a number, as a page sends it; None where there is none."""
    texts = _in_order(desk, person)
    numbers = {str(k): k for k in range(1, len(texts) + 1)}
    return _example(desk, texts, numbers[number]) if number in numbers else None


def score_example(desk: Desk, person: Person, example: Example, form: Form) -> None:
    """Keep how a person scores an example, the first time for good.

    Raises:
        AnswerError: A score is missing.
    """
    axes, comments = read_scores(form, person.language)
    now = desk.session.now()
    text = _in_order(desk, person)[example.number - 1]
    rater = rater_of(person)
    rating = Rating(
        study_id=calibration_study_id(desk.study),
        completion_id=text.id,
        rater_id=rater.id,
        axes=axes,
        comments=comments,
        created_at=now,
    )
    desk.session.store.people.practise(person, [rater, rating], now=now)


def _examples(desk: Desk) -> KeyedExamples:
    """Return the examples, which never change."""
    if _EXAMPLES not in desk.kept:
        desk.kept[_EXAMPLES] = keyed_examples(desk.session.now())
    found: KeyedExamples = desk.kept[_EXAMPLES]
    return found


def _in_order(desk: Desk, person: Person) -> list[Completion]:
    """Return the replies in an order of the person's own."""
    texts = _examples(desk).completions
    return sorted(texts, key=lambda text: seeded_rank(desk.study.seed, person.id, text.id))


def _example(desk: Desk, texts: list[Completion], number: int) -> Example:
    items = {item.id: item for item in _examples(desk).items}
    text = texts[number - 1]
    shown = Shown(turns=turns_of(items[text.item_id]), texts=(text.text,))
    return Example(number, len(texts), shown)
