"""What judges prefer where most of them and most people choose opposite replies (SPEC section 7).

The paper says: the more generic and warmer reply. Here each trait is a count that a reader can
check; whether it is why anybody chose cannot be told. Exploratory.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from hearteval.analysis.agreement.pair_votes import (
    ONE,
    OTHER,
    PairVotes,
    count_votes,
    majority_of_counts,
)
from hearteval.analysis.estimates import Estimate, clustered_tests, mean_estimates, with_q
from hearteval.analysis.words import count_formatting, count_words, plain, words_of
from hearteval.domain import Completion, Display, display_form
from hearteval.protocol import load_protocol
from hearteval.stats.comparisons import FloatArray, IntArray

TRAITS: Final = ("words", "formatting", "warm phrases", "likeness")
"""Words; formatting marks; generic warm phrases (`protocol/warm_phrases.toml`); mean cosine of its
word counts with the same system's replies to other items, 0 to 1."""
N_EXAMPLES: Final = 30
_NO_FIGURE: Final = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitOfChoice:
    """How the judges' choice differs from the people's in one trait."""

    trait: str
    n_pairs: int
    n_items: int
    judges_choice: float
    """Mean over these pairs."""
    peoples_choice: float
    difference: Estimate
    """The judges' choice less the people's."""
    has_more: Estimate
    """Share of pairs in which the judges' choice has more of it, half where both have as much."""
    p: float | None
    q: float | None
    """Benjamini-Hochberg over the traits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A pair on which most people and most judges choose opposite replies, to be read."""

    item_id: str
    judges_choice: str
    """Its system."""
    peoples_choice: str
    n_judges: int
    """Judges with a vote."""
    n_judges_for: int
    """Of these, for the judges' choice; of the people, for theirs."""
    n_people: int
    n_people_for: int
    words: float | None
    """Of the judges' choice less the people's, as the other traits; None where a text is gone."""
    formatting: float | None
    warm_phrases: float | None
    likeness: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """Pairs on which people's and judges' majorities are opposite sides."""

    n_pairs: int
    """Pairs on which both majorities are a side."""
    n_opposed: int
    n_items: int
    """Items with a pair that is opposed."""
    traits: tuple[TraitOfChoice, ...]
    """Without pairs of which a text was withdrawn."""
    examples: tuple[Disagreement, ...]
    """The most decided on both sides first, one of an item before a second of any."""


def find_disagreements(
    votes: PairVotes, *, level: float, display: Display = "raw"
) -> Disagreements | None:
    """Find opposed majorities and what is different in the texts; None without a pair of both.

    Args:
        votes: Pairs that people and judges answered.
        level: Nominal coverage.
        display: In which form raters saw the replies.
    """
    found_opposed = find_opposed(votes)
    if found_opposed is None:
        return None
    n_both, opposed, choice, people, judges, of_judges, of_people = found_opposed
    shown = [
        one if one.is_withdrawn else replace(one, text=display_form(one.text, display))
        for one in votes.names.completions
    ]
    values = describe_texts(shown, np.union1d(of_judges, of_people))
    mine, theirs = values[of_judges], values[of_people]
    item = votes.item[opposed]
    names = votes.names
    lead = np.minimum(_lead(people[opposed], 1 - choice), _lead(judges[opposed], choice))
    found = [
        Disagreement(
            item_id=names.items[item[k]].id,
            judges_choice=names.systems[votes.systems[pair, choice[k]]].name,
            peoples_choice=names.systems[votes.systems[pair, 1 - choice[k]]].name,
            n_judges=int(judges[pair].sum()),
            n_judges_for=int(judges[pair, choice[k]]),
            n_people=int(people[pair].sum()),
            n_people_for=int(people[pair, 1 - choice[k]]),
            **_trait_values(mine[k] - theirs[k]),
        )
        for k in _worth_reading(lead, item)
        for pair in (opposed[k],)
    ]
    return Disagreements(
        n_pairs=n_both,
        n_opposed=len(opposed),
        n_items=len(np.unique(item)),
        traits=compare_traits(TRAITS, mine, theirs, item, level=level),
        examples=tuple(found),
    )


class Opposed(NamedTuple):
    """Pairs on which people's and judges' majorities are opposite sides."""

    n_both: int
    """Pairs on which both majorities are a side."""
    pairs: IntArray
    choice: IntArray
    """Side of the judges' choice."""
    people: IntArray
    """Votes by side, of every pair; of judges likewise."""
    judges: IntArray
    of_judges: IntArray
    """Completion that judges chose; of people likewise."""
    of_people: IntArray


def find_opposed(votes: PairVotes) -> Opposed | None:
    """Find pairs on which both majorities are a side, and opposite; None without one of both."""
    people, judges = count_votes(votes.of_people), count_votes(votes.of_judges)
    by_people, by_judges = majority_of_counts(people), majority_of_counts(judges)
    is_both = np.isin(by_people, (ONE, OTHER)) & np.isin(by_judges, (ONE, OTHER))
    if not is_both.any():
        return None
    opposed = np.flatnonzero(is_both & (by_people != by_judges))
    choice, texts, row = by_judges[opposed], votes.texts[opposed], np.arange(len(opposed))
    return Opposed(
        n_both=int(is_both.sum()),
        pairs=opposed,
        choice=choice,
        people=people,
        judges=judges,
        of_judges=texts[row, choice],
        of_people=texts[row, 1 - choice],
    )


def _lead(counts: IntArray, choice: IntArray) -> FloatArray:
    """Return how clearly a choice leads, (votes for it + 1) / (votes + 2): more votes say more."""
    of_choice = counts[np.arange(len(choice)), choice]
    return np.asarray((of_choice + 1) / (counts.sum(axis=1) + 2))


def _worth_reading(lead: FloatArray, item: IntArray) -> list[int]:
    """Return the places of the clearest pairs, of each item one before a second."""
    turn: Counter[int] = Counter()
    keyed = []
    for k in sorted(range(len(lead)), key=lambda k: (-lead[k], k)):
        keyed.append((turn[int(item[k])], -lead[k], k))
        turn[int(item[k])] += 1
    return [k for _, _, k in sorted(keyed)[:N_EXAMPLES]]


def _trait_values(difference: FloatArray) -> Mapping[str, float | None]:
    return {
        trait.replace(" ", "_"): None if np.isnan(value) else float(value)
        for trait, value in zip(TRAITS, difference, strict=True)
    }


def compare_traits(
    traits: Sequence[str], mine: FloatArray, theirs: FloatArray, item: IntArray, *, level: float
) -> tuple[TraitOfChoice, ...]:
    """Compare the judges' choices with the people's, (pairs, traits); NaN where one has no figure.

    Args:
        traits: Their names.
        mine: Of the replies that judges chose.
        theirs: Of those that people chose.
        item: Item of each pair.
        level: Nominal coverage.
    """
    found = []
    for k, trait in enumerate(traits):
        is_in = ~np.isnan(mine[:, k] + theirs[:, k])
        if not is_in.any():
            continue
        difference, of_item = (mine - theirs)[is_in, k], item[is_in]
        judges = np.full(len(of_item), -1)
        value = float(difference.mean())
        influence = (difference - value)[:, np.newaxis] / len(difference)
        more = (np.sign(difference) + 1) / 2
        (apart,), (p,) = clustered_tests([value], influence, of_item, judges, level=level)
        found.append(
            TraitOfChoice(
                trait=trait,
                n_pairs=int(is_in.sum()),
                n_items=len(np.unique(of_item)),
                judges_choice=float(mine[is_in, k].mean()),
                peoples_choice=float(theirs[is_in, k].mean()),
                difference=apart,
                has_more=mean_estimates(more[:, np.newaxis], of_item, judges, level=level)[0],
                p=p,
                q=None,
            )
        )
    return tuple(with_q(found))


def describe_texts(completions: Sequence[Completion], wanted: IntArray) -> FloatArray:
    """Return the traits of some completions, (completions, traits); NaN where there is no figure.

    Likeness is the mean cosine of a text's word counts with those of the same system's texts on
    other items.
    """
    values = np.full((len(completions), len(TRAITS)), _NO_FIGURE)
    readable = [k for k in wanted.tolist() if not completions[k].is_withdrawn]
    for k in readable:
        text = completions[k].text
        values[k, :3] = count_words(text), count_formatting(text), count_warm_phrases(text)
    systems = {completions[k].system_id for k in readable}
    of_system: dict[str, list[int]] = {system: [] for system in systems}
    for k, one in enumerate(completions):
        if one.system_id in of_system and not one.is_withdrawn:
            of_system[one.system_id].append(k)
    for places in of_system.values():
        values[places, 3] = likeness(
            [completions[k].text for k in places], [completions[k].item_id for k in places]
        )
    return values


def likeness(texts: Sequence[str], items: Sequence[str]) -> FloatArray:
    """Return each text's mean cosine of word counts with texts on other items; NaN without any."""
    words = [words_of(text) for text in texts]
    number = {word: k for k, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    if not number:
        return np.full(len(texts), _NO_FIGURE)
    of_text = np.repeat(np.arange(len(texts)), [len(found) for found in words])
    of_word = np.fromiter(map(number.__getitem__, chain.from_iterable(words)), np.int64)
    cells, counts = np.unique(of_text * len(number) + of_word, return_counts=True)
    rows, columns = cells // len(number), cells % len(number)
    length = np.sqrt(np.bincount(rows, weights=counts**2, minlength=len(texts)))
    values = counts / length[rows]
    _, item = np.unique(np.array(items), return_inverse=True)
    total = np.bincount(columns, weights=values, minlength=len(number))
    with_all = np.bincount(rows, weights=values * total[columns], minlength=len(texts))
    key = item[rows] * len(number) + columns
    _, of_item = np.unique(key, return_inverse=True)
    own = np.bincount(of_item, weights=values)[of_item]
    with_own = np.bincount(rows, weights=values * own, minlength=len(texts))
    n_others = len(texts) - np.bincount(item)[item]
    found = np.full(len(texts), _NO_FIGURE)
    np.divide(with_all - with_own, n_others, out=found, where=n_others > 0)
    return found


def count_warm_phrases(text: str) -> int:
    """Count the generic warm phrases of `protocol/warm_phrases.toml` in a text."""
    return len(_warm().findall(plain(text)))


@cache
def _warm() -> re.Pattern[str]:
    phrases = sorted(load_protocol("warm_phrases")["phrases"], key=lambda one: (-len(one), one))
    return re.compile(r"\b(?:" + "|".join(map(re.escape, phrases)) + r")\b")
