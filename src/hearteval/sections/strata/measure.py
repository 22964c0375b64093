"""Does the ranking hold on every kind of item? Leaderboards by stratum, and a test.

Strata of one factor share no item. Each is ranked as the headline is, on its items alone; the Elo
of the systems that stand in all of them averages what it does in the headline, so that strata can
be compared. The test (`hearteval.stats.between_strata`) asks whether strengths differ between
strata by more than items, and people where they are sampled, make them. Exploratory (SPEC 13).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.estimates import EXPLORATORY, clustered_variance, interval_name
from hearteval.analysis.ranking.cells import Cells
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.domain import Item
from hearteval.errors import NotIdentifiedError
from hearteval.stats.between_strata import fewest_people, permutation_test, two_way_test
from hearteval.stats.bradley_terry.clustered_variance import ClusteredVariance
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA, centred_inverse, fit_win_matrix
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import ROUNDING, false_discovery_q
from hearteval.stats.special import stdtrit

FACTORS: Final = ("subset", "profile", "resistance", "cue", "emotion", "problem", "culture")
"""Labels of items, in the order shown."""
MIN_ITEMS: Final = 5
"""On fewer there is no figure."""
FEW_ITEMS: Final = 20
"""On fewer an interval is wide, and too narrow for how little it rests on."""
ALL_ALIKE: Final = "items of one kind all say the same, which does not show how far others would"


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumStanding:
    """One system on the items of one stratum."""

    system: str
    n_items: int
    n_judgments: int
    win_rate: float
    """(wins + half the ties) / judgments, every judgment counting once."""
    elo: float | None
    """Weighted by strength as the headline, on its scale; None where it has no figure."""
    low: float | None
    high: float | None
    rank: int | None
    """Among the systems ranked in this stratum; equal strengths share the better rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The ranking on the items with one label."""

    name: str
    n_items: int
    n_judgments: int
    is_wide: bool
    """Whether it rests on fewer than 20 items."""
    problem: str | None
    """Why there is no figure; else None."""
    interval_used: str | None
    df: int | None
    standings: tuple[StratumStanding, ...]
    """By name; empty under five items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrataTest:
    """Does the ranking differ between the strata of one factor?"""

    statistic: float
    """About 1 where it does not."""
    p: float
    q: float
    """Adjusted over the factors of this study (Benjamini and Hochberg 1995)."""
    method: str
    """``permutation of items``, judges given; or ``two-way``, over items and people."""
    n_strata: int
    n_items: int
    n_systems: int
    """Systems that stand in every stratum tested."""
    most_different: str
    """The system whose Elo differs most between strata, however sure that is."""
    most_different_elo: float
    """Its largest difference between two strata, of those with a ranking; 0 without two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedFactor:
    """The leaderboards by the strata of one factor."""

    factor: str
    n_unlabelled: int
    """Items without this label."""
    strata: tuple[Stratum, ...]
    """Most items first."""
    test: StrataTest | None
    no_test: str | None
    """Why there is no test; None where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedRanking:
    """The headline broken down by what is known of items."""

    factors: tuple[StratifiedFactor, ...]
    """Those with two strata or more."""
    level: float
    status: str = EXPLORATORY


class _Base(NamedTuple):
    """Systems whose Elo averages the same in every stratum."""

    systems: BoolArray
    elo: float


def stratify_ranking(
    cells: Cells, board: Leaderboard, *, level: float, seed: int
) -> StratifiedRanking:
    """Rank the systems on each stratum of each factor, and test whether the rankings differ.

    Args:
        cells: The judgments among the systems of the ranking.
        board: The ranking.
        level: Nominal coverage.
        seed: Of the permutations.
    """
    headline = {row.system: row.weighted.elo for row in board.rows}
    elo = np.array([headline[name] for name in cells.systems])
    judged = np.flatnonzero(cells.n_met.any(axis=1))
    found = []
    for factor in FACTORS:
        labels = {int(k): _label(cells.items[k], factor) for k in judged}
        if len({label for label in labels.values() if label is not None}) > 1:
            found.append(_stratify(cells, factor, labels, elo, level=level, seed=seed))
    q = false_discovery_q([one.test.p for one in found if one.test is not None]).tolist()
    factors = (replace(one, test=one.test and replace(one.test, q=q.pop(0))) for one in found)
    return StratifiedRanking(factors=tuple(factors), level=level)


def _label(item: Item, factor: str) -> str | None:
    label = getattr(item, factor)
    return str(label) if label else None


def _stratify(
    cells: Cells,
    factor: str,
    labels: Mapping[int, str | None],
    headline: FloatArray,
    *,
    level: float,
    seed: int,
) -> StratifiedFactor:
    sizes: dict[str, int] = {}
    for label in labels.values():
        if label is not None:
            sizes[label] = sizes.get(label, 0) + 1
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    place = {name: k for k, name in enumerate(names)}
    stratum = np.full(len(cells.items), -1)
    for item, label in labels.items():
        stratum[item] = place.get(label, -1) if label is not None else -1
    n_large = sum(size >= MIN_ITEMS for size in sizes.values())
    fields = [_field(cells, stratum == k) for k in range(n_large)]
    common = np.logical_and.reduce(fields) if fields else np.zeros(len(headline), dtype=bool)
    anchored = common if common.any() else np.ones(len(headline), dtype=np.bool_)
    base = _Base(anchored, float(headline[anchored].mean()))
    strata, elos = [], []
    for k, name in enumerate(names):
        field = fields[k] if k < n_large else None
        one, elo = _rank_stratum(cells, name, stratum == k, field, base, level=level)
        strata.append(one)
        elos.append(elo)
    test, reason = _test(cells, stratum, n_large, common, elos, seed=seed)
    return StratifiedFactor(
        factor=factor,
        n_unlabelled=sum(label is None for label in labels.values()),
        strata=tuple(strata),
        test=test,
        no_test=reason,
    )


def _field(cells: Cells, items: BoolArray) -> BoolArray:
    """Return the systems with items enough in a stratum, of those that stay."""
    stays = np.asarray((cells.n_met[items] > 0).sum(axis=0) >= MIN_ITEMS)
    if stays.all():
        return stays
    m, rows = len(stays), items[cells.item]
    low, high, item = cells.low[rows], cells.high[rows], cells.item[rows]
    while True:
        kept = stays[low] & stays[high]
        met = np.unique(np.concatenate((item[kept] * m + low[kept], item[kept] * m + high[kept])))
        enough = stays & (np.bincount(met % m, minlength=m) >= MIN_ITEMS)
        if (enough == stays).all():
            return stays
        stays = enough


def _rank_stratum(
    cells: Cells,
    name: str,
    items: BoolArray,
    field: BoolArray | None,
    base: _Base,
    *,
    level: float,
) -> tuple[Stratum, FloatArray]:
    """Return a stratum, and the Elo of each system in it, NaN where it has none."""
    m = len(cells.systems)
    elo, se, df, interval = np.full(m, np.nan), np.zeros(m), 0, None
    of_each = np.zeros(m)
    own = cells.select(items[cells.item])
    n_items, n_judgments = int(items.sum()), int(own.n.sum())
    if field is None:
        problem: str | None = "too few items"
    else:
        among = own if field.all() else own.select(field[own.low] & field[own.high])
        try:
            elo, se, of_each = _elo(among, field, base)
            df = int(of_each.max())
            problem, interval = None, interval_name(among.rater, among.writer)
        except NotIdentifiedError:
            problem = "its judgments do not determine a ranking"
    stratum = Stratum(
        name=name,
        n_items=n_items,
        n_judgments=n_judgments,
        is_wide=n_items < FEW_ITEMS,
        problem=problem,
        interval_used=interval,
        df=df or None,
        standings=_standings(own, elo, se, of_each, level=level) if field is not None else (),
    )
    return stratum, elo


def _elo(cells: Cells, field: BoolArray, base: _Base) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Elo, standard errors and degrees of freedom.

    The systems of the base average what the headline gives.
    """
    kept = np.flatnonzero(field)
    fit = fit_win_matrix(cells.points()[np.ix_(kept, kept)])
    theta = np.zeros(len(field))
    theta[kept] = fit.theta
    is_base = base.systems[kept] if base.systems[kept].any() else np.ones(len(kept))
    # theta - mean theta of the base: a contrast, so the gauge of the fit does not matter.
    centre = np.eye(len(kept)) - np.outer(np.ones(len(kept)), is_base / is_base.sum())
    scores, item, rater, writer = cells.scores_by_writer(theta)
    influence = scores[:, kept] @ centred_inverse(fit.information) @ centre.T
    variance = clustered_variance(influence, item, rater, writer)
    se = np.zeros(len(kept)) if variance is None else np.sqrt(variance.of_parameters())
    elo, errors = np.full(len(field), np.nan), np.zeros(len(field))
    elo[kept] = base.elo + ELO_PER_THETA * (centre @ fit.theta)
    errors[kept] = ELO_PER_THETA * se
    return elo, errors, np.zeros(len(field)) if variance is None else _df(cells, variance)


def _df(cells: Cells, variance: ClusteredVariance) -> FloatArray:
    """Return degrees of freedom: of what meets people's completions alone, those of who wrote."""
    is_of_nobody = cells.writer < 0
    others = np.concatenate((cells.low[is_of_nobody], cells.high[is_of_nobody]))
    is_of_people = np.bincount(others, minlength=len(cells.systems)) == 0
    return np.where(is_of_people, variance.df_of_writers, variance.df).astype(np.float64)


def _standings(
    cells: Cells, elo: FloatArray, se: FloatArray, df: FloatArray, *, level: float
) -> tuple[StratumStanding, ...]:
    m = len(cells.systems)
    won, n_items = cells.counts(), (cells.n_met > 0).sum(axis=0)
    n = (won + won.T).sum(axis=1)
    reach = np.where(df > 0, stdtrit(np.maximum(df, 1), (1 + level) / 2), 0.0) * se
    known = np.sort(-elo[~np.isnan(elo)].round(6))
    standings = []
    for k in range(m):
        if not n[k]:
            continue
        has_elo, has_width = not np.isnan(elo[k]), se[k] > ROUNDING
        standings.append(
            StratumStanding(
                system=cells.systems[k],
                n_items=int(n_items[k]),
                n_judgments=round(n[k]),
                win_rate=float(won[k].sum() / n[k]),
                elo=float(elo[k]) if has_elo else None,
                low=float(elo[k] - reach[k]) if has_elo and has_width else None,
                high=float(elo[k] + reach[k]) if has_elo and has_width else None,
                rank=1 + int(np.searchsorted(known, -elo[k].round(6))) if has_elo else None,
            )
        )
    return tuple(standings)


def _test(
    cells: Cells,
    stratum: IntArray,
    n_strata: int,
    common: BoolArray,
    elos: Sequence[FloatArray],
    *,
    seed: int,
) -> tuple[StrataTest | None, str | None]:
    if n_strata < 2:
        return None, f"fewer than two kinds have {MIN_ITEMS} items"
    if common.sum() < 2:
        return None, "fewer than two systems stand in all of them"
    tested = (stratum >= 0) & (stratum < n_strata)
    among = cells.select(tested[cells.item] & common[cells.low] & common[cells.high])
    kept = np.flatnonzero(common)
    try:
        fit = fit_win_matrix(among.points()[np.ix_(kept, kept)])
    except NotIdentifiedError:
        return None, "the judgments do not determine one ranking of the systems in all of them"
    theta = np.zeros(len(common))
    theta[kept] = fit.theta
    scores, item, rater = among.scores(theta)
    influence = scores[:, kept] @ centred_inverse(fit.information)
    items, place = np.unique(item, return_inverse=True)
    kind = stratum[items]
    is_two_way = interval_name(rater) == "two-way"
    reason = None
    if np.bincount(kind, minlength=n_strata).min() < 2:
        reason = "too few items compare the systems that stand in all of them"
    elif is_two_way and fewest_people(rater, kind[place]) == 1:
        reason = "one person alone judged all of a kind"
    if reason is not None:
        return None, reason
    summed = np.zeros((len(items), len(kept)))
    np.add.at(summed, place, influence)
    if all(np.ptp(summed[kind == k], axis=0).max() <= ROUNDING for k in range(n_strata)):
        return None, ALL_ALIKE
    if is_two_way:
        statistic, p = two_way_test(influence, place, rater, kind)
        method = "two-way"
    else:
        statistic, p = permutation_test(summed, kind, seed=seed)
        method = "permutation of items"
    system, largest = _most_different(cells.systems, elos[:n_strata], common)
    return StrataTest(
        statistic=statistic,
        p=p,
        q=p,
        method=method,
        n_strata=n_strata,
        n_items=len(items),
        n_systems=len(kept),
        most_different=system,
        most_different_elo=largest,
    ), None


def _most_different(
    systems: Sequence[str], elos: Sequence[FloatArray], common: BoolArray
) -> tuple[str, float]:
    table = np.array([elo[common] for elo in elos if not np.isnan(elo[common]).any()])
    names = [name for name, stays in zip(systems, common, strict=True) if stays]
    ranges = np.ptp(table, axis=0) if len(table) > 1 else np.zeros(len(names))
    return names[int(ranges.argmax())], float(ranges.max())
