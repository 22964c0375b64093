"""Agreement by pair of raters, by rater, by category, and pooled over groups."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.stats.inter_rater as sm
from heart_command import Heart
from rating_tables import FLEISS_1971

import hearteval as he
from hearteval.analysis.agreement import parts as agreement_parts
from hearteval.errors import NotIdentifiedError, SettingsError

DIAGNOSES = ("depression", "personality", "schizophrenia", "neurosis", "other")
COLUMNS: dict[str, Any] = {"unit": "text", "rater": "coder", "value": "label"}


def fleiss_1971() -> pd.DataFrame:
    """The counts as ratings; which psychiatrist gave which does not matter to what is tested."""
    rows = []
    for patient, counts in enumerate(FLEISS_1971):
        given = [name for name, n in zip(DIAGNOSES, counts, strict=True) for _ in range(n)]
        rows += [(f"p{patient:02}", f"r{k}", name) for k, name in enumerate(given)]
    return pd.DataFrame(rows, columns=["text", "coder", "label"])


def ratings(seed: int = 0, n: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        (f"t{k:02}", coder, int(np.clip(round(k % 5 + rng.normal(0, spread)), 0, 4)))
        for k in range(n)
        for coder, spread in (("ann", 0.4), ("bob", 0.6), ("cyd", 2.5))
    ]
    return pd.DataFrame(rows, columns=["text", "coder", "label"])


def test_kappa_of_each_category_is_that_of_fleiss_1971() -> None:
    """Page 381; R irr kappam.fleiss(diagnoses, detail=TRUE) prints the same."""
    found = he.agree(fleiss_1971(), **COLUMNS, level="nominal", also=["by_category"])

    assert found.by_category is not None
    kappas = {row.value: round(row.fleiss_kappa.value or 0, 3) for row in found.by_category}
    assert kappas == {
        "depression": 0.245,
        "personality": 0.245,
        "schizophrenia": 0.520,
        "neurosis": 0.471,
        "other": 0.566,
    }
    shares = {row.value: round(row.share, 3) for row in found.by_category}
    assert shares["neurosis"] == 0.306
    assert sum(row.n_values for row in found.by_category) == 180


def test_specific_agreement_of_two_raters_is_that_of_dice() -> None:
    """a = 3 both yes, b + c = 2: 6 / 8."""
    pairs = [("yes", "yes")] * 3 + [("yes", "no"), ("no", "yes")] + [("no", "no")] * 7
    table = pd.DataFrame(pairs, columns=["ann", "bob"])
    found = he.agree(table, wide=True, level="nominal", also=["by_category"]).by_category

    assert found is not None
    assert {row.value: row.specific_agreement.value for row in found} == {
        "no": pytest.approx(14 / 16),
        "yes": pytest.approx(6 / 8),
    }


def test_a_value_on_which_no_two_raters_met_has_no_agreement() -> None:
    rows = [(f"u{k}", rater, "ab"[k % 2]) for k in range(6) for rater in ("one", "two")]
    rows.append(("alone", "one", "z"))
    table = [{"unit": unit, "rater": rater, "value": value} for unit, rater, value in rows]
    found = he.agree(
        table, unit="unit", rater="rater", value="value", level="nominal", also=["by_category"]
    ).by_category
    assert found is not None
    (z,) = [row for row in found if row.value == "z"]
    assert (z.specific_agreement.value, z.fleiss_kappa.value) == (None, None)
    assert z.fleiss_kappa.reason == z.specific_agreement.reason


def test_kappa_of_each_pair_is_that_of_statsmodels() -> None:
    table = ratings()
    found = he.agree(table, **COLUMNS, level="ordinal", also=["by_pair"]).by_pair
    wide = table.pivot(index="text", columns="coder", values="label")

    assert found is not None
    assert [(row.rater, row.other) for row in found] == [
        ("ann", "bob"),
        ("ann", "cyd"),
        ("bob", "cyd"),
    ]
    for row in found:
        counts = pd.crosstab(wide[row.rater], wide[row.other])
        counts = counts.reindex(index=range(5), columns=range(5), fill_value=0)
        for weights, measure in ((None, row.cohen_kappa), ("fc", row.cohen_kappa_weighted_value)):
            kappa = sm.cohens_kappa(counts.to_numpy(), wt=weights, return_results=False)
            assert measure.value == pytest.approx(kappa)
        assert row.cohen_kappa.low is not None


def test_a_pair_is_what_its_two_raters_alone_give() -> None:
    table = ratings()
    found = he.agree(table, **COLUMNS, level="ordinal", also=["by_pair"]).by_pair
    alone = he.agree(table[table.coder != "cyd"], **COLUMNS, level="ordinal")

    assert found is not None
    assert found[0].percent_agreement.value == alone.percent_agreement.value
    assert found[0].cohen_kappa.value == alone.cohen_kappa.value
    assert found[0].n_units == 30


def test_the_rater_who_stands_apart_is_seen() -> None:
    found = he.agree(ratings(), **COLUMNS, level="ordinal", also=["by_rater"])

    assert found.by_rater is not None
    by_name = {row.rater: row for row in found.by_rater}
    alone = he.agree(ratings().query("coder != 'cyd'"), **COLUMNS, level="ordinal")
    assert by_name["cyd"].alpha_without == alone.krippendorff_alpha.value
    assert (by_name["cyd"].percent_agreement.value or 0) < (
        by_name["ann"].percent_agreement.value or 0
    )


def test_agreement_with_others_by_hand() -> None:
    """ann: both, one and none of the two others say the same; the last unit is hers alone."""
    wide = pd.DataFrame({"ann": [1, 1, 1, 2], "bob": [1, 1, 2, None], "cyd": [1, 2, 2, None]})
    found = he.agree(wide, wide=True, level="nominal", also=["by_rater"]).by_rater

    assert found is not None
    assert found[0].percent_agreement.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert (found[0].n_values, found[0].n_units) == (4, 3)
    assert "takes 6 units" in (found[0].percent_agreement.reason or "")


def test_raters_who_share_no_unit_are_no_pair() -> None:
    table = pd.DataFrame(
        {
            "text": ["a", "a", "b", "b", "c"],
            "coder": ["ann", "bob", "ann", "bob", "cyd"],
            "label": [1, 1, 2, 1, 2],
        }
    )
    found = he.agree(table, **COLUMNS, level="nominal", also=["by_pair", "by_rater"])

    assert found.by_pair is not None
    assert found.by_rater is not None
    assert [(row.rater, row.other) for row in found.by_pair] == [("ann", "bob")]
    assert found.by_rater[2].percent_agreement.reason == "no other rater rates the same units"


def test_very_many_pairs_have_values_and_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement_parts, "MAX_INTERVALS", 2)
    found = he.agree(ratings(), **COLUMNS, level="nominal", also=["by_pair"]).by_pair

    assert found is not None
    assert found[0].cohen_kappa.value is not None
    assert found[0].cohen_kappa.low is None
    assert "more than 2 pairs" in (found[0].cohen_kappa.reason or "")
    assert "nominal level" in (found[0].cohen_kappa_weighted_value.reason or "")


def test_too_many_categories_are_refused() -> None:
    table = pd.DataFrame({"ann": range(60), "bob": range(1, 61)})
    with pytest.raises(SettingsError, match="up to 50 categories, and there are 61"):
        he.agree(table, wide=True, level="interval", also=["by_category"])


def test_pooled_kappa_is_of_mean_agreement_and_mean_chance() -> None:
    """De Vries and others (2008), with each table's p_e from its own p_a and kappa."""
    parts = [ratings(seed).assign(axis=axis) for seed, axis in enumerate("HEA")]
    found = he.agree(pd.concat(parts), **COLUMNS, level="nominal", by="axis", also=["pooled"])

    assert found.pooled is not None
    agreed, chance = [], []
    for group in found.groups:
        assert group.result is not None
        p_a, kappa = group.result.percent_agreement.value, group.result.fleiss_kappa.value
        assert p_a is not None
        assert kappa is not None
        agreed.append(p_a)
        chance.append(1 - (1 - p_a) / (1 - kappa))
    pooled = (np.mean(agreed) - np.mean(chance)) / (1 - np.mean(chance))
    assert found.pooled.percent_agreement.value == pytest.approx(np.mean(agreed))
    assert found.pooled.fleiss_kappa.value == pytest.approx(pooled)
    assert (found.pooled.n_tables, found.pooled.n_units) == (3, 30)
    low, high = found.pooled.fleiss_kappa.low, found.pooled.fleiss_kappa.high
    assert low is not None
    assert high is not None
    assert low < pooled < high


def test_pooling_one_table_is_that_table() -> None:
    found = he.agree(
        ratings().assign(axis="H"), **COLUMNS, level="nominal", by="axis", also=["pooled"]
    )

    assert found.pooled is not None
    assert found.pooled.fleiss_kappa.value == pytest.approx(found["H"].fleiss_kappa.value)


def test_units_of_several_tables_are_drawn_with_all() -> None:
    """Three copies of one table tell no more than one."""
    table = ratings()
    one, three = (
        he.agree(
            pd.concat([table.assign(axis=axis) for axis in axes]),
            **COLUMNS,
            level="nominal",
            by="axis",
            also=["pooled"],
        ).pooled
        for axes in ("H", "HEA")
    )
    assert one is not None
    assert three is not None
    assert three.fleiss_kappa.low == pytest.approx(one.fleiss_kappa.low)


def test_what_cannot_be_pooled_is_said() -> None:
    with pytest.raises(SettingsError, match="name them with by"):
        he.agree(ratings(), **COLUMNS, level="nominal", also=["pooled"])
    with pytest.raises(ValueError, match="also must be several"):
        he.agree(ratings(), **COLUMNS, level="nominal", also="by_pair")  # type: ignore[call-overload]
    lone = pd.DataFrame({"text": ["a"], "coder": ["ann"], "label": ["x"], "axis": ["H"]})
    with pytest.raises(NotIdentifiedError, match="no table has two units"):
        he.agree(lone, **COLUMNS, level="nominal", by="axis", also=["pooled"])


def test_parts_on_the_command_line(heart: Heart, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    pd.concat([ratings(seed).assign(axis=axis) for seed, axis in enumerate("HE")]).to_csv(
        path, index=False
    )
    columns = ("--unit", "text", "--rater", "coder", "--value", "label", "--level", "ordinal")
    options = ("--by", "axis", "--by-pair", "--by-rater", "--by-category", "--pooled")
    done = heart("agree", path, *columns, *options, "--json").json
    plain = heart("agree", path, *columns, "--by", "axis", "--json").json
    said = heart("agree", path, *columns, *options).out

    first = done["groups"][0]["result"]
    assert set(first) - set(plain["groups"][0]["result"]) == {"by_pair", "by_rater", "by_category"}
    assert set(done) - set(plain) == {"pooled"}
    assert sorted(first["by_rater"][0]) == [
        "alpha_without",
        "n_units",
        "n_values",
        "percent_agreement",
        "rater",
    ]
    for words in ("pair of raters", "\N{GREEK SMALL LETTER ALPHA} without", "given", "pooled"):
        assert words in said
    assert max(map(len, said.splitlines())) <= 80
    assert heart("agree", path, *columns, "--pooled").code == 2
