"""Groups of people by what they told: pooled so that no small one shows, ranked as people are."""

import dataclasses
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from people_study import human_raters, simulated_study

from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.ranking.leaderboard import rank_systems
from hearteval.sections.people.groups import group_people, pool_small

STRENGTHS = {"beacon": 0.0, "ember": -0.8, "harbour": 0.8, "People": 0.4}


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 12)), st.integers(2, 6))
def test_no_group_is_small_and_nobody_is_in_two(sizes: dict[str, int], smallest: int) -> None:
    groups = pool_small(sizes, smallest=smallest)
    assert all(sum(sizes[a] for a in answers) >= smallest for answers in groups.values())
    members = Counter(answer for answers in groups.values() for answer in answers)
    assert set(members.values()) <= {1}
    # Nothing follows by subtraction: either everybody is in a group, or nothing is said.
    assert not groups or set(members) == set(sizes)
    assert bool(groups) == (sum(sizes.values()) >= smallest)


def test_a_pool_that_is_too_small_takes_the_next_smallest_answer() -> None:
    groups = pool_small({"a": 20, "b": 6, "c": 2}, smallest=5)
    assert groups == {"a": frozenset("a"), None: frozenset("bc")}


def test_each_group_ranks_as_its_own_judgments_do() -> None:
    study = simulated_study(STRENGTHS, STRENGTHS)
    people = sorted(rater.name for rater in study.raters if rater.kind == "human")
    told = {name: {"age": "18-24" if k % 2 else "25-34"} for k, name in enumerate(people)}
    data = dataclasses.replace(study, background=told, smallest_group=2)
    found = group_people(data.judgments, data, level=0.95)
    assert found is not None
    young = {r.id for r in data.raters if told.get(r.name, {}).get("age") == "18-24"}
    (group,) = [one for one in found.groups if one.answer == "18-24"]
    rows = [row for row in data.judgments if row.rater_id in young]
    assert (group.n_people, group.n_judgments) == (len(young), len(rows))
    assert group.ranking.leaderboard == rank_systems(
        judgments_of(rows), data.ranked, data.raters, writers=data.writers
    )


def test_fewer_people_than_the_smallest_group_show_nothing() -> None:
    study = simulated_study(STRENGTHS, STRENGTHS)
    told = {rater.name: {"age": "18-24", "scale": 3.0} for rater in human_raters(5)}
    data = dataclasses.replace(study, background=told, smallest_group=1000)
    found = group_people(data.judgments, data, level=0.95)
    assert found is not None
    assert (found.groups, found.too_few, found.scale) == ((), ("age",), None)


def test_nothing_is_said_where_nobody_was_asked() -> None:
    study = simulated_study(STRENGTHS, STRENGTHS)
    assert group_people(study.judgments, study, level=0.95) is None
