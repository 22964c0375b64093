"""What goes with a theme in a rater's reasons, net of length, position and verbosity (HEART 4.3).

One regression for each theme and outcome, over the judgments of one kind of rater, all within
raters, so that one who writes much or chooses strongly is compared with nobody else. Regressed out
of both sides: how much longer the chosen reply is than the other, how far apart the two are in
length, whether the chosen one was shown first, and how many words the reasons have (as a number and
as its logarithm). Student's t has the degrees of freedom of the items on which a theme is spoken of
(or is not, if fewer), less one: what few items tell varies over these few. Exploratory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hearteval.analysis.agreement.pair_votes import ONE, OTHER, TIE, is_vote
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import (
    Estimate,
    clustered_errors,
    interval_name,
    t_estimate,
    two_sided_p,
)
from hearteval.analysis.labels.agreement import Marks
from hearteval.analysis.words import count_words
from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.means import ROUNDING, q_where_tested

FEWEST_ITEMS = 10
FEWEST = 10
"""Reasons that speak of a theme, and that do not; fewer tell nothing."""
Outcome = Literal["strength", "as-the-others"]


class LabelledReasons(NamedTuple):
    """Reasons that a labeler has labelled, in the order of their judgments."""

    marks: Marks
    rows: JudgmentColumns
    words: FloatArray
    """In the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeEffect:
    """By how much an outcome is higher where the reasons speak of one theme.

    Attributes:
        effect: Points of strength, or of the share that chooses as the others.
        q: Benjamini-Hochberg over the themes.
        n_with: Reasons that speak of it.
    """

    category: str
    name: str
    effect: Estimate
    p: float | None
    q: float | None
    n_with: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThemeEffects:
    """What goes with each theme, by one kind of rater.

    Attributes:
        outcome: ``strength`` of the choice, 0 of a tie to 5; ``as-the-others`` is 1 where most
            raters of the other kind choose the same, 0 where they do not.
        left_out: Themes without a figure, with the reason.
        problem: Why there is none at all, else None.
    """

    judged_by: Literal["people", "judges"]
    outcome: Outcome
    n_judgments: int
    n_items: int
    interval_used: str | None
    themes: tuple[ThemeEffect, ...]
    left_out: Mapping[str, str]
    problem: str | None


def theme_effects(
    found: LabelledReasons,
    names: Mapping[str, str],
    pair: IntArray,
    others: Mapping[bool, IntArray],
    *,
    level: float,
) -> tuple[ThemeEffects, ...]:
    """Return what goes with themes, by kind of rater and outcome that there is.

    Args:
        found: The labelled reasons.
        names: Of the themes.
        pair: Place of each one's pair.
        others: What most raters of the other kind choose of each pair, for people and for judges.
        level: Nominal coverage.
    """
    rows = found.rows
    texts = rows.names.completions
    words = np.array(
        [np.nan if text.is_withdrawn else count_words(text.text) for text in texts], dtype=float
    )
    first, second = words[rows.first_text], words[rows.second_text]
    is_known = ~np.isnan(first + second)
    longer = np.zeros(len(first))
    longer[is_known] = relative_difference(first[is_known], second[is_known])
    side = 2 * rows.score - 1
    verbosity = found.words, np.log(found.words)
    controls = np.stack([longer * side, np.abs(longer), side, *verbosity], axis=1)
    is_one = rows.first_text == rows.one_text
    vote = np.select([side == 0, (side > 0) == is_one], [TIE, ONE], OTHER)
    made = []
    for judged_by, is_person in (("people", True), ("judges", False)):
        majority = others[is_person][pair]
        own = is_known & (rows.is_person == is_person)
        for outcome, y, is_in in (
            ("strength", rows.strength, own),
            ("as-the-others", (vote == majority).astype(np.float64), own & is_vote(majority)),
        ):
            if is_in.any():
                measured = _measure(found, names, is_in, y, controls, level)
                made.append(ThemeEffects(judged_by=judged_by, outcome=outcome, **measured))  # type: ignore[arg-type]
    return tuple(made)


def _measure(
    found: LabelledReasons,
    names: Mapping[str, str],
    is_in: BoolArray,
    y: FloatArray,
    controls: FloatArray,
    level: float,
) -> dict[str, object]:
    item, rater = found.rows.item[is_in], found.rows.rater[is_in]
    sampled, x = found.rows.sampled_rater[is_in], found.marks.present[is_in]
    n_with, n_items = x.sum(axis=0), len(np.unique(item))
    of_rater = np.unique(rater, return_inverse=True)[1]
    residuals = _residuals(np.column_stack([y[is_in], x]), controls[is_in], of_rater)
    ry, rx = residuals[:, 0], residuals[:, 1:]
    squares = (rx**2).sum(axis=0)
    left_out, kept = {}, []
    for k, key in enumerate(found.marks.categories):
        if min(n_with[k], len(item) - n_with[k]) < FEWEST:
            left_out[key] = f"fewer than {FEWEST} reasons speak of it, or fewer do not"
        elif squares[k] <= ROUNDING * len(item):
            left_out[key] = "it follows from length, position and who wrote the reasons"
        else:
            kept.append(k)
    problem = None
    if n_items < FEWEST_ITEMS:
        problem, kept = f"the reasons are of fewer than {FEWEST_ITEMS} items", []
    elif np.ptp(y[is_in]) <= ROUNDING:
        problem, kept = "it is the same of all", []
    betas = rx[:, kept].T @ ry / squares[kept]
    influence = rx[:, kept] * (ry[:, np.newaxis] - rx[:, kept] * betas) / squares[kept]
    se, most = clustered_errors(influence, item, sampled) if kept else (np.zeros(0), 0)
    df = np.maximum(1, np.minimum(_fewer_items(x[:, kept], item) - 1, most))
    tested = list(zip(betas.tolist(), se.tolist(), df.tolist(), strict=True))
    p = [two_sided_p(b, s, d if most else 0) for b, s, d in tested]
    q = q_where_tested(p)
    return {
        "n_judgments": len(item),
        "n_items": n_items,
        "interval_used": interval_name(sampled) if kept else None,
        "themes": tuple(
            ThemeEffect(
                category=found.marks.categories[k],
                name=names[found.marks.categories[k]],
                effect=t_estimate(*tested[j], level=level),
                p=p[j],
                q=q[j],
                n_with=int(n_with[k]),
            )
            for j, k in enumerate(kept)
        ),
        "left_out": left_out,
        "problem": problem,
    }


def _fewer_items(x: FloatArray, item: IntArray) -> IntArray:
    """Return on how many items some reasons speak of each theme, or do not, whichever is fewer."""
    places = np.unique(item, return_inverse=True)[1]
    n_items = int(places.max()) + 1
    there = np.zeros((2, n_items, x.shape[1]), dtype=bool)
    for k, said in enumerate((x > 0, x == 0)):
        np.logical_or.at(there[k], places, said)
    return np.asarray(there.sum(axis=1).min(axis=0))


def _residuals(values: FloatArray, controls: FloatArray, group: IntArray) -> FloatArray:
    """Return what is left of columns within groups once the controls are regressed out."""
    size = np.bincount(group)

    def within(columns: FloatArray) -> FloatArray:
        total = np.zeros((len(size), columns.shape[1]))
        np.add.at(total, group, columns)
        return np.asarray(columns - (total / size[:, np.newaxis])[group])

    y, x = within(values), within(controls)
    return np.asarray(y - x @ np.linalg.lstsq(x, y, rcond=None)[0])
