"""The ``[[items]]`` of a study file: the starter items, a corpus, or a file of one's own, each."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from hearteval.config.model_settings import Section
from hearteval.errors import SettingsError
from hearteval.items import starter_files
from hearteval.items.dialogues import COLUMN_LABELS, OF_ALL, DialogueNames, LastReply
from hearteval.items.screening import Topics
from hearteval.protocol import ENGLISH

DEFAULT_ESCONV_REGULAR = 280


_Name = Annotated[str | None, Field(min_length=1)]


class Items(Section):
    """The section as it is written."""

    source: Annotated[str, Field(min_length=1)]
    from_: Annotated[str | None, Field(alias="from")] = None
    regular: Annotated[int | None, Field(ge=0)] = None
    adversarial: Annotated[int | None, Field(ge=0)] = None
    topics: Topics | None = None
    encoding: _Name = None
    turns_key: _Name = None
    dialogue_column: _Name = None
    turn_column: _Name = None
    role_column: _Name = None
    text_column: _Name = None
    situation_column: _Name = None
    emotion_column: _Name = None
    problem_column: _Name = None
    culture_column: _Name = None
    population_column: _Name = None
    language_column: _Name = None
    reference_column: _Name = None
    last_reply: LastReply | None = None
    language: _Name = None
    licence: _Name = None
    consent: _Name = None
    seeker: Annotated[list[str], Field(default_factory=list)]
    supporter: Annotated[list[str], Field(default_factory=list)]


NAMES = tuple(Items.model_fields)[5:]
"""Keys that say how a file of one's own is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings:
    """Where the items come from, and how many: None takes all there are."""

    source: Literal["starter", "esconv", "file"]
    path: Path | None
    """The corpus folder or the item file; None for the starter items."""
    regular: int | None
    adversarial: int | None
    names: DialogueNames | None = None
    """What a file of dialogues calls its columns and the people in it."""
    topics: Topics | None = None
    """What is a reason to leave out a corpus's turn, or a candidate of a second screen; None where
    the file does not say."""
    language: str = ENGLISH
    """Of the starter items; a file says that of its own."""

    @property
    def identity(self) -> dict[str, Any]:
        """What makes the items: no path, and nothing that is not said.

        A file has the items that it has, whatever leaves some out of a second screen.
        """
        names = None if self.names is None else _made_by(self.names)
        said = {"names": names, "topics": None if self.source == "file" else self.topics}
        return {
            "source": self.source,
            "regular": self.regular,
            "adversarial": self.adversarial,
            **{key: value for key, value in said.items() if value is not None},
            **({} if self.language == ENGLISH else {"language": self.language}),
        }


def _made_by(names: DialogueNames) -> dict[str, Any]:
    """Return how a file is read, but for its encoding: saved as UTF-8 it holds the same items."""
    first = ("dialogue", "role", "text", "seeker", "supporter")
    said = {key: value for key, value in asdict(names).items() if key != "encoding"}
    return {key: value for key, value in said.items() if key in first or value}


def read_names(words: Sequence[str]) -> DialogueNames:
    """Read what is said of a file of dialogues as ``KEY=VALUE``, the keys of ``[[items]]``.

    Raises:
        SettingsError: A key is none of a file of dialogues, is said twice, or its value is not one.
    """
    said: dict[str, Any] = {}
    for each in words:
        key, _, value = each.partition("=")
        if key in ("seeker", "supporter"):
            said.setdefault(key, []).append(value)
        elif key not in NAMES or not value or key in said:
            expected = f"KEY=VALUE once, the key one of {', '.join(NAMES)}"
            raise SettingsError(f"--set {each}: expected {expected}", ids=(key,))
        else:
            said[key] = value
    try:
        return _names(Items(source="file", **said))
    except ValidationError as error:
        raise SettingsError(f"--set: {error.errors()[0]['msg']}", ids=tuple(said)) from error


def _names(items: Items) -> DialogueNames:
    named = {label: getattr(items, f"{label}_column") for label in COLUMN_LABELS}
    stated = {field: getattr(items, key) for field, key in OF_ALL.items()}
    return DialogueNames(
        dialogue=items.dialogue_column,
        role=items.role_column,
        text=items.text_column,
        seeker=tuple(items.seeker),
        supporter=tuple(items.supporter),
        turn=items.turn_column,
        turns=items.turns_key,
        labels=tuple((label, name) for label, name in named.items() if name is not None),
        last_reply=items.last_reply,
        stated=tuple((field, words) for field, words in stated.items() if words is not None),
        encoding=items.encoding,
    )


def read_items(path: Path, where: str, items: Items) -> ItemSettings:
    """Read one ``[[items]]`` of the study file at `path`, to whose folder its paths are relative.

    Raises:
        SettingsError: It names what does not exist, or says what its source cannot bear; `where`
            is how it names the table.
    """
    is_starter = items.source == "starter"
    language = items.language or ENGLISH if is_starter else ENGLISH
    if language not in starter_files():
        raise SettingsError(
            f"{path}: {where}.language: there are no starter items in {language!r}; known:"
            f" {', '.join(starter_files())}",
            ids=(f"{where}.language",),
        )
    names = _names(items.model_copy(update={"language": None}) if is_starter else items)
    if names != DialogueNames() and items.source in ("esconv", "starter"):
        raise SettingsError(
            f"{path}: {where}: {', '.join(names.as_keys())}: for a file of your own only; remove"
            " what is said of one"
        )
    if items.source == "esconv":
        return _esconv_settings(path, where, items)
    if is_starter and items.topics is not None:
        raise SettingsError(
            f"{path}: {where}.topics: says what is left out of a corpus or of candidates; remove"
            " it, for these items come chosen",
            ids=(f"{where}.topics",),
        )
    if items.from_ is not None:
        why = (
            "the starter items need no folder"
            if is_starter
            else "an item file is named by items.source"
        )
        raise SettingsError(f"{path}: {where}.from: {why}; remove it")
    file = None if is_starter else path.parent / items.source
    if file is not None and not file.exists():
        raise SettingsError(
            f"{path}: {where}.source: expected 'starter', 'esconv' or an item file; there is no "
            f"file {file}"
        )
    return ItemSettings(
        source="starter" if is_starter else "file",
        path=file,
        regular=items.regular,
        adversarial=items.adversarial,
        names=None if names == DialogueNames() else names,
        topics=items.topics,
        language=language,
    )


def _esconv_settings(path: Path, where: str, items: Items) -> ItemSettings:
    if items.from_ is None:
        raise SettingsError(
            f"{path}: {where}.from: give the folder that holds ESConv's train.jsonl, valid.jsonl "
            "and test.jsonl, or ESConv.json"
        )
    if items.adversarial:
        raise SettingsError(
            f"{path}: {where}.adversarial: the corpus has none; set adversarial = 0, have some "
            "made (heart items adversarial) and add them: another [[items]] with source = "
            '"adversarial.jsonl"; or the starter\'s: source = "starter", regular = 0 and '
            "adversarial = 20"
        )
    folder = path.parent / items.from_
    if not folder.is_dir():
        raise SettingsError(
            f"{path}: {where}.from: there is no folder {folder}; download ESConv (CC BY-NC 4.0, "
            "github.com/thu-coai/Emotional-Support-Conversation) and name its folder",
            ids=(f"{where}.from",),
        )
    regular = DEFAULT_ESCONV_REGULAR if items.regular is None else items.regular
    if regular < 1:
        raise SettingsError(f"{path}: {where}.regular: expected at least 1 for a corpus, not 0")
    return ItemSettings(
        source="esconv", path=folder, regular=regular, adversarial=0, topics=items.topics
    )
