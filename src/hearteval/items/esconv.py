"""Read ESConv (Liu et al. 2021) in both of its public shapes into dialogues and their couplets.

One shape is three JSONL files with ``usr``/``sys`` and ``text``, the other one JSON array with
``seeker``/``supporter`` (or ``speaker``/``listener``) and ``content``. Text is cleaned of white
space and curly quotes only; what is unsuitable is for ``screening`` to say. Strategies, feedback
and survey scores are left out: no item carries them. A couplet is a point where a supporter answers
a seeker; whether the item it makes is worth having is for ``screening`` and ``selection``.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import PurePath
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from hearteval.domain import Item, Role, Turn
from hearteval.errors import SettingsError

CORPUS = "esconv"
SPLIT_FILES = ("train.jsonl", "valid.jsonl", "test.jsonl")
ARRAY_FILE = "ESConv.json"
N_DIALOGUES = 1_300
"""What the whole corpus holds."""
LICENCE = "CC BY-NC 4.0"
CONSENT_BASIS = (
    "Written by crowd workers who were paid to contribute to ESConv (Liu et al. 2021), released by "
    "its authors for academic research only."
)

_ROLES: dict[str, Role] = {
    "usr": "seeker",
    "seeker": "seeker",
    "speaker": "seeker",
    "sys": "supporter",
    "supporter": "supporter",
    "listener": "supporter",
}
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_SAME_LABEL = {"issues with parents": "conflict with parents"}  # the corpus has both, for one thing
_MAX_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """One conversation of a corpus, cleaned and strictly alternating."""

    corpus: str
    dialogue_id: str
    """Stem of its file and its position there from 0, e.g. ``"train-0042"``."""
    emotion: str
    """The corpus's label, as of the problem."""
    problem: str
    situation: str
    """What the seeker wrote of it beforehand."""
    turns: tuple[Turn, ...]
    """What was said; neighbours never have the same role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Couplet:
    """A seeker turn and the supporter turn that follows it."""

    dialogue: Dialogue
    turn_index: int
    """Position of the seeker turn in the dialogue, from 0."""

    @property
    def place(self) -> tuple[str, int]:
        """The dialogue's id and the turn: no other couplet of a corpus has the same."""
        return self.dialogue.dialogue_id, self.turn_index

    @property
    def context(self) -> tuple[Turn, ...]:
        """Everything said up to and with the seeker turn."""
        return self.dialogue.turns[: self.turn_index + 1]

    @property
    def seeker_turn(self) -> str:
        """What the seeker says here."""
        return self.dialogue.turns[self.turn_index].text

    @property
    def reply(self) -> str:
        """What the corpus's supporter answered."""
        return self.dialogue.turns[self.turn_index + 1].text


class _Utterance(BaseModel):
    speaker: Literal["usr", "sys", "seeker", "supporter", "speaker", "listener"]
    text: str = Field(validation_alias=AliasChoices("text", "content"))


class _Conversation(BaseModel):
    emotion_type: str
    problem_type: str
    situation: str
    dialog: list[_Utterance] = Field(min_length=1)


def corpus_files(names: Iterable[str]) -> tuple[str, ...]:
    """Choose the files that make up the corpus from the names found in its folder.

    The three JSONL files are preferred where both shapes are present: they hold the same
    conversations. ``failed.json``, the failed conversations, is not part of the corpus.

    Raises:
        SettingsError: Neither shape is complete.
    """
    found = set(names)
    missing = [name for name in SPLIT_FILES if name not in found]
    if not missing:
        return SPLIT_FILES
    if ARRAY_FILE in found:
        return (ARRAY_FILE,)
    raise SettingsError(
        f"the ESConv folder lacks {', '.join(missing)}: expected {', '.join(SPLIT_FILES)}, "
        f"or {ARRAY_FILE}; put the corpus there or point --from at the folder that holds it",
        ids=missing,
    )


def parse_dialogues(
    text: str, *, name: str, only: Collection[str] | None = None
) -> tuple[Dialogue, ...]:
    """Read one file of the corpus, in whichever shape it is.

    The stem of its name becomes part of every dialogue's id. With `only`, the others are left out.

    Raises:
        SettingsError: The file is cut, empty, of another shape, or names an unknown speaker.
    """
    stem = PurePath(name).stem
    only, is_whole = only or (), only is None
    dialogues = tuple(
        _dialogue(_conversation(value, where=where), dialogue_id=dialogue_id)
        for index, (where, value) in enumerate(_entries(text.removeprefix("\ufeff"), name))
        if (dialogue_id := f"{stem}-{index:04d}") in only or is_whole
    )
    if is_whole and not dialogues:
        raise SettingsError(f"{name}: expected ESConv dialogues, the file holds none", ids=(name,))
    return dialogues


def enumerate_couplets(dialogue: Dialogue) -> tuple[Couplet, ...]:
    """Find every seeker turn that a supporter turn follows, in order."""
    roles = [turn.role for turn in dialogue.turns]
    return tuple(
        Couplet(dialogue=dialogue, turn_index=index)
        for index, pair in enumerate(pairwise(roles))
        if pair == ("seeker", "supporter")
    )


def couplet_item(couplet: Couplet) -> Item:
    """Make the item whose reference is the corpus's own next supporter turn."""
    dialogue = couplet.dialogue
    return Item(
        source=dialogue.corpus,
        dialogue_id=dialogue.dialogue_id,
        turn_index=couplet.turn_index,
        situation=dialogue.situation,
        context=couplet.context,
        subset="regular",
        emotion=dialogue.emotion,
        problem=dialogue.problem,
        language="en",
        licence=LICENCE,
        consent_basis=CONSENT_BASIS,
        reference=couplet.reply,
    )


def _entries(text: str, name: str) -> Iterator[tuple[str, Any]]:
    if text.lstrip().startswith("["):
        array = _parse_json(text, name, first_line=1)
        yield from ((f"{name}, entry {number}", value) for number, value in enumerate(array, 1))
        return
    # Not splitlines(): JSON strings may hold U+2028, which it takes for the end of a line.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{name}, line {number}", _parse_json(line, name, first_line=number)


def _parse_json(text: str, name: str, *, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise SettingsError(
            f"{name}, line {line}: not whole JSON ({error.msg.lower()}, column {error.colno}); "
            "expected a JSON array of dialogues or one dialogue a line; is the file cut? "
            "Fetch it again",
            ids=(name,),
        ) from error


def _conversation(value: Any, *, where: str) -> _Conversation:
    try:
        return _Conversation.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in problem["loc"]) or "the dialogue"
        came = ""
        if path.endswith("speaker") and problem["type"] != "missing":
            came = f", not {str(problem['input'])[:_MAX_SHOWN]!r}"
        raise SettingsError(
            f"{where}: {path}: {problem['msg'].lower()}{came}; expected an object with "
            "emotion_type, problem_type, situation and dialog, a list of speaker and text (or "
            "content); is this a file of ESConv?",
            ids=(where.partition(",")[0],),
        ) from error


def _dialogue(conversation: _Conversation, *, dialogue_id: str) -> Dialogue:
    spoken = [(_ROLES[said.speaker], _clean(said.text)) for said in conversation.dialog]
    merged = groupby((pair for pair in spoken if pair[1]), key=lambda pair: pair[0])
    return Dialogue(
        corpus=CORPUS,
        dialogue_id=dialogue_id,
        emotion=_label(conversation.emotion_type),
        problem=_label(conversation.problem_type),
        situation=_clean(conversation.situation),
        turns=tuple(
            Turn(role=role, text=" ".join(text for _, text in group)) for role, group in merged
        ),
    )


def _clean(text: str) -> str:
    whole = text.encode(errors="replace").decode()  # half a surrogate pair is no character
    return " ".join(whole.translate(_QUOTES).split())


def _label(text: str) -> str:
    label = _clean(text)
    return _SAME_LABEL.get(label.lower(), label)
