"""A whole study's records -> results: coverage, flips, stress, what is left out."""

import json
from dataclasses import replace

import pytest
from invented_results import section_of
from judged_study import CUE, NOW, STRESS, StudyMaker, make_items, make_systems

from hearteval.analysis.coverage.missing import Cause, find_failure
from hearteval.analysis.study import JUDGED_BY_CUES, analyze_study, results_dict
from hearteval.domain import Attempt, Rater
from hearteval.notices import Kind
from hearteval.sections.explained import Explained
from hearteval.sections.judges import Judges

REFERENCE, HOSTILE = STRESS


@pytest.fixture
def maker() -> StudyMaker:
    """Three systems judged round in a circle on two items, in both orders."""
    items, systems = make_items(3), make_systems("one", "two", "three")
    made = StudyMaker(items, [*systems, *STRESS], [CUE])
    one, two, three = systems
    for item in items[:2]:
        for better, worse in ((one, two), (two, three), (three, one)):
            made.judge(item, (better, worse), "first", strength=3)
            made.judge(item, (worse, better), "second", strength=3)
    return made


def test_a_ranking_comes_with_its_coverage(maker: StudyMaker) -> None:
    results = analyze_study(maker.data())
    assert results.leaderboard is not None
    assert results.leaderboard.n_judgments == 12
    assert results.coverage.n_pairs == 6
    assert results.coverage.n_system_pairs == results.coverage.n_system_pairs_possible == 3
    assert results.coverage.n_items == {"regular": 3}


def test_a_ranking_comes_with_its_audits(maker: StudyMaker) -> None:
    explained = section_of(analyze_study(maker.data(), sections=[Explained]), Explained)
    assert explained.found.problem is None
    assert explained.panel is None  # one judge


def test_results_are_plain_json(maker: StudyMaker) -> None:
    other = Rater(name="m", kind="llm", family="gpt", settings={"model": "m"})
    maker.raters.append(other)
    one, two = maker.systems[:2]
    maker.judge(maker.items[0], (one, two), "first", rater=other)
    results = analyze_study(maker.data(), sections=[Explained])
    document = json.loads(json.dumps(results_dict(results), allow_nan=False))
    assert [d["system"] for d in document["leaderboard"]["differences"]] == ["one", "one", "three"]
    assert "m" in document["judge_panel"]["problem"]


def test_missing_completions_are_counted_by_their_last_reason(maker: StudyMaker) -> None:
    one, two = maker.systems[:2]
    item = maker.items[2]
    maker.attempts = [
        Attempt(item_id=item.id, system_id=one.id, attempt=attempt, reason=reason, created_at=NOW)
        for attempt, reason in ((1, "refused"), (0, "timeout"))
    ]
    by_name = {row.system: row for row in analyze_study(maker.data()).coverage.systems}
    assert by_name["one"].missing == {"refused": 1}
    assert by_name["two"].missing == {"not-asked": 1}
    assert by_name[two.name].n_completions == 2
    assert set(by_name) == {"one", "two", "three"}


def test_what_cannot_be_there_is_no_serious_warning(maker: StudyMaker) -> None:
    one, two = maker.systems[:2]
    item = maker.items[2]
    maker.attempts = [
        Attempt(item_id=item.id, system_id=id_, attempt=0, reason=reason, created_at=NOW)
        for id_, reason in ((one.id, "no-reference"), (two.id, "refused"))
    ]
    said = {str(one): one.kind for one in analyze_study(maker.data()).warnings}
    rest = "its figures stand on the others."
    assert said[f"one has no reply to 1 of 3 items by design; {rest}"] is Kind.BY_DESIGN
    assert said[f"two has no reply to 1 of 3 items; {rest}"] is Kind.MISSING
    assert Kind.MISSING.is_serious
    assert not Kind.BY_DESIGN.is_serious


def test_missing_judgments_are_counted_by_reason_and_never_become_ties(maker: StudyMaker) -> None:
    one, two = maker.systems[:2]
    asked = maker.assign(maker.items[2], one, two)
    maker.assign(maker.items[2], two, one)
    maker.attempts = [Attempt(assignment_id=asked.id, reason="invalid-reply", created_at=NOW)]
    (judge,) = analyze_study(maker.data()).coverage.judges
    assert (judge.n_assigned, judge.n_judged) == (14, 12)
    assert judge.missing == {"invalid-reply": 1, "not-asked": 1}
    results = analyze_study(maker.data())
    assert results.leaderboard is not None
    assert results.leaderboard.n_ties == 0


def test_a_choice_that_changes_with_the_order_is_a_flip(maker: StudyMaker) -> None:
    one, two = maker.systems[:2]
    maker.judge(maker.items[2], (one, two), "first")
    maker.judge(maker.items[2], (two, one), "first")
    (judge,) = analyze_study(maker.data()).coverage.judges
    assert (judge.n_both_orders, judge.n_flips) == (7, 1)


def test_undecided_judgments_are_counted(maker: StudyMaker) -> None:
    one, two = maker.systems[:2]
    maker.judge(maker.items[2], (one, two), "first", finish_reason="undecided")
    (judge,) = analyze_study(maker.data()).coverage.judges
    assert judge.n_undecided == 1


def test_stress_systems_are_judged_and_never_ranked(maker: StudyMaker) -> None:
    for item in maker.items:
        maker.judge(item, (REFERENCE, HOSTILE), "first")
        maker.judge(item, (HOSTILE, REFERENCE), "second")
    results = analyze_study(maker.data(), sections=[Judges])
    assert results.leaderboard is not None
    assert {row.system for row in results.leaderboard.rows} == {"one", "two", "three"}
    assert results.leaderboard.n_judgments == 12
    (stress,) = section_of(results, Judges).stress
    assert (stress.kind, stress.n_items, stress.reference_rate) == ("hostile", 3, 1.0)
    assert results.coverage.judges[0].n_assigned == 12


def test_both_orders_of_a_stress_pair_are_one_value(maker: StudyMaker) -> None:
    maker.judge(maker.items[0], (REFERENCE, HOSTILE), "first")
    maker.judge(maker.items[0], (HOSTILE, REFERENCE), "first")
    maker.judge(maker.items[1], (HOSTILE, REFERENCE), "tie")
    (stress,) = section_of(analyze_study(maker.data(), sections=[Judges]), Judges).stress
    assert stress.n_items == 2
    assert stress.reference_rate == 0.5


def test_without_judgments_there_is_a_reason_and_no_ranking() -> None:
    made = StudyMaker(make_items(1), make_systems("one", "two"), [CUE])
    results = analyze_study(made.data())
    assert results.leaderboard is None
    assert "no judgment yet" in str(results.leaderboard_problem)


def test_a_system_that_always_wins_is_named_and_stops_nothing_else() -> None:
    items, systems = make_items(2), make_systems("best", "worst")
    made = StudyMaker(items, [*systems, *STRESS], [CUE])
    for item in items:
        made.judge(item, (systems[0], systems[1]), "first")
        made.judge(item, (REFERENCE, HOSTILE), "first")
    results = analyze_study(made.data(), sections=[Judges])
    assert results.leaderboard is None
    assert "best" in str(results.leaderboard_problem)
    assert len(section_of(results, Judges).stress) == 1


def test_judgments_of_what_the_study_no_longer_names_are_left_out_and_counted(
    maker: StudyMaker,
) -> None:
    former = Rater(name="former", kind="llm", family="cue", settings={"judge": "older"})
    one, two = maker.systems[:2]
    maker.judge(maker.items[2], (one, two), "first", rater=former)
    results = analyze_study(maker.data())
    assert results.leaderboard is not None
    assert results.leaderboard.n_judgments == 12
    assert results.warnings[-1].startswith("1 stored judgments")


def test_the_cue_judge_is_labelled(maker: StudyMaker) -> None:
    results = analyze_study(maker.data())
    assert results.judge_notice == JUDGED_BY_CUES
    assert results.coverage.judges[0].is_baseline
    other = Rater(name="m", kind="llm", family="gpt", settings={"model": "m"})
    unlabelled = analyze_study(replace(maker.data(), raters=[other]))
    assert unlabelled.judge_notice is None


def test_win_rates_are_known_without_a_ranking() -> None:
    items, systems = make_items(2), make_systems("best", "worst", "absent")
    made = StudyMaker(items, systems, [CUE])
    made.judge(items[0], (systems[0], systems[1]), "first")
    made.judge(items[0], (systems[1], systems[0]), "tie")
    made.judge(items[1], (systems[0], systems[1]), "first")
    absent, best, worst = analyze_study(made.data()).win_rates
    assert (absent.system, absent.n_comparisons, absent.win_rate, absent.axes) == (
        *("absent", 0, None),
        {},
    )
    assert best.win_rate == pytest.approx(2.5 / 3)
    assert worst.win_rate == pytest.approx(0.5 / 3)
    assert best.axes == dict.fromkeys("HEART", pytest.approx(2.5 / 3))
    assert best.n_comparisons == worst.n_comparisons == 3


@pytest.mark.parametrize("n", [1, 7, 29, 57, 58])
def test_share_that_a_study_allows_is_allowed_whatever_its_digits(n: int) -> None:
    """.29 of 100 is 28.999999999999996 in floating point."""
    cause = Cause(reason="timeout", words=None, n=n, outlook="may-pass")
    assert find_failure("system", "one", 100, [cause], fail_on_missing=n / 100) is None
    assert find_failure("system", "one", 99, [cause], fail_on_missing=n / 100) is not None
