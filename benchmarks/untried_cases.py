"""What studies say that is not so, in cases that the authors of the estimators did not think of.

    python benchmarks/untried_cases.py --studies 100
    python benchmarks/untried_cases.py --studies 100 --only "2 of 12 writers"

The generator is its own, and analyses come by `analyze_study`. Models and people who write are
equally good in every case, and people and judges of one mind, so every score is one half, every Elo
1500 and every difference 0, whatever else is odd about a study; where models lose on adversarial
items only people less judges is none. Printed is how often an interval leaves that out, a planned
contrast has p below .05 or is asserted, and any system is put behind another.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from hearteval.analysis.data import Provenance, StudyData
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.domain import Assignment, Completion, Pair, Rater, System
from hearteval.sections.people import People
from hearteval.sections.people.rankings import KindRanking
from hearteval.sections.strata import Strata
from hearteval.study.simulation.texts import simulated_items

ALPHA, PEOPLE = 0.05, "people"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
STRENGTHS = np.array([0.5, 1.0, 1.6, 2.2])
"""Log odds at which a strength goes up by one."""


def by_turns(rng: np.random.Generator, w: "World", item: int) -> Sequence[int]:
    """Return the writers of an item, drawn evenly."""
    del item
    return list(rng.permutation(w.writers)[: w.replies])


@dataclass(frozen=True, kw_only=True)
class World:
    """What a study is drawn from; SDs in log odds."""

    models: int = 3
    items: int = 30
    adversarial: int = 10
    raters: int = 10
    per_pair: int = 5
    judges: int = 2
    writers: int = 12
    replies: int = 1
    item_sd: float = 0.6
    rater_sd: float = 0.3
    """Of each rater's taste for each system."""
    writer_sd: float = 0.0
    tie: float = 0.4
    """Log odds under which a person calls a tie."""
    order: float = 0.0
    """What the first gains."""
    order_sd: float = 0.0
    """How far people differ in that."""
    judge_noise: float = 0.0
    """SD of what all judges share of a pair, beyond what people see."""
    adversarial_shift: float = 0.0
    """What models lose on adversarial items, people and judges alike."""
    lost: Callable[[int, int, int], bool] = lambda n_models, item, model: False
    """Whether a model has no reply to an item."""
    who_writes: Callable[..., Sequence[int]] = by_turns
    who_judges: Callable[..., Sequence[int]] | None = None
    by_people: Callable[[np.random.Generator, int, int], bool] = lambda rng, item, pair: True
    """Whether people judge a pair: item, number of the pair on it."""
    words_sd: float = 0.0
    """Of writers' habit of length."""


def draw(w: World, rng: np.random.Generator) -> StudyData:  # noqa: C901 - one study
    """Draw a study."""
    items = simulated_items(w.items, adversarial=w.adversarial)
    systems = [System(name=f"m{k}", kind="model", family=f"f{k}") for k in range(w.models)] + [
        System(name=PEOPLE, kind="human", family="human")
    ]
    people = [Rater(name=f"p{k:02}", kind="human", family="human") for k in range(w.raters)]
    judges = [Rater(name=f"j{k}", kind="llm", family=f"g{k}") for k in range(w.judges)]
    taste = w.rater_sd * rng.normal(size=(w.raters, w.models + 1))
    side = w.order + w.order_sd * rng.normal(size=w.raters)
    writer = w.writer_sd * rng.normal(size=max(w.writers, 1))
    habit = w.words_sd * rng.normal(size=max(w.writers, 1))
    completions, pairs, rows, asks = [], [], [], []
    for i, item in enumerate(items):
        texts: list[tuple[Completion, int, float]] = []
        for m in range(w.models):
            if w.lost(w.models, i, m):
                continue
            text = _text(rng, 30)
            one = Completion(item_id=item.id, system_id=systems[m].id, text=text, created_at=NOW)
            texts.append(
                (
                    one,
                    m,
                    -w.adversarial_shift * (i >= w.items - w.adversarial)
                    + w.item_sd * rng.normal(),
                )
            )
        for k in w.who_writes(rng, w, i):
            text = _text(rng, 30 * np.exp(habit[k]))
            one = Completion(
                item_id=item.id,
                system_id=systems[-1].id,
                text=text,
                writer_id=f"w{k:02}",
                created_at=NOW,
            )
            texts.append((one, w.models, writer[k] + w.item_sd * rng.normal()))
        completions += [one for one, _, _ in texts]
        number = 0
        for a in range(len(texts)):
            for b in range(a + 1, len(texts)):
                (one, s, q), (two, t, r) = texts[a], texts[b]
                if s == t:
                    continue
                pair = Pair(item_id=item.id, completion_ids=(one.id, two.id))
                pairs.append(pair)
                shared = w.judge_noise * rng.normal()
                asked: list[tuple[Rater, float, bool, float]] = []
                if w.by_people(rng, i, number):
                    who = (
                        w.who_judges(rng, w, i)
                        if w.who_judges
                        else rng.permutation(w.raters)[: w.per_pair]
                    )
                    asked += [
                        (
                            people[k],
                            q - r + taste[k, s] - taste[k, t],
                            bool(rng.integers(2)),
                            side[k],
                        )
                        for k in who
                    ]
                number += 1
                for judge in judges:
                    asked.append((judge, q - r + shared, bool(rng.integers(2)), w.order))
                for rater, d, turn, bias in asked:
                    x = (d if turn else -d) + bias + rng.logistic()
                    first, second = (one, two) if turn else (two, one)
                    ask = Assignment(
                        study_id="s",
                        pair_id=pair.id,
                        rater_id=rater.id,
                        first_completion_id=first.id,
                    )
                    is_tie = rater.kind == "human" and abs(x) < w.tie
                    asks.append(ask)
                    rows.append(
                        JudgmentRow(
                            ask.id,
                            pair.id,
                            item.id,
                            first.system_id,
                            second.system_id,
                            first.id,
                            rater.id,
                            0,
                            "tie" if is_tie else "first" if x > 0 else "second",
                            None if is_tie else 1 + int(np.searchsorted(STRENGTHS, abs(x))),
                            {},
                            None,
                        )
                    )
    seen = {c for p in pairs for c in p.completion_ids}
    return StudyData(
        items=items,
        systems=systems,
        raters=[*people, *judges],
        completions=[c for c in completions if c.id in seen],
        pairs=pairs_of(pairs),
        judgments=judgments_of(rows),
        exclude_own_family=False,
        people_per_pair=w.per_pair,
        provenance=Provenance(
            study="s",
            study_id="s",
            version=1,
            seed=1,
            items_hash="",
            settings_hash="",
            item_source="",
            licences=(),
            consent_bases=(),
            design="",
            protocols={"human": "five-point", "llm": "forced-strength"},
            protocol_version="",
            software={},
            created_at="2026-01-01T00:00:00",
            simulated=True,
        ),
    )


def _text(rng: np.random.Generator, words: float) -> str:
    n = max(8, round(words * np.exp(0.2 * rng.normal())))
    return " ".join(f"w{k}" for k in rng.integers(10_000, size=n))


def leaves_out(one: Any, true: float) -> float:
    """Return 1 where an interval leaves out what is true; NaN where there is none."""
    return float("nan") if one.low is None else float(not one.low <= true <= one.high)


def read(found: StudyResults) -> dict[str, float]:
    """Return 1 for each thing that a study says and is not so."""
    people = found.found(People)
    said: dict[str, float] = {}
    assert people is not None
    for one in people.against_models:
        if one.writers is None:
            said[f"score: {one.judged_by}"] = leaves_out(one.score, 0.5)
    for ranking in people.rankings:
        said |= _of_ranking(ranking)
    strata = found.found(Strata)
    for factor in strata.factors if strata else ():
        if factor.test is not None:
            said[f"ranking differs: {factor.factor}"] = float(factor.test.p <= ALPHA)
    for contrast in found.planned:
        said[f"p: {contrast.name}"] = float(contrast.p <= ALPHA)
    said["any planned contrast asserted"] = float(any(one.is_asserted for one in found.planned))
    said["people and judges place apart"] = float(any(one.is_apart for one in people.differences))
    return said


def _of_ranking(ranking: KindRanking) -> dict[str, float]:
    by, board = ranking.judged_by, ranking.leaderboard
    assert board is not None
    wrong = {row.system: leaves_out(row.unweighted, 1500.0) for row in board.rows}
    models = [value for name, value in wrong.items() if name != PEOPLE]
    return {
        f"Elo: {by}, people": wrong[PEOPLE],
        f"Elo: {by}, models": float(np.mean(models)),
        f"any behind: {by}": float(any(row.weighted.rank_low > 1 for row in board.rows)),
    }


def nested(n: int, n_each: int = 1) -> Callable[..., Sequence[int]]:
    """Give adversarial items to the first n people, and the regular ones to the others."""

    def chosen(rng: np.random.Generator, w: World, item: int) -> Sequence[int]:
        is_hard = item >= w.items - w.adversarial
        who = rng.permutation(n) if is_hard else n + rng.permutation(12 - n)
        return list(who[:n_each])

    return chosen


def in_blocks(rng: np.random.Generator, w: World, item: int) -> Sequence[int]:
    """Give each writer items of its own, one after another."""
    del rng
    return [item * w.writers // w.items]


def the_busy(rng: np.random.Generator, w: World, item: int) -> Sequence[int]:
    """Draw people who judge by shares that fall with the power 1.5 of their rank."""
    del item
    share = np.arange(1.0, w.raters + 1) ** -1.5
    return list(rng.choice(w.raters, w.per_pair, replace=False, p=share / share.sum()))


def last_only_on(*items: int) -> Callable[..., bool]:
    """Let the last of four models, or of two, have replies to these items alone."""
    return lambda n_models, item, model: model == n_models - 1 and item not in items


CASES = {
    "nothing odd": World(),
    "adversarial items by 2 of 12 writers": World(writer_sd=0.5, who_writes=nested(2)),
    "adversarial items by 5 of 12 writers": World(writer_sd=0.5, who_writes=nested(5)),
    "adversarial items by 2 of 12 people who judge": World(
        raters=12, rater_sd=0.8, who_judges=nested(2, 2)
    ),
    "6 writers, a block of items each": World(writers=6, writer_sd=0.5, who_writes=in_blocks),
    "one of two models on 3 items": World(models=2, judges=3, lost=last_only_on(0, 10, 25)),
    "one of two models on 5 items": World(models=2, judges=3, lost=last_only_on(0, 5, 10, 20, 25)),
    "people judge few adversarial items": World(
        adversarial_shift=1.0,
        judges=3,
        by_people=lambda rng, item, pair: item < 20 or rng.random() < 0.2,
    ),
    "6 writers of long or short texts": World(writers=6, writer_sd=0.8, words_sd=0.6),
    "12 writers of long or short texts": World(writers=12, writer_sd=0.8, words_sd=0.6),
    "people judge very unequally": World(raters=15, per_pair=3, rater_sd=0.5, who_judges=the_busy),
    "one model, five people": World(models=1, raters=5),
    "55 % ties": World(tie=1.5),
    "the first gains 1.2, SD .8": World(order=1.2, order_sd=0.8),
    "tastes of people, SD .8": World(rater_sd=0.8),
    "judges share an error, SD 1.5": World(judges=3, judge_noise=1.5),
    "5 adversarial items of 20": World(items=20, adversarial=5),
    "items of very unequal numbers": World(
        by_people=lambda rng, item, pair: item < 6 or not pair or rng.random() < 0.15
    ),
}


def main() -> None:
    """Print a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    for name, world in CASES.items():
        if asked.only not in name:
            continue
        began = time.process_time()
        found: defaultdict[str, list[float]] = defaultdict(list)
        for k in range(asked.studies):
            drawn = draw(world, np.random.default_rng((asked.seed, k)))
            for what, value in read(analyze_study(drawn, sections=[People, Strata])).items():
                found[what].append(value)
        print(f"\n{name}: {asked.studies} studies, {time.process_time() - began:.0f} s")
        for what, values in sorted(found.items()):
            print(f"  {what:<70}{np.nanmean(values):.3f} {np.isfinite(values).sum()}", flush=True)


if __name__ == "__main__":
    main()
