"""The frozen items of a second screen: chosen among those that pass, with all that was lost on it.

The choice is that of `selection`: at most two a dialogue, quotas by the square root of a stratum's
count. Nothing is added where fewer pass than were asked for.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.domain import Item, Screening
from hearteval.domain.items import EDGES
from hearteval.items.screening import Topics
from hearteval.items.second_screen import (
    CUE,
    INTENSITY,
    Decision,
    Standing,
    list_decision,
    telling,
)
from hearteval.items.selection import (
    CANDIDATES,
    FunnelStep,
    Stratum,
    funnel_from_screenings,
    select_items,
)

QUOTA = "quota"


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumCount:
    """How many of one problem and emotion there were, passed, and are chosen."""

    problem: str
    emotion: str
    n_candidates: int
    n_in: int
    n_chosen: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The items of a second screen, with the evidence for them and against all others.

    Attributes:
        items: Sorted by dialogue and turn; their cue and edge are what was settled.
        screenings: Of both screens, of every candidate.
        standings: How many candidates are in, out, wait for a person, or tell who somebody is.
        labels: By question that decides nothing, how many of the items it holds of.
        unsettled: By the same, of how many it is open.
    """

    items: tuple[Item, ...]
    screenings: tuple[Screening, ...]
    funnel: tuple[FunnelStep, ...]
    strata: tuple[StratumCount, ...]
    standings: dict[Standing, int]
    labels: dict[str, int]
    unsettled: dict[str, int]
    intensities: tuple[float, ...]
    """Of the items, where they are settled."""
    n_requested: int

    @property
    def shortfall(self) -> int:
        """How many items are missing from those asked for."""
        return max(0, self.n_requested - len(self.items))


def accept_items(  # noqa: PLR0913 - all that an item set is made of
    decisions: Sequence[Decision],
    before: Iterable[Screening],
    *,
    n: int,
    rng: np.random.Generator,
    topics: Topics,
    version: str,
    replaced: Mapping[str, str],
) -> Accepted:
    """Choose `n` items among the candidates that may be chosen; fewer where there are fewer.

    Args:
        decisions: Of every candidate, under these topics.
        before: The evidence of the first screen.
        n: Items asked for.
        rng: Decides within a stratum.
        topics: What left candidates out.
        version: Of the questions.
        replaced: By item id, what was put in place of what told who somebody is, in words.
    """
    labels = [key for key in telling(topics) if key != INTENSITY]
    passed = [_with_labels(one) for one in decisions if one.standing == "in"]
    chosen = select_items(passed, n=n, rng=rng, topics=topics)
    rejected = {one.item_id: one for one in chosen.rejected}
    second: list[Screening] = []
    for one in decisions:
        own = list_decision(one, version=version, replaced=replaced.get(one.item.id, ""))
        second += [rejected[one.item.id]] if one.item.id in rejected else own
    failed = {one.item_id for one in second if one.verdict == "fail"}
    # One reason for each that is left out: the first screen's passes stay with what is chosen.
    first = [
        replace(one, rule=CANDIDATES, id="") if one.rule == QUOTA else one
        for one in before
        if one.item_id not in failed
    ]
    screenings = (*first, *second)
    ids = {item.id for item in chosen.items}
    answers = [one.answers for one in decisions if one.item.id in ids]
    told = [(key, each[key]) for each in answers for key in labels if key in each]
    scores = (each[INTENSITY].score for each in answers)
    return Accepted(
        items=chosen.items,
        screenings=screenings,
        funnel=funnel_from_screenings(screenings),
        strata=_strata(decisions, ids),
        standings=dict(sorted(Counter(one.standing for one in decisions).items())),
        labels={key: sum(k == key and a.verdict == "present" for k, a in told) for key in labels},
        unsettled={key: sum(k == key and a.why is not None for k, a in told) for key in labels},
        intensities=tuple(score for score in scores if score is not None),
        n_requested=n,
    )


def _with_labels(decision: Decision) -> Item:
    """Return the item with what was settled: its cue, and what is at its edge.

    What is there counts where another question is open too; that nothing is there only where all
    are settled. What needs a professional's knowledge is in no item set.
    """
    item, answer = decision.item, decision.answers[CUE]
    if answer.why is None:
        item = replace(item, cue="explicit" if answer.verdict == "present" else "implicit")
    said = {key: decision.answers[key] for key in EDGES if key in decision.answers}
    settled = {key: one for key, one in said.items() if one.why is None}
    there = tuple(key for key, one in settled.items() if one.verdict == "present")
    return replace(item, edge=there) if there or settled == said else item


def _strata(decisions: Iterable[Decision], chosen: Collection[str]) -> tuple[StratumCount, ...]:
    counts: dict[Stratum, Counter[str]] = {}
    for one in decisions:
        own = counts.setdefault((one.item.problem, one.item.emotion), Counter())
        own["all"] += 1
        own["in"] += one.standing == "in"
        own["chosen"] += one.item.id in chosen
    return tuple(
        StratumCount(
            problem=problem,
            emotion=emotion,
            n_candidates=own["all"],
            n_in=own["in"],
            n_chosen=own["chosen"],
        )
        for (problem, emotion), own in sorted(counts.items())
    )
