"""What a rewrite is held against: pure functions; a finding names its rule and what it saw.

`check_text` looks at the words, `check_reading` at what a second model, or a person, who does not
know the profile, says of them. Nothing is repaired: a rewrite that fails any rule is rejected.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from hearteval.domain import Item, Profile, Turn, content_hash
from hearteval.items.escalation.plan import (
    QUIET,
    Planned,
    begins_with_greeting,
    plan_intensities,
    seeker_turns,
)
from hearteval.items.escalation.rules import SCREENS, ShapeRule
from hearteval.items.screening import compile_words, find_anywhere, is_first_name
from hearteval.protocol import load_protocol
from hearteval.stats.concordance import spearman

Fit = Literal["yes", "no", "uncertain"]
HASH_DIGITS = 16
MIN_CONTENT = 4
"""Letters of a word of content."""
STEM = 5
"""Letters by which two forms of a word are taken for one."""

RISING: tuple[Profile, ...] = ("linear-ramp", "mid-spike", "mid-ramp")
ROUNDING = 1e-9

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_NUMBER = re.compile(r"\d+")
_INSIDE = re.compile(r"(?<=[^.!?\u2026:;\"'\u201c\u201d()\s-])\s+([A-Z][a-z]+)\b")
"""A capitalised word that does not begin a sentence."""


class Finding(NamedTuple):
    """What one rule says of a rewrite."""

    rule: str
    is_pass: bool
    evidence: str


class Reading(NamedTuple):
    """What a reader says of a conversation, who knows of no profile."""

    intensities: Mapping[int, int]
    """By the place of the seeker's turn, from 0."""
    fits: Mapping[int, Fit]
    """By the place of a supporter's turn: whether it fits what was said before it."""
    evidence: Mapping[int, str]
    """By place, the words that the answer rests on; a person gives none."""
    by: str
    """Who reads."""


def check_text(source: Item, context: Sequence[Turn]) -> tuple[Finding, ...]:
    """Hold the words of a rewrite against its source; a finding for each rule.

    Where the turns are not those of a dialogue, what rests on them is not asked.
    """
    shape = tuple(Finding(rule, *check(source, context)) for rule, check in _SHAPE.items())
    if not all(finding.is_pass for finding in shape):
        return shape
    return (
        *shape,
        Finding("situation-kept", *_keeps_situation(source, context)),
        Finding("no-new-names", *_names_nothing_new(source, context)),
        *_screens(context),
    )


def check_reading(planned: Planned, reading: Reading) -> tuple[Finding, ...]:
    """Hold what a reader found against the profile; a finding for each rule."""
    bounds = load_protocol("escalation")["bounds"]
    rated = [reading.intensities[place] for place in planned.seeker_turns]
    curve = planned.intensities
    quiet = [found for found, wanted in zip(rated, curve, strict=True) if wanted == QUIET]
    is_ordered, how = _follows(rated, curve)
    beside = f"planned {_listed(curve)}, read {_listed(rated)} by {reading.by}{how}"
    misfits = [place + 1 for place, fit in sorted(reading.fits.items()) if fit == "no"]
    fits = "; ".join(
        f"turn {place + 1} {fit}{_quote(reading, place)}"
        for place, fit in sorted(reading.fits.items())
    )
    quotes = "".join(f"; turn {k + 1}{_quote(reading, k)}" for k in planned.seeker_turns)
    return (
        Finding(
            "quiet-start", all(found <= bounds["most_quiet"] for found in quiet), _listed(quiet)
        ),
        Finding("hostile-end", rated[-1] >= bounds["least_hostile"], f"last turn {rated[-1]}"),
        Finding(
            "intensity-order",
            is_ordered,
            beside + (quotes if any(reading.evidence.values()) else ""),
        ),
        Finding("profile-shape", *_has_shape(rated, planned.profile)),
        Finding("coherence", not misfits, fits),
    )


def _follows(rated: Sequence[int], curve: Sequence[int]) -> tuple[bool, str]:
    """Say whether what was read follows the curve, and by how much where that is a number."""
    bounds = load_protocol("escalation")["bounds"]
    if len(set(curve)) == 1:
        return min(rated) >= bounds["least_hostile"], ""
    if len(set(rated)) == 1:
        return False, ""
    one, other = (np.asarray(each, dtype=np.float64) for each in (rated, curve))
    rho = spearman(one, other)
    return 100 * rho >= bounds["min_order"], f", rho {rho:.2f}"


def _has_shape(rated: Sequence[int], profile: Profile) -> tuple[bool, str]:
    """Say whether what was read is not more like another profile that rises.

    Every rising profile has the same order, so that the order does not tell them apart; the
    correlation of the numbers themselves does, whatever part of the scale a reader uses.
    """
    if profile not in RISING or len(set(rated)) == 1:
        return profile not in RISING, ""
    like = {
        other: float(np.corrcoef(rated, plan_intensities(other, len(rated)))[0, 1])
        for other in RISING
    }
    words = ", ".join(f"{other} {r:.2f}" for other, r in like.items())
    return like[profile] >= max(like.values()) - ROUNDING, words


def _quote(reading: Reading, place: int) -> str:
    said = reading.evidence.get(place, "")
    return f' "{said}"' if said else ""


def supporter_hash(context: Sequence[Turn]) -> str:
    """Return a hash of what the supporter says, and where."""
    spoken = [[k, turn.text] for k, turn in enumerate(context) if turn.role == "supporter"]
    return content_hash(spoken)


_Result = tuple[bool, str]


def _turn_count(source: Item, context: Sequence[Turn]) -> _Result:
    least = load_protocol("escalation")["bounds"]["min_turns"]
    n, wanted = len(context), len(source.context)
    return n == wanted and n >= least, f"{n} turns, the source {wanted}, at least {least}"


def _alternation(_source: Item, context: Sequence[Turn]) -> _Result:
    twice = [
        k for k, (one, other) in enumerate(pairwise(context), start=2) if one.role == other.role
    ]
    return not twice, f"turn {twice[0]} has the role of the turn before" if twice else ""


def _greeting_first(_source: Item, context: Sequence[Turn]) -> _Result:
    return bool(context) and begins_with_greeting(context), ""


def _seeker_last(_source: Item, context: Sequence[Turn]) -> _Result:
    return bool(context) and context[-1].role == "seeker", ""


def _supporter_unchanged(source: Item, context: Sequence[Turn]) -> _Result:
    wanted, found = supporter_hash(source.context), supporter_hash(context)
    if found == wanted:
        return True, f"hash {wanted[:HASH_DIGITS]}"
    changed = [
        k
        for k, (one, other) in enumerate(zip(source.context, context, strict=False), start=1)
        if "supporter" in (one.role, other.role) and one != other
    ]
    where = f" (turn {changed[0]})" if changed else ""
    return False, f"hash {found[:HASH_DIGITS]}, not {wanted[:HASH_DIGITS]}{where}"


_SHAPE: Mapping[ShapeRule, Callable[[Item, Sequence[Turn]], _Result]] = {
    "turn-count": _turn_count,
    "alternation": _alternation,
    "greeting-first": _greeting_first,
    "seeker-last": _seeker_last,
    "supporter-unchanged": _supporter_unchanged,
}


def _keeps_situation(source: Item, context: Sequence[Turn]) -> _Result:
    """Say whether enough stays of the words that the source's dialogue comes back to.

    Those are words of content, and numbers, that the seeker says and that stand somewhere else in
    the situation or the dialogue as well. Forms of a word count as one by their first letters.
    """
    bounds = load_protocol("escalation")["bounds"]
    said = [_stems(source.context[place].text) for place in seeker_turns(source.context)]
    texts = [_stems(source.situation), *(_stems(turn.text) for turn in source.context)]
    often = Counter(stem for stems in texts for stem in stems)
    all_said = frozenset[str]().union(*said)
    wanted = {stem for stem in all_said if often[stem] > 1}
    share = bounds["min_kept"]
    if len(wanted) < bounds["min_words"]:
        wanted, share = set(all_said), bounds["min_kept_of_all"]
    found = frozenset[str]().union(*(_stems(context[k].text) for k in seeker_turns(context)))
    n_kept = len(wanted & found)
    is_kept = 100 * n_kept >= share * len(wanted)
    return is_kept, f"{n_kept} of {len(wanted)} words of the situation, at least {share} %"


def _names_nothing_new(source: Item, context: Sequence[Turn]) -> _Result:
    """Say whether the seeker names nothing new: no word with a capital, no common first name.

    A capital counts inside a sentence; first names in small letters too, as people type in a chat.
    """
    known = {
        word.lower()
        for text in (source.situation, *(turn.text for turn in source.context))
        for word in _WORD.findall(text)
    }
    known |= {word.lower() for word in load_protocol("escalation")["unnamed"]["words"].split()}
    known |= _common()
    n_new = [
        place + 1
        for place in seeker_turns(context)
        for text in [context[place].text]
        for word in (*_INSIDE.findall(text), *filter(is_first_name, _WORD.findall(text)))
        if word.lower() not in known
    ]
    return not n_new, f"a new name in turn {n_new[0]}" if n_new else ""


def _screens(context: Sequence[Turn]) -> list[Finding]:
    """Screen what was written anew; evidence names the turn, and of identity the kind alone."""
    places = seeker_turns(context)
    texts = [context[place].text for place in places]
    hits = find_anywhere(texts, SCREENS)
    found = []
    for rule in SCREENS:
        at, what = hits.get(rule, (0, ""))
        found.append(Finding(rule, not what, f"turn {places[at] + 1}: {what}" if what else ""))
    threats = [(k, hit[0]) for k in places if (hit := _threat().search(context[k].text.lower()))]
    at, what = threats[0] if threats else (0, "")
    return [*found, Finding("threat", not what, f"turn {at + 1}: {what}" if what else "")]


@cache
def _threat() -> re.Pattern[str]:
    return compile_words(load_protocol("escalation")["threat"]["words"])


@cache
def _common() -> frozenset[str]:
    return frozenset(load_protocol("escalation")["common"]["words"].split())


def _stems(text: str) -> frozenset[str]:
    """Return the words of content of a text by their first letters, and its numbers."""
    plain = text.replace("\u2019", "'").lower()
    words = (word for word in _WORD.findall(plain) if word not in _common())
    stems = {word.partition("'")[0][:STEM] for word in words if len(word) >= MIN_CONTENT}
    return frozenset(stems | {*_NUMBER.findall(plain)})


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))
