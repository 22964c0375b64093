"""What was said, as a file of dialogues has it -> items; the same for text, tables and JSON.

Who speaks is told by a word: well-known ones and those that a study names, never by guessing. What
nobody has said is ``not stated`` in the item, which looks like no label, licence or consent.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal

from hearteval.domain import Item, Role, Turn, shows_text
from hearteval.errors import SettingsError, raise_faults
from hearteval.items.files import LANGUAGE_TAG, LONGEST_TEXT

Part = Literal["seeker", "supporter", "reference", "left out"]

WORDS: Mapping[Part, tuple[str, ...]] = {
    "seeker": (
        *("seeker", "help seeker", "client", "user", "usr", "patient", "human", "caller"),
        *("visitor", "customer", "help-seeker"),
    ),
    "supporter": (
        *("supporter", "helper", "counselor", "counsellor", "therapist", "assistant", "listener"),
        *("agent", "bot", "chatbot", "ai", "model", "gpt", "coach", "peer supporter"),
    ),
    "reference": ("reference", "reference reply"),
    "left out": ("system", "developer"),
}
"""Who is meant by which word, in small letters; an instruction to a model is nobody's turn."""
LABELS: Mapping[str, str] = {
    **dict.fromkeys(("id", "dialogue id", "dialog id", "conversation id"), "dialogue_id"),
    **{word: word for word in ("source", "situation", "emotion", "problem", "culture")},
    **{word: word for word in ("population", "language", "licence")},
    "license": "licence",
    **dict.fromkeys(("consent", "consent basis"), "consent_basis"),
}
"""Which field of an item a label fills."""
OF_ONE_DIALOGUE = ("dialogue_id", "situation")
OWN_SOURCE = "own"
"""Not the name of the file: a renamed file would hold other items, and everything be made anew."""
NOT_STATED = "not stated"
NO_LANGUAGE = "und"
"""BCP 47 for a language that nobody has determined."""
NO_CONSENT = "Not stated who wrote the dialogues, nor why they may be used."
LONG_TURN = 10_000
"""Characters from which a turn is so long that a break may be missing before it ends."""
TOO_LONG = f"a turn of over {LONGEST_TEXT:,} characters; is a break missing? Shorten or remove it"
_ID_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueNames:
    """What a file calls its columns and the people in it, where that is not well known."""

    dialogue: str | None = None
    """Column, or key of an object, that says which dialogue a turn is of."""
    role: str | None = None
    """Likewise who speaks."""
    text: str | None = None
    """Likewise what is said."""
    seeker: tuple[str, ...] = ()
    """Words for the seeker."""
    supporter: tuple[str, ...] = ()

    def parts(self) -> dict[str, Part]:
        """Return who is meant by each word that is known.

        Raises:
            SettingsError: A word is named for both.
        """
        found: dict[str, Part] = {word: part for part, words in WORDS.items() for word in words}
        seeker, supporter = set(map(folded, self.seeker)), set(map(folded, self.supporter))
        if both := sorted(seeker & supporter):
            raise SettingsError(f"{both[0]!r} is named as seeker and as supporter; choose one")
        found.update(dict.fromkeys(seeker, "seeker"))
        found.update(dict.fromkeys(supporter, "supporter"))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn as the file has it."""

    who: str
    text: str
    place: int
    """Its line, or its entry in a list."""


@dataclass(slots=True, kw_only=True)
class Spoken:
    """One dialogue as the file has it."""

    place: int
    turns: list[Said] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    """By field of an item."""


@dataclass(slots=True)
class Findings:
    """What is wrong with a file, and what was done with it, while it is read."""

    file: str
    parts: Mapping[str, Part]
    named: frozenset[str]
    """Words for people that the study names itself."""
    noun: str = "line"
    """What places count."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    unknown: dict[str, list[int]] = field(default_factory=dict)
    """Places of each word that names nobody who is known."""
    heard: dict[Part, Counter[str]] = field(default_factory=dict)
    """Turns by who is meant and the word for it."""
    n_joined: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What of the file is in no item."""
    unused: list[str] = field(default_factory=list)
    """Columns and keys that mean nothing to an item."""

    def fault(self, place: int, words: str) -> None:
        """Note a fault."""
        self.faults.append((place, words))

    def raise_all(self) -> None:
        """Raise what is wrong with the file, in its order; return where nothing is."""
        for who, places in self.unknown.items():
            self.fault(places[0], _unknown_words(who, len(places), self.parts))
        raise_faults(
            self.file,
            [
                SettingsError(f"{self.file}, {self.noun} {place}: {words}", ids=(self.file,))
                for place, words in sorted(self.faults, key=lambda fault: fault[0])
            ],
        )


@lru_cache(maxsize=4096)
def folded(word: str) -> str:
    """Write a word for a person, a column or a label so that spellings of it are the same."""
    return " ".join(word.replace("_", " ").casefold().split())


def make_items(dialogues: Iterable[Spoken], findings: Findings) -> tuple[Item, ...]:
    """Make an item of each dialogue, in their order.

    Raises:
        SettingsError: It lists all that is wrong with the file.
    """
    items: list[Item] = []
    seen: dict[str, int] = {}
    for dialogue in dialogues:
        item = _make_item(dialogue, findings)
        if item is None:
            continue
        key = f"{item.source}\0{item.dialogue_id}\0{item.turn_index}"
        if key in seen:
            words = f"the dialogue {item.dialogue_id!r}"
            if "dialogue_id" not in dialogue.labels:
                words = "the same dialogue"
            same = f"{words} again, as in {findings.noun} {seen[key]}; remove one of the two"
            findings.fault(dialogue.place, same)
        seen.setdefault(key, dialogue.place)
        items.append(item)
    findings.raise_all()
    return tuple(items)


def notes_on(items: Sequence[Item], findings: Findings) -> tuple[str, ...]:
    """Say what was done with a file, and what it does not say."""
    notes = [
        f"read as {part}: {', '.join(f'{who} ({n:,})' for who, n in words.most_common())}"
        for part, words in findings.heard.items()
    ]
    if findings.n_joined:
        notes.append(f"joined to the turn before, of the same side: {findings.n_joined:,}")
    notes += [f"left out: {what} ({n:,})" for what, n in findings.left_out.items()]
    if findings.unused:
        notes.append(f"not used: {', '.join(findings.unused)}")
    absent = [
        name
        for name, value in (
            *(("licence", NOT_STATED), ("consent_basis", NO_CONSENT), ("language", NO_LANGUAGE)),
            *(("emotion", NOT_STATED), ("problem", NOT_STATED)),
        )
        if any(getattr(item, name) == value for item in items)
    ]
    if absent:
        notes.append(f"not stated: {', '.join(absent).replace('consent_basis', 'consent')}")
    if not any(item.reference for item in items):
        notes.append(
            "no reference replies: leave the systems original, retrieval and shuffled out of the"
            " study"
        )
    n_long = sum(len(turn.text) > LONG_TURN for item in items for turn in item.context)
    if n_long:
        notes.append(f"over {LONG_TURN:,} characters: {n_long:,} turns; is a break missing?")
    n_alike = len(items) - len({item.context for item in items})
    if n_alike:
        notes.append(f"the same words as another dialogue, under another id: {n_alike:,}")
    return tuple(notes)


def _make_item(dialogue: Spoken, findings: Findings) -> Item | None:
    """Make the item of a dialogue, or None where it has faults, which are noted."""
    n_faults = len(findings.faults)
    turns, reference = _read_turns(dialogue, findings)
    has_strangers = any(folded(said.who) not in findings.parts for said in dialogue.turns)
    if has_strangers or len(findings.faults) > n_faults:
        return None
    if turns and turns[-1].role == "supporter":
        findings.fault(
            dialogue.turns[-1].place,
            "the dialogue ends with a supporter turn, and the next supporter turn is what the"
            " systems write; remove it, or call it Reference if it is the reply once given",
        )
    elif not turns:
        findings.fault(dialogue.place, "a dialogue without turns; add them, or remove it")
    labels = {name: text for name, text in dialogue.labels.items() if text}
    if not re.match(LANGUAGE_TAG, labels.get("language", NO_LANGUAGE)):
        findings.fault(dialogue.place, "the language is no tag such as en or pt-BR; correct it")
    if len(findings.faults) > n_faults:
        return None
    said = "\0".join(f"{turn.role}\0{turn.text}" for turn in turns).encode(errors="replace")
    stated = {
        "source": OWN_SOURCE,
        "dialogue_id": hashlib.sha256(said).hexdigest()[:_ID_DIGITS],
        "situation": "",
        "emotion": NOT_STATED,
        "problem": NOT_STATED,
        "language": NO_LANGUAGE,
        "licence": NOT_STATED,
        "consent_basis": NO_CONSENT,
        **labels,
    }
    return Item(
        **stated,  # type: ignore[arg-type]
        turn_index=len(turns) - 1,
        context=tuple(turns),
        subset="regular",
        reference=reference,
    )


def _read_turns(dialogue: Spoken, findings: Findings) -> tuple[list[Turn], str | None]:
    """Return the turns, neighbours of one side joined, and the reference reply."""
    joined: list[tuple[Role, list[str]]] = []
    reference = None
    words: dict[Part, dict[str, str]] = {}
    for said in dialogue.turns:
        part = findings.parts.get(folded(said.who))
        text = whole_text(said.text)
        if part is None:
            findings.unknown.setdefault(said.who, []).append(said.place)
        elif part == "left out":
            findings.left_out[f"{folded(said.who)} messages"] += 1
        elif fault := _turn_fault(part, text, is_after_reference=reference is not None):
            findings.fault(said.place, fault)
        elif part == "reference":
            reference = text
        else:
            words.setdefault(part, {}).setdefault(folded(said.who), said.who)
            findings.heard.setdefault(part, Counter())[said.who] += 1
            if joined and joined[-1][0] == part:
                findings.n_joined += 1
                joined[-1][1].append(text)
            else:
                joined.append((part, [text]))
    turns = [Turn(role=role, text="\n".join(texts)) for role, texts in joined]
    if any(len(turn.text) > LONGEST_TEXT for turn in turns):
        findings.fault(dialogue.place, TOO_LONG)
    for part, spellings in words.items():
        unnamed = [who for word, who in spellings.items() if word not in findings.named]
        if len(unnamed) > 1:
            one, other, *_ = map(repr, unnamed)
            findings.fault(
                dialogue.place,
                f"{one} and {other} in one dialogue would both be the {part}; say who is who:"
                " --seeker and --supporter of heart init and heart items, items.seeker and"
                " items.supporter in a study file",
            )
    return turns, reference


def _turn_fault(part: Part, text: str, *, is_after_reference: bool) -> str | None:
    if not shows_text(text):
        return f"an empty turn of the {part}; write it, or remove it"
    if len(text) > LONGEST_TEXT:
        return TOO_LONG
    return "the reference reply is not the last turn; move it there" if is_after_reference else None


def whole_text(text: str) -> str:
    """Return a text without white space around it and around its lines' ends."""
    whole = text.encode(errors="replace").decode()  # half a surrogate pair is no character
    return "\n".join(line.rstrip() for line in whole.strip().splitlines())


def _unknown_words(who: str, n: int, parts: Mapping[str, Part]) -> str:
    times = f" ({n:,} times)" if n > 1 else ""
    close = get_close_matches(folded(who), list(parts), n=1, cutoff=0.8)
    guess = f" (did you mean {close[0]!r}?)" if close else ""
    if not who.strip():
        return f"nobody is named as the speaker{times}; fill in who speaks"
    return (
        f"{who!r} is no known role{guess}{times}; name it with heart init or heart items: --seeker"
        f" {who!r} or --supporter {who!r} (in a study file items.seeker or items.supporter); or"
        " indent the line if nobody speaks there"
    )
