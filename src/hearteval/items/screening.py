"""The first screen: named rules over a couplet, each verdict with what it saw (HEART 9.2).

Rules run in a fixed order and stop at the first that fails, so every rejected couplet has one
reason. Words and bounds are data, ``protocol/screening.toml``. The rules choose too much: of 60
turns they passed, read one by one, 16 were mild, dealt with or a missed risk. So a second screen,
by a model or a person, is to follow (``selection.build_items`` has the place for it). There is no
rule for "admits several strategies": as a text filter it rejects nothing.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hearteval.domain import Screening
from hearteval.items.esconv import Couplet, Dialogue, enumerate_couplets
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
_WORD = re.compile(r"\w+")


class _Finding(NamedTuple):
    """What one rule says of one couplet, and the words or numbers it says it by."""

    is_pass: bool
    evidence: str


class Screened(NamedTuple):
    """What this screen says of one couplet."""

    couplet: Couplet
    failed: str | None
    """The first rule that rejects it; None where all let it pass."""
    evidence: tuple[str, ...]
    """What that rule saw; where all let it pass, what each saw, in their order."""


_Scan = Mapping[str, tuple[int, str]]
"""One dialogue's texts searched once, so that no turn is searched again for every context: by rule
of ANYWHERE_RULES the place of the first hit, the situation being 0 and turn k at k + 1, and the
hit. What stands at or behind the hit of an earlier rule is not searched: that rule rejects it."""


class _Rules(NamedTuple):
    version: str
    bounds: Mapping[str, int]
    patterns: Mapping[str, re.Pattern[str]]
    cues: Mapping[str, re.Pattern[str]]
    weights: Mapping[str, int]
    identifying: Mapping[str, re.Pattern[str]]
    first_names: frozenset[str]
    not_names: frozenset[str]


def screening_version() -> str:
    """Return the version of the rules, as every screening carries it."""
    return _rules().version


def screen_couplets(dialogue: Dialogue) -> tuple[Screened, ...]:
    """Screen every couplet of a dialogue, without a record of it: of most, nobody will ask."""
    scan = _scan(dialogue)
    return tuple(_screen(couplet, scan) for couplet in enumerate_couplets(dialogue))


def list_screenings(item_id: str, screened: Screened) -> tuple[Screening, ...]:
    """Return the records of a couplet's screening: one ``fail``, or a ``pass`` for every rule."""
    rules = RULES if screened.failed is None else (screened.failed,)
    return tuple(
        Screening(
            item_id=item_id,
            rule=rule,
            verdict="pass" if screened.failed is None else "fail",
            evidence=evidence,
            version=screening_version(),
        )
        for rule, evidence in zip(rules, screened.evidence, strict=True)
    )


def score_potential(seeker_turn: str) -> int:
    """Add up the weights of a turn's cues; the higher, the better a point to answer at."""
    return sum(weight for _, weight in _find_cues(seeker_turn))


def _screen(couplet: Couplet, scan: _Scan) -> Screened:
    seen: list[str] = []
    for rule in RULES:
        finding = _apply(rule, couplet, scan)
        if not finding.is_pass:
            return Screened(couplet, rule, (finding.evidence,))
        seen.append(finding.evidence)
    return Screened(couplet, None, tuple(seen))


def _apply(rule: str, couplet: Couplet, scan: _Scan) -> _Finding:
    """Apply one rule to one couplet."""
    if rule == "history-length":
        return _within(couplet.turn_index + 1, "turns")
    if rule == "turn-length":
        return _within(len(couplet.seeker_turn.split()), "words")
    if rule == "response-potential":
        return _find_potential(couplet)
    if rule in ANYWHERE_RULES:
        place, hit = scan[rule]
        is_hit = bool(hit) and place <= couplet.turn_index + 2  # up to and with the reply
        return _Finding(not is_hit, hit if is_hit else "")
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
    lowered = [text.lower() for _, text in texts]
    hits: dict[str, tuple[int, str]] = {}
    n_open = len(texts)
    for rule in ANYWHERE_RULES:
        hits[rule] = (n_open, "")
        for place in range(n_open):
            where, text = texts[place]
            is_identity = rule == "identifying"
            hit = _search_identifying(text) if is_identity else _search(rule, lowered[place])
            if hit:
                hits[rule] = (place, f"{where}: {hit}")
                n_open = place
                break
    return hits


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
    return "" if rules.first_names.isdisjoint(_WORD.findall(text)) else "first-name"


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
        identifying={kind: re.compile(text) for kind, text in data["identifying"].items()},
        first_names=frozenset(data["first_names"]["words"].split()),
        not_names=frozenset(data["not_names"]["words"].split()),
    )


def _compile_words(lines: str) -> re.Pattern[str]:
    alternatives = lines.strip().replace("\n", "|")
    return re.compile(rf"\b(?:{alternatives})\b")
