"""`he.gate`: any table of scores, against SciPy's tests on the same item means."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import hearteval as he
from hearteval.errors import InvalidVotesError, SettingsError

NAMED: Mapping[str, Any] = {"unit": "item", "score": "won"}


def made(n: int, shift: float = 0.0, *, n_rows: int = 4, seed: int = 1) -> pd.DataFrame:
    """Items whose candidate wins so much more than half of a few rows, each item its own share."""
    rng = np.random.default_rng(seed)
    chance = np.clip(0.5 + shift + rng.normal(0, 0.2, n), 0, 1)
    won = rng.random((n, n_rows)) < chance[:, None]
    return pd.DataFrame({"item": np.repeat(np.arange(n), n_rows), "won": won.ravel().astype(float)})


def shares(frame: pd.DataFrame) -> Any:
    return frame.groupby("item")["won"].mean()


@pytest.mark.parametrize("shift", [-0.08, 0.0, 0.02])
def test_of_many_items_it_is_the_t_test_and_the_two_one_sided_tests(shift: float) -> None:
    """SciPy on item means: one item at the end of the scale more is next to nothing among 800."""
    frame = made(800, shift)
    means = shares(frame)
    t = scipy.stats.ttest_1samp(means, 0.5)
    low, high = t.confidence_interval(0.95)
    tost = max(
        scipy.stats.ttest_1samp(means, 0.45, alternative="greater").pvalue,
        scipy.stats.ttest_1samp(means, 0.55, alternative="less").pvalue,
    )

    one = he.gate(frame, **NAMED).tests["overall"]

    assert one.difference == pytest.approx(means.mean() - 0.5)
    assert one.p == pytest.approx(t.pvalue, abs=0.05)
    assert [one.low, one.high] == pytest.approx([low - 0.5, high - 0.5], abs=0.0015)
    assert one.p_equivalent == pytest.approx(tost, abs=0.02)


def won_of_100(n_won: int, axis: str = "overall") -> list[dict[str, Any]]:
    return [{"item": i, "axis": axis, "won": int(i < n_won)} for i in range(100)]


def test_axes_are_tested_together() -> None:
    """61 of 100 has p = .035 by SciPy: enough alone, and not twice among three (.05/3)."""
    assert scipy.stats.binomtest(61, 100).pvalue == pytest.approx(0.035, abs=1e-3)

    alone = he.gate(won_of_100(61), **NAMED)
    three = he.gate(
        [*won_of_100(61, "E"), *won_of_100(61, "A"), *won_of_100(50, "R")], axis="axis", **NAMED
    )

    assert alone.tests["overall"].verdict == "better"
    assert {one.verdict for one in three.tests.values()} == {"inconclusive"}
    assert three.tests["E"].p_adjusted == pytest.approx(3 * 0.035, abs=0.01)


def test_power_is_the_exact_one_where_all_is_won_or_lost() -> None:
    """Clopper and Pearson's 90 % interval of each count, by SciPy, and the chance of the count."""
    n, margin = 300, 0.1
    ends = [scipy.stats.binomtest(k, n).proportion_ci(0.9, method="exact") for k in range(n + 1)]
    is_within = [0.5 - margin < end.low and end.high < 0.5 + margin for end in ends]
    exact = scipy.stats.binom.pmf(np.arange(n + 1), n, 0.5)[is_within].sum()

    frame = [{"item": i, "won": i % 2} for i in range(n)]

    assert he.gate(frame, margin=margin, **NAMED).result.power == pytest.approx(exact, abs=0.03)


def test_any_source_says_the_same(tmp_path: Path) -> None:
    frame, path = made(40), tmp_path / "scores.csv"
    frame.to_csv(path, index=False)

    as_truth = frame.assign(won=frame["won"] == 1)

    told = [
        he.gate(source, **NAMED).to_dict()
        for source in (frame, path, frame.to_dict("records"), as_truth)
    ]

    assert told[0] == told[1] == told[2] == told[3]
    assert (told[0]["schema"], told[0]["study"]) == ("heart.gate/1", None)


def test_an_empty_axis_is_overall_and_comes_first() -> None:
    rows = [
        {"item": i, "axis": axis, "won": won}
        for i in range(30)
        for axis, won in (("E", 0), (None, i % 2), ("Overall", i % 2))
    ]

    found = he.gate(rows, axis="axis", **NAMED)

    assert list(found.tests) == ["overall", "E"]
    assert [one.difference for one in found.tests.values()] == [0.0, -0.5]
    assert "<Gated: failed; overall inconclusive, E worse" in repr(found)
    assert list(found.to_frame()["verdict"]) == ["inconclusive", "worse"]
    assert "worse than the baseline on E" in found.to_text()


def test_the_first_axis_is_named_where_nothing_is_overall() -> None:
    frame = made(200).assign(axis="warmth")

    words = " ".join(he.gate(frame, axis="axis", **NAMED).to_text().split())

    assert "(warmth alone is called equivalent" in words
    assert "On warmth it sees a difference" in words


def test_a_unit_without_a_score_counts_as_missing() -> None:
    frame = made(100, 0.3)
    frame.loc[frame["item"] < 11, "won"] = None

    one = he.gate(frame, **NAMED).tests["overall"]

    assert (one.verdict, one.coverage, one.n_items) == ("inconclusive", 0.89, 89)


def test_an_early_look_is_held_to_its_own_bound() -> None:
    """A p of .035 ends a gate of one look; at the first of two .003 is asked for."""
    rows = won_of_100(61)

    early = he.gate(rows, looks=2, look=1, planned=200, **NAMED)

    assert (he.gate(rows, **NAMED).outcome, early.outcome) == ("passed", "inconclusive")
    assert early.result.n_planned == 200


@pytest.mark.parametrize(
    ("rows", "said", "words"),
    [
        ([{"item": 1, "won": 2}], {}, "'2' in column 'won' is no score; expected 1 where"),
        ([{"item": 1, "won": "NA"}], {}, "'NA' in column 'won' is no score"),
        ([{"item": 1, "won": 1}, {"item": None, "won": 1}], {}, "row 2 has nothing in column"),
        ([{"item": 1, "won": 1}], {"unit": "itm"}, "did you mean 'item'?"),
        ([{"item": 1, "won": 1}], {"score": "item"}, "both as unit and as score"),
    ],
)
def test_what_cannot_be_read_is_named(
    rows: list[dict[str, Any]], said: dict[str, Any], words: str
) -> None:
    with pytest.raises((InvalidVotesError, SettingsError), match=words.replace("?", r"\?")):
        he.gate(rows, **{**NAMED, **said})


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InvalidVotesError, match="has no rows"):
        he.gate(pd.DataFrame({"item": [], "won": []}), **NAMED)


@pytest.mark.parametrize(
    "said", [{"look": 2}, {"looks": 3, "planned": 1_000}, {"margin": 0.5}, {"looks": 11}]
)
def test_numbers_that_do_not_go_together_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"planned|margin|looks"):
        he.gate(made(10), **NAMED, **said)
