"""The ``[items]`` of a study file: the starter items, a corpus, or a file of one's own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hearteval.config.model_settings import Section
from hearteval.errors import SettingsError
from hearteval.items.dialogues import DialogueNames

DEFAULT_ESCONV_REGULAR = 280


class Items(Section):
    """The section as it is written."""

    source: Annotated[str, Field(min_length=1)]
    from_: Annotated[str | None, Field(alias="from")] = None
    regular: Annotated[int | None, Field(ge=0)] = None
    adversarial: Annotated[int | None, Field(ge=0)] = None
    dialogue_column: Annotated[str | None, Field(min_length=1)] = None
    role_column: Annotated[str | None, Field(min_length=1)] = None
    text_column: Annotated[str | None, Field(min_length=1)] = None
    seeker: Annotated[list[str], Field(default_factory=list)]
    supporter: Annotated[list[str], Field(default_factory=list)]


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


def read_items(path: Path, items: Items) -> ItemSettings:
    """Read the ``[items]`` of the study file at `path`, to whose folder its paths are relative.

    Raises:
        SettingsError: It names what does not exist, or says what its source cannot bear.
    """
    names = DialogueNames(
        dialogue=items.dialogue_column,
        role=items.role_column,
        text=items.text_column,
        seeker=tuple(items.seeker),
        supporter=tuple(items.supporter),
    )
    if names != DialogueNames() and items.source in ("esconv", "starter"):
        raise SettingsError(
            f"{path}: items: seeker, supporter and columns are named for a file of your own only; "
            "remove them"
        )
    if items.source == "esconv":
        return _esconv_settings(path, items)
    is_starter = items.source == "starter"
    if items.from_ is not None:
        why = (
            "the starter items need no folder"
            if is_starter
            else "an item file is named by items.source"
        )
        raise SettingsError(f"{path}: items.from: {why}; remove it")
    file = None if is_starter else path.parent / items.source
    if file is not None and not file.is_file():
        raise SettingsError(
            f"{path}: items.source: expected 'starter', 'esconv' or an item file; there is no "
            f"file {file}"
        )
    return ItemSettings(
        source="starter" if is_starter else "file",
        path=file,
        regular=items.regular,
        adversarial=items.adversarial,
        names=None if names == DialogueNames() else names,
    )


def _esconv_settings(path: Path, items: Items) -> ItemSettings:
    if items.from_ is None:
        raise SettingsError(
            f"{path}: items.from: give the folder that holds ESConv's train.jsonl, valid.jsonl "
            "and test.jsonl, or ESConv.json"
        )
    if items.adversarial:
        raise SettingsError(
            f"{path}: items.adversarial: this version cannot rewrite corpus dialogues yet; set "
            "adversarial = 0, or use the starter items"
        )
    folder = path.parent / items.from_
    if not folder.is_dir():
        raise SettingsError(
            f"{path}: items.from: there is no folder {folder}; download ESConv (CC BY-NC 4.0, "
            "github.com/thu-coai/Emotional-Support-Conversation) and name its folder",
            ids=("items.from",),
        )
    regular = DEFAULT_ESCONV_REGULAR if items.regular is None else items.regular
    if regular < 1:
        raise SettingsError(f"{path}: items.regular: expected at least 1 for a corpus, not 0")
    return ItemSettings(source="esconv", path=folder, regular=regular, adversarial=0)
