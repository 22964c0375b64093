"""What the judges say together, against cases worked out by hand."""

from dataclasses import replace

from invented_results import section_of
from judged_study import CUE, STRESS, StudyMaker, make_items, make_systems

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges.majorities import (
    JudgeAgreement,
    JudgeMajorities,
    JudgeVotes,
    SystemPairJudges,
)
from hearteval.analysis.judgments import judgments_of
from hearteval.analysis.study import analyze_study
from hearteval.domain import Choice, Rater, System
from hearteval.sections.judges import Judges

ONE, TWO, THREE = make_systems("one", "two", "three")
A, B, C = (Rater(name=n, kind="llm", family=n, settings={"model": n}) for n in ("a", "b", "c"))
JUDGES = [A, B, C, CUE]
THERE: tuple[System, System] = (ONE, TWO)
BACK: tuple[System, System] = (TWO, ONE)


def maker_of(n_items: int) -> StudyMaker:
    return StudyMaker(make_items(n_items), [ONE, TWO, THREE, *STRESS], JUDGES)


def judge(maker: StudyMaker, item: int, rater: Rater, there: Choice, back: Choice) -> None:
    """Have a judge answer the pair of systems one and two in both orders."""
    maker.judge(maker.items[item], THERE, there, rater=rater)
    maker.judge(maker.items[item], BACK, back, rater=rater)


def together(maker: StudyMaker) -> JudgeMajorities:
    found = majorities_in(maker.data())
    assert found is not None
    return found


def majorities_in(data: StudyData) -> JudgeMajorities | None:
    return section_of(analyze_study(data, sections=[Judges]), Judges).majorities


def four_pairs() -> JudgeMajorities:
    """Judge four pairs: two against one; one flip of three; one against one; one judge alone."""
    maker = maker_of(3)
    for rater in (A, B):
        judge(maker, 0, rater, "first", "second")
    judge(maker, 0, C, "second", "first")
    judge(maker, 1, A, "first", "first")
    judge(maker, 1, B, "tie", "tie")
    judge(maker, 1, C, "tie", "tie")
    judge(maker, 2, A, "first", "second")
    judge(maker, 2, B, "second", "first")
    maker.judge(maker.items[0], (THREE, TWO), "first", rater=C)
    return together(maker)


def test_majorities_and_the_judges_behind_them_are_counted() -> None:
    counts = four_pairs().counts
    assert (counts.n_pairs, counts.n_no_majority, counts.n_ties, counts.n_flips) == (4, 1, 1, 1)
    assert counts.n_pairs_by_raters == ((1, 1), (2, 1), (3, 2))
    assert counts.n_pairs_by_votes == ((1, 1), (2, 2), (3, 1))


def test_each_judge_has_its_flips_and_ties() -> None:
    assert four_pairs().judges == (
        JudgeVotes(judge="a", n_pairs=3, n_both_orders=3, n_flips=1, n_ties=0),
        JudgeVotes(judge="b", n_pairs=3, n_both_orders=3, n_flips=0, n_ties=1),
        JudgeVotes(judge="c", n_pairs=3, n_both_orders=2, n_flips=0, n_ties=1),
    )


def test_each_pair_of_systems_names_who_judged_it() -> None:
    assert four_pairs().system_pairs == (
        SystemPairJudges(
            left="one", right="two", judges=("a", "b", "c"), n_pairs=3, n_no_majority=1
        ),
        SystemPairJudges(left="three", right="two", judges=("c",), n_pairs=1, n_no_majority=0),
    )


def test_agreement_is_over_pairs_where_all_of_them_vote() -> None:
    assert four_pairs().agreement == (
        JudgeAgreement(judges=("a", "b"), n_pairs=2, n_same=1, rate=0.5),
        JudgeAgreement(judges=("a", "c"), n_pairs=1, n_same=0, rate=0.0),
        JudgeAgreement(judges=("b", "c"), n_pairs=2, n_same=1, rate=0.5),
        JudgeAgreement(judges=("a", "b", "c"), n_pairs=1, n_same=0, rate=0.0),
    )


def test_judges_that_never_vote_on_the_same_pair_have_no_rate() -> None:
    maker = maker_of(2)
    judge(maker, 0, A, "first", "second")
    judge(maker, 1, B, "first", "second")
    assert together(maker).agreement == (
        JudgeAgreement(judges=("a", "b"), n_pairs=0, n_same=0, rate=None),
    )


def test_a_flip_is_counted_behind_the_pair_and_leaves_it_without_a_majority() -> None:
    maker = maker_of(1)
    judge(maker, 0, A, "first", "first")
    counts = together(maker).counts
    assert counts.n_no_majority == 1
    assert (counts.n_pairs_by_raters, counts.n_pairs_by_votes) == (((1, 1),), ((0, 1),))


def test_repeats_are_left_out() -> None:
    maker = maker_of(1)
    judge(maker, 0, A, "first", "second")
    before = together(maker)
    maker.judge(maker.items[0], THERE, "second", rater=A)
    *first, last = maker.judgments
    repeated = judgments_of([*first, last._replace(repeat=1)])
    assert majorities_in(replace(maker.data(), judgments=repeated)) == before


def test_the_stress_set_is_left_out() -> None:
    maker = maker_of(1)
    judge(maker, 0, A, "first", "second")
    before = together(maker)
    maker.judge(maker.items[0], (STRESS[0], STRESS[1]), "first", rater=B)
    assert together(maker) == before


def test_people_are_left_out() -> None:
    person = Rater(name="p1", kind="human", family="human", pool="prolific", group="crowd")
    maker = maker_of(1)
    maker.raters = [person]
    maker.judge(maker.items[0], THERE, "first", rater=person)
    assert majorities_in(maker.data()) is None


def test_majorities_are_planned() -> None:
    assert four_pairs().status == "planned"


def test_without_a_judgment_there_are_no_majorities() -> None:
    assert majorities_in(maker_of(1).data()) is None
