"""The first screen: named rules over a couplet, each verdict with what it saw (HEART 9.2).

Rules run in a fixed order and stop at the first that fails, so every rejected couplet has one
reason. Words and bounds are data, ``protocol/screening.toml``. The rules choose too much: of 60
turns they passed, read one by one, 16 were mild, dealt with or a missed risk. So a second screen,
by a model or a person, is to follow (``selection.build_items`` has the place for it). There is no
rule for "admits several strategies": as a text filter it rejects nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from hearteval.domain import Item, Screening
from hearteval.items.esconv import Couplet, Dialogue, couplet_item, enumerate_couplets
from hearteval.protocol import load_protocol

ANYWHERE_RULES = (
    "platform-talk",
    "crisis",
    "abuse",
    "nsfw",
    "hate",
    "substance",
    "clinical-legal",
    "identifying",
)
"""Rules over the situation, the whole context and the reply."""
HERE_RULES = ("closing", "resolved", "about-the-other")
"""Rules over the seeker turn that reject what they find."""
RULES = (
    "history-length",
    "turn-length",
    "first-person",
    *ANYWHERE_RULES,
    *HERE_RULES,
    "emotional-signal",
    "response-potential",
)
"""Every rule of this screen, in the order they run."""

_MAX_CUES_SHOWN = 6


class _Finding(NamedTuple):
    """What one rule says of one couplet, and the words or numbers it says it by."""

    is_pass: bool
    evidence: str


_Scan = Mapping[str, tuple[str, ...]]
"""One dialogue's texts searched once, so that no turn is searched again for every context: by rule
of ANYWHERE_RULES the first hit among the situation and the turns before turn k, at position k;
empty while there is none."""


class _Rules(NamedTuple):
    version: str
    bounds: Mapping[str, int]
    patterns: Mapping[str, re.Pattern[str]]
    cues: Mapping[str, re.Pattern[str]]
    weights: Mapping[str, int]
    identifying: Mapping[str, re.Pattern[str]]
    not_names: frozenset[str]


def screening_version() -> str:
    """Return the version of the rules, as every screening carries it."""
    return _rules().version


def screen_dialogue(dialogue: Dialogue) -> tuple[tuple[Item, tuple[Screening, ...]], ...]:
    """Screen every couplet of a dialogue.

    Returns:
        For each couplet its item and its screenings: one ``fail``, or a ``pass`` for every rule.
    """
    scan = _scan(dialogue)
    return tuple(
        (item := couplet_item(couplet), _screenings(item.id, couplet, scan))
        for couplet in enumerate_couplets(dialogue)
    )


def score_potential(seeker_turn: str) -> int:
    """Add up the weights of a turn's cues; the higher, the better a point to answer at."""
    return sum(weight for _, weight in _find_cues(seeker_turn))


def _screenings(item_id: str, couplet: Couplet, scan: _Scan) -> tuple[Screening, ...]:
    passed: list[Screening] = []
    for rule in RULES:
        finding = _apply(rule, couplet, scan)
        screening = Screening(
            item_id=item_id,
            rule=rule,
            verdict="pass" if finding.is_pass else "fail",
            evidence=finding.evidence,
            version=_rules().version,
        )
        if not finding.is_pass:
            return (screening,)
        passed.append(screening)
    return tuple(passed)


def _apply(rule: str, couplet: Couplet, scan: _Scan) -> _Finding:
    """Apply one rule to one couplet."""
    if rule == "history-length":
        return _within(couplet.turn_index + 1, "turns")
    if rule == "turn-length":
        return _within(len(couplet.seeker_turn.split()), "words")
    if rule == "response-potential":
        return _find_potential(couplet)
    if rule in ANYWHERE_RULES:
        hit = scan[rule][couplet.turn_index + 2]  # up to and with the reply
        return _Finding(not hit, hit)
    hit = _search(rule, couplet.seeker_turn.lower())
    return _Finding(bool(hit) != (rule in HERE_RULES), hit)


def _within(n: int, unit: str) -> _Finding:
    bounds = _rules().bounds
    return _Finding(bounds[f"min_{unit}"] <= n <= bounds[f"max_{unit}"], f"{n} {unit}")


def _find_potential(couplet: Couplet) -> _Finding:
    cues = _find_cues(couplet.seeker_turn)
    score = sum(weight for _, weight in cues)
    shown = [f"score {score}", *(cue for cue, _ in cues[:_MAX_CUES_SHOWN])]
    return _Finding(score >= _rules().bounds["min_score"], "; ".join(shown))


def _scan(dialogue: Dialogue) -> _Scan:
    # Turns beyond the longest history and its reply are in no context that gets this far.
    turns = dialogue.turns[: _rules().bounds["max_turns"] + 1]
    texts = [("situation", dialogue.situation)]
    texts += [(f"turn {index}", turn.text) for index, turn in enumerate(turns)]
    lowered = [(where, text.lower()) for where, text in texts]
    hits = {
        rule: _first_hits([(where, _search(rule, text)) for where, text in lowered])
        for rule in ANYWHERE_RULES
        if rule != "identifying"
    }
    hits["identifying"] = _first_hits([(where, _search_identifying(text)) for where, text in texts])
    return hits


def _first_hits(hits: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    shown = (f"{where}: {hit}" if hit else "" for where, hit in hits)
    return tuple(accumulate(shown, lambda first, later: first or later))


def _find_cues(seeker_turn: str) -> list[tuple[str, int]]:
    """Find the distinct cues, as ``kind: words``, each with its weight."""
    text = seeker_turn.lower()
    rules = _rules()
    found = {
        f"{kind}: {hit[0]}": rules.weights[kind]
        for kind, pattern in rules.cues.items()
        for hit in pattern.finditer(text)
    }
    return list(found.items())


def _search(rule: str, lowered: str) -> str:
    hit = _rules().patterns[rule].search(lowered)
    return hit[0] if hit else ""


def _search_identifying(text: str) -> str:
    """Name the first kind of identifying text; never the text itself."""
    rules = _rules()
    for kind, pattern in rules.identifying.items():
        for hit in pattern.finditer(text):
            if not pattern.groups or hit[1].lower() not in rules.not_names:
                return kind
    return ""


@cache
def _rules() -> _Rules:
    data = load_protocol("screening")
    lists: dict[str, str] = {**data["anywhere"], **data["here"], **data["required"]}
    return _Rules(
        version=data["version"],
        bounds=data["bounds"],
        patterns={rule: _compile_words(lines) for rule, lines in lists.items()},
        cues={kind: _compile_words(lines) for kind, lines in data["cues"].items()},
        weights=data["weights"],
        identifying={
            **{kind: re.compile(text) for kind, text in data["identifying"].items()},
            "first-name": re.compile(rf"\b(?:{'|'.join(data['first_names']['words'].split())})\b"),
        },
        not_names=frozenset(data["not_names"]["words"].split()),
    )


def _compile_words(lines: str) -> re.Pattern[str]:
    alternatives = lines.strip().replace("\n", "|")
    return re.compile(rf"\b(?:{alternatives})\b")
