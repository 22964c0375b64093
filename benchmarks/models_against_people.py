"""Measure tests of the models' lead, and the bias and coverage of the best human.

    PYTHONPATH=tests:tests/analysis python benchmarks/models_against_people.py [--studies 2000]

Studies of 30 regular and 10 adversarial items, eight people (five a pair) and two judges (both
orders), three models and three writers. Items (SD .6), writers' completions (SD as given) and
raters (SD .4, judges given) differ in how models fare. What the best human should be is known:
the best of the three completions of each item. Then models and their completions differ, all
completions by people are equal, and each meets all models or, in balance, some: nothing is gained.
"""

import argparse
from dataclasses import replace

import numpy as np
from people_study import simulated_study

from hearteval.analysis.columns import JudgmentColumns, to_columns
from hearteval.sections.people.models.best_human import find_best_humans
from hearteval.sections.people.models.leads import compare_leads
from hearteval.sections.people.models.meetings import find_meetings
from hearteval.stats.special import expit

EQUAL = {"beacon": 0.0, "ember": 0.0, "harbour": 0.0, "People": 0.0}
ITEM_SD, RATER_SD, LEAD, TIES = 0.6, 0.4, 0.3, 0.15


def draw_scores(
    columns: JudgmentColumns, draw: np.random.Generator, *, gain: float, writer_sd: float
) -> tuple[JudgmentColumns, float, float]:
    """Return judgments, the mean chance of people, and that of the best of their completions."""
    names = columns.names
    is_model = np.array([system.kind == "model" for system in names.systems])
    is_hard = np.array([item.subset == "adversarial" for item in names.items])
    first, second = is_model[columns.first], is_model[columns.second]
    text = np.where(first, columns.second_text, columns.first_text)
    merit = draw.normal(0, writer_sd, len(names.completions))
    of_rater = draw.normal(0, RATER_SD, len(names.raters))
    of_rater[[rater.kind != "human" for rater in names.raters]] = 0
    of_item = LEAD + draw.normal(0, ITEM_SD, len(names.items))
    lead = of_item[columns.item] + of_rater[columns.rater] - merit[text]
    lead -= gain * (is_hard[columns.item] & columns.is_person)
    side = first.astype(float) - second
    won = draw.random(len(columns)) < expit(lead * side)
    score = np.where(draw.random(len(columns)) < TIES, 0.5, won)
    people = [k for k, c in enumerate(names.completions) if c.writer_id]
    item = {one.id: k for k, one in enumerate(names.items)}
    of_text = np.array([item[names.completions[k].item_id] for k in people])
    chance = expit(merit[people] - of_item[of_text])
    best = [chance[of_text == k].max() for k in range(len(names.items))]
    scaled = [TIES / 2 + (1 - TIES) * float(np.mean(each)) for each in (chance, best)]
    return replace(columns, score=score), scaled[0], scaled[1]


def draw_equal(
    columns: JudgmentColumns, draw: np.random.Generator, *, share: float
) -> JudgmentColumns:
    """Return judgments of equal completions by people, a share of the pairs, models .8 apart."""
    names = columns.names
    places = {system.id: k for k, system in enumerate(names.systems)}
    system = np.array([places[text.system_id] for text in names.completions])
    is_model = np.array([one.kind == "model" for one in names.systems])
    theta = np.zeros(len(is_model))
    theta[is_model] = 0.8 * (np.arange(is_model.sum()) - (is_model.sum() - 1) / 2)
    merit = theta[system] + draw.normal(0, ITEM_SD, len(system)) * is_model[system]
    taste = draw.normal(0, RATER_SD, (len(names.raters), len(is_model)))
    columns = columns.select((draw.random(columns.pair.max() + 1) < share)[columns.pair])
    ends = columns.first_text, columns.second_text
    first, second = (merit[one] + taste[columns.rater, system[one]] for one in ends)
    won = draw.random(len(columns)) < expit(first - second)
    is_tie = (draw.random(len(columns)) < TIES) & columns.is_person
    return replace(columns, score=np.where(is_tie, 0.5, won))


def print_equal(columns: JudgmentColumns, *, studies: int) -> None:
    """Print what is gained by choosing among equal completions, and how often it is claimed."""
    for share in (1.0, 0.5):
        rows: dict[str, list[tuple[float, ...]]] = {}
        for seed in range(studies):
            drawn = draw_equal(columns, np.random.default_rng(seed), share=share)
            for one in find_best_humans(drawn, level=0.95, seed=seed):
                gains = [at for at in (one.gain, one.gain_all_but_one) if at]
                said = [each for at in gains for each in (at.value, (at.low or 0.0) > 0)]
                rows.setdefault(one.judged_by, []).append(tuple(said))
        for kind, each in rows.items():
            shown = " | ".join(f"{value:.4f}" for value in np.mean(each, axis=0))
            print(f"| {share} | {kind} | {shown} |")


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    asked = parser.parse_args()
    data = simulated_study(EQUAL, EQUAL)
    columns = to_columns(data.judgments, data)
    for gain in (0.0, 0.5, 1.0):
        found: dict[str, list[bool]] = {}
        for seed in range(asked.studies):
            drawn, _, _ = draw_scores(
                columns, np.random.default_rng(seed), gain=gain, writer_sd=0.0
            )
            for lead in compare_leads(find_meetings(drawn), level=0.95):
                assert lead.score is not None
                found.setdefault(lead.name, []).append((lead.score.p or 1.0) < 0.05)
        shares = " | ".join(f"{np.mean(each):.3f}" for each in found.values())
        print(f"| {gain} | {shares} |", list(found))
    for writer_sd in (0.0, 0.5, 1.0):
        rows = []
        for seed in range(asked.studies // 4):
            draw = np.random.default_rng(seed)
            drawn, mean, best = draw_scores(columns, draw, gain=0.0, writer_sd=writer_sd)
            (people, _) = find_best_humans(drawn, level=0.95, seed=seed)
            assert people.best_human is not None
            assert people.same_votes is not None
            assert people.pooled_human is not None
            at = people.best_human.score
            assert people.all_but_one is not None
            ways = people.pooled_human, people.same_votes, people.all_but_one
            others = [each.score.value for each in ways]
            rows.append((mean, best, *others, at.value, at.low or 0.0, at.high or 1.0))
        table = np.array(rows)
        target = table[:, 5].mean()
        held = np.mean((table[:, 6] <= target) & (target <= table[:, 7]))
        shown = " | ".join(f"{each:.3f}" for each in table[:, :6].mean(axis=0))
        print(f"| {writer_sd} | {shown} | {held:.3f} |")
    print_equal(columns, studies=asked.studies // 4)


if __name__ == "__main__":
    main()
