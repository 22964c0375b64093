"""The whole winner column is read in one vocabulary, or the file is refused with the rows in it."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables import frames, open_table
from hearteval.exchange.votes import OutcomeNames, VoteColumns, read_votes
from hearteval.exchange.votes.meanings import number_of

COLUMNS = VoteColumns(left="left", right="right", winner="winner")
Row = tuple[Any, Any, Any]


def read(rows: list[Row], names: OutcomeNames | None = None) -> Votes:
    frame = pd.DataFrame(rows, columns=["left", "right", "winner"])
    return read_votes(open_table(frame), COLUMNS, names or OutcomeNames())


def scores(rows: list[Row], names: OutcomeNames | None = None) -> dict[tuple[str, str], float]:
    """The left system's score in each pair, every pair voted on once."""
    votes = read(rows, names)
    found = votes.comparisons
    ends = zip(found.left.tolist(), found.right.tolist(), found.score.tolist(), strict=True)
    return {(votes.systems[i], votes.systems[j]): score for i, j, score in ends}


def three_rows(left: Any, right: Any, tie: Any) -> list[Row]:
    return [("p", "q", left), ("q", "r", right), ("r", "p", tie)]


WON_LOST_TIED = {("p", "q"): 1.0, ("q", "r"): 0.0, ("r", "p"): 0.5}


@pytest.mark.parametrize(
    ("left", "right", "tie"),
    [
        ("left", "right", "tie"),
        ("model_a", "model_b", "tie"),
        ("A", "B", "tie"),
        ("left", "right", "tie (bothbad)"),
        ("model_a", "model_b", "tie (bothbad)"),
        ("A", "B", "tie (bothbad)"),
        ("p", "r", "tie"),
        ("p", "r", "tie (bothbad)"),
    ],
)
def test_known_vocabularies_are_recognised(left: Any, right: Any, tie: Any) -> None:
    assert scores(three_rows(left, right, tie)) == WON_LOST_TIED


def test_names_given_are_the_only_vocabulary() -> None:
    names = OutcomeNames(left=("first", "1st"), right=("second",), tie=("same",))
    rows: list[Row] = [*three_rows("first", "second", "same"), ("s", "p", "1st")]

    assert scores(rows, names) == {**WON_LOST_TIED, ("s", "p"): 1.0}
    with pytest.raises(InvalidVotesError, match=r"row 1 has 'left'.*\(the names given\)"):
        read(three_rows("left", "right", "same"), names)


def test_a_tie_is_no_tie_unless_the_names_given_say_so() -> None:
    names = OutcomeNames(left=("left",), right=("right",))

    with pytest.raises(InvalidVotesError, match=r"1 of 3 rows .* row 3 has 'tie'"):
        read(three_rows("left", "right", "tie"), names)


def test_more_names_of_a_tie_join_the_known_vocabularies() -> None:
    rows = [*three_rows("model_a", "model_b", "tie"), ("s", "p", "tie (bothbad)")]

    found = scores(rows, OutcomeNames(tie=("tie (bothbad)",)))

    assert found == {**WON_LOST_TIED, ("s", "p"): 0.5}


def test_the_winners_own_name_may_come_with_other_names_of_a_tie() -> None:
    rows = [*three_rows("p", "r", "tie"), ("s", "p", "neither")]

    assert scores(rows, OutcomeNames(tie=("neither",))) == {**WON_LOST_TIED, ("s", "p"): 0.5}


def test_a_label_said_to_be_a_tie_rules_out_that_it_is_a_win() -> None:
    with pytest.raises(SettingsError, match=r"1 = left won; 0 = right won; 2 = a tie"):
        read(three_rows("1", "2", "0"), OutcomeNames(tie=("2",)))


def test_a_column_of_exactly_1_and_2_is_left_and_right() -> None:
    for left, right in (("1", "2"), ("1.0", "2.0"), (1, 2), (1.0, 2.0)):
        rows: list[Row] = [("p", "q", left), ("q", "r", right), ("r", "p", left)]
        assert scores(rows) == {("p", "q"): 1.0, ("q", "r"): 0.0, ("r", "p"): 1.0}


def test_a_0_that_is_said_to_be_the_tie_leaves_1_and_2_as_sides() -> None:
    assert scores(three_rows("1", "2", "0"), OutcomeNames(tie=("0",))) == WON_LOST_TIED


SEVERAL_MEANINGS: list[tuple[list[Any], set[tuple[Any, ...]]]] = [
    ([0, 1], {("1", "0"), ("0", "1")}),
    ([0, 2], {("2", "0"), ("0", "2"), ("0", "1", "2"), ("1", "0", "2")}),
    ([0, 1, 2], {*permutations(("0", "1", "2"))}),
    ([1], {("1", "0"), ("0", "1")}),
    ([2], {("2", "0"), ("0", "2"), ("0", "1", "2"), ("1", "0", "2")}),
    ([0], {("1", "0"), ("0", "1")}),
    ([-1, 1], {("1", "-1"), ("-1", "1")}),
    ([-1, 0, 1], {("1", "-1", "0"), ("-1", "1", "0")}),
    ([0, 0.5, 1], {("1", "0", "0.5"), ("0", "1", "0.5")}),
]


@pytest.mark.parametrize(("numbers", "meanings"), SEVERAL_MEANINGS)
@pytest.mark.parametrize("write", [int, lambda n: f"{n:.1f}"])
@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars", "arrow", "csv", "parquet"])
def test_numbers_of_several_meanings_are_never_guessed(
    tmp_path: Path,
    numbers: list[float],
    meanings: set[tuple[str, ...]],
    write: Callable[[float], Any],
    kind: str,
) -> None:
    """0/1 with 0 = left gave the ranking in reverse, with 442 ties that nobody had voted."""
    winners = [write(n) if write is not int or n == int(n) else n for n in numbers] * 2
    if kind == "polars" and any(type(w) is not type(winners[0]) for w in winners):
        winners = [float(w) for w in winners]
    columns: dict[str, list[Any]] = {
        "left": ["p"] * len(winners),
        "right": ["q"] * len(winners),
        "winner": winners,
    }

    with pytest.raises(SettingsError) as caught:
        read_votes(open_table(source_of(columns, kind, tmp_path)), COLUMNS, OutcomeNames())

    found = {
        tuple(number_of(*map(str, remedy.arguments[name])) for name in remedy.arguments)
        for remedy in caught.value.remedies
    }
    assert found == meanings
    assert all([*r.arguments][:2] == ["left_name", "right_name"] for r in caught.value.remedies)


def source_of(columns: dict[str, list[Any]], kind: str, folder: Path) -> Any:
    frame = pd.DataFrame(columns)
    if kind == "categorical":
        return frame.astype({"winner": "category"})
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "arrow":
        return pa.Table.from_pandas(frame)
    path = folder / f"votes.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
        return path
    if kind == "parquet":
        frame.to_parquet(path)
        return path
    return frame


@pytest.mark.parametrize(
    ("labels", "meanings"),
    [
        (["yes", "no"], [("no", "yes"), ("yes", "no")]),
        (["L", "R"], [("L", "R")]),
        (["a", "b", "Draw"], [("a", "b", "Draw")]),
        (["Model A", "Model B"], [("Model A", "Model B")]),
        (["A>B", "B>A", "A=B"], [("A>B", "B>A", "A=B")]),
        (["[[A>>B]]", "[[B>A]]"], [("[[A>>B]]", "[[B>A]]")]),
        (["left < right", "B<A"], [("B<A", "left < right")]),
        (["model_1", "model_2", "both bad"], [("model_1", "model_2", "both bad")]),
        (["model_a", "model_b", "tie", "both_bad"], [("model_a", "model_b", "both_bad")]),
        (["1", "2", "tie"], [("1", "2", "tie"), ("2", "1", "tie")]),
        (["win", "loss"], [("loss", "win"), ("win", "loss")]),
        (["x", "y", "z", "w"], None),
        (["won"], None),
    ],
)
def test_what_words_may_mean_is_offered_and_not_taken(
    labels: list[str], meanings: list[tuple[str, ...]] | None
) -> None:
    with pytest.raises((SettingsError, InvalidVotesError)) as caught:
        read([("p", "q", label) for label in labels] * 2)

    found = [tuple(v[0] for v in r.arguments.values()) for r in caught.value.remedies]
    assert meanings is None or found == meanings


def test_labels_that_no_command_can_hold_are_offered_no_meaning() -> None:
    with pytest.raises(SettingsError, match="say it with --left-name") as caught:
        read([("x", "y", "one\nline"), ("x", "y", "other")])
    assert not caught.value.remedies
    assert "it may mean" not in str(caught.value)


@pytest.mark.parametrize("labels", [[True, False], ["True", "False"], ["TRUE", "FALSE"]])
def test_true_and_false_have_two_meanings(labels: list[Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        read([("p", "q", label) for label in labels])

    yes, no = (str(label).lower() if isinstance(label, bool) else label for label in labels)
    found = {(*r.arguments["left_name"], *r.arguments["right_name"]) for r in caught.value.remedies}
    assert found == {(yes, no), (no, yes)}


@pytest.mark.parametrize(
    ("one", "two"), [("0", "1"), ("first", "second"), ("a", "b"), ("Model A", "Model B")]
)
def test_systems_that_are_called_like_sides_are_ambiguous(one: str, two: str) -> None:
    rows: list[Row] = [(one, two, one), (two, one, one), (two, one, two)]

    with pytest.raises(SettingsError) as caught:
        read(rows)

    by_name: set[tuple[str, Any]] = {("own_name", True)}
    assert [set(r.arguments.items()) for r in caught.value.remedies].count(by_name) == 1
    assert scores(rows[:2], OutcomeNames(own_name=True)) == {(one, two): 1.0, (two, one): 0.0}


def test_systems_called_by_numbers_win_by_name_where_a_label_is_no_code() -> None:
    rows: list[Row] = [(3, 4, 4), (4, 5, 4), (5, 3, 3)]

    assert scores(rows) == {("3", "4"): 0.0, ("4", "5"): 1.0, ("5", "3"): 0.0}


def test_the_winners_own_name_and_names_of_sides_exclude_each_other() -> None:
    with pytest.raises(SettingsError, match="exclude each other"):
        OutcomeNames(left=("x",), right=("y",), own_name=True)


def test_names_given_settle_what_is_ambiguous() -> None:
    found = scores([("A", "B", "A"), ("B", "A", "A")], OutcomeNames(left=("A",), right=("B",)))

    assert found == {("A", "B"): 1.0, ("B", "A"): 1.0}


def test_vocabularies_that_agree_on_every_row_are_not_ambiguous() -> None:
    rows: list[Row] = [("A", "B", "A"), ("C", "B", "B"), ("A", "C", "tie")]

    assert scores(rows) == {("A", "B"): 1.0, ("C", "B"): 0.0, ("A", "C"): 0.5}
    assert scores([("p", "q", "tie")]) == {("p", "q"): 0.5}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            [("p", "q", "home")] * 3 + [("q", "p", "away")] * 2,
            r"nothing says what its labels mean.*'home' \(3\), 'away' \(2\)",
        ),
        (
            [("A", "B", "A"), ("B", "A", "A")],
            r"read as A/B/tie and as the winner's own name.*row 2 has 'A'; say which",
        ),
        ([("2", "1", "1"), ("1", "2", "2")], r"read as 1/2 and as the winner's own name"),
    ],
)
def test_labels_that_nobody_knows_or_that_two_vocabularies_read_are_asked_about(
    rows: list[Row], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        read(rows)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            three_rows("left", "rihgt", "tie"),
            r"the dataframe, column 'winner': 1 of 3 rows are not in left/right/tie, as the "
            r"others are: row 2 has 'rihgt'\. .*model_a/model_b/tie.*the winner's own name.*"
            "--tie-name",
        ),
        (
            [*three_rows("left", "right", "tie"), ("p", "q", "model_a"), ("p", "q", "B")],
            r"2 of 5 rows .*: row 4 has 'model_a', row 5 has 'B'",
        ),
        (
            [("p", "q", "p"), ("q", "r", "r"), ("p", "q", "s")],
            r"1 of 3 rows are not in the winner's own name.*row 3 has 's'",
        ),
        ([("tie", "p", "tie"), ("p", "q", "q"), ("q", "p", "p")], "row 1 has 'tie'"),
    ],
    ids=["unknown", "two vocabularies", "neither system", "a name that means a tie"],
)
def test_a_label_outside_the_vocabulary_is_named_with_its_row(
    rows: list[Row], problem: str
) -> None:
    with pytest.raises(InvalidVotesError, match=problem):
        read(rows)


def test_ten_bad_rows_of_many_are_counted_and_the_first_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frames, "BATCH_ROWS", 30_000)
    labels = np.tile(["left", "right"], 50_000).astype(object)
    labels[7_777:100_000:10_000] = "lft"
    frame = pd.DataFrame({"left": "p", "right": "q", "winner": labels})

    with pytest.raises(
        InvalidVotesError,
        match=r"10 of 100,000 rows .*: row 7778 has 'lft', .* row 47778 has 'lft', \.",
    ):
        read_votes(open_table(frame), COLUMNS, OutcomeNames())


def test_labels_of_rows_without_two_systems_decide_nothing() -> None:
    rows: list[Row] = [*three_rows("p", "r", "tie"), (None, "q", "left"), ("q", "q", "left")]

    assert scores(rows) == WON_LOST_TIED


@pytest.mark.parametrize(
    ("left", "right", "missing"), [(("l",), (), "--right-name"), ((), ("r",), "--left-name")]
)
def test_a_name_for_one_side_needs_one_for_the_other(
    left: tuple[str, ...], right: tuple[str, ...], missing: str
) -> None:
    with pytest.raises(SettingsError, match=missing):
        OutcomeNames(left=left, right=right)


def test_one_label_has_one_meaning() -> None:
    with pytest.raises(SettingsError, match="'x' is given two meanings"):
        OutcomeNames(left=("x",), right=("y",), tie=("x",))


@given(
    st.lists(st.sampled_from(["left", "right", "tie"]), min_size=1, max_size=20), st.integers(1, 8)
)
def test_batches_change_no_reading(labels: list[str], batch_rows: int) -> None:
    rows: list[Row] = [("p", "q", label) for label in labels]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "BATCH_ROWS", batch_rows)
        found = read(rows).comparisons

    counts = dict(zip(found.score.tolist(), found.count.tolist(), strict=True))
    expected = {0.0: "right", 0.5: "tie", 1.0: "left"}
    assert counts == {s: labels.count(t) for s, t in expected.items() if t in labels}
