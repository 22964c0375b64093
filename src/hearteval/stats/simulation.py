"""Judgments drawn from known strengths, and what a study of them tends to.

A rater prefers the first of two completions by more than the second by

    x = q1 - q2 + length (w1 - w2) / (w1 + w2) + own family + shown first + logistic noise,

q being a completion's own strength: that of its system, a normal departure of its own, another of
the rater from this system. The sign is the choice, the size the strength, a small size is a tie
where the protocol has ties. What a fit estimates is not the system's strength: chances averaged
over completions and raters lie nearer to 1/2. `expect` gives what every figure does tend to.
"""

from dataclasses import dataclass, replace

import numpy as np

from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.bradley_terry.fit import fit_win_matrix
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.special import expit, ndtri

SLIGHTLY = 1.5
"""Five points: above the ties, up to so much a preference is slight."""
SLIGHT, CLEAR = 2, 4
"""Strengths of the five points."""
CUTS = (0.5, 1.1, 1.8, 2.7)
"""Forced strengths 1 to 5: the sizes that part them."""
WORDS_SD = 0.35
"""Of the logarithm of a completion's number of words."""
N_NODES, FEW_NODES = 2_000, 200
"""Points of the normal distribution over which `expect` averages, in equal steps of probability."""
N_HALVINGS, MOST_TIED = 24, 20.0


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
    completion_sd: float
    """Of completions around it."""
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


def expect(
    systems: Systems,
    raters: Raters,
    *,
    rater_sd: float,
    adversarial: float,
    n_nodes: int = N_NODES,
) -> Expected:
    """Average over completions, over sampled raters and over both orders.

    Args:
        systems: As these raters see them.
        raters: A fixed panel, each judge counting the same; with `rater_sd` people, of whom only
            the share that answers at random counts, for others like them are sampled.
        rater_sd: Of departures of sampled raters; 0 for a fixed panel.
        adversarial: Share of adversarial items.
        n_nodes: Points over which completions and raters are averaged.
    """
    n = len(systems.theta)
    one, other = np.nonzero(~np.eye(n, dtype=bool))
    gap = systems.theta[one] - systems.theta[other]
    harder = systems.on_adversarial[one] - systems.on_adversarial[other]
    x = gap[:, None] + _unseen(systems, one, other, rater_sd=rater_sd, n_nodes=n_nodes)
    people = rater_sd > 0
    found, n_who = np.zeros((3, len(one))), np.zeros(len(one))
    for k in [0] if people else range(len(raters.position)):
        added = np.zeros(n) if people else raters.departure[k] + raters.own[k]
        side = 0.0 if people else raters.position[k]
        may = np.ones(n, dtype=bool) if people else raters.may_judge[k]
        of_rater = np.zeros_like(found)
        for share, extra in ((1 - adversarial, 0.0), (adversarial, harder)):
            if share:
                y = x + (added[one] - added[other] + extra)[:, None]
                of_rater += share * (_chances(y + side, raters) + _chances(y - side, raters)) / 2
        is_seen = may[one] & may[other]
        found += np.where(is_seen, of_rater, 0)
        n_who += is_seen
    found = np.divide(found, n_who, out=np.zeros_like(found), where=n_who > 0)
    if people:
        blind = _chances(np.zeros((1, 1)), raters)
        found += raters.is_random.mean() * (blind - found)
    times = n_who * systems.n_completions[one] * systems.n_completions[other]
    square = np.zeros((4, n, n))
    square[:, one, other] = [*found, times]
    return Expected(win=square[0], tie=square[1], points=square[2], weight=square[3])


def _unseen(
    systems: Systems, one: IntArray, other: IntArray, *, rater_sd: float, n_nodes: int
) -> FloatArray:
    """Return what moves a preference from comparison to comparison, (pairs of systems, nodes)."""
    normal = ndtri((np.arange(n_nodes) + 0.5) / n_nodes)
    rng = np.random.default_rng(0)  # of the order in which points are put together, no more
    left, right = (WORDS_SD * rng.permutation(normal) for _ in range(2))
    size = np.sqrt(2 * (systems.completion_sd**2 + rater_sd**2))
    words, other_words = (
        np.exp(systems.log_words[side][:, None] + spread)
        for side, spread in ((one, left), (other, right))
    )
    found: FloatArray = size * normal + systems.length * relative_difference(words, other_words)
    return found


def _chances(x: FloatArray, raters: Raters) -> FloatArray:
    """Return mean chances of a win and of a tie, and mean points, of each row of preferences."""
    if raters.has_ties:
        size = raters.tie_size
        win, beaten = expit(x - size), expit(-x - size)
        tie = 1 - win - beaten
        points = SLIGHT * win + (CLEAR - SLIGHT) * expit(x - size - SLIGHTLY) + tie / 2
    else:
        win, tie = expit(x), np.zeros_like(x)
        points = win + sum(expit(x - cut) for cut in CUTS)
    return np.array([win.mean(axis=1), tie.mean(axis=1), points.mean(axis=1)])


def find_tie_size(
    systems: Systems, raters: Raters, share: float, *, rater_sd: float, adversarial: float
) -> float:
    """Return the size below which preferences are ties, so that a share of all answers is."""
    low, high = 0.0, MOST_TIED
    for _ in range(N_HALVINGS if share else 0):
        middle = (low + high) / 2
        tied = expect(
            systems,
            replace(raters, tie_size=middle),
            rater_sd=rater_sd,
            adversarial=adversarial,
            n_nodes=FEW_NODES,
        )
        found = float((tied.tie * tied.weight).sum() / tied.weight.sum())
        low, high = (middle, high) if found < share else (low, middle)
    return (low + high) / 2 if share else 0.0
