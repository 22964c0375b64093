"""What a rater may read: a rule screen that holds texts back, and whose word releases them.

Nobody reads a completion, or another person's reason, that no screen has seen (SPEC section 15).
The rules are words and forms in ``protocol/safety.toml``. What they hold waits for a person, and is
not rejected; what a person says counts more than what they say. They cannot read: unkindness in
polite words passes them, so a study's own review of all texts is the stronger screen. Nothing here
decides which texts a person is shown: the queue of reviews is the pages' work.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple

from hearteval.analysis.coverage.naming import NOTHING_ELSE, OF_FAMILY, find_name
from hearteval.domain import (
    Completion,
    Item,
    Judgment,
    Label,
    LabelVerdict,
    Rater,
    System,
    content_hash,
    last_word,
)
from hearteval.domain.items import NO_LANGUAGE
from hearteval.labels.reply import Said
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol

SAFETY = "safety"
"""The taxonomy of these labels, and the category of the one that says whether a text may be read:
``absent`` where nothing speaks against it, ``present`` where something does."""
NAMES_A_MODEL = "names-a-model"

RULES_NOTICE = (
    "The rule screen reads words, not meaning: it passes what is unkind or dangerous in ordinary"
    " words."
)
"""What is said where it has read."""

Standing = Literal["unscreened", "waiting", "released", "kept-out"]
"""Of a text: nothing was said of it; a person is to read it; raters may; nobody is shown it."""
_STANDING: Mapping[LabelVerdict, Standing] = {
    "absent": "released",
    "present": "kept-out",
    "uncertain": "waiting",
}

_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_SENTENCE = re.compile(r"([^.!?;:\n]+)([.!?;:\n]*)")
_TOKEN = re.compile(r"[a-z']+")


class _Sentence(NamedTuple):
    """Lists of which one sentence holds a word each, and none of a last list."""

    rule: str
    has: tuple[re.Pattern[str], ...]
    unless: re.Pattern[str]

    def holds(self, sentence: str) -> bool:
        has_all = all(pattern.search(sentence) for pattern in self.has)
        return has_all and self.unless.search(sentence) is None


class _Rules(NamedTuple):
    words: Mapping[str, re.Pattern[str]]
    sentences: tuple[_Sentence, ...]
    passing: Mapping[str, re.Pattern[str]]
    forms: Mapping[str, re.Pattern[str]]
    unless: Mapping[str, re.Pattern[str]]
    says_a_model: re.Pattern[str]
    encoded: re.Pattern[str]
    english: frozenset[str]
    bounds: Mapping[str, float]
    of_reasons: frozenset[str]


@cache
def safety_rater() -> Rater:
    """Return the rule screen as a rater, which is no person; other rules are another rater."""
    rules = load_protocol("safety")
    settings = {
        "version": rules["version"],
        "rules_hash": content_hash([rules, NOTHING_ELSE, OF_FAMILY]),
    }
    return Rater(name="rule screen", kind="llm", family="rules", settings=settings)


def label_completion(completion: Completion, item: Item, system: System, *, now: datetime) -> Label:
    """Say whether a rule holds a completion, which is one of this system for this item.

    The evidence names the rules, never what they found. They know English words only, so whatever
    answers an item in another language is held for a person.
    """
    hits = screen_text(completion.text)
    if not is_english(item):
        hits = tuple(sorted({*hits, "other-language"}))
    if find_name(completion.text, item, system) is not None:
        hits = (*hits, NAMES_A_MODEL)
    return _label(hits, completion_id=completion.id, now=now)


def label_reasons(judgment: Judgment, *, now: datetime) -> Label:
    """Say whether a rule holds the reasons of a judgment; where it has none, nothing does.

    Rules about who wrote a text and about texts for judges do not apply: reasons speak of that.
    """
    words = "\n".join((judgment.rationale, *judgment.reasons.values()))
    hits = tuple(rule for rule in screen_text(words) if rule in _rules().of_reasons)
    return _label(hits, judgment_id=judgment.id, now=now)


def label_by_model(
    text: LabelledText, said: Mapping[str, Said], *, rater_id: str, now: datetime
) -> tuple[Label, ...]:
    """Return what a model that screens has said of a text: of each category, and whether it holds.

    Only a text that it holds gets a label that a standing is read from: so nothing that a model
    says releases a text. Its quotes were found in the text and are not kept: they may name someone.
    """
    held = [key for key, one in said.items() if one.verdict != "absent"]
    is_sure = any(said[key].verdict == "present" for key in held)
    named: dict[str, Any] = {"taxonomy": SAFETY, "rater_id": rater_id, "created_at": now}
    each = (
        Label(**text.names, category=key, verdict=one.verdict, probability=one.probability, **named)
        for key, one in said.items()
    )
    if not held:
        return tuple(each)
    verdict: LabelVerdict = "present" if is_sure else "uncertain"
    reason = ", ".join(held)
    return (
        *each,
        Label(**text.names, category=SAFETY, verdict=verdict, evidence=reason, **named),
    )


def screen_text(text: str) -> tuple[str, ...]:
    """Return the names of the rules that hold a text, each once; none where it passes."""
    rules = _rules()
    most = int(rules.bounds["max_characters"])
    raw = text[:most]
    written = unicodedata.normalize("NFKC", raw).translate(_QUOTES)
    seen = rules.forms["hidden"].sub("", written)
    words = " ".join(seen.lower().split())
    sentences = _split_sentences(seen.lower())
    read = {
        rule: [one for one, asked in sentences if not passing.search(one + asked)]
        for rule, passing in rules.passing.items()
    }
    found = {
        rule: pattern.search(". ".join(read[rule]) if rule in read else words)
        for rule, pattern in rules.words.items()
    }
    hits = {rule for rule, hit in found.items() if hit}
    hits -= {rule for rule, pattern in rules.unless.items() if pattern.search(words)}
    hits |= {one.rule for one in rules.sentences if any(map(one.holds, read[one.rule]))}
    hits |= {"says-what-it-is"} if rules.says_a_model.search(words) else set()
    hits |= {rule for rule, pattern in rules.forms.items() if pattern.search(written)}
    others = {
        "hidden": rules.forms["hidden"].search(raw),
        "other-script": any(map(_is_foreign, raw)),
        "encoded": rules.encoded.search(seen),
        "other-language": any(is_other_language(one) for one, _ in sentences),
        "over-long": len(text) > most,
    }
    return tuple(sorted(hits | {rule for rule, hit in others.items() if hit}))


def _split_sentences(text: str) -> list[tuple[str, str]]:
    """Return the sentences of a text without their ends, each with a ``?`` if it asks."""
    found = _SENTENCE.findall(text)
    return [(" ".join(one.split()), "?" if "?" in end else "") for one, end in found]


def safety_standing(labels: Iterable[Label], *, people: Container[str]) -> Standing:
    """Return what becomes of a text, by all labels of it and the ids of raters who are people.

    Labels of other taxonomies and categories say nothing here. Where no person has spoken, screens
    release what all of them found harmless. One person's word beats theirs, either way. Where two
    people differ, or one is uncertain, the text waits for the next, who decides; whoever speaks
    after a difference decides anew. Who speaks later is told by ``created_at``.

    Raises:
        ValueError: The labels are of several texts.
    """
    own = [label for label in labels if (label.taxonomy, label.category) == (SAFETY, SAFETY)]
    if len({label.text_id for label in own}) > 1:
        raise ValueError("these labels are of several texts; a decision is about one")
    by_people = [label for label in own if label.rater_id in people]
    if by_people:
        by_people.sort(key=lambda label: (label.created_at, label.id))
        return _standing_by_people([label.verdict for label in by_people])
    if not own:
        return "unscreened"
    return "released" if all(label.verdict == "absent" for label in own) else "waiting"


def read_standings(
    labels: Iterable[Label], raters: Iterable[Rater], *, asked: Mapping[str, Any]
) -> dict[str, Standing]:
    """Return what becomes of each text that labels are of, by its id, as a study asks people.

    Where the screens hold a text, as many people as it asks have to agree that it may be read.
    Where people read all texts, this holds of every completion; of reasons the screens alone
    decide.
    """
    people = {rater.id for rater in raters if rater.kind == "human"}
    n_people, are_all_read = asked.get("reviewers_per_text", 1), asked.get("review") == "all"
    by_text: defaultdict[str, list[Label]] = defaultdict(list)
    for label in labels:
        if (label.taxonomy, label.category) == (SAFETY, SAFETY):
            by_text[label.text_id].append(label)
    found: dict[str, Standing] = {}
    for text, own in by_text.items():
        found[text] = safety_standing(own, people=people)
        n_said = sum(label.rater_id in people for label in own)
        is_asked = are_all_read and own[0].completion_id is not None
        is_read = n_said >= n_people or not (n_said or is_asked)
        if found[text] == "released" and not is_read:
            found[text] = "waiting"
    return found


def _standing_by_people(verdicts: Sequence[LabelVerdict]) -> Standing:
    word = last_word(verdicts)
    return "waiting" if word is None else _STANDING[word]


def _label(
    hits: Sequence[str],
    *,
    completion_id: str | None = None,
    judgment_id: str | None = None,
    now: datetime,
) -> Label:
    return Label(
        completion_id=completion_id,
        judgment_id=judgment_id,
        taxonomy=SAFETY,
        category=SAFETY,
        verdict="present" if hits else "absent",
        evidence=", ".join(hits),
        rater_id=safety_rater().id,
        created_at=now,
    )


def _is_foreign(character: str) -> bool:
    """Say whether a letter is not of the Latin script as it is usually written."""
    if character.isascii() or not character.isalpha():
        return False
    return not unicodedata.name(character, "").startswith("LATIN ")


def is_other_language(sentence: str) -> bool:
    """Say whether a text of some words has too few that are common in English."""
    rules = _rules()
    words = _TOKEN.findall(sentence)
    n_known = sum(word in rules.english for word in words)
    return len(words) >= rules.bounds["min_words"] and (
        n_known < rules.bounds["min_english"] * len(words)
    )


def is_english(item: Item) -> bool:
    """Say whether an item is in English; where nobody said, by its words."""
    if item.language != NO_LANGUAGE:
        return item.language.partition("-")[0].lower() == "en"
    return not is_other_language(" ".join(turn.text for turn in item.context).lower())


@cache
def _rules() -> _Rules:
    data = load_protocol("safety")
    families = {name: _join_lines(lines) for name, lines in data["families"].items()}
    names = "|".join((*map(re.escape, NOTHING_ELSE), *(n for of in OF_FAMILY.values() for n in of)))
    return _Rules(
        words={rule: _compile_words(lines, families) for rule, lines in data["words"].items()},
        sentences=tuple(
            _Sentence(
                rule=one["rule"],
                has=tuple(_compile_words(lines, families) for lines in one["has"]),
                unless=_compile_words(one["unless"], families),
            )
            for one in data["sentences"]
        ),
        passing={
            rule: re.compile("|".join(families[name] for name in names_of))
            for rule, names_of in data["passing"].items()
        },
        forms={rule: re.compile(form) for rule, form in data["forms"].items()},
        unless={rule: _compile_words(lines, families) for rule, lines in data["unless"].items()},
        says_a_model=re.compile(rf"(?i)\b(?:{data['saying']['words']}) (?:{names})(?!\w)"),
        encoded=re.compile(rf"[\w+/=-]{{{data['bounds']['max_token']}}}"),
        english=frozenset(data["english"]["words"].split()),
        bounds=data["bounds"],
        of_reasons=frozenset(data["reasons"]["rules"]),
    )


def _compile_words(lines: str, families: Mapping[str, str]) -> re.Pattern[str]:
    """Compile alternatives between word boundaries, with each family that they name in braces."""
    for name, words in families.items():
        lines = lines.replace(f"{{{name}}}", words)
    return re.compile(rf"\b(?:{_join_lines(lines)})\b")


def _join_lines(lines: str) -> str:
    return lines.strip().replace("\n", "|")
