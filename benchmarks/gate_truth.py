"""Try to break the gate: item scores of known mean, through the functions that it goes through.

    PYTHONPATH=src python benchmarks/gate_truth.py [PART ...]

Written by somebody who did not write the gate; it shares no line with `gate.py` beside it. A score
is drawn from a list of values whose mean is exactly the truth, several tests by a normal copula.
Prints Markdown, the parts named or all: see `PARTS`.
"""

import sys
from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtri
from scipy.stats import binom, multinomial

from hearteval.analysis.data import StudyData
from hearteval.analysis.gate import doubt_equivalence, score_items
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.domain import Choice, Rater, System
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray
from hearteval.stats.gate import (
    BETTER,
    EQUIVALENT,
    INCONCLUSIVE,
    OUTCOMES,
    WORSE,
    GateResult,
    GateRule,
    Moments,
    interval_of,
    judge_gate,
    look_sizes,
    moments,
    nominal_levels,
    outcome_of,
    take_looks,
    two_sided,
)

MARGIN, N_TESTS, N_STUDIES, SEED = 0.05, 6, 4_000, 2811
ITEM_SD = 0.9
NODES, MASS = np.polynomial.hermite_e.hermegauss(60)
MASS = MASS / MASS.sum()


class Law(NamedTuple):
    """Values of a score and how likely they are."""

    values: FloatArray
    chances: FloatArray

    @property
    def mean(self) -> float:
        """The truth."""
        return float(self.values @ self.chances)


def tilted(values: list[float], chances: list[float], mean: float) -> Law:
    """Return the law of these values with a mean, its chances tilted exponentially."""
    x, low, high = np.array(values), -80.0, 80.0
    law = Law(x, np.array(chances))
    for _ in range(100):
        slope = (low + high) / 2
        weights = np.array(chances) * np.exp(slope * x)
        law = Law(x, weights / weights.sum())
        low, high = (slope, high) if law.mean < mean else (low, slope)
    return law


def votes(mean: float, n_votes: int = 4) -> Law:
    """Return shares of some votes on items whose merit has an SD of .9 in log odds."""
    chance = expit(ITEM_SD * NODES)
    counts = np.arange(n_votes + 1)
    made = MASS @ binom.pmf(counts, n_votes, chance[:, None])
    return tilted((counts / n_votes - 0.5).tolist(), made.tolist(), mean)


def judged_by_one_to_three(mean: float) -> Law:
    """Return the law where a third of the items each has one, two or three judges, both orders."""
    laws = [votes(mean, 2 * n) for n in (1, 2, 3)]
    return Law(
        np.concatenate([law.values for law in laws]),
        np.concatenate([law.chances / 3 for law in laws]),
    )


LAWS: dict[str, Callable[[float], Law]] = {
    "four votes, item SD .9": votes,
    "one to three judges an item": judged_by_one_to_three,
    "three values": lambda m: tilted([-0.5, 0, 0.5], [0.3, 0.4, 0.3], m),
    "80 % ties": lambda m: tilted([-0.5, -0.25, 0, 0.25, 0.5], [0.05] * 2 + [0.8] + [0.05] * 2, m),
    "skewed: most won, few lost": lambda m: tilted([-0.5, 0.125], [0.2, 0.8], m),
    "85 % identical": lambda m: tilted([-0.5, 0, 0.5], [0.075, 0.85, 0.075], m),
    "same but for rare losses": lambda m: tilted([-0.5, 0], [0.1, 0.9], m),
}
EVEN = [name for name in LAWS if name != "same but for rare losses"]
"""Laws that can have a mean of 0."""
LEVELS = (0.05, 0.025, 0.05 / 12, 1e-3, 1e-4, 1e-6)
VALUES = (-0.5, -0.4, -0.25, 0.0, 0.125, 0.25, 0.375, 0.5)


def draw(law: Law, shape: tuple[int, int, int], rho: float, rng: np.random.Generator) -> FloatArray:
    """Return scores (studies, items, tests), the tests of an item correlated."""
    order = np.argsort(law.values, kind="stable")
    bounds = ndtri(np.minimum(np.cumsum(law.chances[order])[:-1], 1))
    shared = rng.standard_normal((*shape[:2], 1), dtype=np.float32)
    own = rng.standard_normal(shape, dtype=np.float32)
    z = np.sqrt(np.float32(rho)) * shared + np.sqrt(np.float32(1 - rho)) * own
    return np.asarray(law.values[order][np.searchsorted(bounds, z)])


def by_look(scores: FloatArray, n_looks: int) -> list[Moments]:
    """Return the moments that each look sees."""
    return [moments(scores[:, :n]) for n in look_sizes(scores.shape[1], n_looks)]


def take(scores: FloatArray, rule: GateRule) -> tuple[IntArray, IntArray]:
    """Return verdicts (studies, tests) and the look at which each study ended."""
    covered = 1 - np.isnan(scores).mean(axis=(0, 1))
    return take_looks(by_look(scores, rule.n_looks), covered, rule)


def has_passed(verdicts: IntArray) -> BoolArray:
    """Return whether each gate ends with exit code 0."""
    return np.asarray(outcome_of(verdicts) == OUTCOMES.index("passed"))


def row(*cells: object) -> None:
    """Print a row of Markdown."""
    print("| " + " | ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in cells) + " |")


def head(*cells: str) -> None:
    """Print the first two rows."""
    print()
    row(*cells)
    row(*["---"] * len(cells))


def at_the_margin() -> None:
    """Say how often a gate of one test passes at a truth of minus the margin."""
    rng = np.random.default_rng(SEED)
    for margin, sizes in ((MARGIN, (20, 60, 280, 600)), (3 * MARGIN, (10, 20, 30, 60))):
        head(f"scores, margin {100 * margin:.0f}", "looks", *(f"{n} items" for n in sizes))
        for (name, law), n_looks in product(LAWS.items(), (1, 5)):
            rule, rates = GateRule(margin=margin, n_looks=n_looks), []
            for n in sizes:
                scores = draw(law(-margin), (N_STUDIES, n, 1), 0, rng)
                rates.append(float(has_passed(take(scores, rule)[0]).mean()))
            row(name, n_looks, *rates)


def without_a_difference() -> None:
    """Say how often anything is called better or worse though nothing is: 5 % for the family."""
    sizes = (10, 20, 30, 100)
    head("scores", "axes correlated", "looks", "marks missing", *(f"{n} items" for n in sizes))
    rng = np.random.default_rng(SEED + 1)
    cases = [(name, rho, 1, 0.0) for name in EVEN for rho in (0.2, 0.9)]
    cases += [(name, 0.5, 5, 0.0) for name in EVEN]
    cases += [("four votes, item SD .9", 0.5, n_looks, 0.09) for n_looks in (1, 5)]
    for name, rho, n_looks, missing in cases:
        rates = []
        for n in sizes:
            scores = draw(LAWS[name](0.0), (N_STUDIES, n, N_TESTS), rho, rng)
            scores[..., 3:][rng.random((N_STUDIES, n, N_TESTS - 3)) < missing] = np.nan
            verdicts, _ = take(scores, GateRule(n_looks=n_looks))
            worse, better = ((verdicts == which).any(axis=1) for which in (WORSE, BETTER))
            rates.append(f"{(worse | better).mean():.3f} ({worse.mean():.3f} worse)")
        row(name, rho, n_looks, missing, *rates)


def judged(scores: FloatArray, rule: GateRule, rng: np.random.Generator) -> GateResult:
    """Return what one study's gate says at its last look."""
    n = len(scores)
    ones = [1.0] * scores.shape[1]
    return judge_gate(scores, ones, rule, look=rule.n_looks, n_planned=n, rng=rng)


def stated_power() -> None:
    """Compare what 100 studies say of themselves with what happens in 2,000."""
    head(
        "scores",
        "items",
        "margin",
        "looks",
        "overall equivalent, said",
        "passes, said",
        "fails, said",
        "sees its smallest effect",
    )
    rng = np.random.default_rng(SEED + 2)
    cases = [(name, 280, MARGIN, 5) for name in EVEN] + [(name, 40, 0.15, 1) for name in EVEN]
    for name, n, margin, n_looks in cases:
        rule, law = GateRule(margin=margin, n_looks=n_looks), LAWS[name]
        verdicts, _ = take(draw(law(0.0), (2_000, n, N_TESTS), 0.6, rng), rule)
        told = [judged(one, rule, rng) for one in draw(law(0.0), (100, n, N_TESTS), 0.6, rng)]
        happens = (verdicts[:, 0] == EQUIVALENT, has_passed(verdicts), (verdicts == WORSE).any(1))
        said = [(one.power, one.power_to_pass, one.false_alarms) for one in told]
        effect = float(np.mean([one.smallest_effect for one in told]))
        off = draw(law(-effect), (2_000, n, N_TESTS), 0.6, rng)
        off[..., 1:] = draw(law(0.0), (2_000, n, N_TESTS - 1), 0.6, rng)
        seen = float((take(off, rule)[0][:, 0] == WORSE).mean())
        cells = [f"{h.mean():.3f}, {s:.3f}" for h, s in zip(happens, np.mean(said, 0), strict=True)]
        row(name, n, f"{margin:.2f}", n_looks, *cells, f"{100 * effect:.1f} points: {seen:.3f}")


def enumerated(law: Law, n: int) -> tuple[FloatArray, Moments]:
    """Return the chance of every way in which n scores of two or three values can fall."""
    k = len(law.values)
    counts = np.array([c for c in product(range(n + 1), repeat=k) if sum(c) == n])
    chances = multinomial.pmf(counts, n, law.chances)
    mean, squares, cubes = (counts @ law.values**power / n for power in (1, 2, 3))
    se = np.sqrt(np.maximum(squares - mean**2, 0) / (n - 1))
    third = n * (cubes - 3 * mean * squares + 2 * mean**3)
    return chances, Moments(*(x[:, None] for x in (mean, se, np.full(len(mean), float(n)), third)))


def exact() -> None:
    """Add up how often a one-sided p is under a level at its own truth: the worst of many laws."""
    head("values", *(f"level {level:.2g}" for level in LEVELS))
    for k, sizes in ((2, (2, 3, 4, 6, 8, 10, 14, 20, 30, 45, 60, 100)), (3, (4, 10, 24))):
        worst = np.zeros(len(LEVELS))
        tails = (1.0, 0.1)[: k - 1]
        cases = product(sizes, (0.0, -0.05, -0.15), combinations(VALUES, k), tails)
        for n, at, values, tail in cases:
            if not values[0] < at < values[-1]:
                continue
            law = tilted(list(values), [1.0, *[tail] * (k - 2), 1.0], at)
            chances, found = enumerated(law, n)
            lows = (interval_of(found, level)[0, :, 0] for level in LEVELS)
            worst = np.maximum(worst, [float(chances[low > at].sum()) for low in lows])
        row(k, *(f"{rate:.2g}" for rate in worst))


def resampled(scores: FloatArray, n: int, times: int, rng: np.random.Generator) -> Moments:
    """Return the moments of n items taken from those there are, so often."""
    counts = rng.multinomial(n, np.full(len(scores), 1 / len(scores)), size=times)
    mean, squares, cubes = (counts @ scores**power / n for power in (1, 2, 3))
    variance = (squares - mean**2) * n / (n - 1)
    third = n * (cubes - 3 * mean * squares + 2 * mean**3)
    return Moments(mean, np.sqrt(variance / n), np.full(mean.shape, float(n)), third)


def what_is_seen() -> None:
    """Say how often a plain difference overall is seen, and how often six equals pass."""
    rng = np.random.default_rng(SEED + 6)
    head("four votes, item SD .9", "items", "truth or margin", "rate")
    for n, truth in ((30, -0.2), (60, -0.15), (100, -0.1), (280, -0.06)):
        scores = draw(votes(0.0), (N_STUDIES, n, N_TESTS), 0.6, rng)
        scores[..., :1] = draw(votes(truth), (N_STUDIES, n, 1), 0, rng)
        seen = (take(scores, GateRule())[0][:, 0] == WORSE).mean()
        row("overall is seen to be worse", n, f"truth {100 * truth:.0f}", float(seen))
    for n, margin in ((30, 0.15), (280, MARGIN), (600, MARGIN)):
        scores = draw(votes(0.0), (N_STUDIES, n, N_TESTS), 0.6, rng)
        rate = has_passed(take(scores, GateRule(margin=margin))[0]).mean()
        row("six equals pass", n, f"margin {100 * margin:.0f}", float(rate))


def advice() -> None:
    """Take the sentence of an open gate at its word: about N more would settle all that is open.

    Were the differences what they seem: so many items are drawn from those there are. As they are:
    so many new items are added to the old ones, all equally good.
    """
    head(
        "scores",
        "items",
        "median of more",
        "settled, as they seem",
        "half as many",
        "settled, as they are",
    )
    rng, rule = np.random.default_rng(SEED + 3), GateRule()
    for name in ("four votes, item SD .9", "85 % identical"):
        for n in (40, 100):
            more: list[int] = []
            seem, half, are = (list[float]() for _ in range(3))
            for scores in draw(LAWS[name](0.0), (100, n, N_TESTS), 0.6, rng):
                found = judged(scores, rule, rng)
                if found.n_more is None:
                    continue
                is_open = np.array([one.verdict == "inconclusive" for one in found.tests])
                more.append(found.n_more)
                for shares, n_added in ((seem, found.n_more), (half, found.n_more // 2)):
                    again = resampled(scores, n + n_added, 40, rng)
                    said, _ = take_looks([again], np.ones(N_TESTS), rule)
                    shares.append((said[:, is_open] != INCONCLUSIVE).all(axis=1).mean())
                n_new = min(found.n_more, 5_000)
                new = draw(LAWS[name](0.0), (1, n_new, N_TESTS), 0.6, rng)[0]
                said, _ = take(np.concatenate([scores, new])[None], rule)
                are.append((said[:, is_open] != INCONCLUSIVE).all())
            row(
                name,
                n,
                int(np.median(more)),
                *(float(np.mean(share)) for share in (seem, half, are)),
            )
    head("at the margin, an open gate doubled and held again", "once", "twice", "three times")
    for name, law in LAWS.items():
        scores = draw(law(-MARGIN), (N_STUDIES, 1_120, 1), 0, rng)
        ends = [take(scores[:, :n], rule)[0] for n in (140, 280, 560, 1_120)]
        ever = np.zeros(N_STUDIES, dtype=bool)
        is_open = ~ever
        rates = []
        for verdicts in ends:
            ever |= is_open & has_passed(verdicts)
            is_open &= (verdicts == INCONCLUSIVE).all(axis=1)
            rates.append(float(ever.mean()))
        row(name, *rates[1:])


def stopped_early() -> None:
    """Say what an interval and a p are worth where the gate ended at look 2 of 5, and in all."""
    head(
        "truth",
        "items",
        "ends at look 2",
        "covers, ended at 2",
        "covers, all",
        "mean said at 2",
        "p < .05 said, all",
        "p < .05 said, ended at 2",
    )
    rng, rule = np.random.default_rng(SEED + 4), GateRule(n_looks=5)
    levels = nominal_levels(rule.alpha / 2, 5)
    for truth, n in ((0.0, 280), (0.0, 900), (-0.05, 280), (-0.08, 280), (-0.12, 100)):
        scores = draw(votes(truth), (N_STUDIES, n, 1), 0, rng)
        looks = by_look(scores, 5)
        _, ended = take_looks(looks, np.ones(1), rule)
        at = (ended - 1, np.arange(N_STUDIES), 0)
        mean = np.stack([one.mean for one in looks])[at]
        is_small = np.stack([two_sided(one) for one in looks])[at] < rule.alpha
        told = [interval_of(one, level) for one, level in zip(looks, levels, strict=True)]
        low, high = np.moveaxis(np.array(told), 1, 0)[(slice(None), *at)]
        covers = (low <= truth) & (truth <= high)
        second = ended == 2
        few = second.sum() < 20
        row(
            f"{100 * truth:.0f}",
            n,
            float(second.mean()),
            "" if few else float(covers[second].mean()),
            float(covers.mean()),
            "" if few else f"{100 * mean[second].mean():.1f}",
            float(is_small.mean()),
            "" if few else float(is_small[second].mean()),
        )


OLD = System(name="old", kind="model", family="x")
NEW = System(name="new", kind="model", family="y")
JUDGES = tuple(Rater(name=name, kind="llm", family=name, settings={"m": name}) for name in "ab")


def of_place(
    n: int,
    truth: float,
    by_place: tuple[float, ...],
    rng: np.random.Generator,
    *,
    lost: tuple[float, float] = (0.0, 0.0),
    both: bool = True,
) -> StudyData:
    """Return judgments of judges that take the first reply so often, unread; else they read.

    `lost` is the share of judgments that are missing where the new reply stands first, and last.
    """
    chances = expit(ITEM_SD * rng.standard_normal(n) + np.log((0.5 + truth) / (0.5 - truth)) * 1.18)
    rows = []
    for judge, place in zip(JUDGES, by_place, strict=False):
        for item, chance in enumerate(chances):
            for new_first in (True, False) if both else (bool(rng.integers(2)),):
                if rng.random() < lost[0 if new_first else 1]:
                    continue
                is_first = rng.random() < place or (rng.random() < chance) == new_first
                choice: Choice = "first" if is_first else "second"
                first, second = (NEW.id, OLD.id) if new_first else (OLD.id, NEW.id)
                id_ = str(item)
                rows.append(
                    JudgmentRow(
                        *("", id_, id_, first, second, "", judge.id, 0, choice, 1, {}, None)
                    )
                )
    return StudyData(judgments=judgments_of(rows))


def by_place() -> None:
    """Say what comes of judges that go by place, through `score_items` and what follows it."""
    head("judges", "items", "readers' truth", "orders", "warned", "equivalent", "worse", "better")
    rng = np.random.default_rng(SEED + 5)
    cases = [
        ("one reads", 280, -0.08, (0.0,), True, (0.0, 0.0)),
        ("one, half by place", 280, -0.08, (0.5,), True, (0.0, 0.0)),
        ("one reads, one by place", 280, -0.08, (0.0, 1.0), True, (0.0, 0.0)),
        ("one reads, one by place", 600, -0.08, (0.0, 1.0), True, (0.0, 0.0)),
        ("one by place", 2_000, -0.2, (1.0,), False, (0.0, 0.0)),
        ("one, half by place, 18 % lost of one order", 280, 0.0, (0.5,), True, (0.18, 0.0)),
        ("one, half by place, 9 % lost of both", 280, 0.0, (0.5,), True, (0.09, 0.09)),
    ]
    for name, n, truth, place, both, lost in cases:
        n_warned, said = 0, []
        for _ in range(60):
            data = of_place(n, truth, place, rng, lost=lost, both=both)
            items = [str(i) for i in range(n)]
            found = score_items(data, items, (OLD, NEW), JUDGES[: len(place)], [], both_orders=both)
            result = judge_gate(
                found.scores, found.coverage, GateRule(), look=1, n_planned=n, rng=rng
            )
            result = doubt_equivalence(result) if found.is_doubtful else result
            n_warned += found.is_doubtful
            said.append(result.tests[0].verdict)
        shares = [said.count(word) / len(said) for word in ("equivalent", "worse", "better")]
        row(name, n, f"{100 * truth:.0f}", 2 if both else 1, n_warned / 60, *shares)


PARTS = {
    "exact": exact,
    "margin": at_the_margin,
    "nothing": without_a_difference,
    "power": stated_power,
    "seen": what_is_seen,
    "advice": advice,
    "looks": stopped_early,
    "place": by_place,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
