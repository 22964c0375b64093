"""Tables of rankings for terminals: at most 80 columns, names told apart, nothing obeyed."""

import unicodedata
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearteval.analysis.ranking.head_to_head import LackOfFit
from hearteval.analysis.ranking.votes import RankedSystem, RankFit, RankSettings, VoteRanking
from hearteval.notices import Kind, Notice
from hearteval.report.files.ranking import interval_words, ranking_display, ranking_table
from hearteval.report.table import Table
from hearteval.report.text import aligned, fitted, shortened_names, wrapped

WIDE = "\u6a21\u578b\u4e00\u53f7"
"""Four characters that take two columns each."""


def columns(line: str) -> int:
    """Columns of a terminal, by the rule of Unicode Standard Annex 11."""
    widths = {"W": 2, "F": 2}
    marks = {"Mn", "Me"}
    shown = [c for c in line if unicodedata.category(c) not in marks]
    return sum(widths.get(unicodedata.east_asian_width(c), 1) for c in shown)


def ranking_of(names: list[str], **changes: Any) -> VoteRanking:
    numbers: dict[str, Any] = {
        "elo": 1500.0,
        "low": 1400.0,
        "high": 1600.0,
        "theta": 0.0,
        "se": 0.1,
        "published_low": 1450.0,
        "published_high": 1550.0,
        "rank": 1,
        "win_rate": 0.5,
        "n_comparisons": 1200,
        "rank_low": 1,
        "rank_high": 10,
        **changes,
    }
    return VoteRanking(
        systems=tuple(RankedSystem(system=name, **numbers) for name in names),
        fit=RankFit(
            converged=True,
            n_votes=1200,
            n_ties=1,
            n_dropped={"tie": 2},
            rms_gap=0.01,
            max_gap=0.02,
            system_rms_gap=0.0,
            system_max_gap=0.0,
            components=(tuple(names),),
            n_replicates_not_identified=None,
        ),
        settings=RankSettings(
            interval="item-sandwich",
            interval_used="item-sandwich",
            df=1.0,
            level=0.95,
            ties="drop",
            prior=0.0,
            resamples=1000,
            seed=0,
            columns={},
            n_items=None,
            n_raters=None,
        ),
        warnings=tuple(Notice(Kind.FEW_ITEMS, f"system {name} is warned of") for name in names),
        matrix=(),
        ranked=cast("Any", None),
    )


WEIGHTED = {"elo_weighted": 1512.0, "low_weighted": 1400.0, "high_weighted": 1600.0}
HUGE = {
    **dict.fromkeys(("elo_weighted", "elo", "high", "high_weighted"), 12345678.0),
    **dict.fromkeys(("low", "low_weighted"), -1234567.0),
}


@pytest.mark.parametrize("changes", [{}, WEIGHTED, HUGE])
@pytest.mark.parametrize(
    "name", ["ash", "a" * 24, "a" * 90, WIDE * 9, "\U0001f642" * 40, "a " * 60]
)
def test_no_line_is_wider_than_80_columns(name: str, changes: dict[str, Any]) -> None:
    lines = ranking_display(ranking_of([name, name + "2"], **changes)).text().splitlines()

    assert max(map(columns, lines)) <= 80


def test_columns_stay_in_line_under_wide_characters() -> None:
    lines = aligned([[WIDE, "1"], ["ash", "22"], ["Zoe\u0308", "3"]], left=(0,)).splitlines()

    assert lines == [f"{WIDE}   1", "ash       22", "Zoe\u0308        3"]


def test_short_names_leave_room_for_the_whole_bar() -> None:
    row = ranking_table(ranking_of(["ash"])).text().splitlines()[1]

    assert "\u2500" * 12 + "\u25cf" + "\u2500" * 12 in row


def test_names_that_a_cut_would_make_equal_keep_their_ends() -> None:
    names = ["the same long beginning, version 1", "the same long beginning, version 2", "ash"]

    assert shortened_names(names, 20) == [
        "the same l\u2026version 1",
        "the same l\u2026version 2",
        "ash",
    ]


def test_names_that_still_look_equal_are_numbered() -> None:
    names = [
        "ash",
        "ash ",
        "ash\x1b",
        "ash\x07",
        "x" * 15 + "1" + "y" * 15,
        "x" * 15 + "2" + "y" * 15,
    ]

    shown = shortened_names(names, 12)

    assert shown[:4] == ["ash", "ash #2", "ash\ufffd", "ash\ufffd #2"]
    assert shown[4:] == ["xxxxxx\u2026yyyyy", "xxxxxx\u2026y\u2026 #2"]


@given(
    st.lists(st.text(alphabet="ab #2\u6a21\u0308\x1b", max_size=14), unique=True, max_size=12),
    st.integers(8, 12),
)
def test_different_names_never_print_the_same(names: list[str], width: int) -> None:
    shown = shortened_names(names, width)

    looks = {" ".join(unicodedata.normalize("NFC", name).split()) for name in shown}
    assert len(looks) == len(names)
    assert max(map(columns, shown), default=0) <= width


@pytest.mark.parametrize("write", [Table.text, Table.html])
def test_control_characters_reach_neither_text_nor_page(write: Any) -> None:
    written = write(ranking_table(ranking_of(["red\x1b[31m", "bell\x07", "right\u202eleft"])))

    assert not {"\x1b", "\x07", "\u202e"} & set(written)


def test_wrapped_text_of_wide_characters_fits() -> None:
    lines = wrapped(WIDE * 33).splitlines()

    assert max(map(columns, lines)) <= 80
    assert "".join(line.strip() for line in lines) == WIDE * 33


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"interval_used": "two-way", "n_items": 9}, "with other items and other raters."),
        ({"n_items": 9}, "with other items."),
        ({}, "with other votes."),
        ({"interval_used": "published", "n_items": 9}, "are the paper's, too narrow."),
        ({"ties": "drop"}, "Ties are left out."),
        ({"prior": 0.5}, "Prior: 0.5 half-won votes a pair."),
    ],
)
def test_intervals_are_explained_in_plain_words(settings: dict[str, Any], words: str) -> None:
    ranking = ranking_of(["ash"])
    plain = {"ties": "half", **settings}
    said = interval_words(replace(ranking, settings=replace(ranking.settings, **plain)))
    assert said.endswith(words)
    assert "sandwich" not in said


def test_answer_stands_first_and_serious_notices_before_others() -> None:
    said = Notice(Kind.READING, "a cell was read"), Notice(Kind.MISFIT, "one order does not fit")
    lines = ranking_display(replace(ranking_of(["a", "b"]), warnings=said)).text().splitlines()
    assert lines[0].startswith("Nothing is settled. Either of the two systems may be the best. But")
    assert lines[-2:] == ["! one order does not fit", "\N{MIDDLE DOT} a cell was read"]


def test_gaps_that_a_prior_makes_are_not_laid_to_chance() -> None:
    """500 half-won votes a pair make gaps of 29 points, where votes alone leave 2 by chance."""
    ranking = ranking_of(["a", "b", "c"])
    test = LackOfFit(statistic=0.1, df=3.0, p=0.98, reason=None, method="")
    gaps: dict[str, Any] = {
        "rms_gap": 0.29,
        "max_gap": 0.36,
        "expected_rms_gap": 0.02,
        "expected_max_gap": 0.03,
    }
    ranking = replace(ranking, fit=replace(ranking.fit, lack_of_fit=test, **gaps))
    assert "chance alone would make it 2.0 and 3.0. That is no more" in _flat(ranking)

    pulled = replace(ranking, settings=replace(ranking.settings, prior=500.0))
    assert (
        "36.0 at most, the pull of the prior in it. The votes alone depart from one number per"
        " system by no more than chance explains (p 0.98)."
    ) in _flat(pulled)


def _flat(ranking: VoteRanking) -> str:
    return " ".join(ranking_display(ranking).text().split())


def test_long_lines_are_folded_under_their_own_beginning_and_short_ones_stay() -> None:
    path = "a-folder/" + "x" * 50
    assert fitted(f"two faults\n  line 3: {path} has no column for the text", 44).splitlines() == [
        *("two faults", "  line 3:", f"    {path}", "    has no column for the text")
    ]


@pytest.mark.parametrize(
    "whole", ["heart run a.toml --yes --open --verbose", '`price = { input = 1, output = "x" }`']
)
def test_what_is_copied_from_a_sentence_stays_on_one_line(whole: str) -> None:
    lines = fitted(f"make one and try again: {whole}, or stop it", 44).splitlines()
    assert len(lines) == 3
    assert whole in lines[1]
