"""Where raters agree and where not: by pair of raters, by rater, by category, pooled over tables.

Intervals are those of `hearteval.analysis.agreement.ratings`, from a bootstrap over units (Efron
and Tibshirani 1993), but a rater's share of agreement, a mean over units, which has a t interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NoReturn

import numpy as np

from hearteval.analysis.agreement.measures import (
    AgreementMeasure,
    AgreementSettings,
    Builder,
    measure_table,
    measured,
    require_units,
    value_of,
)
from hearteval.analysis.agreement.ratings import (
    NAMES_ONLY,
    PreparedRatings,
    prepare_ratings,
)
from hearteval.errors import NotIdentifiedError, SettingsError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.kappas import (
    agreement_with_others,
    beyond_chance,
    chance_disagreement,
    cohen_kappa,
    cohen_kappa_weighted,
    fleiss_kappa,
    percent_agreement,
    specific_agreement,
)
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import (
    CodedRatings,
    Coefficient,
    RatingTable,
    check_table,
    lay_out,
    select_ratings,
)
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.means import mean_interval

MAX_INTERVALS = 300
"""Pairs of raters above which none has an interval: each takes a bootstrap of its own."""
MAX_CATEGORIES = 50
"""More are a scale, not categories: each is measured against all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Two raters, on the units that both rated.

    Attributes:
        cohen_kappa_weighted_value: With quadratic weights of the values; None at nominal level.
    """

    rater: str
    other: str
    n_units: int
    percent_agreement: AgreementMeasure
    cohen_kappa: AgreementMeasure
    cohen_kappa_weighted_value: AgreementMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """One rater beside the others.

    Attributes:
        n_units: Units rated by them and another.
        percent_agreement: Mean share of the others who say the same, over these units.
        alpha_without: Krippendorff's alpha of all others; above that of all, they agree less.
    """

    rater: str
    n_values: int
    n_units: int
    percent_agreement: AgreementMeasure
    alpha_without: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryAgreement:
    """One category against all others.

    Attributes:
        share: Of all values.
        specific_agreement: How often another rater says it too where one does.
        fleiss_kappa: Fleiss' kappa of the category against the rest (Fleiss 1971).
    """

    value: str
    n_values: int
    share: float
    specific_agreement: AgreementMeasure
    fleiss_kappa: AgreementMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledAgreement:
    """Several tables as one, each counting the same (De Vries and others 2008).

    Attributes:
        n_tables: Tables that have two units with two values.
        percent_agreement: Mean of theirs.
        fleiss_kappa: 1 - mean disagreement / mean disagreement by chance, which a mean of kappas,
            or a kappa of all values together, is not.
    """

    n_tables: int
    n_units: int
    percent_agreement: AgreementMeasure
    fleiss_kappa: AgreementMeasure


def agree_by_pair(ratings: CodedRatings, settings: AgreementSettings) -> tuple[PairAgreement, ...]:
    """Measure every two raters who share a unit; above `MAX_INTERVALS` of them without intervals.

    Raises:
        SettingsError, InvalidVotesError: As `measure_agreement`.
    """
    prepared = prepare_ratings(ratings, settings)
    table = prepared.table
    has_rated = np.zeros((table.n_raters, table.n_units), dtype=bool)
    has_rated[table.rater, table.unit] = True
    pairs = [
        (i, j)
        for i, j in combinations(range(table.n_raters), 2)
        if (has_rated[i] & has_rated[j]).any()
    ]
    found = []
    for i, j in pairs:
        shared = has_rated[i] & has_rated[j]
        rows = np.isin(table.rater, (i, j)) & shared[table.unit]
        measures = _measure_pair(select_ratings(table, rows), settings, n_pairs=len(pairs))
        found.append(
            PairAgreement(
                rater=prepared.raters[i],
                other=prepared.raters[j],
                n_units=int(shared.sum()),
                **measures,
            )
        )
    return tuple(found)


def _measure_pair(
    table: RatingTable, settings: AgreementSettings, *, n_pairs: int
) -> dict[str, AgreementMeasure]:
    def weighted() -> Coefficient:
        if settings.level == "nominal":
            raise NotIdentifiedError(NAMES_ONLY)
        return cohen_kappa_weighted(table, table.values)

    builders = {
        "percent_agreement": lambda: percent_agreement(table),
        "cohen_kappa": lambda: cohen_kappa(table),
        "cohen_kappa_weighted_value": weighted,
    }
    if n_pairs <= MAX_INTERVALS:
        return measure_table(table, builders, settings)[0]
    return {name: _value_of(build, table) for name, build in builders.items()}


def _value_of(build: Builder, table: RatingTable) -> AgreementMeasure:
    def interval(_: float) -> NoReturn:
        raise NotIdentifiedError(
            f"no interval: there are more than {MAX_INTERVALS} pairs of raters"
        )

    return measured(lambda: estimate(build(), table), interval)


def agree_by_rater(
    ratings: CodedRatings, settings: AgreementSettings
) -> tuple[RaterAgreement, ...]:
    """Set each rater beside the others.

    Raises:
        SettingsError, InvalidVotesError: As `measure_agreement`.
    """
    prepared = prepare_ratings(ratings, settings)
    table = prepared.table
    found = []
    shared = agreement_with_others(table)
    for index, (name, shares) in enumerate(zip(prepared.raters, shared, strict=True)):
        rest = select_ratings(table, table.rater != index)
        without = value_of(partial(krippendorff_alpha, rest, level=settings.level), rest)
        found.append(
            RaterAgreement(
                rater=name,
                n_values=int((table.rater == index).sum()),
                n_units=len(shares),
                percent_agreement=_mean_share(shares, settings.confidence),
                alpha_without=without,
            )
        )
    return tuple(found)


def _mean_share(shares: FloatArray, level: float) -> AgreementMeasure:
    if not len(shares):
        return AgreementMeasure(reason="no other rater rates the same units")

    def interval(_: float) -> tuple[float, float]:
        require_units(len(shares), "units")
        return mean_interval(shares, level=level)

    return measured(lambda: float(shares.mean()), interval)


def agree_by_category(
    ratings: CodedRatings, settings: AgreementSettings
) -> tuple[CategoryAgreement, ...]:
    """Measure each category against all others, in their order.

    Raises:
        SettingsError: There are more than `MAX_CATEGORIES`; or as `measure_agreement`.
        InvalidVotesError: As `measure_agreement`.
    """
    prepared = prepare_ratings(ratings, settings)
    table, names = prepared.table, prepared.categories
    if len(names) > MAX_CATEGORIES:
        raise SettingsError(
            f"agreement by category takes up to {MAX_CATEGORIES} categories, and there are"
            f" {len(names)} distinct values"
        )
    found = []
    for index, name in enumerate(names):
        is_it = table.category == index
        against = replace(table, category=is_it.astype(np.int64), values=np.array([0.0, 1.0]))
        builders = {
            "specific_agreement": lambda one=against: specific_agreement(one, 1),
            "fleiss_kappa": lambda one=against: _kappa_of_one(one),
        }
        measures, _ = measure_table(against, builders, settings)
        found.append(
            CategoryAgreement(
                value=name, n_values=int(is_it.sum()), share=float(is_it.mean()), **measures
            )
        )
    return tuple(found)


def _kappa_of_one(against: RatingTable) -> Coefficient:
    """Return Fleiss' kappa of a category against the others, where any two raters met on it."""
    specific_agreement(against, 1)  # raises where none did: then kappa would be that of the others
    return fleiss_kappa(against)


def pool_agreement(tables: Sequence[CodedRatings], settings: AgreementSettings) -> PooledAgreement:
    """Pool tables of ratings, e.g. one for each axis; units of one name are drawn together.

    Raises:
        SettingsError, InvalidVotesError: As `measure_agreement`.
        NotIdentifiedError: No table has two units with two values.
    """
    parts = [prepare_ratings(ratings, settings) for ratings in tables]
    usable = [part for part in parts if _is_usable(part)]
    if not usable:
        raise NotIdentifiedError("no table has two units with two values each and two categories")
    names = sorted({unit for part in usable for unit in part.units})
    place = {name: index for index, name in enumerate(names)}
    places = [np.array([place[unit] for unit in part.units]) for part in usable]
    observed = [percent_agreement(part.table).of_weights for part in usable]
    chance = [chance_disagreement(part.table).of_weights for part in usable]

    def agreement(weights: FloatArray) -> FloatArray:
        found = [of(weights[at]) for of, at in zip(observed, places, strict=True)]
        return np.asarray(np.mean(found, axis=0), dtype=np.float64)

    def kappa(weights: FloatArray) -> FloatArray:
        by_chance = [of(weights[at]) for of, at in zip(chance, places, strict=True)]
        return beyond_chance(agreement(weights), np.mean(by_chance, axis=0))

    n = len(names)
    measures, _ = measure_table(
        lay_out(np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(n)),
        {
            "percent_agreement": lambda: Coefficient(
                of_weights=agreement, undefined="no table has pairs"
            ),
            "fleiss_kappa": lambda: Coefficient(
                of_weights=kappa, undefined="chance alone would agree"
            ),
        },
        replace(settings, interval="fisher-z"),
        n_units=lambda _: require_units(n, "units"),
    )
    return PooledAgreement(n_tables=len(usable), n_units=n, **measures)


def _is_usable(part: PreparedRatings) -> bool:
    try:
        check_table(part.table)
    except NotIdentifiedError:
        return False
    return True
