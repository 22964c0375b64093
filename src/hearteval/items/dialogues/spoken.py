"""What was said, as a file of dialogues has it -> items; the same for text, tables and JSON.

Who speaks is told by a word: well-known ones and those that a study names, never by guessing. What
nobody has said is ``not stated`` in the item, which looks like no label, licence or consent.
"""

import hashlib
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from json import dumps
from typing import Any, Literal

from hearteval.domain import Item, Role, Turn, shows_text
from hearteval.domain.items import NO_LANGUAGE, ROLES
from hearteval.errors import Remedy, SettingsError, raise_faults
from hearteval.items.dialogues.looks import seem_sides, seems_topic
from hearteval.items.files import LANGUAGE_TAG, LONGEST_TEXT

Part = Literal["seeker", "supporter", "reference", "left out"]
LastReply = Literal["reference", "drop", "refuse"]

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
REFERENCE = "reference"
OF_ALL = {"language": "language", "licence": "licence", "consent_basis": "consent"}
"""Fields that a study may state for all dialogues of a file, with the keys for them."""
COLUMN_LABELS = ("situation", "emotion", "problem", "culture", "population", "language", REFERENCE)
"""Fields whose column or key a study may name."""
OF_ONE_DIALOGUE = ("dialogue_id", "situation")
OWN_SOURCE = "own"
"""Not the name of the file: a renamed file would hold other items, and everything be made anew."""
NOT_STATED = "not stated"
NO_CONSENT = "Not stated who wrote the dialogues, nor why they may be used."
LONG_TURN = 10_000
"""Characters from which a turn is so long that a break may be missing before it ends."""
TOO_LONG = f"a turn of over {LONGEST_TEXT:,} characters; is a break missing? Shorten or remove it"
IF_RIGHT = "if that is right, these lines belong under [[items]] of the study file:"
ENDS_WITH_SUPPORTER = (
    "the dialogue ends with a supporter turn, which the systems are to write;"
    ' last_reply = "reference" keeps it as the reply once given, "drop" leaves it out'
)
TWO_REFERENCES = (
    'two replies for one reference; remove one, or drop the last turn: last_reply = "drop"'
)
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
    turn: str | None = None
    """Column that numbers the turns of a dialogue."""
    turns: str | None = None
    """Key of an object's list of turns, or column or key whose text is a whole transcript."""
    labels: tuple[tuple[str, str], ...] = ()
    """Fields of an item, each with the column or key that says it."""
    stated: tuple[tuple[str, str], ...] = ()
    """What holds for every dialogue that does not say otherwise, by field of an item."""
    last_reply: LastReply | None = None
    """What the last turn becomes where it is the supporter's; None refuses it."""
    encoding: str | None = None
    """Python's name for how the file writes its letters; None for UTF-8."""

    def as_keys(self) -> dict[str, str | tuple[str, ...]]:
        """Return what it says, by the keys of ``[[items]]`` in a study file."""
        columns = {"dialogue": self.dialogue, "turn": self.turn, "role": self.role}
        columns |= {"text": self.text, **dict(self.labels)}
        said = {
            "encoding": self.encoding,
            "turns_key": self.turns,
            **{f"{what}_column": name for what, name in columns.items()},
            "seeker": self.seeker,
            "supporter": self.supporter,
            "last_reply": self.last_reply,
            **{OF_ALL[field]: words for field, words in self.stated},
        }
        return {key: value for key, value in said.items() if value}

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
    given: DialogueNames
    """What is said of the file."""
    names: DialogueNames = field(init=False)
    """That, and what the file seems to need besides: with it, it is read to its end."""
    parts: Mapping[str, Part] = field(init=False)
    noun: str = "line"
    """What places count."""
    starts: Sequence[tuple[int, str]] = ()
    """Of several files read as one, the place before each one's first line, and its name."""
    faults: list[tuple[int, str]] = field(default_factory=list)
    ends_with_supporter: bool = False
    """Whether a dialogue does, and nothing is said of what becomes of its last turn."""
    n_last: int = 0
    """Last turns of the supporter that became the reference reply."""
    heard: dict[Part, Counter[str]] = field(default_factory=dict)
    """Turns by who is meant and the word for it."""
    n_joined: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """What of the file is in no item."""
    unused: list[str] = field(default_factory=list)
    """Columns and keys that mean nothing to an item."""

    def __post_init__(self) -> None:
        self.names = self.given
        self.parts = self.given.parts()

    @property
    def named(self) -> frozenset[str]:
        """Words for people that the study names itself."""
        return frozenset(map(folded, self.named_as_written))

    @property
    def named_as_written(self) -> tuple[str, ...]:
        """The same, neither made small nor otherwise changed."""
        return (*self.names.seeker, *self.names.supporter)

    def propose(self, **changes: Any) -> None:
        """Go on as if this had been said too; what is wrong with the file says how to say it."""
        self.names = replace(self.names, **changes)
        self.parts = self.names.parts()

    def fault(self, place: int, words: str) -> None:
        """Note a fault."""
        self.faults.append((place, words))

    def where(self, place: int) -> str:
        """Say where a place is; 0 is the whole file."""
        if not place or not self.starts:
            return f", {self.noun} {place}" if place else ""
        start, name = max(start for start in self.starts if start[0] < place)
        return f", {name} line {place - start}"

    def raise_all(self) -> None:
        """Raise what is wrong with the file, in its order; return where nothing is."""
        faults = [
            SettingsError(f"{self.file}{self.where(place)}: {words}", ids=(self.file,))
            for place, words in sorted(self.faults, key=lambda fault: fault[0])
        ]
        try:
            raise_faults(self.file, faults)
        except SettingsError as error:
            self._answer(error)
            raise

    def _answer(self, error: SettingsError) -> None:
        """Add the lines of a study file that would say what is lacking, as far as it is seen."""
        if self.ends_with_supporter:
            self.propose(last_reply="reference")
        if self.names == self.given:
            return
        known = self.given.as_keys()
        if self.topic is not None:
            self.propose(labels=(*self.names.labels, ("problem", self.topic)))
        lacking = {k: v for k, v in self.names.as_keys().items() if known.get(k) != v}
        lines = [f"  {key} = {dumps(value, ensure_ascii=False)}" for key, value in lacking.items()]
        error.headline += "\n".join((f"\n{IF_RIGHT}", *lines))
        error.offer([Remedy("or run", {"said": as_words(lacking)})])
        error.ways = ()

    @property
    def topic(self) -> str | None:
        """Column or key that may hold the problem, of those that nothing is read from."""
        return None if "problem" in dict(self.names.labels) else seems_topic(self.unused)


def as_words(keys: Mapping[str, str | tuple[str, ...]]) -> tuple[str, ...]:
    """Write keys of ``[[items]]`` as ``KEY=VALUE``, one for each of several values."""
    return tuple(
        f"{key}={one}"
        for key, value in keys.items()
        for one in (value if isinstance(value, tuple) else (value,))
    )


def propose_sides(
    dialogues: Sequence[Spoken], findings: Findings, *, are_lines: bool = False
) -> None:
    """Note speakers that nobody knows, and go on as if they were the sides that they seem to be.

    With `are_lines` dialogues of one turn each may be the parted turns of one.
    """
    parts = {findings.parts.get(folded(said.who)) for each in dialogues for said in each.turns}
    strange = [
        [said for said in each.turns if folded(said.who) not in findings.parts]
        for each in dialogues
    ]
    unknown: dict[str, list[int]] = {}
    for said in (said for each in strange for said in each):
        unknown.setdefault(said.who, []).append(said.place)
    words = [[said.who for said in each if said.who.strip()] for each in strange]
    if are_lines and all(len(each) <= 1 for each in words):
        words = [[who for each in words for who in each]]
    first = Counter(each.turns[0].who for each in dialogues if each.turns)
    sides = seem_sides([each for each in words if each], {one for one in ROLES if one in parts})
    for who, at in unknown.items():
        begins = f"first in {first[who]:,} of {len(dialogues):,} dialogues"
        of = [f"{len(at):,} times"] * (len(at) > 1) + [begins] * (who in sides)
        findings.fault(at[0], _unknown_words(who, ", ".join(of), sides))
    for who, role in sides.items():
        findings.propose(**{role: (*getattr(findings.names, role), who)})


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
    if findings.n_last:
        notes.append(f"last turn of the supporter, as the reference reply: {findings.n_last:,}")
    notes += [f"left out: {what} ({n:,})" for what, n in findings.left_out.items()]
    if findings.unused:
        perhaps = f'; problem_column = "{findings.topic}"?' if findings.topic else ""
        notes.append(f"not used: {', '.join(findings.unused)}{perhaps}")
    if absent := not_stated(items):
        notes.append(f"not stated: {', '.join(absent)}")
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


def not_stated(items: Iterable[Item]) -> tuple[str, ...]:
    """Return what some items do not say, by the label or key for it."""
    unsaid = {"licence": NOT_STATED, "consent_basis": NO_CONSENT, "language": NO_LANGUAGE}
    unsaid |= {"emotion": NOT_STATED, "problem": NOT_STATED}
    return tuple(
        OF_ALL.get(name, name)
        for name, value in unsaid.items()
        if any(getattr(item, name) == value for item in items)
    )


def _make_item(dialogue: Spoken, findings: Findings) -> Item | None:
    """Make the item of a dialogue, or None where it has faults, which are noted."""
    n_faults = len(findings.faults)
    turns, reference = _read_turns(dialogue, findings)
    strange = [folded(said.who) not in findings.parts for said in dialogue.turns]
    labels = {name: text for name, text in dialogue.labels.items() if text}
    labels = dict(findings.given.stated) | labels
    own_reference = labels.pop(REFERENCE, None)
    if own_reference is not None and reference is not None:
        findings.fault(dialogue.place, TWO_REFERENCES)
    if not any(strange[-1:]):
        turns, reference = _settle_last(dialogue, turns, reference or own_reference, findings)
    if any(strange) or len(findings.faults) > n_faults:
        return None
    if not turns:
        findings.fault(dialogue.place, "a dialogue without turns; add them, or remove it")
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


def _settle_last(
    dialogue: Spoken, turns: list[Turn], reference: str | None, findings: Findings
) -> tuple[list[Turn], str | None]:
    """Return the turns up to the seeker's last one, and the reference reply."""
    wish = findings.given.last_reply
    if not turns or turns[-1].role == "seeker":
        return turns, reference
    if wish == "drop":
        findings.left_out["last turns of the supporter"] += 1
    elif wish == "reference":
        if reference is not None:
            findings.fault(dialogue.place, TWO_REFERENCES)
        findings.n_last += 1
        return turns[:-1], turns[-1].text
    else:
        findings.fault(dialogue.turns[-1].place, ENDS_WITH_SUPPORTER)
        findings.ends_with_supporter = wish is None
    return turns[:-1], reference


def _read_turns(dialogue: Spoken, findings: Findings) -> tuple[list[Turn], str | None]:
    """Return the turns, neighbours of one side joined, and the reference reply."""
    joined: list[tuple[Role, list[str]]] = []
    reference = None
    words: dict[Part, dict[str, str]] = {}
    for said in dialogue.turns:
        part = findings.parts.get(folded(said.who))
        text = whole_text(said.text)
        if part is None:
            continue  # noted before
        if part == "left out":
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
                f"{one} and {other} in one dialogue would both be the {part}; say who is who, e.g."
                f" supporter = [{dumps(unnamed[0], ensure_ascii=False)}] under [[items]], or --set"
                f" {shlex.quote(f'supporter={unnamed[0]}')}",
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


def _unknown_words(who: str, about: str, sides: Mapping[str, Role]) -> str:
    """Say of a speaker whom nobody knows who it may be; `about` is how often it speaks."""
    known = [word for words in WORDS.values() for word in words]
    close = get_close_matches(folded(who), known, n=1, cutoff=0.8)
    guess = f" (did you mean {close[0]!r}?)" if close else ""
    guess += f" ({about})" if about else ""
    if not who.strip():
        return f"nobody is named as the speaker{guess}; fill in who speaks"
    if who in sides:
        is_alone = len(sides) == 1
        other = "seeker" if sides[who] == "supporter" else "supporter"
        way = f"name it {other}" if is_alone else "swap the two"
        return f"{who!r} is no known role{guess}; is it the {sides[who]}? Else {way}"
    return (
        f"{who!r} is no known role{guess}; name it: seeker or supporter ="
        f" [{dumps(who, ensure_ascii=False)}] under [[items]], or --set"
        f" {shlex.quote(f'seeker={who}')}; or indent the line if nobody speaks there"
    )
