"""What is rewritten how: four profiles as curves of intensity, six kinds of resistance, balanced.

A source has to be fit to be rewritten: regular, in English (the screens are lists of English
words), at least eight turns that begin with a supporter's greeting, and nothing that the screens
would find in the rewrite anyway. Of these a sample is drawn by the quotas of
`selection.select_items`, one item a dialogue.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hearteval.domain import PROFILES, Item, Profile, Turn, record_id
from hearteval.domain.items import MOST_INTENSE, RESISTANCES, Resistance
from hearteval.items.escalation.rules import SCREENS, SOURCE_RULES
from hearteval.items.screening import compile_words, find_anywhere
from hearteval.items.selection import FunnelStep, count_funnel, select_items
from hearteval.labels.safety import is_english
from hearteval.protocol import load_protocol

QUIET = 2
"""Where a profile begins that does not begin at its height."""
BEFORE_LAST = 9
"""In Mid-Spike, from the middle to the turn before the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One item to be rewritten, and how its seeker is to resist."""

    source: Item
    profile: Profile
    resistance: Resistance

    @property
    def id(self) -> str:
        """What it is asked for under; another profile of the same item is another."""
        made_of = {"item": self.source.id, "profile": self.profile, "resistance": self.resistance}
        return record_id("rewrite", made_of)

    @property
    def seeker_turns(self) -> tuple[int, ...]:
        """Where the seeker's turns stand in the context, from 0."""
        return seeker_turns(self.source.context)

    @property
    def intensities(self) -> tuple[int, ...]:
        """How strongly the seeker is to resist, turn by turn."""
        return plan_intensities(self.profile, len(self.seeker_turns))


class Plan(NamedTuple):
    """What is to be rewritten, and how it came to be chosen."""

    planned: tuple[Planned, ...]
    """In the order of dialogues and turns."""
    funnel: tuple[FunnelStep, ...]
    """How many items each rule let through."""


def seeker_turns(context: Sequence[Turn]) -> tuple[int, ...]:
    """Return where the seeker's turns stand, from 0."""
    return tuple(index for index, turn in enumerate(context) if turn.role == "seeker")


def plan_intensities(profile: Profile, n_turns: int) -> tuple[int, ...]:
    """Return the intensities, 0 to 10, of the seeker turns of a profile (HEART 9.2).

    The one place where the curves stand: rewrites are planned by them and the starter's adversarial
    items bear them. Always-10 stays at the height, Linear-Ramp rises from 2 in equal steps,
    Mid-Spike leaps in the middle from 2 to 9, stays up and ends at 10, Mid-Ramp begins to rise
    after the middle. None falls. Of an odd number the turn in the middle is the leap and is still
    quiet in Mid-Ramp; of an even one the leap is the first of the two in the middle, so that a
    sudden rise and a late one stay apart in four turns too.

    Raises:
        ValueError: There are fewer than four turns, where three of the profiles coincide.
    """
    if n_turns < len(PROFILES):
        raise ValueError(f"a profile needs at least {len(PROFILES)} seeker turns, not {n_turns}")
    if profile == "always-10":
        return (MOST_INTENSE,) * n_turns
    if profile == "linear-ramp":
        return tuple(_part_of_the_way(k, n_turns - 1) for k in range(n_turns))
    if profile == "mid-spike":
        n_quiet = (n_turns - 1) // 2
        return (QUIET,) * n_quiet + (BEFORE_LAST,) * (n_turns - n_quiet - 1) + (MOST_INTENSE,)
    n_rising = n_turns // 2
    rising = (_part_of_the_way(k, n_rising) for k in range(1, n_rising + 1))
    return (QUIET,) * (n_turns - n_rising) + tuple(rising)


def plan_rewrites(items: Sequence[Item], *, n: int, rng: np.random.Generator) -> Plan:
    """Choose `n` items and give each a profile and a kind of resistance.

    Of every 12 two have each kind and three each profile, of every 24 each pair stands once; along
    emotions and problems they are dealt out in turn, so that no emotion gets one profile only. The
    order of the items changes nothing; fewer come back where fewer are fit.
    """
    failed: Counter[str] = Counter()
    by_dialogue: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.id):
        reason = find_unfitness(item)
        if reason:
            failed[reason] += 1
        else:
            by_dialogue[item.source, item.dialogue_id].append(item)
    fit = [own[rng.integers(len(own))] for _, own in sorted(by_dialogue.items())]
    failed["one-a-dialogue"] = sum(len(own) - 1 for own in by_dialogue.values())
    chosen = select_items(fit, n=n, rng=rng).items if fit else ()
    failed["quota"] = len(fit) - len(chosen)
    return Plan(planned=_deal(chosen, rng), funnel=count_funnel(SOURCE_RULES, failed, n=len(items)))


def find_unfitness(item: Item) -> str:
    """Return the first of `SOURCE_RULES` by which an item cannot be rewritten; empty if none."""
    context = item.context
    if item.subset != "regular":
        return "regular"
    if not is_english(item):
        return "english"
    if any(one.role == other.role for one, other in pairwise(context)):
        return "alternation"
    if len(context) < load_protocol("escalation")["bounds"]["min_turns"]:
        return "turn-count"
    if not begins_with_greeting(context):
        return "greeting-first"
    found = find_anywhere([item.situation, *(turn.text for turn in context)], SCREENS)
    return next((rule for rule in SCREENS if rule in found), "")


def begins_with_greeting(context: Sequence[Turn]) -> bool:
    """Say whether the first turn is the supporter's, and one that opens a conversation."""
    first = context[0]
    return first.role == "supporter" and bool(_greeting().search(first.text.lower()))


@cache
def _greeting() -> re.Pattern[str]:
    return compile_words(load_protocol("escalation")["greeting"]["words"])


def _part_of_the_way(k: int, n: int) -> int:
    """Return where k of n equal steps from 2 to 10 lead, rounded; halves up."""
    return QUIET + (2 * k * (MOST_INTENSE - QUIET) + n) // (2 * n)


def _deal(chosen: Sequence[Item], rng: np.random.Generator) -> tuple[Planned, ...]:
    """Deal profiles and kinds out along emotions and problems, in an order that the seed shuffles.

    The kinds shift by one after every twelve, so that each meets each profile.
    """
    profiles = [PROFILES[k] for k in rng.permutation(len(PROFILES))]
    kinds = [RESISTANCES[k] for k in rng.permutation(len(RESISTANCES))]
    by_stratum = sorted(chosen, key=_stratum)
    round_length = len(profiles) * len(kinds) // 2
    dealt = [
        Planned(
            source=item,
            profile=profiles[k % len(profiles)],
            resistance=kinds[(k + k // round_length) % len(kinds)],
        )
        for k, item in enumerate(by_stratum)
    ]
    return tuple(sorted(dealt, key=lambda one: (one.source.dialogue_id, one.source.turn_index)))


def _stratum(item: Item) -> tuple[str, str, str]:
    return item.emotion, item.problem, item.id


def count_by(planned: Sequence[Planned], factor: str) -> Mapping[str, int]:
    """Count what is planned by ``profile`` or ``resistance``, in the order of the words."""
    words: tuple[str, ...] = PROFILES if factor == "profile" else RESISTANCES
    counts = Counter(getattr(one, factor) for one in planned)
    return {word: counts[word] for word in words}
