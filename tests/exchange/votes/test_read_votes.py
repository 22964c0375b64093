"""Votes from every format are the same arrays; what is left out is counted, never guessed."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearteval.analysis.ranking.votes import Votes
from hearteval.errors import InvalidVotesError, SettingsError
from hearteval.exchange.tables import arrow, frames, open_table
from hearteval.exchange.tables.columns import CodedColumn
from hearteval.exchange.votes import OutcomeNames, VoteColumns, coder, read_votes
from hearteval.notices import Kind
from hearteval.stats.tally import Tally

LLMFAO = Path(__file__).resolve().parents[4] / "shared/data/reference/llmfao/crowd-comparisons.csv"
NAMES = ("left", "right", "winner", "strength", "item", "rater", "words")
COLUMNS = VoteColumns(
    left="left",
    right="right",
    winner="winner",
    strength="strength",
    cluster="item",
    rater="rater",
    covariates=("words",),
)
VOTES_ONLY = VoteColumns(left="left", right="right", winner="winner")
ROWS: list[tuple[Any, ...]] = [
    ("gpt", "phi", "left", 3, "shed", "ann", 12.5),
    ("gpt", "phi", "left", 3, "shed", "ann", 12.5),
    ("phi", "gpt", "left", 1, "shed", "ben", 0.0),
    ("phi", "yi", "tie", 4, "exam", "ann", -3.0),
    ("yi", "phi", "tie", None, "exam", "ben", 1.0),
    ("gpt", "yi", "right", 2, "exam", "ben", 7.0),
    ("gpt", None, "left", 1, "shed", "ann", 1.0),
    ("yi", "yi", "left", 1, "shed", "ann", 1.0),
    ("gpt", "yi", None, 1, "shed", "ann", 1.0),
    ("gpt", "yi", "left", 1, None, "ann", 1.0),
    ("gpt", "yi", "left", 1, "shed", None, 1.0),
    ("gpt", "yi", "left", 1, "shed", "ann", None),
    ("gpt", "yi", "left", None, "shed", "ann", 1.0),
    ("gpt", "yi", "left", -1, "shed", "ann", 1.0),
    ("gpt", "yi", "left", 0, "shed", "ann", 1.0),
]


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(NAMES), orient="row")


def write_csv(rows: list[tuple[Any, ...]], folder: Path) -> Path:
    path = folder / "votes.csv"
    frame_of(rows).write_csv(path)
    return path


def write_json_lines(rows: list[tuple[Any, ...]], folder: Path) -> Path:
    path = folder / "votes.jsonl"
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_parquet(rows: list[tuple[Any, ...]], folder: Path) -> Path:
    path = folder / "votes.parquet"
    pq.write_table(frame_of(rows).to_arrow(), path, row_group_size=4)
    return path


SOURCES: dict[str, Callable[[list[tuple[Any, ...]], Path], Any]] = {
    "csv": write_csv,
    "jsonl": write_json_lines,
    "parquet": write_parquet,
    "pandas": lambda rows, _: pd.DataFrame(rows, columns=list(NAMES)),
    "polars": lambda rows, _: frame_of(rows),
    "arrow": lambda rows, _: frame_of(rows).to_arrow(),
}


def read(source: Any, columns: VoteColumns = COLUMNS) -> Votes:
    return read_votes(open_table(source), columns, OutcomeNames())


def contents(votes: Votes) -> dict[str, Any]:
    """Everything of the votes, comparable."""
    found = {f.name: getattr(votes, f.name) for f in fields(votes) if f.name != "comparisons"}
    for f in fields(votes.comparisons):
        found[f.name] = getattr(votes.comparisons, f.name)
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


def small_votes(**changes: Any) -> dict[str, Any]:
    """Two votes with one column or several changed."""
    return {"left": ["p", "q"], "right": ["q", "p"], "winner": ["left", "right"], **changes}


@pytest.mark.parametrize("source", SOURCES)
def test_every_format_gives_the_same_votes(source: str, tmp_path: Path) -> None:
    votes = contents(read(SOURCES[source](ROWS, tmp_path)))

    assert votes == {
        "systems": ("gpt", "phi", "yi"),
        "left": [0, 0, 1, 1, 2],
        "right": [1, 2, 0, 2, 1],
        "score": [1.0, 0.0, 1.0, 0.5, 0.5],
        "weight": [3.0, 2.0, 1.0, 1.0, 1.0],
        "count": [2, 1, 1, 1, 1],
        "item": [1, 0, 1, 0, 0],
        "rater": [0, 1, 1, 0, 1],
        "writer": None,
        "n_systems": 3,
        "covariates": [[12.5], [7.0], [0.0], [-3.0], [1.0]],
        "has_strength": True,
        "n_items": 2,
        "n_item_groups": None,
        "raters": ("ann", "ben"),
        "n_votes": 6,
        "n_ties": 2,
        "n_dropped": {
            "missing system": 1,
            "same system twice": 1,
            "missing winner": 1,
            "missing cluster": 1,
            "missing rater": 1,
            "bad covariate": 1,
            "bad strength": 3,
        },
        "items": ("exam", "shed"),
        "warnings": (
            "6 of 15 rows (40 %) are left out: missing system 1, same system twice 1, missing"
            " winner 1, missing cluster 1, missing rater 1, bad covariate 1 (an empty winner is no"
            " tie). If they are no slip, this ranking is of the rest.",
            "3 of 7 decided votes have no usable strength and are left out of both rankings; ties"
            " stay, so this moves the ranking",
        ),
    }


def test_without_columns_there_are_no_items_raters_and_strengths() -> None:
    votes = read(frame_of(ROWS), VOTES_ONLY)

    assert (votes.n_items, votes.raters, votes.n_raters) == (None, None, None)
    assert not votes.has_strength
    assert votes.covariates.shape == (len(votes.comparisons), 0)
    assert set(votes.comparisons.weight.tolist()) == {1.0}
    assert set(votes.comparisons.item.tolist()) == {0}
    assert set(votes.comparisons.rater.tolist()) == {0}
    assert votes.n_dropped == {"missing system": 1, "same system twice": 1, "missing winner": 1}


@given(st.randoms(use_true_random=False), st.integers(1, 20), st.sampled_from(["polars", "arrow"]))
@settings(max_examples=40, deadline=None)
def test_order_and_batches_change_nothing(
    shuffler: random.Random, batch_rows: int, source: str
) -> None:
    rows = shuffler.sample(ROWS, len(ROWS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "BATCH_ROWS", batch_rows)
        patch.setattr(arrow, "BATCH_ROWS", batch_rows)
        shuffled = read(SOURCES[source](rows, Path()))

    assert contents(shuffled) == contents(read(frame_of(ROWS)))


@given(
    st.lists(
        st.tuples(
            *(st.sampled_from(["p", "q", "r"]),) * 2,
            st.sampled_from(["left", "right", "tie"]),
            st.sampled_from(["1", "2.5", "", "nan", "x", "-1", "1e3"]),
            st.sampled_from(["i", "j", ""]),
        ),
        min_size=1,
        max_size=40,
    )
)
@settings(max_examples=100, deadline=None)
def test_votes_are_those_that_counting_by_hand_gives(rows: list[tuple[str, ...]]) -> None:
    strengths = {"1": 1.0, "2.5": 2.5, "1e3": 1000.0}
    scores = {"left": 1.0, "right": 0.0, "tie": 0.5}
    expected = Counter(
        (left, right, scores[winner], 1.0 if winner == "tie" else strengths[strength], item)
        for left, right, winner, strength, item in rows
        if left != right and item and (winner == "tie" or strength in strengths)
    )
    names = ["left", "right", "winner", "strength", "item"]
    table = open_table(pl.DataFrame(rows, schema=names, orient="row"))
    columns = replace(VOTES_ONLY, strength="strength", cluster="item")

    decided = [row for row in rows if row[0] != row[1] and row[4] and row[2] != "tie"]
    if not expected or (decided and not any(row[3] in strengths for row in decided)):
        with pytest.raises(InvalidVotesError, match=r"can be used|usable strength"):
            read_votes(table, columns, OutcomeNames())
        return
    votes = read_votes(table, columns, OutcomeNames())

    found = votes.comparisons
    items = sorted({row[4] for row in expected})
    arrays = (found.left, found.right, found.score, found.weight, found.item, found.count)
    counted = {
        (votes.systems[i], votes.systems[j], score, weight, items[item]): count
        for i, j, score, weight, item, count in zip(*(a.tolist() for a in arrays), strict=True)
    }
    assert counted == expected
    assert votes.n_votes == expected.total()
    assert votes.n_votes + sum(votes.n_dropped.values()) == len(rows)


def test_labels_of_one_meaning_and_strengths_of_one_value_are_one_row() -> None:
    frame = pl.DataFrame(
        {
            "left": ["p"] * 4,
            "right": ["q"] * 4,
            "winner": ["2", "2.0", "1", "1.0"],
            "strength": ["3", "5", "2", "2.0"],
        }
    )
    columns = replace(VOTES_ONLY, strength="strength")

    votes = read(frame, columns)

    found = votes.comparisons
    rows = zip(found.score.tolist(), found.weight.tolist(), found.count.tolist(), strict=True)
    assert sorted(rows) == [(0.0, 3.0, 1), (0.0, 5.0, 1), (1.0, 2.0, 2)]


@pytest.mark.parametrize(
    "strength",
    [*(float("nan"), float("inf"), -1.0, 0.0, None), *("strong", "1_0", "nan", "-2", "0x1")],
)
def test_a_strength_of_a_decided_vote_is_a_finite_number_above_0(strength: Any) -> None:
    usable = "2" if isinstance(strength, str) else 2.0
    columns = replace(VOTES_ONLY, strength="strength")

    votes = read(pl.DataFrame(small_votes(strength=[strength, usable])), columns)

    assert votes.n_dropped == {"bad strength": 1}
    assert votes.comparisons.weight.tolist() == [2.0]


def test_ties_need_no_strength_even_if_no_row_has_one() -> None:
    columns = replace(VOTES_ONLY, strength="strength")

    votes = read(pl.DataFrame(small_votes(winner=["tie", "tie"], strength=["", "?"])), columns)

    assert votes.comparisons.weight.tolist() == [1.0, 1.0]
    assert votes.n_dropped == {}


def test_a_system_lost_with_its_rows_or_strengths_is_named_in_a_warning() -> None:
    frame = small_votes(left=["p", "lost"], right=["q", "p"], winner=["left", None])

    votes = read(pl.DataFrame(frame), VOTES_ONLY)

    assert votes.systems == ("p", "q")
    assert votes.warnings[1:] == ("systems named only in rows that were left out (1): lost",)
    columns = replace(VOTES_ONLY, strength="strength")
    frame = small_votes(left=["p", "lost"], right=["q", "p"], strength=[1, -1])
    assert "left out (1): lost" in read(pl.DataFrame(frame), columns).warnings[1]


def test_strengths_without_a_number_are_an_error_that_shows_one(tmp_path: Path) -> None:
    frame = small_votes(left=["p", "q", "p"], right=["q", "p", "q"], winner=["tie", "left", "left"])
    path = tmp_path / "votes.csv"
    pl.DataFrame({**frame, "item": ["", "i53", "i7"]}).write_csv(path)
    columns = replace(VOTES_ONLY, strength="item")

    with pytest.raises(
        InvalidVotesError,
        match=r"column 'item': no decided vote has a usable strength \(row 2 \(line 3\): 'i53'\)",
    ):
        read(path, columns)

    missing = pl.DataFrame(small_votes(winner=["left", "tie"], strength=[None, 1.0]))
    with pytest.raises(InvalidVotesError, match=r"usable strength \(its cells are empty\)"):
        read(missing, replace(VOTES_ONLY, strength="strength"))


@pytest.mark.parametrize(("n_bad", "n_warnings"), [(1, 0), (2, 1)])
def test_more_than_a_twentieth_without_strength_is_warned_of(n_bad: int, n_warnings: int) -> None:
    strength = [*["x"] * n_bad, *["1"] * (20 - n_bad)]
    frame = {"left": ["p"] * 20, "right": ["q"] * 20, "winner": ["left"] * 20, "strength": strength}

    votes = read(pl.DataFrame(frame), replace(VOTES_ONLY, strength="strength"))

    assert (
        votes.warnings
        == ("2 of 20 decided votes have no usable strength and are left out of both rankings",)[
            :n_warnings
        ]
    )


def test_a_file_whose_last_line_does_not_end_is_warned_of(tmp_path: Path) -> None:
    path, zipped = tmp_path / "votes.csv", tmp_path / "votes.csv.gz"
    path.write_text("winner,left,right\nleft,p,q\nright,p,q")
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    problem = f"the last line of {path} does not end: if the file was cut, its last row is wrong"

    assert read(path, VOTES_ONLY).warnings == (problem,)
    assert "does not end" in read(zipped, VOTES_ONLY).warnings[0]

    path.write_text("winner,left,right\nleft,p,q\nright,p,q\n")
    assert read(path, VOTES_ONLY).warnings == ()


@pytest.mark.parametrize("source", SOURCES)
def test_words_for_missing_are_missing_and_warned_of(source: str, tmp_path: Path) -> None:
    row = ("gpt", "phi", "left", 3, "i", "ann", 1.0)
    rows = [
        row,
        ("gpt", "NaN", "left", 3, "NA", "ann", 1.0),
        (*row[:4], "NA", "b", 1),
        ("gpt", "phi", "N/A", 3, "j", "ann", 1.0),
    ]

    votes = read(SOURCES[source](rows, tmp_path))

    assert (votes.n_votes, votes.n_items, votes.systems) == (1, 1, ("gpt", "phi"))
    assert votes.n_dropped == {"missing system": 1, "missing winner": 1, "missing cluster": 1}
    said = [str(warning) for warning in votes.warnings]
    for words in ("'item' has cells that read 'NA' (2)", "'right' has cells that read 'NaN' (1)"):
        assert any(f"column {words}: they count as missing" in warning for warning in said)


def test_a_word_for_missing_is_a_winner_that_is_missing_unless_it_is_said_to_be_one() -> None:
    frame = pl.DataFrame(small_votes(winner=["left", "NA"]))
    assert read(frame, VOTES_ONLY).n_dropped == {"missing winner": 1}
    votes = read_votes(open_table(frame), VOTES_ONLY, OutcomeNames(tie=("NA",)))
    assert (votes.n_ties, votes.warnings) == (1, ())


def test_systems_that_look_alike_are_named() -> None:
    frame = {
        "left": ["ash", "\u0430sh", "Ash", "q"],
        "right": ["q", "Q", "q", "ash"],
        "winner": ["left"] * 4,
    }

    (warning,) = read(pl.DataFrame(frame), VOTES_ONLY).warnings

    assert warning.startswith("systems that differ only in case, white space or encoding (2): ")
    assert r"white space or encoding (2): 'Ash' and 'ash' and '\u0430sh'; 'Q' and 'q'" in warning


HIDDEN = [
    "ash ",
    " ash",
    "ash\u200b",
    "a\u00adsh",
    "ash\u00a0",
    "\ufeffash",
    "ash\u2060",
    "ash\ufe0f",
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_systems_that_look_the_same_are_never_ranked_apart(hidden: str) -> None:
    frame = {"left": ["ash", "q", hidden], "right": ["q", hidden, "ash"], "winner": ["left"] * 3}

    with pytest.raises(InvalidVotesError, match="look the same") as caught:
        read(pl.DataFrame(frame), VOTES_ONLY)

    assert ascii(hidden) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_encodings_of_one_name_look_the_same() -> None:
    frame = {"left": ["Zo\u00eb"], "right": ["Zoe\u0308"], "winner": ["left"]}

    with pytest.raises(InvalidVotesError, match=r"'Zoe\\u0308' and 'Zo\\xeb'"):
        read(pl.DataFrame(frame), VOTES_ONLY)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize(("column", "kind"), [("cluster", "items"), ("rater", "raters")])
def test_items_and_raters_that_look_the_same_are_warned_of(
    hidden: str, column: str, kind: str
) -> None:
    frame = {**small_votes(winner=["left", "right"]), column: ["ash", hidden]}
    names: dict[str, Any] = {column: column}
    columns = replace(VOTES_ONLY, **names)

    (warning,) = read(pl.DataFrame(frame), columns).warnings

    assert warning.startswith(f"{kind} that differ only in")
    assert warning.kind is Kind.LOOK_ALIKES


@pytest.mark.parametrize("hidden", ["left ", "left\u200b", "\ufeffleft"])
def test_a_winner_that_looks_like_a_known_label_is_no_known_label(hidden: str) -> None:
    with pytest.raises(InvalidVotesError) as caught:
        read(pl.DataFrame(small_votes(winner=["left", hidden])), VOTES_ONLY)

    assert f"row 2 has {hidden!r}" in str(caught.value)


@pytest.mark.parametrize("blank", [" ", "\t ", "\u200b", "\u00a0\ufeff", "\u3164"])
def test_a_blank_cell_is_missing(blank: str) -> None:
    frame = {
        "left": ["p", blank, "p", "p"],
        "right": ["q"] * 4,
        "winner": ["left", "left", blank, "right"],
        "cluster": ["a", "a", "a", blank],
    }

    votes = read(pl.DataFrame(frame), replace(VOTES_ONLY, cluster="cluster"))

    assert votes.n_dropped == {"missing system": 1, "missing winner": 1, "missing cluster": 1}
    assert votes.n_votes == 1


@pytest.mark.parametrize(("n_missing", "is_warned_of"), [(20, True), (1, False)])
def test_many_rows_left_out_are_the_first_warning_and_few_are_counted_only(
    n_missing: int, is_warned_of: bool
) -> None:
    winner = ["left"] * (40 - n_missing) + [None] * n_missing

    votes = read(
        pl.DataFrame({"left": ["p"] * 40, "right": ["q"] * 40, "winner": winner}), VOTES_ONLY
    )

    said = [str(warning) for warning in votes.warnings if warning.kind is Kind.DROPPED]
    assert bool(said) is bool(votes.warnings) is is_warned_of
    if is_warned_of:
        assert said[0].startswith("20 of 40 rows (50 %) are left out: missing winner 20")


def test_an_integer_too_large_for_a_float_is_a_name_or_no_strength(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    huge = "1" + "0" * 400
    row = '{{"left": {}, "right": {}, "winner": "left", "strength": {}}}\n'
    path.write_text(row.format(huge, 2, 1) + row.format(2, huge, huge))

    votes = read(path, replace(VOTES_ONLY, strength="strength"))

    assert votes.systems == (huge, "2")
    assert votes.n_dropped == {"bad strength": 1}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("", r"votes\.csv holds no votes, only the names of"),
        ("p,p,left\np,p,right\n", r"none of its 2 rows can be used \(same system twice: 2\)"),
        ('p,"q\nr",left\np,q,lft\n', r"row 2 \(line 4\) has 'lft'"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(rows: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(f"left,right,winner\n{rows}", encoding="utf-8")

    with pytest.raises(InvalidVotesError, match=problem):
        read(path, VOTES_ONLY)


def test_a_missing_column_is_named() -> None:
    columns = VoteColumns(left="left", right="right", winner="winner", cluster="items")

    with pytest.raises(SettingsError, match=r"no column 'items', only .*; did you mean 'item'"):
        read(frame_of(ROWS), columns)


def test_columns_by_role_are_those_given() -> None:
    columns = VoteColumns(left="a", right="b", winner="w", rater="who", covariates=("words",))

    assert columns.by_role() == {"left": "a", "right": "b", "winner": "w", "rater": "who"}


def test_covariates_are_numbers_of_the_row() -> None:
    frame = small_votes(a=["0.5", "-0"], b=["7", "-7"], c=["1e-3", "2"])
    columns = replace(VOTES_ONLY, covariates=("a", "b", "c"))

    votes = read(pl.DataFrame(frame), columns)

    assert votes.covariates.tolist() == [[0.5, 7.0, 0.001], [0.0, -7.0, 2.0]]


@pytest.mark.parametrize("value", ["", "nan", "inf", "long", "1_0"])
def test_a_covariate_that_is_no_finite_number_is_bad(value: str) -> None:
    frame = pl.DataFrame(small_votes(a=["1", value], b=["2", "3"]))

    votes = read(frame, replace(VOTES_ONLY, covariates=("a", "b")))

    assert votes.n_dropped == {"bad covariate": 1}
    assert votes.covariates.tolist() == [[1.0, 2.0]]


def test_rows_with_more_combinations_than_a_number_holds_are_sorted() -> None:
    large = 2**40
    rows = coder.VoteRows(
        {"left": np.array([large, 1, large]), "right": np.array([large, 3, 2])}, np.array([1, 2, 3])
    )

    rows.sort()

    assert rows.columns["left"].tolist() == [1, large, large]
    assert rows.columns["right"].tolist() == [3, 2, large]
    assert rows.count.tolist() == [2, 3, 1]


def test_an_unknown_label_in_parquet_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pq.write_table(pl.DataFrame(small_votes(winner=["left", "lft"])).to_arrow(), path)

    with pytest.raises(InvalidVotesError, match=r"votes\.parquet, column .*: row 2 has 'lft'"):
        read(path, VOTES_ONLY)


def test_many_items_in_many_rows_are_put_into_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    items = [f"item {i}" for i in rng.integers(0, 60, 500)]
    frame = pl.DataFrame(
        {"left": ["p"] * 500, "right": ["q"] * 500, "winner": ["left"] * 500, "item": items}
    )
    columns = VoteColumns(left="left", right="right", winner="winner", cluster="item")
    ungrouped = read(frame, columns)
    monkeypatch.setattr(coder, "MAX_ITEMS", 16)
    monkeypatch.setattr(coder, "MAX_ROWS", 40)

    whole = read(frame, columns)
    monkeypatch.setattr(frames, "BATCH_ROWS", 7)
    early = read(frame[::-1], columns)

    assert contents(early) == contents(whole)
    assert whole.n_items == ungrouped.n_items == len(set(items))
    assert whole.n_item_groups == len(whole.comparisons) <= 16
    assert whole.n_votes == 500
    assert "60 items were put into 16 groups" in whole.warnings[0]


def test_the_group_of_an_item_follows_from_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checked with ``printf NAME | b2sum -l 64``: 00b70dd552242ce2 and a22edca0eb366612."""
    monkeypatch.setattr(coder, "MAX_ROWS", 0)
    groups = coder.ItemGroups()
    names = (*(f"item {i}" for i in range(2048)), "žluť")
    column = CodedColumn(codes=np.arange(2049, dtype=np.int32), values=names)
    tally = Tally(1)
    tally.add(groups.place(groups.names.translate(column)))

    assert groups.fold_above(tally, [coder.ITEM], 1)

    assert groups.place(np.array([0, 2048], np.int32)).tolist() == [0x2CE2 % 2048, 0x6612 % 2048]


@pytest.mark.parametrize(("limit", "value"), [("MAX_ITEMS", 2), ("MAX_ROWS", 100)])
def test_few_items_or_few_rows_stay_as_they_are(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coder, "MAX_ITEMS", 1)
    monkeypatch.setattr(coder, "MAX_ROWS", 1)
    monkeypatch.setattr(coder, limit, value)

    assert read(frame_of(ROWS)).n_item_groups is None


def test_the_crowd_votes_of_llmfao_are_read() -> None:
    if not LLMFAO.is_file():
        pytest.skip("the llmfao votes are not at ../shared/data beside the checkout")
    columns = VoteColumns(
        left="left", right="right", winner="winner", cluster="prompt", rater="worker"
    )

    votes = read(LLMFAO, columns)

    assert (votes.n_votes, len(votes.systems), votes.n_raters) == (8931, 59, 124)
    assert votes.n_dropped == {}
    assert votes.comparisons.count.sum() == 8931
