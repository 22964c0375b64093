"""From the seeker's mouth to the listener's: first person to second, questions to indirect ones.

Works on one clause already tidied (`clauses.tidy`). Only the first person is turned: clauses that
speak of "you" are left to the caller to avoid, as "you" may be the listener or anyone.
"""

import re
from functools import cache

from hearteval.protocol import load_protocol

_PART = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w]+|_+")
_OTHER_SUBJECTS = frozenset(
    {"he", "she", "it", "they", "who", "which", "that", "there", "everyone", "nobody", "someone"}
)
_WAS = {"was": "were", "wasn't": "weren't"}


def mirror_person(clause: str) -> str:
    """Turn a clause from the first person to the second: "I was told my job" to "you were told …".

    "was" becomes "were" where its subject is "I", right before it or across "and", "but", "or".
    "am" after a number is the time of day and stays, as does "US" in capitals.
    """
    table = load_protocol("baselines")["reflection"]["pronouns"]
    mirrored: list[str] = []
    before: list[str] = []
    for part in _PART.findall(clause):
        word = part.lower()
        if not word[0].isalnum():
            mirrored.append(part)
            continue
        if word == "am" and not (before and before[-1].isdigit()):
            mirrored.append("are")
        elif word in _WAS and _has_first_person_subject(before):
            mirrored.append(_WAS[word])
        elif word in table and part != "US":
            mirrored.append(table[word])
        else:
            mirrored.append(part)
        before.append(word)
    return "".join(mirrored)


def _has_first_person_subject(before: list[str]) -> bool:
    """Return whether the words before a "was" make "I" its subject."""
    adverbs = reflection_words("words", "adverbs")
    words = list(before)
    while words and (words[-1] in adverbs or words[-1].endswith("ly")):
        words.pop()
    if not words:
        return False
    if words[-1] in {"and", "but", "or"}:
        subjects = [word for word in words if word in _OTHER_SUBJECTS or word == "i"]
        return bool(subjects) and subjects[-1] == "i"
    return words[-1] in {"i", "we"}


def mirror_question(question: str) -> str | None:
    """Turn a direct question into an indirect one: "should I call" to "whether you should call".

    Returns:
        The indirect question in the second person, or None where its grammar is not covered.
    """
    words = question.lower().split()
    if words[:2] == ["what", "if"] and len(words) > 3:
        return mirror_person(f"what happens {question.split(maxsplit=1)[1]}")
    if words and words[0] in {"what's", "who's", "how's", "where's"}:
        words = [words[0][:-2], "is", *words[1:]]
    split = _split_question(words)
    if split is None:
        return None
    asked, auxiliary, rest = split
    indirect = _order_as_statement(asked, auxiliary, rest)
    return None if indirect is None else mirror_person(" ".join(indirect))


def _split_question(words: list[str]) -> tuple[list[str], str, list[str]] | None:
    """Split into question words (empty for yes or no), auxiliary and what follows."""
    auxiliaries = _questions("be") | _questions("modal") | _questions("do")
    at = next((i for i, word in enumerate(words[:4]) if word in auxiliaries), None)
    if at is None or len(words) < at + 3:
        return None
    if at > 0 and words[0] not in _questions("wh"):
        return None
    return words[:at], words[at], words[at + 1 :]


def _order_as_statement(asked: list[str], auxiliary: str, rest: list[str]) -> list[str] | None:
    subject, *predicate = rest
    opening = asked or ["whether"]
    if subject not in _questions("subjects"):
        return _order_without_pronoun(asked, auxiliary, rest)
    if auxiliary == "do":
        if asked and subject == "i" and predicate[0] not in _questions("stative"):
            return [*opening, "to", *predicate] if asked[0] != "why" else [*opening, *rest]
        return [*opening, *rest]
    if auxiliary == "does":
        return [*opening, subject, *_in_third_person(predicate)]
    if auxiliary == "did":
        return None if asked else [*opening, subject, "really did", *predicate]
    return [*opening, subject, auxiliary, *predicate]


def _order_without_pronoun(asked: list[str], auxiliary: str, rest: list[str]) -> list[str] | None:
    """Order "what is wrong with me" (as it is) and "what is the point" (turned round)."""
    if len(asked) != 1 or asked[0] not in {"what", "who"} or auxiliary in _questions("do"):
        return None
    if rest[0] in {"the", "my"}:
        is_short = auxiliary in _questions("be") and len(rest) <= 5
        return [*asked, *rest, auxiliary] if is_short else None
    return [*asked, auxiliary, *rest]


def _in_third_person(predicate: list[str]) -> list[str]:
    """Inflect the first word that is no adverb: "ever care" to "ever cares"."""
    adverbs = reflection_words("words", "adverbs")
    at = next((i for i, word in enumerate(predicate) if word not in adverbs), 0)
    return [*predicate[:at], _third_person(predicate[at]), *predicate[at + 1 :]]


def _third_person(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in {"a", "e", "o", "u"}:
        return verb[:-1] + "ies"
    return verb + "s"


def _questions(name: str) -> frozenset[str]:
    return reflection_words("questions", name)


@cache
def reflection_words(section: str, name: str) -> frozenset[str]:
    """Return one word list of the reflection rules as a set."""
    rules = load_protocol("baselines")["reflection"]
    return frozenset(rules[section][name])
