"""What judges prefer where they and people are opposed: by hand, planted, and where nothing is."""

import random

import numpy as np
import pytest
from answered_pairs import JUDGES, OTHER_WAY, people, study, votes_of
from judged_study import NOW
from people_study import BEACON, EMBER, PeopleStudy, human_raters

from hearteval.domain import WITHDRAWN, Choice, Completion
from hearteval.sections.people.judges.disagreements import (
    TRAITS,
    Disagreements,
    count_warm_phrases,
    find_disagreements,
    likeness,
)


def find(made: PeopleStudy) -> Disagreements:
    found = find_disagreements(votes_of(made), level=0.95)
    assert found is not None
    return found


def with_texts(draw: random.Random, *, judges_like_longer: float, n_items: int = 40) -> PeopleStudy:
    """Oppose people and judges on one pair of each item; judges choose the longer so often."""
    raters = human_raters(3)
    made = PeopleStudy(n_items, [*raters, *JUDGES])
    for item in made.items:
        texts = []
        for system in (BEACON, EMBER):
            words = " ".join(["word"] * draw.randint(10, 60))
            one = Completion(item_id=item.id, system_id=system.id, text=words, created_at=NOW)
            texts.append(made.completions.setdefault((item.id, system.id, None), one))
        is_first_longer = len(texts[0].text) > len(texts[1].text)
        likes_first = is_first_longer == (draw.random() < judges_like_longer)
        choice: Choice = "first" if likes_first else "second"
        for judge in JUDGES:
            made.judge(judge, texts[0], texts[1], choice)
        for rater in raters:
            made.judge(rater, texts[0], texts[1], OTHER_WAY[choice])
    return made


def test_warm_phrases_are_counted_as_they_stand() -> None:
    text = "I\N{RIGHT SINGLE QUOTATION MARK}m so sorry. You're not alone, I hear you!"
    assert count_warm_phrases(text) == 3
    assert count_warm_phrases("I'm here for you.") == 1  # and not "here for you" in it
    assert count_warm_phrases("It is hard to be the one whom nobody asks.") == 0


def test_likeness_is_the_mean_cosine_with_texts_on_other_items() -> None:
    texts = ["you can rest", "you can go", "rest", "elsewhere"]
    found = likeness(texts, ["i1", "i2", "i3", "i3"])
    with_second, with_third = 2 / 3, 1 / np.sqrt(3)
    assert found[0] == pytest.approx((with_second + with_third + 0) / 3)
    assert found[2] == pytest.approx((with_third + 0) / 2)  # the fourth is of the same item
    assert np.isnan(likeness(["one", "other"], ["i1", "i1"])).all()


def test_only_opposed_sides_are_disagreements() -> None:
    made = study(
        people("111") | {"alder": "2"},
        people("222") | {"alder": "1"},
        people("111") | {"alder": "1"},
        people("===") | {"alder": "1"},
        people("12=") | {"alder": "1"},
    )
    found = find(made)
    assert (found.n_pairs, found.n_opposed, found.n_items) == (3, 2, 2)
    assert [one.trait for one in found.traits] == list(TRAITS)
    words = found.traits[0]
    # "beacon  says it." and "ember  says it." are three words each
    assert (words.judges_choice, words.peoples_choice, words.difference.value) == (3, 3, 0)
    assert words.has_more.value == 0.5
    by_choice = {one.judges_choice: one for one in found.examples}
    assert by_choice["beacon"].item_id == made.items[1].id
    assert (by_choice["ember"].peoples_choice, by_choice["ember"].n_people_for) == ("beacon", 3)


def test_the_clearest_pairs_come_first_and_no_item_twice_before_another() -> None:
    made = study(
        people("11122") | {"alder": "2", "birch": "2"},
        people("11111") | {"alder": "2", "birch": "2"},
        people("11112") | {"alder": "2", "birch": "2", "cedar": "2"},
    )
    found = find(made)
    assert [one.item_id for one in found.examples] == [made.items[k].id for k in (1, 2, 0)]


def test_judges_who_like_longer_replies_are_found() -> None:
    words = find(with_texts(random.Random(1), judges_like_longer=0.9)).traits[0]
    assert words.difference.low is not None
    assert words.difference.low > 0
    assert words.has_more.low is not None
    assert words.has_more.low > 0.5
    assert words.judges_choice - words.peoples_choice == pytest.approx(words.difference.value)


def test_no_liking_is_found_where_there_is_none() -> None:
    n_false, n_studies = 0, 60
    for seed in range(n_studies):
        made = with_texts(random.Random(seed), judges_like_longer=0.5, n_items=30)
        words = find(made).traits[0]
        assert words.p is not None
        n_false += words.p < 0.05
    assert n_false <= 9  # 3 expected; more than 9 have a chance of .1 %


def test_a_withdrawn_text_is_not_measured() -> None:
    made = PeopleStudy(2, [*human_raters(3), *JUDGES])
    for k, item in enumerate(made.items):
        one = made.completion(item, BEACON)
        written = Completion(
            item_id=item.id,
            system_id=EMBER.id,
            text="A reply of some more words." if k else WITHDRAWN,
            writer_id=None if k else "w1",
            created_at=NOW,
        )
        other = made.completions.setdefault((item.id, EMBER.id, written.writer_id), written)
        made.judge(JUDGES[0], one, other, "first")
        for rater in human_raters(3):
            made.judge(rater, one, other, "second")
    found = find(made)
    assert found.n_opposed == 2
    assert found.traits[0].n_pairs == 1
    assert {one.words for one in found.examples} == {None, -3}
