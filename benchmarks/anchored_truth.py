"""Measure what anchored strengths cover where the truth is planted.

    python benchmarks/anchored_truth.py main --studies 150
    python benchmarks/anchored_truth.py untried --studies 150 [--only WORDS]

Written by somebody who did not write what it measures; it shares no line with `anchored.py`. A
study draws strengths, what its judges miss, effects of items and of people on each system, then
votes. What has to be covered is what people's votes without end tend to, less the mean. Prints
Markdown: a row for each case, then the main cases pooled.
"""

import argparse
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.anchored import Spread, anchor
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.fit import (
    ELO_PER_THETA,
    fit_bradley_terry,
    fit_win_matrix,
    strong_components,
)
from hearteval.stats.bradley_terry.intervals import clustered, influence_on_strengths, own_df
from hearteval.stats.bradley_terry.measured import measure
from hearteval.stats.comparisons import Comparisons, FloatArray, IntArray, win_matrix

LEVEL = 0.95
SEED = 28
RATER_SD = 0.3
"""Of what each person adds to each system."""
TIE = 0.4
"""A vote whose log-odds with noise are closer to 0 is a tie."""
ITEMS_OF_JUDGES = 200
NODES, MASS = np.polynomial.hermite_e.hermegauss(31)

Judging = Callable[[FloatArray, np.random.Generator], FloatArray]
"""From people's strengths to a judge's, before human rows and the outlier are moved."""
PairWeights = Callable[[int], FloatArray]


def biased(sd: float, *, slope: float = 1.25, df: float = np.inf) -> Judging:
    """Return a judge with larger differences than people's, and its own deviations."""

    def judge(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        off = rng.standard_normal(len(theta)) if np.isinf(df) else rng.standard_t(df, len(theta))
        return np.asarray(slope * theta + sd * off)

    return judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of study."""

    n: int = 10
    n_humans: int = 0
    n_votes: int = 1_000
    has_ties: bool = False
    judges: tuple[Judging, ...] = (biased(0.3),)
    disliked: float = 0.5
    outlier: float = 0.0
    is_own_family: bool = False
    """Each judge leaves out two models of its own."""
    votes_of_judge: int | None = None
    pairs: PairWeights = lambda n: np.ones((n, n))
    span: float = 1.0
    item_sd: float = 0.5
    """Of what each item adds to each system."""
    shared: float = 0.5
    """Part of its variance that is the same for people and judges."""
    n_items: int | None = None
    n_raters: int | None = None


class Study(NamedTuple):
    """Of one study, by system."""

    truth: FloatArray
    alone: Spread
    no_judge: Spread
    anchored: Spread
    role: IntArray


ROLES = ("models", "human rows", "outlier", "left out by a judge", "few votes")


def cases_of_issue() -> dict[str, Case]:
    """Return all that the issue names, in every combination; every second one has ties."""
    return {
        f"{n} systems, {h} human, {v:,} votes, bias {sd}{', outlier' * bool(off)}": Case(
            n=n,
            n_humans=h,
            n_votes=v,
            has_ties=bool(k % 2),
            judges=(biased(sd),),
            outlier=off,
        )
        for k, ((n, h), v, sd, off) in enumerate(
            itertools.product(
                ((7, 1), (10, 1), (10, 3), (20, 1), (20, 3)),
                (250, 1_000, 4_000),
                (0.0, 0.3, 0.6),
                (0.0, 1.0),
            )
        )
    }


def on_half(n: int) -> FloatArray:
    """Return weights of pairs, nearly all of them in the first half of the systems."""
    few = np.where(np.arange(n) < n // 2, 1.0, 0.15)
    return np.outer(few, few)


def of_neighbours(n: int) -> FloatArray:
    """Return weights of pairs that meet only if they are two apart at most, on a circle."""
    gap = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.asarray(np.minimum(gap, n - gap) <= 2, dtype=np.float64)


def few_on_last(n: int) -> FloatArray:
    """Return weights of pairs with few votes on the last system."""
    few = np.where(np.arange(n) < n - 1, 1.0, 0.2)
    return np.outer(few, few)


def like_another() -> tuple[Judging, Judging]:
    """Return two judges that are all but one: the second repeats what the first drew."""
    last: list[FloatArray] = []

    def first(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
        last[:] = [biased(0.3)(theta, rng)]
        return last[0]

    return first, lambda theta, rng: last[0] + 0.03 * rng.standard_normal(len(theta))


def unrelated(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return strengths as far apart as people's, with no relation to them."""
    return np.asarray(0.75 * rng.standard_normal(len(theta)))


def saturated(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what a judge sees that finds all good systems alike, and all bad ones."""
    del rng
    return np.tanh(3 * theta)


def blind_above(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what a judge sees that tells bad systems apart only."""
    del rng
    return 1.5 * np.minimum(theta, 0.0)


def partial(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what a judge sees that favours three models, its kin."""
    return biased(0.1)(theta, rng) + 0.8 * (np.arange(len(theta)) < 3)


def uneven(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what a judge sees that dislikes the last three by .5 less, as much, and .5 more."""
    strength = biased(0.05)(theta, rng)
    strength[-3:] += (0.5, 0.0, -0.5)
    return strength


def misjudged(theta: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return what a judge sees that is 1 off on the second system, as on the outlier."""
    return np.asarray(biased(0.1)(theta, rng) + (np.arange(len(theta)) == 1))


def untried() -> dict[str, Case]:
    """Return cases that the issue does not name."""
    opposite, coin = biased(0.3, slope=-1), biased(0.0, slope=0)
    odd: dict[str, dict[str, Any]] = {
        "no bias, no human": {"judges": (biased(0.0),)},
        "a judge opposite to people": {"judges": (opposite,)},
        "a coin": {"judges": (coin,)},
        "a coin, equal systems": {"judges": (coin,), "span": 0.0},
        "a judge with no relation": {"judges": (unrelated,)},
        "two judges all but the same": {"judges": like_another()},
        "two judges, each without its family": {
            "judges": (biased(0.3), biased(0.3)),
            "is_own_family": True,
        },
        "one judge without its family": {"is_own_family": True},
        "votes on half of the systems": {"pairs": on_half},
        "neighbours meet only": {"pairs": of_neighbours},
        "a human row alone, few votes": {"n_humans": 1, "pairs": few_on_last},
        "two human rows": {"n_humans": 2},
        "humans disliked by 2": {"n_humans": 3, "disliked": 2.0},
        "human rows disliked by 0, .5 and 1": {"n_humans": 3, "judges": (uneven,)},
        "two outliers": {"judges": (misjudged,), "outlier": 1.0},
        "a saturating judge": {"judges": (saturated,)},
        "a judge that sees no difference above the middle": {"judges": (blind_above,)},
        "a judge that favours 3 models by .8": {"judges": (partial,)},
        "3 people": {"n_raters": 3},
    }
    found = _sized(odd)
    for n, items, sd in itertools.product((10, 20), (10, 20, 40), (0.0, 0.15)):
        found[f"{items} items, effects 1, bias {sd}; {n} systems, 4,000 votes"] = Case(
            n=n, n_votes=4_000, n_items=items, item_sd=1.0, shared=1.0, judges=(biased(sd),)
        )
    found["6 systems, 500 votes"] = Case(n=6, n_votes=500)
    found["3 systems"] = Case(n=3)
    found["8 systems, 3 of them human"] = Case(n=8, n_humans=3)
    return found | _sized(
        {
            "deviations t with 3 df, scale .3": {"judges": (biased(0.3, df=3),)},
            "deviations t with 3 df, scale .1": {"judges": (biased(0.1, df=3),)},
            "a judge of 150 votes": {"votes_of_judge": 150, "judges": (biased(0.0),)},
            "equal systems": {"span": 0.0},
            "outlier of 2": {"outlier": 2.0, "judges": (biased(0.1),)},
        }
    )


def _sized(odd: Mapping[str, Mapping[str, Any]]) -> dict[str, Case]:
    return {
        f"{name}; {n} systems, {v:,} votes": Case(n=n, n_votes=v, **more)
        for name, more in odd.items()
        for n, v in ((10, 500), (20, 1_000))
    }


def draw(case: Case, rng: np.random.Generator) -> tuple[FloatArray, Comparisons, list[Comparisons]]:
    """Return the truth, people's votes and the judges'."""
    n, tie = case.n, TIE * case.has_ties
    n_raters = case.n_raters or max(10, case.n_votes // 100)
    n_items = case.n_items or min(ITEMS_OF_JUDGES, 40 + case.n_votes // 10)
    n_judged = case.n_items or ITEMS_OF_JUDGES
    theta = rng.permutation(case.span * np.linspace(-1, 1, n))
    shared = case.item_sd * np.sqrt(case.shared) * rng.standard_normal((n_judged, n))

    def items() -> FloatArray:
        own = case.item_sd * np.sqrt(1 - case.shared) * rng.standard_normal((n_judged, n))
        return np.asarray(shared + own)

    pairs = np.triu(case.pairs(n), 1)
    people = _vote(theta + items()[:n_items], pairs, case.n_votes, n_raters, tie, rng)
    judges = []
    for j, judge in enumerate(case.judges):
        strength = judge(theta, rng)
        strength[n - case.n_humans :] -= case.disliked
        strength[0] += case.outlier
        seen = np.ones((n, n))
        if case.is_own_family:
            own = slice(1 + 2 * j, 3 + 2 * j)
            seen[own] = seen[:, own] = 0
        n_votes = case.votes_of_judge or n * ITEMS_OF_JUDGES
        judges.append(_vote(strength + items(), np.triu(seen, 1), n_votes, 0, tie, rng))
    sd = np.sqrt(2 * (case.item_sd**2 + RATER_SD**2))
    return _limit(theta, pairs, sd, tie), people, judges


def _vote(
    at: FloatArray,
    pairs: FloatArray,
    n_votes: int,
    n_raters: int,
    tie: float,
    rng: np.random.Generator,
) -> Comparisons:
    """Draw items, pairs and, if there are any, raters at random; then votes."""
    n_items, n = at.shape
    item = rng.integers(0, n_items, n_votes)
    left, right = np.divmod(rng.choice(n * n, n_votes, p=(pairs / pairs.sum()).ravel()), n)
    odds = at[item, left] - at[item, right] + rng.logistic(size=n_votes)
    rater = np.full(n_votes, -1)
    if n_raters:
        rater = rng.integers(0, n_raters, n_votes)
        taste = RATER_SD * rng.standard_normal((n_raters, n))
        odds += taste[rater, left] - taste[rater, right]
    score = np.where(np.abs(odds) < tie, 0.5, odds > 0)
    ones = np.ones(n_votes)
    return Comparisons(
        left=left,
        right=right,
        score=score,
        weight=ones,
        count=ones.astype(np.int64),
        item=item,
        rater=rater,
        n_systems=n,
    )


def _limit(theta: FloatArray, pairs: FloatArray, sd: float, tie: float) -> FloatArray:
    """Return what strengths tend to: the fit to mean scores over items and people."""
    gap = theta[:, None, None] - theta[None, :, None] + sd * NODES
    ends = np.array([-tie, tie])[:, None, None, None]
    score = ((1 / (1 + np.exp(ends - gap))) @ MASS).mean(axis=0) / MASS.sum()
    return fit_win_matrix((pairs + pairs.T) * score).theta


def two_way(influence_of: InfluenceOf, votes: Comparisons) -> ClusteredVariance:
    """Return the variance over items and people."""
    return vary_over_items_and_raters(influence_of, votes.item, votes.rater)


def analyse(case: Case, rng: np.random.Generator) -> tuple[Study, int]:
    """Draw studies until people compare every system both ways; return how many were drawn."""
    kind = (np.arange(case.n) >= case.n - case.n_humans).astype(np.int64)
    drawn = 1
    truth, people, judges = draw(case, rng)
    while len(strong_components(win_matrix(people))) > 1:
        drawn += 1
        truth, people, judges = draw(case, rng)
    fit = fit_bradley_terry(people)
    variance = two_way(influence_on_strengths(people, fit), people)
    df = own_df(people, variance.df, over_raters=True)
    alone = clustered(fit.theta, variance, level=LEVEL, df=df)
    measured = measure(people, judges, vary=two_way, level=LEVEL)
    role = np.where(kind == 1, 1, 0)
    role[np.isnan(measured.judges).any(axis=1)] = 3
    votes = np.bincount(np.concatenate((people.left, people.right)), minlength=case.n)
    role[(role == 0) & (votes < 0.4 * votes.mean())] = 4
    if case.outlier:
        role[0] = 2
    study = Study(
        truth=truth,
        alone=Spread(fit.theta, alone.low, alone.high),
        no_judge=anchor(measured.without_judges(), kind, level=LEVEL).theta,
        anchored=anchor(measured, kind, level=LEVEL).theta,
        role=role,
    )
    return study, drawn


class Found(NamedTuple):
    """Of one case, (studies, systems)."""

    estimate: FloatArray
    covered: FloatArray
    covered_alone: FloatArray
    width: FloatArray
    width_alone: FloatArray
    width_no_judge: FloatArray
    error: FloatArray
    error_alone: FloatArray
    error_no_judge: FloatArray
    role: IntArray
    drawn: int


def collect(studies: list[Study], drawn: int) -> Found:
    """Return what the studies of a case covered."""
    truth = np.array([one.truth for one in studies])

    def stack(name: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        estimate, low, high = np.array([getattr(one, name) for one in studies]).transpose(1, 0, 2)
        inside = np.asarray((low <= truth) & (truth <= high), dtype=np.float64)
        return inside, (high - low) / 2, estimate - truth

    covered, width, error = stack("anchored")
    covered_alone, width_alone, error_alone = stack("alone")
    _, width_no_judge, error_no_judge = stack("no_judge")
    return Found(
        np.array([one.anchored.estimate for one in studies]),
        covered,
        covered_alone,
        width,
        width_alone,
        width_no_judge,
        error,
        error_alone,
        error_no_judge,
        np.array([one.role for one in studies]),
        drawn,
    )


HEAD = (
    "covered (se) | alone | by kind of system | first | half-width: alone, no judge, anchored"
    " | RMS error: the same | over 1.1"
)


def row(found: Found) -> str:
    """Return one line: coverage, half-widths and errors in Elo, share over 1.1 times as wide."""
    mean = found.covered.mean(axis=1)
    se = mean.std(ddof=1) / np.sqrt(len(mean))
    roles = ", ".join(
        f"{ROLES[k]} {share(found.covered[found.role == k])}" for k in np.unique(found.role)
    )
    widths = (found.width_alone, found.width_no_judge, found.width)
    errors = (found.error_alone, found.error_no_judge, found.error)
    width = ", ".join(f"{ELO_PER_THETA * of.mean():.0f}" for of in widths)
    error = ", ".join(f"{ELO_PER_THETA * np.sqrt((of**2).mean()):.0f}" for of in errors)
    first = found.covered[np.arange(len(mean)), found.estimate.argmax(axis=1)]
    over = (found.width > 1.1 * found.width_alone).mean()
    return (
        f"{mean.mean():.3f} ({se:.3f}) | {found.covered_alone.mean():.3f} | {roles}"
        f" | {first.mean():.3f} | {width} | {error} | {over:.3f}"
    )


def share(inside: FloatArray) -> str:
    """Return a share and, in brackets, its error as if systems were independent."""
    p = float(inside.mean())
    return f"{p:.3f} ({np.sqrt(p * (1 - p) / inside.size):.3f})"


def pool(found: Mapping[str, Found]) -> None:
    """Print what the main cases covered by each thing that they differ in."""
    print("\n| pooled over | covered | human rows | outlier | width beside people alone |")
    print("| --- | --- | --- | --- | --- |")
    words = [name.split(", ") for name in found]
    for part in range(4):
        for word in dict.fromkeys(each[part] for each in words):
            of = [one for each, one in zip(words, found.values(), strict=True) if word in each]
            inside = np.concatenate([one.covered.ravel() for one in of])
            role = np.concatenate([one.role.ravel() for one in of])
            wide = np.mean([one.width.mean() / one.width_alone.mean() for one in of])
            shares = [share(inside), *(share(inside[role == k]) for k in (1, 2))]
            print(f"| {word} | {' | '.join(shares)} | {wide:.2f} |")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=("main", "untried"))
    parser.add_argument("--studies", type=int, default=150)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cases = cases_of_issue() if options.which == "main" else untried()
    print(f"| case | {HEAD} |\n|{' --- |' * 8}")
    found: dict[str, Found] = {}
    for k, (name, case) in enumerate(cases.items()):
        if options.only not in name:
            continue
        rng = np.random.default_rng([SEED, k])
        try:
            results = [analyse(case, rng) for _ in range(options.studies)]
        except NotIdentifiedError as error:
            print(f"| {name} | refused: {error} |")
            continue
        found[name] = collect([one for one, _ in results], sum(drawn for _, drawn in results))
        again = found[name].drawn - options.studies
        more = f" ({again} drawn again)" if again else ""
        print(f"| {name}{more} | {row(found[name])} |", flush=True)
    if options.which == "main" and len(found) > 1:
        pool(found)


if __name__ == "__main__":
    main()
