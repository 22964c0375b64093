"""Judgments drawn from known strengths, and what a study of them tends to.

A rater prefers the first of two completions by more than the second by

    x = q1 - q2 + length (w1 - w2) / (w1 + w2) + own family + shown first + logistic noise,

q being a completion's own strength: that of its system, normal departures of its own and of the
person who wrote it, another of the rater from this system. The sign is the choice, the size the
strength, a small size is a tie where the protocol has ties. What a fit estimates is not the
system's strength: chances averaged over completions and raters lie nearer to 1/2. `expect` gives
what every figure does tend to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.bradley_terry.fit import fit_win_matrix
from hearteval.stats.comparisons import BoolArray, Comparisons, FloatArray, IntArray
from hearteval.stats.special import expit, ndtri

SLIGHTLY = 1.5
"""Five points: above the ties, up to so much a preference is slight."""
SLIGHT, CLEAR = 2, 4
"""Strengths of the five points."""
CUTS = (0.5, 1.1, 1.8, 2.7)
"""Forced strengths 1 to 5: the sizes that part them."""
WORDS_SD = 0.35
"""Of the logarithm of a completion's number of words."""
N_HALVINGS, MOST_TIED = 24, 20.0


class Nodes(NamedTuple):
    """Points of a distribution, in equal steps of probability, over which chances are averaged."""

    normal: int
    """Of what nobody sees: completions' and raters' departures."""
    words: int
    """Of the words of two completions."""


FINE, COARSE = Nodes(50, 10), Nodes(15, 6)


class Setting(NamedTuple):
    """What is averaged over."""

    rater_sd: float
    """Of the departures of people, who are sampled; 0 for a panel of judges, who are given."""
    adversarial: float
    """Share of adversarial items."""
    nodes: Nodes = FINE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Raters:
    """What is true of some raters, in log odds; all of one kind."""

    departure: FloatArray
    """Of each from each system's strength, (raters, systems)."""
    position: FloatArray
    """What each gives to the completion shown first."""
    own: FloatArray
    """What each gives to each system for being of its own family, (raters, systems)."""
    may_judge: BoolArray
    """Whether each may judge each system, (raters, systems)."""
    is_random: BoolArray
    """Who answers without reading."""
    has_ties: bool
    """Whether they answer in five points, else in forced strengths."""
    tie_size: float
    """Below it a preference is a tie; 0 without ties."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Systems:
    """What is true of the systems, for one kind of rater."""

    theta: FloatArray
    """Log-strength, mean 0."""
    on_axes: FloatArray
    """What each adds to it on each axis, (axes, systems)."""
    on_adversarial: FloatArray
    """What each adds to it on adversarial items."""
    log_words: FloatArray
    """Mean of the logarithm of the words of its completions."""
    completion_sd: FloatArray
    """Of completions of each around it, whoever wrote them."""
    length: float
    """Log odds for one unit of relative difference in length."""
    n_completions: IntArray
    """Completions of each for an item."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """What is shown, a row each time: two completions to a rater."""

    system: tuple[IntArray, IntArray]
    """Of the first and of the second."""
    quality: tuple[FloatArray, FloatArray]
    """Their own departures from the strength of their systems."""
    words: tuple[FloatArray, FloatArray]
    is_adversarial: BoolArray
    rater: IntArray
    cell: IntArray
    """Number of the rater and pair, the same for both orders and for repeats."""
    is_turned: BoolArray
    """Whether the pair is shown the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """How far the first is preferred: above 0 it wins, below 0 the second."""

    overall: FloatArray
    axes: FloatArray
    """(axes, rows)."""


def preference(shown: Shown, systems: Systems, raters: Raters) -> FloatArray:
    """Return how far each row's first completion is preferred, before any noise."""
    one, other = shown.system
    words, other_words = shown.words
    rater = shown.rater
    added = raters.departure + raters.own
    x: FloatArray = (
        systems.theta[one]
        - systems.theta[other]
        + shown.quality[0]
        - shown.quality[1]
        + added[rater, one]
        - added[rater, other]
        + shown.is_adversarial * (systems.on_adversarial[one] - systems.on_adversarial[other])
        + systems.length * relative_difference(words, other_words)
        + raters.position[rater]
    )
    return np.where(raters.is_random[rater], 0.0, x)


def draw_answers(
    shown: Shown,
    systems: Systems,
    raters: Raters,
    *,
    steadiness: float,
    halo: float,
    rng: np.random.Generator,
) -> Answers:
    """Draw what raters answer.

    Args:
        shown: Rows.
        systems: As these raters see them.
        raters: All of one kind.
        steadiness: Chance that a rater's noise about a pair is the same each time it is shown.
        halo: Share of the overall noise in that of each axis.
        rng: Of all noise.
    """
    n = len(shown.rater)
    x = preference(shown, systems, raters)
    own = rng.logistic(size=int(shown.cell.max(initial=-1)) + 1)[shown.cell]
    own = np.where(shown.is_turned, -own, own)
    is_steady = (rng.random(n) < steadiness) & ~raters.is_random[shown.rater]
    noise = np.where(is_steady, own, rng.logistic(size=n))
    one, other = shown.system
    by_axis = systems.on_axes[:, one] - systems.on_axes[:, other]
    by_axis = np.where(raters.is_random[shown.rater], 0.0, by_axis)
    of_axes = rng.logistic(size=by_axis.shape)
    return Answers(overall=x + noise, axes=x + by_axis + halo * noise + (1 - halo) * of_axes)


def strengths(sizes: FloatArray, raters: Raters) -> IntArray:
    """Return the strength of each preference, 0 for a tie."""
    size = np.abs(sizes)
    if not raters.has_ties:
        return 1 + np.searchsorted(CUTS, size, side="right").astype(np.int64)
    strong = np.where(size < raters.tie_size + SLIGHTLY, SLIGHT, CLEAR)
    return np.where(size < raters.tie_size, 0, strong)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expected:
    """What comparisons of every two systems tend to, row against column, by one kind of rater."""

    win: FloatArray
    """Chance that the row's is preferred."""
    tie: FloatArray
    points: FloatArray
    """Points a comparison brings the row, weighted by strength, a tie half a point to each."""
    weight: FloatArray
    """How often the two are compared, against other pairs."""

    def theta(self, *, use_strength: bool) -> FloatArray:
        """Return what the Bradley-Terry fit with half-ties tends to."""
        points = self.points if use_strength else self.win + self.tie / 2
        points = points * self.weight
        np.fill_diagonal(points, 0)
        return fit_win_matrix(points).theta


def expect(systems: Systems, raters: Raters, setting: Setting) -> Expected:
    """Average over completions, over sampled people or a panel's judges, and over both orders.

    Judges count the same each. Of people only the share that answers at random counts: others like
    them are sampled.
    """
    n = len(systems.theta)
    one, other = np.nonzero(~np.eye(n, dtype=bool))
    found, n_who = np.zeros((3, len(one))), np.zeros(len(one))
    for part in _parts(systems, raters, (one, other), setting):
        chances = (_chances(part.x, raters) + _chances(part.x - 2 * part.position, raters)) / 2
        found += np.where(part.is_seen, part.share * chances.mean(axis=2), 0)
        n_who += part.is_seen * part.share
    found = np.divide(found, n_who, out=np.zeros_like(found), where=n_who > 0)
    if setting.rater_sd:
        blind = _chances(np.zeros((1, 1)), raters).mean(axis=2)
        found += raters.is_random.mean() * (blind - found)
    times = n_who * systems.n_completions[one] * systems.n_completions[other]
    square = np.zeros((4, n, n))
    square[:, one, other] = [*found, times]
    return Expected(win=square[0], tie=square[1], points=square[2], weight=square[3])


def expected_comparisons(
    systems: Systems, raters: Raters, setting: Setting, weight: FloatArray
) -> tuple[Comparisons, FloatArray]:
    """Return comparisons as heavy as they are likely, and each one's relative difference in words.

    A fit of these gives what it tends to. `weight` is that of every two systems. Judges are
    numbered, people are -1.
    """
    n, n_words = len(systems.theta), setting.nodes.words
    one, other = np.nonzero(~np.eye(n, dtype=bool))
    parts = list(_parts(systems, raters, (one, other), setting))
    n_who = sum((part.share * part.is_seen for part in parts), np.zeros(len(one)))
    each = np.divide(weight[one, other], n_who, out=np.zeros(len(one)), where=n_who > 0)
    blind = raters.is_random.mean() if setting.rater_sd else 0.0
    columns = []
    for part in parts:
        win, tie, _ = _chances(part.x, raters)
        score = blind / 2 + (1 - blind) * (win + tie / 2)
        # What nobody sees is averaged, what a fit sees is not.
        score = score.reshape(len(one), -1, n_words).mean(axis=1)
        rows = np.flatnonzero(part.is_seen & (each > 0))
        ends = [np.repeat(side[rows], n_words) for side in (one, other)]
        heavy = np.repeat(part.share * each[rows] / n_words, n_words)
        rater = np.full(len(heavy), part.rater)
        columns.append((*ends, rater, heavy, score[rows].ravel(), part.longer[rows].ravel()))
    left, right, rater, heavy, score, longer = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    won, n_rows = np.repeat((1.0, 0.0), len(left)), 2 * len(left)
    return Comparisons(
        left=np.tile(left, 2),
        right=np.tile(right, 2),
        score=won,
        weight=np.concatenate((heavy * score, heavy * (1 - score))),
        count=np.ones(n_rows, dtype=np.int64),
        item=np.arange(n_rows),
        rater=np.tile(rater, 2),
        n_systems=n,
    ), np.tile(longer, 2)


class _Part(NamedTuple):
    """Preferences of one judge, or of people, on items of one subset: the row's is shown first."""

    rater: int
    share: float
    """Of this rater's answers."""
    position: float
    x: FloatArray
    """(pairs of systems, nodes), the words last."""
    longer: FloatArray
    """Relative differences in words, (pairs of systems, nodes of words)."""
    is_seen: BoolArray
    """Of each pair of systems."""


def _parts(
    systems: Systems, raters: Raters, ends: tuple[IntArray, IntArray], setting: Setting
) -> Iterator[_Part]:
    one, other = ends
    people, n = setting.rater_sd > 0, len(systems.theta)
    unseen, longer = _unseen(systems, ends, setting)
    harder = systems.on_adversarial[one] - systems.on_adversarial[other]
    gap = systems.theta[one] - systems.theta[other]
    for k in [0] if people else range(len(raters.position)):
        added = np.zeros(n) if people else raters.departure[k] + raters.own[k]
        may = np.ones(n, dtype=bool) if people else raters.may_judge[k]
        position = 0.0 if people else float(raters.position[k])
        share = setting.adversarial
        for part, extra in ((1 - share, np.zeros(len(one))), (share, harder)):
            x = (gap + added[one] - added[other] + extra + position)[:, None] + unseen
            if part:
                seen = may[one] & may[other]
                yield _Part(-1 if people else k, part, position, x, longer, seen)


def _unseen(
    systems: Systems, ends: tuple[IntArray, IntArray], setting: Setting
) -> tuple[FloatArray, FloatArray]:
    """Return what moves a preference from comparison to comparison, and differences in words.

    All points of the one meet all of the other, so they do not correlate.
    """
    normal, spread = (ndtri((np.arange(n) + 0.5) / n) for n in setting.nodes)
    turned = np.random.default_rng(0).permutation(spread)  # an order, no more
    words, other_words = (
        np.exp(systems.log_words[side][:, None] + WORDS_SD * values)
        for side, values in zip(ends, (spread, turned), strict=True)
    )
    longer = relative_difference(words, other_words)
    variance = systems.completion_sd**2
    size = np.sqrt(variance[ends[0]] + variance[ends[1]] + 2 * setting.rater_sd**2)
    unseen = size[:, None, None] * normal[:, None] + systems.length * longer[:, None, :]
    return unseen.reshape(len(longer), -1), longer


def _chances(x: FloatArray, raters: Raters) -> FloatArray:
    """Return chances of a win and of a tie, and points, at each preference, (3, ...)."""
    if raters.has_ties:
        size = raters.tie_size
        win, beaten = expit(x - size), expit(-x - size)
        tie = 1 - win - beaten
        points = SLIGHT * win + (CLEAR - SLIGHT) * expit(x - size - SLIGHTLY) + tie / 2
    else:
        win, tie = expit(x), np.zeros_like(x)
        points = win + sum(expit(x - cut) for cut in CUTS)
    return np.array([win, tie, points])


def find_tie_size(systems: Systems, raters: Raters, share: float, setting: Setting) -> float:
    """Return the size below which preferences are ties, so that a share of all answers is."""
    low, high = 0.0, MOST_TIED
    for _ in range(N_HALVINGS if share else 0):
        middle = (low + high) / 2
        tied = expect(systems, replace(raters, tie_size=middle), setting)
        found = float((tied.tie * tied.weight).sum() / tied.weight.sum())
        low, high = (middle, high) if found < share else (low, middle)
    return (low + high) / 2 if share else 0.0
