"""Files of items: built from a corpus, read and written, made the items of a study of their own."""

import json
import os
import re
import shlex
from pathlib import Path

import numpy as np

from hearteval.completions.baselines import OF_REFERENCES
from hearteval.errors import SettingsError
from hearteval.items.dialogues import DialogueNames, ItemFile, as_words
from hearteval.items.files import format_items, format_screenings
from hearteval.items.run import build_from_folder, evidence_path, read_item_file, read_screenings
from hearteval.items.screening import Topics
from hearteval.items.selection import BuildResult
from hearteval.study import Tell, quoted, write_whole


def build_item_file(  # noqa: PLR0913 - what `heart items build` is told
    folder: Path,
    out: Path,
    *,
    regular: int,
    seed: int,
    topics: Topics,
    replace: bool,
    tell: Tell,
) -> BuildResult:
    """Select items from a corpus and write them, the evidence for every verdict beside them.

    Raises:
        SettingsError: The corpus cannot be read, or a file is there that holds other content.
    """
    rng = np.random.default_rng(seed)
    built = build_from_folder(folder, regular=regular, rng=rng, topics=topics)
    evidence = evidence_path(out)
    files = {out: format_items(built.items), evidence: format_screenings(built.screenings)}
    for path, text in files.items():
        require_room(path, text, replace=replace)
    for path, text in files.items():
        write_whole(path, text, is_private=True)
    if built.shortfall:
        tell.warn(f"{built.shortfall} items fewer than the {regular} wanted: no more turns qualify")
    return built


def read_checked_items(file: Path, names: DialogueNames) -> tuple[ItemFile, int]:
    """Read a file of items and the evidence beside it; return it and the number of verdicts."""
    return read_item_file(file, names), len(read_screenings(file))


def write_item_file(read: ItemFile, out: Path, *, replace: bool) -> None:
    """Write the items of a file as an item file, canaries of others too.

    Raises:
        SettingsError: A file is there that holds other content.
    """
    text = format_items(read.items, canaries=read.canaries)
    require_room(out, text, replace=replace)
    write_whole(out, text, is_private=True)


def name_own_items(
    text: str, file: Path, folder: Path, names: DialogueNames
) -> tuple[str, ItemFile]:
    """Return a study file with items of one's own and systems that can answer them; the items.

    Raises:
        SettingsError: The file cannot be read; it lists all that is wrong with it.
    """
    read = read_item_file(file, names)
    given = {"source": os.path.relpath(file.resolve(), folder.resolve()), **names.as_keys()}
    source = "\n".join(f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in given.items())
    text = text.replace(
        "The smallest study: the starter items, six systems that need no key, and",
        "Your own items, systems that need no key until you add a model, and",
    )
    text = re.sub(r'source = "starter" .*', lambda _: source, text)
    if not any(item.reference for item in read.items):
        without = "|".join(OF_REFERENCES)
        text = re.sub(rf'\[\[system\]\]\npreset = "({without})".*\n\n', "", text)
    return text, read


def init_command(file: Path, names: DialogueNames) -> str:
    """Return the command that makes a study of a file of dialogues."""
    options = [f"--set {shlex.quote(word)}" for word in as_words(names.as_keys())]
    return " ".join(("heart init my-study --items", quoted(file), *options))


def require_room(path: Path, text: str, *, replace: bool) -> None:
    """Raise `SettingsError` where a file is there that holds other content."""
    if path.exists() and not replace and path.read_bytes() != text.encode():
        raise SettingsError(
            f"{path}: holds other content; give another --out, or --force to replace it"
        )
