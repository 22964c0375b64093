"""One skill or several? What judges and people say on the axes, factor analysed (SPEC section 10).

What is analysed is a z-score for each completion and axis. Of pairs: the mean of 1 where a rater
marked the completion better on that axis, 1/2 a tie and 0 worse, against all its opponents and in
both orders; in this rater's standard deviations from its mean; then the mean over raters, all
people being one, for most of them see few completions. Of ratings: the mean over raters of the
z-scores of `scores`. Completions without every axis are left out and counted.

Completions of one item are not independent draws: the intervals are over items, the tests of fit
and what chance gives take them as if they were. Everything here is exploratory.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.estimates import Estimate, clustered_estimates
from hearteval.analysis.judges.halo import JudgeHalo
from hearteval.analysis.scores.columns import RatingColumns
from hearteval.domain import AXES, Axis
from hearteval.errors import NotIdentifiedError
from hearteval.stats import factors, one_blas_thread
from hearteval.stats.agreement.cronbach import alpha_of_rows
from hearteval.stats.comparisons import FloatArray, IntArray, pack
from hearteval.stats.factors import FactorFit

MIN_ITEMS, MIN_COMPLETIONS, MIN_AXES = 5, 50, 3
"""Fewer are refused: ten completions an axis, and three axes determine one factor."""
PEOPLE = "people"
"""What all people are called together."""
INTERVAL = "item-sandwich"
ROUNDING = 1e-9


class CompletionScores(NamedTuple):
    """What is analysed, a row a completion that has every axis."""

    axes: tuple[Axis, ...]
    z: FloatArray
    """(completions, axes)."""
    wins: FloatArray | None
    """Share of its comparisons won, a tie half, the mean over raters; None of ratings."""
    item: IntArray
    n_incomplete: int
    """Completions that lack an axis."""
    raters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitTest:
    """A test with its degrees of freedom."""

    chi2: float
    df: int
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorAxis:
    """One axis among the others.

    Attributes:
        correlations: With each axis, of the z-scores.
        adequacy: Kaiser's measure of sampling adequacy.
        loadings: On each factor, ``F1`` first; the pattern where factors may correlate.
        varimax: The same with factors held uncorrelated; empty of one factor.
        communality: Share of its variance that the factors explain; None without a factor.
        wins: Correlation with the share of comparisons won; None of ratings.
    """

    axis: Axis
    correlations: Mapping[Axis, float]
    adequacy: float
    loadings: Mapping[str, float]
    varimax: Mapping[str, float]
    communality: float | None
    wins: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One factor.

    Attributes:
        name: ``F1`` for the one that explains most.
        share: Sum of its squared loadings over the number of axes.
        phi: Its correlations with the factors.
        wins: Correlation of its scores (Thurstone's, their weights as given) with the share of
            comparisons won; None of ratings.
    """

    name: str
    share: float
    phi: Mapping[str, float]
    wins: Estimate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Eigenvalue:
    """One eigenvalue of the correlations, and the 95th percentile of what unrelated axes give."""

    number: int
    found: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorResults:
    """Whether the axes are one skill or several; exploratory.

    Attributes:
        problem: Why nothing could be analysed; None where it was. Then all below is empty.
        source: ``marks`` of pairs or ``ratings``.
        raters: Whose: judges by name, all people as ``people``.
        n_incomplete: Completions left out because an axis is missing.
        adequacy: Kaiser's measure over all axes.
        sphericity: Bartlett's test that no two axes correlate.
        n_suggested: Eigenvalues above chance, from the first on (Horn's parallel analysis).
        n_factors: How many were fitted; fewer where the axes do not determine as many.
        method: ``ml`` or ``minres``; None where no factor was fitted.
        reason: Why it is not ``ml`` or not `n_suggested`; None where it is both.
        fit: Test that so many factors are enough; None of minres or without degrees of freedom.
        rotation: ``oblimin`` of several factors, else None.
        alpha: Cronbach's, of the sum of the z-scores.
        omega: McDonald's total; None without a factor.
        interval_used: Name of the interval of `alpha` and of correlations with wins, raters given.
        one_reply: Of `raters`, who says all axes at once, so that one verdict may colour all.
        halo: What the ablation of each judge said; empty where none was run.
    """

    problem: str | None
    source: str
    raters: tuple[str, ...]
    n_completions: int
    n_items: int
    n_incomplete: int
    axes: tuple[FactorAxis, ...] = ()
    factors: tuple[Factor, ...] = ()
    eigenvalues: tuple[Eigenvalue, ...] = ()
    adequacy: float | None = None
    sphericity: FitTest | None = None
    n_suggested: int | None = None
    n_factors: int = 0
    method: str | None = None
    reason: str | None = None
    fit: FitTest | None = None
    rotation: str | None = None
    alpha: Estimate | None = None
    omega: float | None = None
    interval_used: str = INTERVAL
    level: float
    one_reply: tuple[str, ...] = ()
    halo: tuple[JudgeHalo, ...] = ()


def score_completions(columns: JudgmentColumns) -> CompletionScores | None:
    """Return the z-scores of completions from marks of pairs; None where nobody marked an axis."""
    axes = tuple(axis for axis in AXES if axis in columns.marks)
    if not axes:
        return None
    unit = np.where(columns.is_person, len(columns.names.raters), columns.rater)
    who = np.unique(unit)
    unit = pack(np.searchsorted(who, unit))
    names = [*(rater.name for rater in columns.names.raters), PEOPLE]
    n_texts = len(columns.names.completions)
    shape = (len(who), n_texts)
    n_cells = len(who) * n_texts
    sides = [pack(of) for of in (columns.first_text, columns.second_text)]

    def mean_scores(first: FloatArray) -> FloatArray:
        """Return the mean score of each completion by rater, NaN where it has none."""
        is_given = ~np.isnan(first)
        n, total = np.zeros(n_cells, dtype=np.int64), np.zeros(n_cells)
        # Scores are halves, so that no order of summing them changes a digit.
        for text, score in zip(sides, (first, 1 - first), strict=True):
            at = (unit[is_given].astype(np.int64) * n_texts) + text[is_given]
            n += np.bincount(at, minlength=n_cells)
            total += np.bincount(at, score[is_given], n_cells)
        return _divide(total, n).reshape(shape)

    item = np.zeros(n_texts, dtype=np.int64)
    item[columns.first_text] = item[columns.second_text] = columns.item
    marked = np.array([mean_scores(columns.marks[axis]) for axis in axes])
    by_text = _mean_over_raters(_standardised(marked))
    wins = _mean_over_raters(mean_scores(columns.score)[None])[0]
    is_whole = ~np.isnan(by_text).any(axis=0) & ~np.isnan(wins)
    met = np.zeros(n_texts, dtype=np.bool_)
    met[columns.first_text] = met[columns.second_text] = True
    return CompletionScores(
        axes=axes,
        z=by_text[:, is_whole].T,
        wins=wins[is_whole],
        item=item[is_whole],
        n_incomplete=int(met.sum() - is_whole.sum()),
        raters=tuple(
            names[k] for place, k in enumerate(who) if not np.isnan(marked[:, place]).all()
        ),
    )


def score_rated(columns: RatingColumns) -> CompletionScores:
    """Return the z-scores of completions from ratings."""
    n = int(columns.text.max()) + 1
    axes = tuple(axis for axis in columns.axes if axis in AXES)
    of_raters = columns.z[:, [columns.axes.index(axis) for axis in axes]]
    is_given = ~np.isnan(of_raters)
    total = np.zeros((n, len(axes)))
    count = np.zeros((n, len(axes)), dtype=np.int64)
    np.add.at(total, columns.text, np.where(is_given, of_raters, 0.0))
    np.add.at(count, columns.text, is_given)
    z = _divide(total, count)
    item = np.zeros(n, dtype=np.int64)
    item[columns.text] = columns.item
    is_whole = ~np.isnan(z).any(axis=1)
    names = [rater.name for rater in columns.raters if rater.kind != "human"]
    return CompletionScores(
        axes=axes,
        z=z[is_whole],
        wins=None,
        item=item[is_whole],
        n_incomplete=n - int(is_whole.sum()),
        raters=(*names, *([PEOPLE] if columns.is_person.any() else ())),
    )


def analyze_factors(
    scores: CompletionScores,
    *,
    level: float,
    seed: int,
    axis_by_axis: Collection[str] = (),
    halo: Sequence[JudgeHalo] = (),
) -> FactorResults:
    """Analyse the factors of z-scores, or say why not.

    `seed` draws what chance gives; `axis_by_axis` names raters who judge each axis by itself.
    """
    n_items = len(np.unique(scores.item))
    problem = _too_little(scores, n_items)
    bare: dict[str, Any] = {
        "source": "ratings" if scores.wins is None else "marks",
        "raters": scores.raters,
        "n_completions": len(scores.z),
        "n_items": n_items,
        "n_incomplete": scores.n_incomplete,
        "level": level,
        "one_reply": tuple(name for name in scores.raters if name not in axis_by_axis),
        "halo": tuple(halo),
    }
    if problem is None:
        try:
            with one_blas_thread():
                return FactorResults(problem=None, **bare, **_analyzed(scores, level, seed))
        except NotIdentifiedError as error:
            problem = f"the axes do not determine it: {error}"
    return FactorResults(problem=problem, **bare)


def _too_little(scores: CompletionScores, n_items: int) -> str | None:
    if len(scores.axes) < MIN_AXES:
        return f"it needs {MIN_AXES} axes, and there are marks on {len(scores.axes)}"
    if n_items < MIN_ITEMS or len(scores.z) < MIN_COMPLETIONS:
        return (
            f"too few replies: it needs {MIN_COMPLETIONS} with every axis, on {MIN_ITEMS} items"
            f" at least; there are {len(scores.z)} on {n_items}"
        )
    still = [
        axis for axis, sd in zip(scores.axes, scores.z.std(axis=0), strict=True) if sd <= ROUNDING
    ]
    return f"every reply has the same score on {', '.join(still)}" if still else None


def _analyzed(scores: CompletionScores, level: float, seed: int) -> dict[str, Any]:
    n, p = scores.z.shape
    r = factors.correlate(scores.z)
    adequacy, each = factors.sampling_adequacy(r)
    chance = factors.chance_eigenvalues(n, p, np.random.default_rng(seed))
    found = factors.eigenvalues(r)
    n_suggested = factors.count_factors(found, chance)
    fit, reason = _fit(r, n_suggested, n, scores.axes)
    names = tuple(f"F{k + 1}" for k in range(fit.loadings.shape[1] if fit else 0))
    several = len(names) > 1
    shown = factors.rotate_oblimin(fit) if fit and several else fit
    apart = factors.rotate_varimax(fit).loadings if fit and several else None
    alpha, influence = alpha_of_rows(scores.z)
    axis_wins: list[Estimate | None] = [None] * p
    factor_wins: list[Estimate | None] = [None] * len(names)
    if scores.wins is not None:
        by_factor = scores.z @ factors.score_weights(shown, r) if shown else np.empty((n, 0))
        both = np.column_stack([scores.z, by_factor])
        of_wins = _correlations(both, scores.wins, scores.item, level=level)
        axis_wins, factor_wins = list(of_wins[:p]), list(of_wins[p:])
    return {
        "axes": tuple(
            FactorAxis(
                axis=axis,
                correlations=dict(zip(scores.axes, map(float, r[k]), strict=True)),
                adequacy=float(each[k]),
                loadings=_named(names, shown.loadings[k]) if shown else {},
                varimax=_named(names, apart[k]) if apart is not None else {},
                communality=float(shown.communalities[k]) if shown else None,
                wins=axis_wins[k],
            )
            for k, axis in enumerate(scores.axes)
        ),
        "factors": tuple(
            Factor(
                name=name,
                share=float((shown.loadings[:, k] ** 2).mean()),
                phi=_named(names, shown.phi[k]),
                wins=factor_wins[k],
            )
            for k, name in enumerate(names)
            if shown
        ),
        "eigenvalues": tuple(
            Eigenvalue(number=k + 1, found=float(found[k]), chance=float(chance[k]))
            for k in range(p)
        ),
        "adequacy": adequacy,
        "sphericity": _test(*factors.sphericity(r, n)),
        "n_suggested": n_suggested,
        "n_factors": len(names),
        "method": fit.method if fit else None,
        "reason": reason,
        "fit": _test(fit.chi2, fit.df, fit.p_value) if fit else None,
        "rotation": "oblimin" if several else None,
        "alpha": _turned(
            alpha,
            influence,
            scores.item,
            level=level,
            # Above: log(1 - alpha) falls as alpha grows, and is nearer to normal (Bonett 2002).
            turn=(lambda a: -np.log1p(-a), lambda a: 1 / (1 - a), lambda y: -np.expm1(-y)),
        ),
        "omega": factors.omega_total(fit, r) if fit else None,
    }


def _fit(
    r: FloatArray, n_suggested: int, n: int, axes: Sequence[Axis]
) -> tuple[FactorFit | None, str | None]:
    """Return the fit, by maximum likelihood where it can be, and what it departs in and why."""
    if not n_suggested:
        return None, "the axes share no more than chance"
    p = len(axes)
    most = max(m for m in range(1, p) if m == 1 or factors.degrees_of_freedom(p, m) >= 0)
    n_factors, reasons = min(n_suggested, most), []
    if n_factors < n_suggested:
        reasons.append(f"{p} axes determine {most} at most of {n_suggested} factors")
    fit = factors.fit_factors(r, n_factors, n)
    if fit.is_heywood:
        reasons.append(
            f"minres, because maximum likelihood would explain {_whole(fit, axes)} whole"
            " (a Heywood case)"
        )
        fit = factors.fit_factors(r, n_factors, n, method="minres")
        if fit.is_heywood:
            reasons.append(f"minres explains {_whole(fit, axes)} whole too: too many factors")
    return fit, "; ".join(reasons) or None


def _whole(fit: FactorFit, axes: Sequence[Axis]) -> str:
    least = fit.uniquenesses.min()
    return ", ".join(
        f"axis {axis}"
        for axis, u in zip(axes, fit.uniquenesses, strict=True)
        if u <= least + ROUNDING
    )


def _correlations(
    columns: FloatArray, wins: FloatArray, item: IntArray, *, level: float
) -> list[Estimate | None]:
    """Return the correlation of each column with wins; None where wins do not vary.

    The influence of a row on r is z w - r (z^2 + w^2) / 2, of standardised values; the interval is
    of Fisher's arc tangent of r.
    """
    if wins.std() <= ROUNDING:
        return [None] * columns.shape[1]
    z = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    w = ((wins - wins.mean()) / wins.std())[:, None]
    r = (z * w).mean(axis=0)
    influence = (z * w - r * (z**2 + w**2) / 2) / len(z)
    return [
        _turned(
            float(r[k]),
            influence[:, k],
            item,
            level=level,
            turn=(np.arctanh, lambda r: 1 / (1 - r**2), np.tanh),
        )
        for k in range(len(r))
    ]


Turn = tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]
"""To a scale without an end at 1, its slope, and back."""


def _turned(
    value: float, influence: FloatArray, item: IntArray, *, level: float, turn: Turn
) -> Estimate:
    """Return a figure with its interval over items, made on a scale where 1 is no end."""
    if abs(value) >= 1 - ROUNDING:
        return Estimate(value=value, low=None, high=None)
    there, slope, back = turn
    moved = (slope(value) * influence)[:, None]
    nobody = np.full(len(item), -1)
    (at,) = clustered_estimates([there(value)], moved, item, nobody, level=level)
    if at.low is None or at.high is None:
        return Estimate(value=value, low=None, high=None)
    return Estimate(value=value, low=float(back(at.low)), high=float(back(at.high)))


def _standardised(scores: FloatArray) -> FloatArray:
    """Return z-scores by axis, rater and completion; none of who said the same of all."""
    is_given = ~np.isnan(scores)
    n = is_given.sum(axis=2, keepdims=True)
    bare = np.where(is_given, scores, 0.0)
    centred = np.where(is_given, scores - _divide(bare.sum(axis=2, keepdims=True), n), 0.0)
    sd = np.sqrt(_divide((centred**2).sum(axis=2, keepdims=True), n))
    varies = sd > ROUNDING
    return np.where(is_given & varies, centred / np.where(varies, sd, 1.0), np.nan)


def _mean_over_raters(scores: FloatArray) -> FloatArray:
    """Return the mean over raters, (axes, completions), NaN where nobody gave one."""
    is_given = ~np.isnan(scores)
    return _divide(np.where(is_given, scores, 0.0).sum(axis=1), is_given.sum(axis=1))


def _divide(total: FloatArray, n: np.ndarray[Any, Any]) -> FloatArray:
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _named(names: Sequence[str], values: FloatArray) -> dict[str, float]:
    return dict(zip(names, map(float, values), strict=True))


def _test(chi2: float | None, df: int, p_value: float | None) -> FitTest | None:
    if chi2 is None or p_value is None:
        return None
    return FitTest(chi2=chi2, df=df, p_value=p_value)
