"""Choose the items among the candidates, and say of every couplet why it is in or out.

At most two turns a dialogue; quotas over problem type and emotion by the square root of their
counts, so that common troubles do not crowd out rare ones; a seed decides within a stratum. When
fewer qualify than were asked for, all of them are taken and the shortfall is reported: nothing is
ever added that a rule rejected.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hearteval.domain import Item, Screening
from hearteval.items.escalation.rules import REWRITE_RULES
from hearteval.items.esconv import Dialogue, couplet_item
from hearteval.items.screening import (
    DEFAULT_TOPICS,
    RULES,
    Screened,
    Topics,
    list_screenings,
    score_potential,
    screen_couplets,
    screening_rules,
    screening_version,
)
from hearteval.items.second_screen import SECOND_LABELS, SECOND_RULES

MAX_PER_DIALOGUE = 2
SELECTION_RULES = ("two-a-dialogue", "quota")
CANDIDATES = "candidates"
"""The rule that leaves out what was not drawn for the second screen: the quota of that draw."""
FUNNEL_RULES = tuple(
    dict.fromkeys(
        (*RULES, "two-a-dialogue", CANDIDATES, *SECOND_RULES, *SELECTION_RULES[1:], *REWRITE_RULES)
    )
)
"""Every rule an item can fail, in order."""

Stratum = tuple[str, str]
"""Problem type and emotion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """One rule of the item funnel: how many candidates came in and how many went on."""

    rule: str
    n_in: int
    n_out: int


class Candidates(NamedTuple):
    """What the first screen leaves: items that passed every rule, and what it says of each couplet.

    Both are in the order of the dialogues' ids and turns.
    """

    items: tuple[Item, ...]
    screened: tuple[Screened, ...]
    topics: Topics


class Selection(NamedTuple):
    """The items chosen, sorted by dialogue and turn, and a failed screening for each other one."""

    items: tuple[Item, ...]
    rejected: tuple[Screening, ...]


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """Items with the evidence for them and against all others."""

    items: tuple[Item, ...]
    """Sorted by dialogue and turn."""
    candidates: Candidates
    selection: Selection
    funnel: tuple[FunnelStep, ...]
    n_requested: int

    @cached_property
    def screenings(self) -> tuple[Screening, ...]:
        """For every couplet of the corpus: one ``fail``, or a ``pass`` for every rule."""
        rejected = {screening.item_id: screening for screening in self.selection.rejected}
        found: list[Screening] = []
        for screened in self.candidates.screened:
            item_id = couplet_item(screened.couplet).id
            if item_id in rejected:
                found.append(rejected[item_id])
            else:
                found += list_screenings(item_id, screened, topics=self.candidates.topics)
        return tuple(found)

    @property
    def evidence(self) -> tuple[Screening, ...]:
        """For every item: a ``pass`` for every rule of the first screen."""
        ids = {(item.dialogue_id, item.turn_index): item.id for item in self.items}
        return tuple(
            screening
            for screened in self.candidates.screened
            if (item_id := ids.get(screened.couplet.place))
            for screening in list_screenings(item_id, screened, topics=self.candidates.topics)
        )

    @property
    def shortfall(self) -> int:
        """How many items are missing from those asked for."""
        return self.n_requested - len(self.items)


def build_items(
    dialogues: Iterable[Dialogue],
    *,
    n: int,
    rng: np.random.Generator,
    topics: Topics = DEFAULT_TOPICS,
) -> BuildResult:
    """Screen the couplets of a corpus and choose `n` items among those that pass.

    The order of the dialogues changes nothing; fewer than `n` items come back when fewer qualify.
    What is to go through the second screen is chosen the same way, some six hundred of them.
    """
    candidates = screen_dialogues(dialogues, topics=topics)
    selection = select_items(candidates.items, n=n, rng=rng, topics=topics)
    n_failed = Counter(one.failed for one in candidates.screened if one.failed is not None)
    n_failed.update(screening.rule for screening in selection.rejected)
    return BuildResult(
        items=selection.items,
        candidates=candidates,
        selection=selection,
        funnel=count_funnel(
            (*screening_rules(topics), *SELECTION_RULES), n_failed, n=len(candidates.screened)
        ),
        n_requested=n,
    )


def screen_dialogues(
    dialogues: Iterable[Dialogue], *, topics: Topics = DEFAULT_TOPICS
) -> Candidates:
    """Screen every couplet of a corpus, in the order of the dialogues' ids."""
    screened = tuple(
        one
        for dialogue in sorted(dialogues, key=lambda dialogue: dialogue.dialogue_id)
        for one in screen_couplets(dialogue, topics=topics)
    )
    items = tuple(couplet_item(one.couplet) for one in screened if one.failed is None)
    return Candidates(items=items, screened=screened, topics=topics)


def select_items(
    candidates: Sequence[Item],
    *,
    n: int,
    rng: np.random.Generator,
    topics: Topics = DEFAULT_TOPICS,
) -> Selection:
    """Choose at most `n` items, at most two a dialogue, by the quotas of their strata.

    Of a dialogue's turns those with the highest score stay, ties by id. The order of the candidates
    changes nothing.

    Raises:
        ValueError: `n` is not positive.
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    eligible, crowded = _limit_per_dialogue(candidates, topics)
    chosen, over_quota = _draw(eligible, n=n, rng=rng, topics=topics)
    return Selection(
        items=tuple(sorted(chosen, key=lambda item: (item.dialogue_id, item.turn_index))),
        rejected=(*crowded, *over_quota),
    )


def square_root_quotas(counts: Mapping[Stratum, int], *, n: int) -> dict[Stratum, int]:
    """Share `n` among strata by the square root of their counts.

    Largest remainders, ties by name. A stratum never gets more than it has; what it cannot use goes
    to the others by the same rule. The quotas sum to `n`, or to the sum of the counts if less.
    """
    quotas: dict[Stratum, int] = {}
    open_strata = {stratum: math.sqrt(count) for stratum, count in counts.items() if count}
    while open_strata:
        n_left = n - sum(quotas.values())
        per_root = n_left / sum(open_strata.values())
        shares = {stratum: per_root * root for stratum, root in open_strata.items()}
        full = [stratum for stratum, share in shares.items() if share >= counts[stratum]]
        if not full:
            return quotas | _largest_remainders(shares, n_left)
        for stratum in full:
            quotas[stratum] = counts[stratum]
            del open_strata[stratum]
    return quotas


def funnel_from_screenings(screenings: Iterable[Screening]) -> tuple[FunnelStep, ...]:
    """Count the funnel from screenings alone: one step a rule, in the order the rules run.

    Questions of the second screen that are labels, and left nothing out, are no step.

    Raises:
        ValueError: A screening is of a rule that is not part of the funnel.
    """
    item_ids = set()
    n_failed: Counter[str] = Counter()
    for screening in screenings:
        if screening.rule not in (*FUNNEL_RULES, *SECOND_LABELS):
            raise ValueError(f"{screening.rule!r} is no rule of the funnel: {FUNNEL_RULES}")
        item_ids.add(screening.item_id)
        n_failed[screening.rule] += screening.verdict == "fail"
    idle = {rule for rule in SECOND_LABELS if not n_failed[rule]}
    rules = tuple(
        r for r in FUNNEL_RULES if (r in n_failed and r not in idle) or r in SELECTION_RULES
    )
    return count_funnel(rules, n_failed, n=len(item_ids))


def count_funnel(
    rules: Sequence[str], n_failed: Mapping[str, int], *, n: int
) -> tuple[FunnelStep, ...]:
    """Return a step a rule, in their order, of `n` candidates of which so many failed by each."""
    steps, n_in = [], n
    for rule in rules:
        n_out = n_in - n_failed.get(rule, 0)
        steps.append(FunnelStep(rule=rule, n_in=n_in, n_out=n_out))
        n_in = n_out
    return tuple(steps)


def _limit_per_dialogue(
    candidates: Sequence[Item], topics: Topics
) -> tuple[list[Item], list[Screening]]:
    by_dialogue: dict[str, list[tuple[int, str, Item]]] = defaultdict(list)
    for item in candidates:
        score = score_potential(item.context[-1].text, topics=topics)
        by_dialogue[item.dialogue_id].append((-score, item.id, item))
    kept, rejected = [], []
    for _, ranked in sorted(by_dialogue.items()):
        ranked.sort(key=lambda entry: entry[:2])
        kept += [item for *_, item in ranked[:MAX_PER_DIALOGUE]]
        rejected += [
            _reject(item, "two-a-dialogue", f"score {-score}; rank {rank} in its dialogue", topics)
            for rank, (score, _, item) in enumerate(ranked, 1)
            if rank > MAX_PER_DIALOGUE
        ]
    return kept, rejected


def _draw(
    eligible: Sequence[Item], *, n: int, rng: np.random.Generator, topics: Topics
) -> tuple[list[Item], list[Screening]]:
    strata: dict[Stratum, list[Item]] = defaultdict(list)
    for item in sorted(eligible, key=lambda item: item.id):
        strata[item.problem, item.emotion].append(item)
    quotas = square_root_quotas({key: len(items) for key, items in strata.items()}, n=n)
    chosen, rejected = [], []
    for stratum, items in sorted(strata.items()):
        drawn = [items[index] for index in rng.permutation(len(items))]
        quota = quotas[stratum]
        evidence = f"{stratum[0]} and {stratum[1]}: {quota} of {len(items)} chosen"
        chosen += drawn[:quota]
        rejected += [_reject(item, "quota", evidence, topics) for item in drawn[quota:]]
    return chosen, rejected


def _largest_remainders(shares: Mapping[Stratum, float], n: int) -> dict[Stratum, int]:
    quotas = {stratum: math.floor(share) for stratum, share in shares.items()}
    by_remainder = sorted(shares, key=lambda stratum: (quotas[stratum] - shares[stratum], stratum))
    for stratum in by_remainder[: n - sum(quotas.values())]:
        quotas[stratum] += 1
    return quotas


def _reject(item: Item, rule: str, evidence: str, topics: Topics) -> Screening:
    version = screening_version(topics)
    return Screening(item_id=item.id, rule=rule, verdict="fail", evidence=evidence, version=version)
