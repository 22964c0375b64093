"""Ratings as parallel arrays: `RatingColumns`, and what each rating does to a system's mean.

Of that are made intervals over people who rate and who write, as far as they are enough.

A system's mean is that over items of each item's mean over its ratings, as in `scores`. Every index
counts names in sorted order, so that neither the order of ratings nor ids change a digit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.columns import number_writers
from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import clustered_errors, count_people
from hearteval.analysis.ranking.warnings import MIN_RATERS, MIN_WRITERS
from hearteval.analysis.scores.scores import OVERALL, RatedSystem, ScoreEstimate, ScoreRow
from hearteval.domain import MAX_SCORE, Axis, Rater, System, in_order
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import ROUNDING
from hearteval.stats.special import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingColumns:
    """First ratings of ranked systems, normalised, a row each."""

    systems: tuple[System, ...]
    """Those that are rated, by name."""
    raters: tuple[Rater, ...]
    """People last, by name."""
    items: tuple[str, ...]
    axes: tuple[Axis, ...]
    """Those with any score."""
    item: IntArray
    system: IntArray
    text: IntArray
    """Completions, numbered by item, system, writer and repeat."""
    writer: IntArray
    """Who wrote the completion, -1 where no person did."""
    rater: IntArray
    is_person: BoolArray
    raw: FloatArray
    """Scores, (ratings, axes), NaN where there is none; z-scores likewise."""
    z: FloatArray
    overall: FloatArray
    """Weighted mean of the raw scores, NaN where an axis is missing."""
    z_overall: FloatArray
    shares: FloatArray
    """What each z-score counts in `z_overall`, (ratings, axes)."""

    @property
    def sampled_rater(self) -> IntArray:
        """Return the raters as intervals take them: judges are -1, a fixed panel."""
        return np.where(self.is_person, self.rater, -1)

    def column(self, axis: Axis | None, *, is_z: bool) -> FloatArray:
        """Return the scores on an axis, or over all where it is None."""
        if axis is None:
            return self.z_overall if is_z else self.overall
        found: FloatArray = (self.z if is_z else self.raw)[:, self.axes.index(axis)]
        return found


def to_rating_columns(
    rows: Sequence[ScoreRow], data: StudyData, weights: Mapping[Axis, float]
) -> RatingColumns:
    """Return normalised rows as arrays; there must be one."""
    own = {row.system_id for row in rows}
    who = {row.rater_id for row in rows}
    systems = sorted((s for s in data.systems if s.id in own), key=lambda s: s.name)
    raters = sorted(
        (r for r in data.raters if r.id in who), key=lambda r: (r.kind == "human", r.name)
    )
    system_of = {system.id: k for k, system in enumerate(systems)}
    rater_of = {rater.id: k for k, rater in enumerate(raters)}
    items = sorted({row.item_id for row in rows})
    item_of = {item: k for k, item in enumerate(items)}
    written = {one.id: one for one in data.completions}
    texts = sorted(
        {row.completion_id for row in rows},
        key=lambda id_: (
            item_of[written[id_].item_id],
            system_of[written[id_].system_id],
            written[id_].writer_id or "",
            written[id_].repeat,
        ),
    )
    text_of = {text: k for k, text in enumerate(texts)}
    ordered = sorted(rows, key=lambda row: (text_of[row.completion_id], rater_of[row.rater_id]))
    axes = in_order({axis for row in rows for axis in row.scores})
    missing = float("nan")

    def scores(name: str, *, is_z: bool) -> FloatArray:
        return np.array(
            [(row.z if is_z else row.scores).get(name, missing) for row in ordered], dtype=float
        )

    raw = np.column_stack([scores(axis, is_z=False) for axis in axes])
    z = np.column_stack([scores(axis, is_z=True) for axis in axes])
    shares = np.where(np.isnan(z), 0.0, [weights.get(axis, 0.0) for axis in axes])
    total = shares.sum(axis=1, keepdims=True)
    rater = np.array([rater_of[row.rater_id] for row in ordered], dtype=np.int64)
    return RatingColumns(
        systems=tuple(systems),
        raters=tuple(raters),
        items=tuple(items),
        axes=axes,
        item=np.array([item_of[row.item_id] for row in ordered], dtype=np.int64),
        system=np.array([system_of[row.system_id] for row in ordered], dtype=np.int64),
        text=np.array([text_of[row.completion_id] for row in ordered], dtype=np.int64),
        writer=number_writers([written[row.completion_id] for row in ordered]),
        rater=rater,
        is_person=np.array([one.kind == "human" for one in raters], dtype=np.bool_)[rater],
        raw=raw,
        z=z,
        overall=scores(OVERALL, is_z=False),
        z_overall=scores(OVERALL, is_z=True),
        shares=shares / np.where(total > 0, total, 1.0),
    )


def group_means(
    values: FloatArray, group: IntArray, item: IntArray, n_groups: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of each group over its items, and what each row counts in it and moves it by.

    Returns:
        Means, (groups,), NaN of a group without a value; the weight of each row in its own group's
        mean, 0 of one without a value or a group (-1); influence of rows on means, (rows, groups).
    """
    is_in = ~np.isnan(values) & (group >= 0)
    n_items = int(item.max()) + 1
    cell = group[is_in] * n_items + item[is_in]
    n = np.bincount(cell, minlength=n_groups * n_items)
    items_of = (n.reshape(n_groups, n_items) > 0).sum(axis=1)
    weight = np.zeros(len(values))
    weight[is_in] = 1 / (n[cell] * items_of[group[is_in]])
    bare = np.where(is_in, values, 0.0)
    mine = np.maximum(group, 0)
    means = np.bincount(mine, weights=weight * bare, minlength=n_groups)
    influence = np.zeros((len(values), n_groups))
    influence[np.arange(len(values)), mine] = weight * (bare - means[mine])
    return np.where(items_of > 0, means, np.nan), weight, influence


def z_influence(columns: RatingColumns, axis: Axis | None = None) -> tuple[FloatArray, FloatArray]:
    """Return every system's mean z-score, on an axis or over all, and what each rating moves it by.

    A rating moves its system's mean, and by its rater's mean and standard deviation on an axis all
    means that rest on them: less (w z + v (z^2 - 1) / 2) / N, with w the weight of the rater's
    z-scores on the axis in a mean, v their part of it and N their number, as in `scores`.

    Returns:
        Means, (systems,), and influence, (ratings, systems).
    """
    n_systems, n_raters = len(columns.systems), len(columns.raters)
    values = columns.column(axis, is_z=True)
    means, weight, influence = group_means(values, columns.system, columns.item, n_systems)
    shares = columns.shares
    if axis is not None:
        shares = np.where(np.array(columns.axes) == axis, 1.0, np.zeros_like(shares))
    cell = columns.rater * n_systems + columns.system

    def by_rater(values: FloatArray) -> FloatArray:
        sums = np.bincount(cell, weights=values, minlength=n_raters * n_systems)
        return sums.astype(np.float64).reshape(n_raters, n_systems)

    for k in range(len(columns.axes)):
        is_known = ~np.isnan(columns.z[:, k])
        z = np.where(is_known, columns.z[:, k], 0.0)
        part = weight * shares[:, k]

        n = np.maximum(np.bincount(columns.rater[is_known], minlength=n_raters), 1)[:, None]
        pull, excess = by_rater(part) / n, by_rater(part * z) / (2 * n)
        moved = pull[columns.rater] * z[:, None]
        moved += excess[columns.rater] * (z**2 - 1)[:, None]
        influence -= np.where(is_known[:, None], moved, 0.0)
    return means, influence


def sample_people(
    systems: Sequence[RatedSystem], columns: RatingColumns, *, level: float
) -> tuple[RatedSystem, ...]:
    """Return scores with intervals over items and people, those who rate and those who write.

    Those of a system rest on the items and people that rated it, and on who wrote it: one of fewer
    than five of either keeps its own.
    """
    place = {system.name: k for k, system in enumerate(columns.systems)}
    found = {axis: _two_way(columns, axis, level=level) for axis in (None, *columns.axes)}
    return tuple(
        replace(
            row,
            overall=_sampled(row.overall, found[None].get(place[row.system])),
            axes={
                axis: _sampled(at, found[axis].get(place[row.system]))
                for axis, at in row.axes.items()
            },
        )
        for row in systems
    )


Ends = tuple[float, float, int] | None
"""Of an interval, and its degrees of freedom."""


def _two_way(
    columns: RatingColumns, axis: Axis | None, *, level: float
) -> dict[int, tuple[Ends, Ends]]:
    """Return the intervals of raw and z means, by system that people enough rated or wrote."""
    values, n = columns.column(axis, is_z=False), len(columns.systems)
    item, rater, writer = columns.item, columns.sampled_rater, columns.writer
    means, _, influence = group_means(values, columns.system, item, n)
    z_means, z_moved = z_influence(columns, axis)
    found = {}
    for k in range(n):
        own = (columns.system == k) & ~np.isnan(values)
        n_raters, n_writers = count_people(rater[own]), count_people(writer[own])
        n_people = [n_raters] if n_raters >= MIN_RATERS else []
        n_people += [n_writers] if n_writers >= MIN_WRITERS else []
        if not n_people:
            continue
        most = min(len(np.unique(item[own])), *n_people) - 1
        # What raters make of people's replies moves a model's z-scores too, but hardly.
        theirs = writer if n_writers else None
        found[k] = (
            _ends(
                means[k], (influence[own, k], item[own], rater[own], writer[own]), most, level=level
            ),
            _ends(z_means[k], (z_moved[:, k], item, rater, theirs), most, level=level),
        )
    return found


def _ends(
    value: float,
    rows: tuple[FloatArray, IntArray, IntArray, IntArray | None],
    most: int,
    *,
    level: float,
) -> Ends:
    """Return the t interval of a mean, of `most` degrees of freedom at most.

    `rows` are what each does to it, their items, raters and writers.
    """
    influence, item, rater, writer = rows
    se, df = clustered_errors(influence[:, None], item, rater, writer)
    if min(df, most) < 1 or se[0] <= ROUNDING:
        return None
    df = min(df, most)
    reach = t_quantile(df, level=level) * float(se[0])
    return float(value) - reach, float(value) + reach, df


def _sampled(at: ScoreEstimate, ends: tuple[Ends, Ends] | None) -> ScoreEstimate:
    """Give a score two intervals; it keeps its own where there is none, or nothing varies."""
    raw, z = ends or (None, None)
    if at.low is not None and raw is not None:
        at = replace(at, low=max(1.0, raw[0]), high=min(float(MAX_SCORE), raw[1]))
    if at.z_low is not None and z is not None:
        at = replace(at, z_low=z[0], z_high=z[1], z_df=z[2])
    return at
