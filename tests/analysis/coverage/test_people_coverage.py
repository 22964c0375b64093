"""How many people judged and wrote, what of it is missing, and that no run fails by it."""

from dataclasses import replace

from people_study import BEACON, EMBER, JUDGES, PEOPLE, PeopleStudy, human_raters

from hearteval.analysis.coverage.study import PeopleCoverage, WriterCoverage, cover_data
from hearteval.analysis.judgments import NO_JUDGMENTS
from hearteval.analysis.packed.pairs import NO_PAIRS
from hearteval.analysis.study import analyze_study
from hearteval.domain import Assignment
from hearteval.notices import Kind


def study() -> PeopleStudy:
    """Two writers on the first item and one on the second; three people judge, a judge too."""
    made = PeopleStudy(3, [*human_raters(4), JUDGES[0]])
    first, second, third = made.items
    text = made.completion(first, BEACON)
    for rater in made.raters[:2]:
        made.judge(rater, text, made.completion(first, PEOPLE, "w1"), "first")
    made.judge(made.raters[2], text, made.completion(first, PEOPLE, "w2"), "tie")
    made.judge(JUDGES[0], text, made.completion(first, PEOPLE, "w2"), "second")
    model, person = made.completion(second, BEACON), made.completion(second, PEOPLE, "w1")
    made.judge(JUDGES[0], model, person, "first")
    made.completion(third, BEACON)
    return made


def test_people_are_counted_by_pair_and_by_item() -> None:
    found = cover_data(replace(study().data(), people_per_pair=2)).people
    assert found == PeopleCoverage(
        n_raters=3,
        n_judgments=3,
        n_pairs=2,
        n_pairs_planned=3,
        n_pairs_by_people=((1, 1), (2, 1)),
        wanted_per_pair=2,
        n_pairs_full=1,
        writers=(
            WriterCoverage(
                system="People",
                n_writers=2,
                n_completions=3,
                n_items_by_completions=((0, 1), (1, 1), (2, 1)),
            ),
        ),
    )


def test_without_people_there_is_nothing_to_count() -> None:
    made = PeopleStudy(1, JUDGES)
    one, other = (made.completion(made.items[0], system) for system in (BEACON, EMBER))
    made.judge(JUDGES[0], one, other, "first")
    assert cover_data(made.data()).people is None


def test_what_people_have_not_done_yet_fails_no_run() -> None:
    made = study()
    data = made.data()
    (pair, *_) = data.pairs
    waiting = Assignment(
        study_id="5" * 32,
        pair_id=pair.id,
        rater_id=made.raters[3].id,
        first_completion_id=pair.completion_ids[0],
    )
    data = replace(data, unjudged=[waiting])
    results = analyze_study(data)
    assert {failure.name for failure in results.failures} == set()
    empty = [text for text in data.completions if text.system_id != PEOPLE.id]
    without = analyze_study(
        replace(
            data, completions=empty, pairs=NO_PAIRS, unjudged=[], judgments=NO_JUDGMENTS, raters=[]
        )
    )
    assert "People" not in {failure.name for failure in without.failures}


def test_people_are_no_judges_of_their_own_family() -> None:
    data = replace(study().data(), exclude_own_family=False)
    kinds = {notice.kind for notice in analyze_study(data).warnings}
    assert Kind.OWN_FAMILY not in kinds
