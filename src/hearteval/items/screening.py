"""The first screen: named rules over a couplet, each verdict with what it saw (HEART 9.2).

Rules run in a fixed order and stop at the first that fails, so every rejected couplet has one
reason. Words and bounds are data: ``protocol/screening.toml`` for the topics ``cautious``, and what
differs for ``paper`` in ``screening_paper.toml`` (docs/decisions/0027). The rules choose too much,
so models and people read what they choose (``second_screen``). There is no rule for "admits several
strategies": as a text filter it rejects nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from hearteval.domain import Item, Screening, Turn
from hearteval.items.esconv import Couplet, Dialogue, enumerate_couplets
from hearteval.protocol import load_protocol

Topics = Literal["paper", "cautious"]
"""What is a reason to leave a turn out: what the paper names, or every delicate topic."""
DEFAULT_TOPICS: Topics = "paper"
RULES = (
    "history-length",
    "turn-length",
    "first-person",
    "platform-talk",
    "self-harm",
    "crisis",
    "abuse",
    "nsfw",
    "hate",
    "substance",
    "clinical-legal",
    "identifying",
    "closing",
    "resolved",
    "about-the-other",
    "expertise",
    "emotional-signal",
    "response-potential",
)
"""Every rule of this screen, in the order they run; some belong to one of the topics only."""

BY_CODE = ("history-length", "turn-length", "identifying", "response-potential")
"""Rules that are no list of words."""
SETTLING_RULES = ("closing", "resolved")
"""Rules whose words count only where nothing contrasts with them afterwards."""

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
searched anywhere the place of the first hit, the situation being 0 and turn k at k + 1, and the
hit. What stands at or behind the hit of an earlier rule is not searched: that rule rejects it."""


class _Rules(NamedTuple):
    version: str
    order: tuple[str, ...]
    anywhere: tuple[str, ...]
    """Rules over the situation, the whole context and the reply."""
    here: frozenset[str]
    """Rules over the seeker turn that reject what they find."""
    contrast: re.Pattern[str] | None
    """Words behind which a turn is searched for what settles it; None searches all of it."""
    bounds: Mapping[str, int]
    patterns: Mapping[str, re.Pattern[str]]
    cues: Mapping[str, re.Pattern[str]]
    weights: Mapping[str, int]
    identifying: Mapping[str, re.Pattern[str]]
    first_names: frozenset[str]
    not_names: frozenset[str]


def screening_rules(topics: Topics) -> tuple[str, ...]:
    """Return the rules that run under these topics, in their order."""
    return _rules(topics).order


def screening_version(topics: Topics) -> str:
    """Return the version of the rules, as every screening carries it."""
    return _rules(topics).version


def topics_of(version: str) -> Topics | None:
    """Return the topics whose rules have this version now; None of others."""
    every: tuple[Topics, ...] = get_args(Topics)
    return next((topics for topics in every if screening_version(topics) == version), None)


def screen_couplets(dialogue: Dialogue, *, topics: Topics = DEFAULT_TOPICS) -> tuple[Screened, ...]:
    """Screen every couplet of a dialogue, without a record of it: of most, nobody will ask."""
    rules = _rules(topics)
    scan = _scan(dialogue, rules)
    return tuple(_screen(couplet, scan, rules) for couplet in enumerate_couplets(dialogue))


def list_screenings(
    item_id: str, screened: Screened, *, topics: Topics = DEFAULT_TOPICS
) -> tuple[Screening, ...]:
    """Return the records of a couplet's screening: one ``fail``, or a ``pass`` for every rule."""
    rules = screening_rules(topics) if screened.failed is None else (screened.failed,)
    return tuple(
        Screening(
            item_id=item_id,
            rule=rule,
            verdict="pass" if screened.failed is None else "fail",
            evidence=evidence,
            version=screening_version(topics),
        )
        for rule, evidence in zip(rules, screened.evidence, strict=True)
    )


def find_anywhere(
    texts: Sequence[str], rules: Collection[str], *, topics: Topics = DEFAULT_TOPICS
) -> dict[str, tuple[int, str]]:
    """Search texts by rules that are searched anywhere: by rule the first hit and its text's place.

    Of identifying text it names the kind, never the text.

    Raises:
        ValueError: A rule is none that is searched anywhere under these topics.
    """
    known = _rules(topics)
    if not set(rules) <= set(known.anywhere):
        raise ValueError(f"{sorted(rules)} are not all among {known.anywhere}")
    found: dict[str, tuple[int, str]] = {}
    for rule in rules:
        for place, text in enumerate(texts):
            is_identity = rule == "identifying"
            hit = (
                _search_identifying(text, known)
                if is_identity
                else _search(rule, text.lower(), known)
            )
            if hit:
                found[rule] = (place, hit)
                break
    return found


def is_first_name(word: str) -> bool:
    """Say whether a word is a common first name, in small letters too."""
    return word.capitalize() in _rules(DEFAULT_TOPICS).first_names


def score_potential(seeker_turn: str, *, topics: Topics = DEFAULT_TOPICS) -> int:
    """Add up the weights of a turn's cues; the higher, the better a point to answer at."""
    return sum(weight for _, weight in _find_cues(seeker_turn, _rules(topics)))


def find_identifying(text: str, *, topics: Topics = DEFAULT_TOPICS) -> tuple[tuple[str, str], ...]:
    """Return what the rule ``identifying`` finds: kinds and the very words, which nobody logs."""
    return tuple(_identifying(text, _rules(topics)))


def screen_item(item: Item, *, topics: Topics) -> tuple[Screening, ...]:
    """Screen an item of a corpus again, by its own words: as `list_screenings`."""
    turns = (*item.context, Turn(role="supporter", text=item.reference or " "))
    dialogue = Dialogue(
        corpus=item.source,
        dialogue_id=item.dialogue_id,
        emotion=item.emotion,
        problem=item.problem,
        situation=item.situation,
        turns=turns,
    )
    rules = _rules(topics)
    couplet = Couplet(dialogue=dialogue, turn_index=len(item.context) - 1)
    return list_screenings(item.id, _screen(couplet, _scan(dialogue, rules), rules), topics=topics)


def _screen(couplet: Couplet, scan: _Scan, rules: _Rules) -> Screened:
    seen: list[str] = []
    for rule in rules.order:
        finding = _apply(rule, couplet, scan, rules)
        if not finding.is_pass:
            return Screened(couplet, rule, (finding.evidence,))
        seen.append(finding.evidence)
    return Screened(couplet, None, tuple(seen))


def _apply(rule: str, couplet: Couplet, scan: _Scan, rules: _Rules) -> _Finding:
    """Apply one rule to one couplet."""
    if rule == "history-length":
        return _within(couplet.turn_index + 1, "turns", rules)
    if rule == "turn-length":
        return _within(len(couplet.seeker_turn.split()), "words", rules)
    if rule == "response-potential":
        return _find_potential(couplet, rules)
    if rule in rules.anywhere:
        place, hit = scan[rule]
        is_hit = bool(hit) and place <= couplet.turn_index + 2  # up to and with the reply
        return _Finding(not is_hit, hit if is_hit else "")
    text = couplet.seeker_turn.lower()
    if rule in SETTLING_RULES and rules.contrast is not None:
        text = rules.contrast.split(text)[-1]
    hit = _search(rule, text, rules)
    return _Finding(bool(hit) != (rule in rules.here), hit)


def _within(n: int, unit: str, rules: _Rules) -> _Finding:
    bounds = rules.bounds
    return _Finding(bounds[f"min_{unit}"] <= n <= bounds[f"max_{unit}"], f"{n} {unit}")


def _find_potential(couplet: Couplet, rules: _Rules) -> _Finding:
    cues = _find_cues(couplet.seeker_turn, rules)
    score = sum(weight for _, weight in cues)
    shown = [f"score {score}", *(cue for cue, _ in cues[:_MAX_CUES_SHOWN])]
    return _Finding(score >= rules.bounds["min_score"], "; ".join(shown))


def _scan(dialogue: Dialogue, rules: _Rules) -> _Scan:
    # Turns beyond the longest history and its reply are in no context that gets this far.
    turns = dialogue.turns[: rules.bounds["max_turns"] + 1]
    texts = [("situation", dialogue.situation)]
    texts += [(f"turn {index}", turn.text) for index, turn in enumerate(turns)]
    lowered = [text.lower() for _, text in texts]
    hits: dict[str, tuple[int, str]] = {}
    n_open = len(texts)
    for rule in rules.anywhere:
        hits[rule] = (n_open, "")
        for place in range(n_open):
            where, text = texts[place]
            if rule == "identifying":
                hit = _search_identifying(text, rules)
            else:
                hit = _search(rule, lowered[place], rules)
            if hit:
                hits[rule] = (place, f"{where}: {hit}")
                n_open = place
                break
    return hits


def _find_cues(seeker_turn: str, rules: _Rules) -> list[tuple[str, int]]:
    """Find the distinct cues, as ``kind: words``, each with its weight."""
    text = seeker_turn.lower()
    found = {
        f"{kind}: {hit[0]}": rules.weights[kind]
        for kind, pattern in rules.cues.items()
        for hit in pattern.finditer(text)
    }
    return list(found.items())


def _search(rule: str, lowered: str, rules: _Rules) -> str:
    hit = rules.patterns[rule].search(lowered)
    return hit[0] if hit else ""


def _search_identifying(text: str, rules: _Rules) -> str:
    """Name the first kind of identifying text; never the text itself."""
    return next((kind for kind, _ in _identifying(text, rules)), "")


def _identifying(text: str, rules: _Rules) -> Iterator[tuple[str, str]]:
    for kind, pattern in rules.identifying.items():
        for hit in pattern.finditer(text):
            if not pattern.groups or hit[1].lower() not in rules.not_names:
                yield kind, hit[pattern.groups].strip()
    words = _WORD.findall(text)
    if not rules.first_names.isdisjoint(words):
        yield from (("first-name", word) for word in words if word in rules.first_names)


@cache
def _rules(topics: Topics) -> _Rules:
    data = load_protocol("screening")
    own: Mapping[str, Any] = load_protocol("screening_paper") if topics == "paper" else {}
    added = own.get("added", {})
    anywhere = {**data["anywhere"], **own.get("anywhere", {})}
    here = {**data["here"], **own.get("here", {})}
    required = _joined(data["required"], added.get("required", {}))
    runs = {*BY_CODE, *anywhere, *here, *required} - set(own.get("left_out", ()))
    order = tuple(rule for rule in RULES if rule in runs)
    lists: dict[str, str] = {**anywhere, **here, **required}
    cues = _joined(data["cues"], added.get("cues", {}))
    contrast = own.get("contrast")
    return _Rules(
        version=own.get("version", data["version"]),
        order=order,
        anywhere=tuple(rule for rule in order if rule in anywhere or rule == "identifying"),
        here=frozenset(here),
        contrast=None if contrast is None else compile_words(contrast["words"]),
        bounds={**data["bounds"], **own.get("bounds", {})},
        patterns={rule: compile_words(lists[rule]) for rule in order if rule in lists},
        cues={kind: compile_words(lines) for kind, lines in cues.items()},
        weights={**data["weights"], **own.get("weights", {})},
        identifying={kind: re.compile(text) for kind, text in data["identifying"].items()},
        first_names=frozenset(data["first_names"]["words"].split()),
        not_names=frozenset(data["not_names"]["words"].split()),
    )


def _joined(lists: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    return {name: lines + added.get(name, "") for name, lines in lists.items()}


def compile_words(lines: str) -> re.Pattern[str]:
    """Compile a list of words and expressions, a line or a bar apart, for lower-case text."""
    alternatives = lines.strip().replace("\n", "|")
    return re.compile(rf"\b(?:{alternatives})\b")
