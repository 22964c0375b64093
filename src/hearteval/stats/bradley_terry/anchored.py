"""People's strengths of systems, helped by judges' as far as judges have shown that they help.

theta = sum_j b_j theta_j + c[kind] + delta: what people would say of a system with votes without
end is what judges say, stretched or shrunk, moved for kinds that judges favour, and missed by
delta ~ N(0, tau^2) between systems. b and c are by generalised least squares under flat priors, tau
is integrated over a flat prior on a grid (Gelman 2006): at its estimate intervals are too short.
So a system's strength lies between people's own and what judges imply, by how exact each is. Any
system may be one that judges misjudge: see `DOUBT`. Intervals hold on average over systems, not for
each. What systems, kinds and judges are, and in which words it is told, is elsewhere.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.measured import Measured
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.special import ndtr, ndtri

DOUBT: Final = 0.1
"""Chance, before people voted on it, that judges misjudge a system: its delta then has the SD of
systems of one kind as well. For estimates, which err least if it is small."""
DOUBT_OF_ENDS: Final = 0.5
"""The same for the ends of intervals, which are to hold for a system that is misjudged, too. With
no doubt at all one of twenty systems, off by 1, was covered in .49 to .89 (decision note 0054)."""
MIN_SYSTEMS: Final = 6
"""Of one kind, compared by people and placed by every judge."""
MIN_LEFT: Final = 4
"""Differences of systems beyond those that slopes and kinds take up: those of six, one judge."""
N_GRID: Final = 100
N_MORE_FITS: Final = 2
"""Each carries the judges' own errors at the slopes of the fit before, the first none."""
N_HALVINGS: Final = 50
RARE: Final = 1e-3
"""Of the tail that a quantile leaves, what lies beyond where it is looked for."""
RANK_TOLERANCE: Final = 1e-9
ESTIMABLE: Final = 1e-5
"""Part of a parameter that may lie where votes tell nothing, rounding being below it."""


class Spread(NamedTuple):
    """Estimates with their intervals."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anchored:
    """Strengths as people would have them.

    Attributes:
        theta: Posterior means and intervals, less the mean of all (to .01 or so, as each system is
            doubted by itself); NaN where neither people nor
            judges place a system beside the others.
        weight: What people's votes on a system moved it by, per unit that they place it higher: 0
            to 1, or about.
        doubt: Posterior chance that judges misjudge it, by `DOUBT`.
        slopes: b of each judge: below 1 where judges see larger differences than people do.
        offsets: c of each kind, from that with the most systems; NaN where votes do not tell it.
        tau: SD between systems of what judges miss, one; the estimate is the median.
    """

    theta: Spread
    weight: FloatArray
    doubt: FloatArray
    slopes: Spread
    offsets: Spread
    tau: Spread


def anchor(
    measured: Measured, kind: IntArray, *, level: float, doubt: float = DOUBT_OF_ENDS
) -> Anchored:
    """Return strengths by people's votes and, as far as they help, by judges'.

    A system that some judge does not place stands on people's votes alone, and so does the only
    system of a kind; one that people did not compare stands on what judges imply. Judges' own
    errors are carried into what they imply, at the estimates of b, so that tau is what they miss
    beyond them; b is the slope on strengths as measured, which errors make flatter.

    Args:
        measured: Strengths and their errors.
        kind: Of each system, from 0: models, people, whatever judges may favour or not.
        level: Nominal coverage.
        doubt: `DOUBT_OF_ENDS`; 0 takes judges to be as good on every system.

    Raises:
        NotIdentifiedError: Under `MIN_SYSTEMS` of one kind, too few differences of systems for
            so many judges and kinds, judges that rank alike, or one whose votes are people's.
    """
    design = _design(measured, kind)
    with one_blas_thread():
        fit = _fit(design, _Errors.carried(measured.errors, np.zeros(design.n_judges)))
        for _ in range(N_MORE_FITS if design.n_judges else 0):
            slopes = design.back[: design.n_judges] @ (fit.chance @ fit.beta)
            fit = _fit(design, _Errors.carried(measured.errors, slopes))
        return _conclude(design, fit, level, doubt)


class _Design(NamedTuple):
    """A theta = A X beta + A a, A the differences of systems that people's votes tell."""

    contrasts: FloatArray
    """A, orthonormal, (m, systems)."""
    observed: FloatArray
    """A times people's strengths."""
    columns: FloatArray
    """X, (systems, q)."""
    back: FloatArray
    """From beta to b, then c, then the strengths of systems that stand alone, (any, q)."""
    is_known: BoolArray
    """Systems that beta, or their own votes, place beside the others."""
    n_judges: int
    kinds: IntArray
    """Those that have a c, in order."""
    first: int
    """The kind from which they are counted."""
    is_offset_known: BoolArray
    scale: float
    """SD of what X leaves of people's strengths, errors included."""
    apart: float
    """The same without judges: SD of systems of one kind."""


def _design(measured: Measured, kind: IntArray) -> _Design:
    n, n_judges = measured.judges.shape
    is_placed = np.asarray(~np.isnan(measured.judges).any(axis=1))
    contrasts = _contrasts(measured.group)
    is_both = is_placed & (contrasts != 0).any(axis=0)
    counts = np.bincount(kind[is_both], minlength=1)
    if counts.max() < MIN_SYSTEMS:
        raise NotIdentifiedError(
            f"to tell how far judges miss, people have to compare {MIN_SYSTEMS} systems of one kind"
            f" that every judge places, and here it is {counts.max()}"
        )
    first = int(np.argmax(counts))
    kinds = np.setdiff1d(kind[is_placed], [first])
    of_kinds, alone = (kind[:, None] == kinds).astype(np.float64), np.eye(n)[:, ~is_placed]
    judged = np.where(is_placed[:, None], measured.judges, 0.0)
    full = np.concatenate((judged, of_kinds, alone), axis=1)
    # A cannot tell all parameters apart where people compared no two kinds: beta are those it can.
    _, size, turned = np.linalg.svd(contrasts @ full)
    rank = int((size > RANK_TOLERANCE * max(1.0, size.max(initial=0.0))).sum())
    back, lost = turned[:rank].T, turned[rank:].T
    if not _is_estimable(lost[:n_judges]).all():
        raise NotIdentifiedError(
            "a judge tells no system from another, or ranks too much like another: take votes of"
            " several judges as one's"
        )
    observed = contrasts @ measured.people
    if len(observed) - rank < MIN_LEFT:
        raise NotIdentifiedError(
            f"people's votes tell {len(observed)} differences of systems; judges, kinds and systems"
            f" that not every judge places use {rank} of them, and to tell how far judges miss"
            f" {MIN_LEFT} more are needed"
        )
    scale = _residual_sd(contrasts @ full, observed)
    apart = _residual_sd(contrasts @ full[:, n_judges:], observed)
    if scale < MIN_SE <= apart:
        raise NotIdentifiedError(
            "judges imply people's strengths to the last digit, as if people's votes were given as"
            " theirs too"
        )
    if scale < MIN_SE and np.diag(measured.errors)[:n].max() < MIN_SE**2:
        raise NotIdentifiedError(
            "people's votes tell no system from another, nor how far they err: all are alike"
        )
    one = np.argmax(is_both & np.equal(kind, first))
    return _Design(
        contrasts=contrasts,
        observed=observed,
        columns=full @ back,
        back=back,
        is_known=_is_estimable((full - full[one]) @ lost),
        n_judges=n_judges,
        kinds=kinds,
        first=first,
        is_offset_known=_is_estimable(lost[n_judges : n_judges + len(kinds)]),
        scale=scale,
        apart=apart,
    )


def _contrasts(group: IntArray) -> FloatArray:
    """Return orthonormal differences of the systems within each group (Helmert)."""
    rows = [np.zeros((0, len(group)))]
    for number in np.unique(group[group >= 0]):
        members = np.flatnonzero(group == number)
        rows.append(np.zeros((len(members) - 1, len(group))))
        rows[-1][:, members] = scipy.linalg.helmert(len(members))
    return np.concatenate(rows)


def _is_estimable(in_lost: FloatArray) -> BoolArray:
    return np.asarray(np.abs(in_lost).max(axis=1, initial=0.0) < ESTIMABLE)


def _residual_sd(columns: FloatArray, values: FloatArray) -> float:
    slopes, _, rank, _ = np.linalg.lstsq(columns, values, rcond=RANK_TOLERANCE)
    return math.sqrt(float(((values - columns @ slopes) ** 2).sum()) / (len(values) - int(rank)))


class _Errors(NamedTuple):
    """Covariances of a = theta - X beta, but for delta, and of r = people's theta - X beta."""

    of_r: FloatArray
    a_with_r: FloatArray
    of_a: FloatArray

    @classmethod
    def carried(cls, errors: FloatArray, slopes: FloatArray) -> "_Errors":
        """Return them for a = -sum b_j e_j, e_j the errors of the judges' strengths."""
        n = len(errors) // (1 + len(slopes))
        from_judges = np.kron(np.append(0.0, -slopes), np.eye(n))
        from_all = from_judges + np.eye(n, len(errors))
        shared = from_judges @ errors
        return cls(from_all @ errors @ from_all.T, shared @ from_all.T, shared @ from_judges.T)


class _Posterior(NamedTuple):
    """Theta less the mean of known systems at each tau of the grid, (systems, grid)."""

    log_density: FloatArray
    """Of tau, but for a constant; (1, grid) where it is the same for all systems."""
    mean: FloatArray
    variance: FloatArray
    own: FloatArray
    """What a system's own strength by people moves its mean by."""


class _Fit(NamedTuple):
    posterior: _Posterior
    tau: FloatArray
    chance: FloatArray
    """Of each tau."""
    beta: FloatArray
    """(grid, q)."""
    beta_covariance: FloatArray
    pull: FloatArray
    """v' P y, v the system's column of A, P = W^-1 less what beta takes up, (systems, grid)."""
    hold: FloatArray
    """v' P v."""
    whole: FloatArray
    """What `own` is where a system stands on people's votes alone, (systems,)."""


def _fit(design: _Design, errors: _Errors) -> _Fit:
    """Return the posterior on a grid of tau = scale u / (1 - u).

    W, the covariance of A r, is diagonal along the same vectors at every tau. The density of tau is
    its restricted likelihood (Patterson and Thompson 1971), beta is by generalised least squares,
    and a has mean cov(a, A r) W^-1 A r.
    """
    size, turn = np.linalg.eigh(design.contrasts @ errors.of_r @ design.contrasts.T)
    scale = design.scale if design.scale > MIN_SE else math.sqrt(size.mean())
    u = (np.arange(N_GRID) + 0.5) / N_GRID
    tau = scale * u / (1 - u)
    tau2 = tau**2
    place = design.contrasts.T @ turn  # rows are systems, columns the directions of W
    y, x = turn.T @ design.observed, place.T @ design.columns
    precision = 1 / (np.maximum(size, 0.0)[:, None] + tau2)
    weighted = x.T * precision.T[:, None, :]
    information = weighted @ x
    covariance = np.linalg.inv(information)
    beta = (covariance @ (weighted @ y)[..., None])[..., 0]
    residual = y[:, None] - x @ beta.T
    log_density = np.log(precision).sum(axis=0) - (precision * residual**2).sum(axis=0)
    log_density = (log_density - np.linalg.slogdet(information)[1]) / 2 - 2 * np.log(1 - u)

    centre = np.eye(len(place)) - design.is_known / design.is_known.sum()
    columns, by_delta = centre @ design.columns, centre @ place
    by_error = centre @ errors.a_with_r @ place
    # cov(a, A r) is by_error + tau^2 by_delta, so that its sums are polynomials in tau^2.
    pulled = precision * residual
    mean = columns @ beta.T + by_error @ pulled + tau2 * (by_delta @ pulled)
    told = by_error**2 @ precision + tau2 * (
        2 * (by_error * by_delta) @ precision + tau2 * (by_delta**2 @ precision)
    )
    prior = ((centre @ errors.of_a) * centre).sum(axis=1)[:, None]
    prior = prior + tau2 * (centre**2).sum(axis=1)[:, None]
    by_beta = columns - (weighted @ by_error.T + tau2[:, None, None] * (weighted @ by_delta.T)).mT
    moved, of_beta = by_beta @ covariance, weighted @ place.T
    own = (by_error * place) @ precision + tau2 * ((by_delta * place) @ precision)
    posterior = _Posterior(
        log_density=log_density[None, :],
        mean=mean,
        variance=np.maximum(prior - told + (moved * by_beta).sum(axis=2).T, 0.0),
        own=own + (moved * of_beta.mT).sum(axis=2).T,
    )
    return _Fit(
        posterior=posterior,
        tau=tau,
        chance=_chances(posterior.log_density)[0],
        beta=beta,
        beta_covariance=covariance,
        pull=place @ pulled,
        hold=place**2 @ precision - (of_beta * (covariance @ of_beta)).sum(axis=1).T,
        whole=(by_delta * place).sum(axis=1),
    )


def _misjudged(fit: _Fit, variance: float, n_known: int) -> _Posterior:
    """Return, for each system alone, the posterior where its delta varies by so much more.

    That is one effect gamma along v. Given y its variance is s, 1/s = 1/variance + v' P v, and its
    mean s v' P y; theta moves with it as far as theta does not follow people's votes anyway.
    """
    found, ratio = fit.posterior, 1 + variance * fit.hold
    spread = variance / ratio
    gamma = spread * fit.pull
    follows = 1 - 1 / n_known - found.own
    return _Posterior(
        log_density=found.log_density + (fit.pull * gamma - np.log(ratio)) / 2,
        mean=found.mean + follows * gamma,
        variance=found.variance + follows**2 * spread,
        own=found.own + follows * spread * fit.hold,
    )


def _conclude(design: _Design, fit: _Fit, level: float, doubt: float) -> Anchored:
    """Mix, for each system, what holds where judges are right about it and where they may not."""
    tails = (1 - level) / 2, (1 + level) / 2
    right = fit.posterior
    wrong = _misjudged(fit, design.apart**2, int(design.is_known.sum()))
    log_density = np.stack(np.broadcast_arrays(right.log_density, wrong.log_density), axis=1)
    mean, sd, own = (
        np.concatenate(pair, axis=1)
        for pair in (
            (right.mean, wrong.mean),
            (np.sqrt(right.variance), np.sqrt(wrong.variance)),
            (right.own, wrong.own),
        )
    )

    def chances(of_wrong: float) -> FloatArray:
        prior = np.array([1 - of_wrong, of_wrong])[:, None]
        joint = np.exp(log_density - log_density.max(axis=(1, 2), keepdims=True)) * prior
        joint = joint.reshape(len(mean), -1)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    chance, of_ends = chances(DOUBT), chances(doubt)
    ends = (_quantile(p, mean, sd, of_ends) for p in tails)
    unknown = np.where(design.is_known, 0.0, np.nan)
    weight = np.zeros(len(mean))
    np.divide((chance * own).sum(axis=1), fit.whole, out=weight, where=fit.whole > RANK_TOLERANCE)
    theta = ((chance * mean).sum(axis=1), *ends)
    slopes, offsets = _parameters(design, fit, tails)
    below = np.cumsum(fit.chance) - fit.chance / 2
    return Anchored(
        theta=Spread(*(values + unknown for values in theta)),
        weight=weight + unknown,
        doubt=chance[:, N_GRID:].sum(axis=1) + unknown,
        slopes=slopes,
        offsets=offsets,
        tau=Spread(*np.interp((0.5, *tails), below, fit.tau)[:, None]),
    )


def _parameters(design: _Design, fit: _Fit, tails: tuple[float, float]) -> tuple[Spread, Spread]:
    """Return b of every judge, and c of every kind."""
    back, n_judges = design.back, design.n_judges
    mean = back @ fit.beta.T
    sd = np.sqrt(((back @ fit.beta_covariance) * back).sum(axis=2)).T
    chance = fit.chance[None, :]
    found = (mean @ fit.chance, *(_quantile(p, mean, sd, chance) for p in tails))
    offsets = np.full((3, 1 + max([design.first, *design.kinds.tolist()])), np.nan)
    offsets[:, design.first] = 0.0
    for at, values in zip(offsets, found, strict=True):
        of_kinds = values[n_judges : n_judges + len(design.kinds)]
        at[design.kinds] = np.where(design.is_offset_known, of_kinds, np.nan)
    return Spread(*(values[:n_judges] for values in found)), Spread(*offsets)


def _chances(log_density: FloatArray) -> FloatArray:
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return np.asarray(density / density.sum(axis=1, keepdims=True))


def _quantile(p: float, mean: FloatArray, sd: FloatArray, chance: FloatArray) -> FloatArray:
    """Return a quantile of the mixture of normal distributions in each row."""
    reach = float(ndtri(1 - min(p, 1 - p) * RARE)) * sd
    low, high = (mean - reach).min(axis=1), (mean + reach).max(axis=1)
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        share = (ndtr((middle[:, None] - mean) / np.maximum(sd, MIN_SE)) * chance).sum(axis=1)
        low, high = np.where(share < p, middle, low), np.where(share < p, high, middle)
    return np.asarray((low + high) / 2)
