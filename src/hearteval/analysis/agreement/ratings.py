"""Ratings as a file holds them -> every measure of agreement, each with an interval over units.

What a cell means is decided here: level of measurement, range, what is left out and counted.
Nothing is clipped, and a measure that does not apply has a reason in place of a value.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, NoReturn, get_args

import numpy as np

from hearteval.analysis.agreement.measures import (
    MIN_UNITS,
    AgreementMeasure,
    AgreementSettings,
    Builder,
    IntervalKind,
    measure_table,
    measured,
    require_units,
    stepped_up,
)
from hearteval.errors import InvalidVotesError, NotIdentifiedError, SettingsError, first_few
from hearteval.notices import Kind, Notice, by_severity
from hearteval.stats.agreement.bootstrap import MIN_WIDTH
from hearteval.stats.agreement.cronbach import cronbach_alpha, feldt_interval
from hearteval.stats.agreement.icc import count_complete, icc_1, icc_a1, icc_c1
from hearteval.stats.agreement.kappas import (
    cohen_kappa,
    cohen_kappa_weighted,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
)
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import (
    MISSING,
    CodedRatings,
    Level,
    RatingTable,
    count_support,
    lay_out,
    merge_equal_units,
)
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray

NAMES_ONLY = "does not apply at nominal level, where values are names and not numbers"


FEW_UNITS = 30
FEW_CASES = 10
"""Units that hold another value than the commonest, or whose ratings differ: intervals of kappa and
alpha cover .87 to .90 of a nominal .95 with 5 to 9 of them; AC1 and percent agreement .95."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Every measure of agreement of one table of ratings.

    Attributes:
        n_units: Units named in the table, rated or not.
        n_values: Cells that count; with those excluded, all cells.
        excluded: Cells that do not count, by reason: missing, unparsable, out of range.
        percent_agreement: Mean share of equal pairs.
        cohen_kappa: Of two raters only.
        cohen_kappa_weighted_value: The same with quadratic weights of the values.
        cohen_kappa_weighted_index: The same with quadratic weights of their ranks among those used.
        fleiss_kappa: Fleiss' kappa, generalised for missing cells.
        krippendorff_alpha: At the level.
        gwet_ac1: Gwet's AC1, which ignores order.
        gwet_ac2: Gwet's AC2 with the weights of the level.
        icc_c1: ICC(C,1), consistency, over units that every rater rated.
        icc_a1: ICC(A,1), absolute agreement, likewise.
        icc_1: ICC(1), one-way, where each unit may have raters of its own.
        icc_ck: ICC(C,k), of the mean of all raters.
        icc_ak: ICC(A,k), likewise.
        cronbach_alpha: Cronbach's alpha with raters as items, gaps left out pair by pair.
        warnings: What makes the numbers doubtful, the most serious first.
        notes: What the intervals speak of.
    """

    n_units: int
    n_raters: int
    n_values: int
    excluded: Mapping[str, int]
    percent_agreement: AgreementMeasure
    cohen_kappa: AgreementMeasure
    cohen_kappa_weighted_value: AgreementMeasure
    cohen_kappa_weighted_index: AgreementMeasure
    fleiss_kappa: AgreementMeasure
    krippendorff_alpha: AgreementMeasure
    gwet_ac1: AgreementMeasure
    gwet_ac2: AgreementMeasure
    icc_c1: AgreementMeasure
    icc_a1: AgreementMeasure
    icc_1: AgreementMeasure
    icc_ck: AgreementMeasure
    icc_ak: AgreementMeasure
    cronbach_alpha: AgreementMeasure
    settings: AgreementSettings
    warnings: tuple[Notice, ...]
    notes: tuple[str, ...] = ()


def measure_agreement(ratings: CodedRatings, settings: AgreementSettings) -> Agreement:
    """Measure how far raters agree, with intervals from a bootstrap over units.

    At nominal level the text of a cell is its category; at the others a cell counts if it is a
    finite number from `settings.min` to `settings.max`. Units, raters and values are sorted before
    any draw, so the order of rows changes nothing. Units with fewer than two values carry no pair.
    Raters are taken as given.

    Raises:
        SettingsError: For an unknown level or interval, limits that cannot be, no resamples, a
            negative seed.
        InvalidVotesError: For a rater who rates a unit twice, a negative value at ratio level, or
            no value that can be used.
    """
    prepared = prepare_ratings(ratings, settings)
    table = merge_equal_units(prepared.table)
    measures, samples = measure_table(table, _builders(table, settings.level), settings)
    warnings = _warn_of_samples(measures, samples, settings)
    measures |= _measure_means(table, measures, settings)
    return Agreement(
        n_units=len(ratings.units),
        n_raters=len(ratings.raters),
        n_values=prepared.n_values,
        excluded=prepared.excluded,
        settings=settings,
        warnings=by_severity([*_warn_of_table(ratings, table, settings.level), *warnings]),
        notes=_notes(table, measures),
        **measures,
    )


class PreparedRatings(NamedTuple):
    """Ratings that count, as a table, with the names of what is in it."""

    table: RatingTable
    units: tuple[str, ...]
    raters: tuple[str, ...]
    categories: tuple[str, ...]
    """As a reader knows them."""
    n_values: int
    excluded: Mapping[str, int]


def prepare_ratings(ratings: CodedRatings, settings: AgreementSettings) -> PreparedRatings:
    """Decide what counts, and lay it out as a table; its units are not merged.

    Raises:
        SettingsError, InvalidVotesError: As `measure_agreement`.
    """
    _check_settings(settings)
    _check_single(ratings)
    numbers = _turn(ratings, _read_numbers(ratings, settings.level)[ratings.value], settings)
    excluded = _exclude(ratings, numbers, settings)
    is_used = ~np.logical_or.reduce(list(excluded.values()))
    _check_any_used(ratings, is_used, settings.level)
    if settings.level == "ratio":
        _check_not_negative(ratings, numbers, is_used)
    used = np.unique(numbers[is_used]).tolist()
    if settings.level == "nominal":
        names = sorted(ratings.values)
        categories = tuple(names[int(rank)] for rank in used)
    else:
        categories = tuple(f"{number:.12g}" for number in used)
    return PreparedRatings(
        table=_build_table(ratings, numbers, is_used),
        units=_used_names(ratings.units, ratings.unit[is_used]),
        raters=_used_names(ratings.raters, ratings.rater[is_used]),
        categories=categories,
        n_values=int(is_used.sum()),
        excluded={reason: int(rows.sum()) for reason, rows in excluded.items() if rows.any()},
    )


def _used_names(names: tuple[str, ...], codes: IntArray) -> tuple[str, ...]:
    return tuple(sorted(names[code] for code in np.unique(codes).tolist()))


def _notes(table: RatingTable, measures: Mapping[str, AgreementMeasure]) -> tuple[str, ...]:
    if all(found.low is None for found in measures.values()):
        return ()
    return (
        f"Intervals say how the numbers may move with other units rated by the same"
        f" {table.n_raters} raters. Other raters may agree more or less: that is not in them.",
    )


def _check_settings(settings: AgreementSettings) -> None:
    if settings.level not in get_args(Level):
        levels = ", ".join(get_args(Level))
        raise SettingsError(f"the level must be one of {levels}, not {settings.level!r}")
    if settings.interval not in get_args(IntervalKind):
        kinds = ", ".join(get_args(IntervalKind))
        raise SettingsError(f"the interval must be one of {kinds}, not {settings.interval!r}")
    limits = [limit for limit in (settings.min, settings.max) if limit is not None]
    if limits and settings.level == "nominal":
        raise SettingsError("min and max need numbers: at nominal level values are names")
    if not all(math.isfinite(limit) for limit in limits) or limits != sorted(limits):
        raise SettingsError(f"min and max must be finite numbers in that order, not {limits}")
    if settings.resamples < 1:
        raise SettingsError(f"resamples must be 1 or more, not {settings.resamples}")
    if not 0 < settings.confidence < 1:
        raise SettingsError(f"a confidence is between 0 and 1, not {settings.confidence}")
    if settings.seed < 0:
        raise SettingsError(f"the seed must be 0 or more, not {settings.seed}")


def _check_single(ratings: CodedRatings) -> None:
    """A second value is an error even where it would be excluded: dropping it would be choosing."""
    is_given = ratings.value != MISSING
    n_raters = len(ratings.raters)
    cells = ratings.unit[is_given] * n_raters + ratings.rater[is_given]
    distinct, counts = np.unique(cells, return_counts=True)
    rows = np.flatnonzero(counts > 1)
    if len(rows):
        unit, rater, times = min(
            (ratings.units[cell // n_raters], ratings.raters[cell % n_raters], n)
            for cell, n in zip(distinct[rows].tolist(), counts[rows].tolist(), strict=True)
        )
        raise InvalidVotesError(
            f"rater {rater!r} rates unit {unit!r} {times} times; keep one value of each rater and"
            f" unit ({len(rows)} such pairs)",
            ids=(unit, rater),
        )


def _check_any_used(ratings: CodedRatings, is_used: BoolArray, level: Level) -> None:
    if is_used.any() or not (ratings.value != MISSING).any():
        return
    row = int(np.argmax(ratings.value != MISSING))
    advice = "" if level == "nominal" else "; write words as numbers in their order, as 1, 2, 3"
    raise InvalidVotesError(
        f"none of {len(ratings):,} values can be used at {level} level, the first being"
        f" {ratings.values[ratings.value[row]]!r}{advice}"
    )


def _check_not_negative(ratings: CodedRatings, numbers: FloatArray, is_used: BoolArray) -> None:
    rows = np.flatnonzero(is_used & (numbers < 0))
    if len(rows):
        cells = [(ratings.units[ratings.unit[r]], ratings.raters[ratings.rater[r]]) for r in rows]
        unit, rater = min(cells)
        raise InvalidVotesError(
            f"the ratio level has no negative values, and rater {rater!r} gives unit {unit!r} one"
            f" ({len(rows)} such cells); use the interval level, or exclude them with min 0",
            ids=(unit, rater),
        )


def _read_numbers(ratings: CodedRatings, level: Level) -> FloatArray:
    """Return the number each text stands for, NaN for none, and last NaN for a missing cell."""
    if level == "nominal":
        numbers = _rank(ratings.values).astype(np.float64)
    else:
        numbers = np.array([finite_number(text) for text in ratings.values], dtype=np.float64)
    return np.append(numbers, math.nan)


def finite_number(text: str) -> float:
    """Return the finite number that a text stands for, NaN for none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    # Python reads 1_0 as 10, which no one writes in a table on purpose. Adding 0 drops a minus.
    return number + 0.0 if math.isfinite(number) and "_" not in text else math.nan


def _turn(ratings: CodedRatings, numbers: FloatArray, settings: AgreementSettings) -> FloatArray:
    """Turn the numbers of reversed raters round, within the limits of the scale."""
    if not settings.reverse:
        return numbers
    unknown = [name for name in settings.reverse if name not in ratings.raters]
    if unknown:
        raise SettingsError(
            f"{first_few(unknown, 5)} to be reversed is no rater; there are"
            f" {first_few(sorted(ratings.raters), 30)}",
            ids=unknown,
        )
    if settings.min is None or settings.max is None:
        raise SettingsError(
            "to reverse a rater's or an item's values, name the ends of the scale: min and max"
        )
    turned = [ratings.raters.index(name) for name in settings.reverse]
    return np.where(np.isin(ratings.rater, turned), settings.min + settings.max - numbers, numbers)


def _rank(names: tuple[str, ...]) -> IntArray:
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def _exclude(
    ratings: CodedRatings, numbers: FloatArray, settings: AgreementSettings
) -> dict[str, BoolArray]:
    is_missing = ratings.value == MISSING
    low = -math.inf if settings.min is None else settings.min
    high = math.inf if settings.max is None else settings.max
    return {
        "missing": is_missing,
        "unparsable": np.isnan(numbers) & ~is_missing,
        "out of range": (numbers < low) | (numbers > high),
    }


def _build_table(ratings: CodedRatings, numbers: FloatArray, is_used: BoolArray) -> RatingTable:
    """Sort by name; leave out units and raters without a value, so that they change no draw."""
    unit, rater = ratings.unit[is_used], ratings.rater[is_used]
    table = lay_out(_rank(ratings.units)[unit], _rank(ratings.raters)[rater], numbers[is_used])
    # No coefficient depends on the scale; a power of two changes no digit, and squares stay finite.
    exponent = np.frexp(np.abs(table.values).max(initial=0))[1]
    return replace(table, values=np.ldexp(table.values, -exponent))


def _builders(table: RatingTable, level: Level) -> dict[str, Builder]:
    def of_numbers(build: Builder) -> Builder:
        return _refuse_names if level == "nominal" else build

    indices = np.arange(len(table.values), dtype=np.float64)
    return {
        "percent_agreement": lambda: percent_agreement(table),
        "cohen_kappa": lambda: cohen_kappa(table),
        "cohen_kappa_weighted_value": of_numbers(lambda: cohen_kappa_weighted(table, table.values)),
        "cohen_kappa_weighted_index": of_numbers(lambda: cohen_kappa_weighted(table, indices)),
        "fleiss_kappa": lambda: fleiss_kappa(table),
        "krippendorff_alpha": lambda: krippendorff_alpha(table, level=level),
        "gwet_ac1": lambda: gwet_ac1(table),
        "gwet_ac2": of_numbers(lambda: gwet_ac2(table, level=level)),
        "icc_c1": of_numbers(lambda: icc_c1(table)),
        "icc_a1": of_numbers(lambda: icc_a1(table)),
        "icc_1": of_numbers(lambda: icc_1(table)),
    }


def _refuse_names() -> NoReturn:
    raise NotIdentifiedError(NAMES_ONLY)


def _warn_of_table(ratings: CodedRatings, table: RatingTable, level: Level) -> list[Notice]:
    """Name what makes measures and intervals doubtful."""
    n = table.n_pairable
    warnings = []
    if not n:
        text = (
            "No unit has two values, so there is nothing to agree on. A table with a column for"
            " each rater is read with --wide (in Python wide=True)."
        )
        warnings.append(Notice(Kind.NO_INTERVAL, text))
    elif n < MIN_UNITS:
        have = "Only 1 unit has" if n == 1 else f"Only {n} units have"
        text = f"{have} two values: with fewer than {MIN_UNITS} nothing has an interval."
        warnings.append(Notice(Kind.NO_INTERVAL, text))
    elif n < FEW_UNITS:
        text = f"Only {n} units have two values: intervals from so few are often too narrow."
        warnings.append(Notice(Kind.FEW_ITEMS, text))
    n_differing, n_other = count_support(table)
    cases = (
        (n_other, f"Only {n_other} of {n} units hold any value but the commonest one"),
        (n_differing, f"Raters differ on only {n_differing} of {n} units"),
    )
    warnings += [
        Notice(Kind.FEW_CASES, f"{text}: intervals of kappa, alpha and ICC may be too narrow.")
        for n_cases, text in cases
        if n >= MIN_UNITS and 0 < n_cases < FEW_CASES and 2 * n_cases < n
    ]
    return [*warnings, *_left_out(ratings, table, level)]


def _left_out(ratings: CodedRatings, table: RatingTable, level: Level) -> list[Notice]:
    warnings = []
    n_complete, n_units = count_complete(table), len(ratings.units)
    if level != "nominal" and n_complete < table.n_pairable:
        few = ": intervals from so few are often too narrow" if n_complete < FEW_UNITS else ""
        text = (
            f"The ICCs use the {n_complete} of {n_units} units that all"
            f" {table.n_raters} raters rated{few}."
        )
        warnings.append(Notice(Kind.FEW_ITEMS if few else Kind.UNUSED, text))
    n_alone = n_units - table.n_pairable
    if n_alone:
        text = f"{n_alone} of {n_units} units have fewer than two values and carry no pair."
        warnings.append(Notice(Kind.UNUSED, text))
    n_silent = len(ratings.raters) - table.n_raters
    if n_silent:
        text = f"{n_silent} of {len(ratings.raters)} raters have no value that counts."
        warnings.append(Notice(Kind.UNUSED, text))
    return warnings


def _is_odd(value: float, samples: FloatArray, level: float) -> bool:
    """Say whether an estimate lies outside the middle share `level` of its resampled values."""
    low, high = np.nanquantile(samples, ((1 - level) / 2, (1 + level) / 2))
    return not low <= value <= high


def _warn_of_samples(
    measures: Mapping[str, AgreementMeasure],
    samples: Mapping[str, FloatArray],
    settings: AgreementSettings,
) -> list[Notice]:
    """Name the intervals that some samples are not in, and those that do not fit the table."""
    odd: list[str] = []
    undefined: dict[int, list[str]] = {}
    for name, of_name in samples.items():
        value = measures[name].value
        if value is None or measures[name].low is None:
            continue
        if _is_odd(value, of_name, settings.confidence):
            odd.append(name)
        undefined.setdefault(int(np.isnan(of_name).sum()), []).append(name)
    warnings = [
        f"{', '.join(names)}: {n} of {settings.resamples} bootstrap samples leave it undefined and"
        " are not in its interval."
        for n, names in undefined.items()
        if n
    ]
    if odd:
        warnings.append(
            f"Nearly all resampled values of {', '.join(odd)} lie on one side of the estimate:"
            " resampled units repeat values that stand once in the table, so the bootstrap, and"
            " with it the interval, does not fit this table."
        )
    return [Notice(Kind.FEW_CASES, text) for text in warnings]


def _measure_means(
    table: RatingTable, single: Mapping[str, AgreementMeasure], settings: AgreementSettings
) -> dict[str, AgreementMeasure]:
    """Measure what the mean, or the sum, of all raters is worth, from what one is."""
    n_units = int(table.count.sum())

    def alpha() -> float:
        return _refuse_names() if settings.level == "nominal" else cronbach_alpha(table)

    def interval(alpha: float) -> tuple[float, float]:
        require_units(n_units, "units with two values or more")
        if alpha > 1 - MIN_WIDTH:
            raise NotIdentifiedError(f"no interval: {alpha:g} is the end of the scale")
        return feldt_interval(alpha, n_units, table.n_raters, level=settings.confidence)

    return {
        "icc_ck": stepped_up(single["icc_c1"], table.n_raters),
        "icc_ak": stepped_up(single["icc_a1"], table.n_raters),
        "cronbach_alpha": measured(alpha, interval),
    }
