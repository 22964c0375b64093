"""Groups of people by what they told about themselves: how many there are, and how each ranks.

No number is shown of fewer people than the study's smallest group. Answers that fewer gave are
pooled; where the pool is too small as well, the next smallest answer joins it, so that nothing
follows from a difference. What people told is exploratory: nobody was sampled by it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import Judgments
from hearteval.sections.people.rankings import KindRanking, rank_rows

POOLED = None
"""Stands for the answers that too few people gave."""
SCALE = "scale"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleGroup:
    """The people who gave one answer, and how they rank."""

    question: str
    """As `protocol/people_background.toml` names it."""
    answer: str | None
    """As offered there; ``not-said`` of those who did not answer; None for the pooled ones."""
    n_people: int
    """Who judged."""
    n_judgments: int
    ranking: KindRanking


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleSummary:
    """What people scored on the study's empathy scale, means of its items."""

    n_people: int
    mean: float
    sd: float
    """With n - 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleGroups:
    """What people told about themselves, in groups of a least size."""

    smallest_group: int
    groups: tuple[PeopleGroup, ...]
    """By question, then the largest first, the pooled last."""
    too_few: tuple[str, ...]
    """Questions of which nothing is said, because too few people judged."""
    scale: ScaleSummary | None
    """None without a scale, or with too few people who answered it."""


def group_people(judgments: Judgments, data: StudyData, *, level: float) -> PeopleGroups | None:
    """Rank by each group of people; None where people were asked nothing about themselves."""
    asked = sorted({name for told in data.background.values() for name in told})
    if not asked:
        return None
    names = {rater.id: rater.name for rater in data.raters if rater.kind == "human"}
    ids_of = {names[id_]: id_ for id_ in judgments.rater.present if id_ in names}
    groups: list[PeopleGroup] = []
    writers = data.writers
    too_few = []
    for question in asked:
        if question == SCALE:
            continue
        told = {
            name: str(data.background.get(name, {}).get(question, "not-said")) for name in ids_of
        }
        sizes = pool_small(Counter(told.values()), smallest=data.smallest_group)
        if not sizes:
            too_few.append(question)
        for answer, answers in sizes.items():
            people = [name for name, said in told.items() if said in answers]
            rows = judgments.by({ids_of[name] for name in people})
            groups.append(
                PeopleGroup(
                    question=question,
                    answer=answer,
                    n_people=len(people),
                    n_judgments=len(rows),
                    ranking=rank_rows(
                        "people", rows, data.ranked, data.raters, writers=writers, level=level
                    ),
                )
            )
    return PeopleGroups(
        smallest_group=data.smallest_group,
        groups=tuple(groups),
        too_few=tuple(too_few),
        scale=_summarise(data),
    )


def pool_small(sizes: Mapping[str, int], *, smallest: int) -> dict[str | None, frozenset[str]]:
    """Return groups of answers that at least so many gave, the largest first.

    What fewer gave is pooled under None; empty where all together are too few.
    """
    order = sorted(sizes, key=lambda answer: (-sizes[answer], answer))
    kept = [answer for answer in order if sizes[answer] >= smallest]
    pool = [answer for answer in order if sizes[answer] < smallest]
    while pool and sum(sizes[answer] for answer in pool) < smallest and kept:
        pool.insert(0, kept.pop())
    if sum(sizes[answer] for answer in pool) < smallest:
        pool = []
    groups: dict[str | None, frozenset[str]] = {answer: frozenset([answer]) for answer in kept}
    if pool:
        groups[POOLED] = frozenset(pool)
    return groups


def _summarise(data: StudyData) -> ScaleSummary | None:
    scores = [float(told[SCALE]) for told in data.background.values() if SCALE in told]
    if len(scores) < max(2, data.smallest_group):
        return None
    return ScaleSummary(
        n_people=len(scores), mean=float(np.mean(scores)), sd=float(np.std(scores, ddof=1))
    )
