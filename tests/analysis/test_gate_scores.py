"""The scores of a gate: what judges said of a candidate, item by item, worked out by hand."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from made_records import made_row

from hearteval.analysis.data import StudyData
from hearteval.analysis.gate import GateScores, doubt_equivalence, score_items
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.domain import AxisMark, Choice, Completion, Rater, System
from hearteval.stats.gate import GateRule, judge_gate

OLD = System(name="old", kind="model", family="x")
NEW = System(name="new", kind="model", family="y")
JUDGES = tuple(Rater(name=name, kind="llm", family=name, settings={"m": name}) for name in "ab")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def said(
    item: str, choice: Choice, *, new_first: bool, judge: int = 0, axis: Choice | None = None
) -> JudgmentRow:
    systems = (NEW.id, OLD.id) if new_first else (OLD.id, NEW.id)
    return made_row(
        item_id=item,
        pair_id=item,
        first_system_id=systems[0],
        second_system_id=systems[1],
        rater_id=JUDGES[judge].id,
        choice=choice,
        axes={} if axis is None else {"E": AxisMark(axis, None if axis == "tie" else 2)},
    )


def scored(
    rows: Sequence[JudgmentRow],
    items: Sequence[str] = ("i", "j"),
    *,
    texts: Sequence[tuple[str, System, str]] = (),
    n_judges: int = 1,
    both_orders: bool = True,
) -> GateScores:
    completions = [
        Completion(item_id=item, system_id=system.id, text=text, created_at=NOW)
        for item, system, text in texts
    ]
    data = StudyData(judgments=judgments_of(rows), completions=completions)
    pair, judges = (OLD, NEW), JUDGES[:n_judges]
    return score_items(data, items, pair, judges, ["E"], both_orders=both_orders)


def test_a_score_is_what_the_candidate_won_over_judges_and_orders_less_one_half() -> None:
    rows = [
        said("i", "first", new_first=True, axis="tie"),
        said("i", "second", new_first=False, axis="first"),
        said("i", "second", new_first=True, judge=1),
        said("i", "tie", new_first=False, judge=1),
    ]

    found = scored(rows, ["i"], n_judges=2)

    assert found.scores[0].tolist() == [(1 + 1 + 0 + 0.5) / 4 - 0.5, (0.5 + 0) / 2 - 0.5]
    assert found.coverage == (1.0, 0.5)


def test_what_is_missing_counts_against_coverage() -> None:
    rows = [said("j", "first", new_first=True), said("j", "tie", new_first=False)]
    found = scored(rows)

    assert np.isnan(found.scores[0]).all()
    assert found.scores[1, 0] == 0.25
    assert found.coverage == (0.5, 0.0)


def test_a_judge_whose_answer_in_one_order_is_missing_counts_in_neither() -> None:
    by_place = [said("i", "first", new_first=True), said("i", "first", new_first=False, judge=1)]
    whole = [said("i", "second", new_first=True, judge=1)]

    assert np.isnan(scored(by_place, ["i"], n_judges=2).scores).all()
    found = scored([*by_place, *whole], ["i"], n_judges=2)
    assert found.scores[0, 0] == -0.5
    assert found.coverage[0] == 0.75


def test_identical_replies_are_no_difference_and_need_no_judge() -> None:
    texts = [
        ("i", OLD, "I hear you."),
        ("i", NEW, "I hear you. "),
        ("j", OLD, "a"),
        ("j", NEW, "b"),
    ]

    found = scored([said("j", "first", new_first=True)], texts=texts)

    assert found.scores[0].tolist() == [0.0, 0.0]
    assert found.coverage == (0.75, 0.5)
    assert found.n_identical == 1


def test_repeats_other_judges_and_other_systems_do_not_count() -> None:
    row = said("i", "first", new_first=True)
    others = [row._replace(repeat=1), row._replace(rater_id="?"), row._replace(first_system_id="?")]

    assert np.isnan(scored(others).scores).all()


@pytest.mark.parametrize(("second", "n"), [("first", 1), ("second", 0)])
def test_a_judge_that_chooses_by_place_is_counted(second: Choice, n: int) -> None:
    rows = [said("i", "first", new_first=True), said("i", second, new_first=False)]

    found = scored(rows)

    assert (found.n_both_orders, found.n_by_position) == (1, n)
    assert found.is_by_position == (n == 1)


def test_judges_of_one_order_are_in_doubt_where_they_were_asked_at_all() -> None:
    texts = [(item, system, "a") for item in "ij" for system in (OLD, NEW)]
    rows = [said("i", "first", new_first=True)]

    assert scored(rows, both_orders=False).is_doubtful
    assert not scored([], texts=texts, both_orders=False).is_doubtful


def test_of_judges_that_go_by_place_nothing_is_equivalent() -> None:
    """400 dialogues that all come to one half: SE .025 at the greatest spread there can be."""
    scores = np.zeros((400, 2))
    scores[:, 1] = 0.25
    rng = np.random.default_rng(1)
    result = judge_gate(scores, [1.0, 1.0], GateRule(), look=1, n_planned=400, rng=rng)

    doubted = doubt_equivalence(result)

    assert [one.verdict for one in result.tests] == ["equivalent", "better"]
    assert [one.verdict for one in doubted.tests] == ["inconclusive", "better"]
    assert (result.outcome, doubted.outcome) == ("passed", "inconclusive")
