"""Files of items: built from a corpus, read and written, made the items of a study of their own."""

import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from hearteval.completions.baselines import IN_ENGLISH, OF_REFERENCES
from hearteval.config.study_file import LEAST_SYSTEMS
from hearteval.domain import Item
from hearteval.errors import SettingsError
from hearteval.items.dialogues import DialogueNames, ItemFile, as_words, not_stated
from hearteval.items.files import format_items, format_screenings
from hearteval.items.run import build_from_folder, evidence_path, read_item_file, read_screenings
from hearteval.items.screening import Topics
from hearteval.items.selection import BuildResult
from hearteval.labels.safety import is_english
from hearteval.report.text import count, listed
from hearteval.study import Tell, quoted, write_whole

TO_STATE: Mapping[str, str] = {
    "licence": "not for publication",
    "consent": "who wrote them, and why they may be used",
    "language": "de",
}
"""Keys of ``[[items]]`` for what may hold for all dialogues of a file, each with an example."""


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
    in_study, _ = still_to_state(read)
    if in_study:
        source += "\n# State these before the first run, which keeps them for good:"
        source += "".join(f"\n# {key} = {json.dumps(TO_STATE[key])}" for key in in_study)
    text = text.replace(
        "The smallest study: the starter items, six systems that need no key, and",
        "Your own items, systems that need no key until you add a model, and",
    )
    text = re.sub(r'source = "starter" .*', lambda _: source, text)
    if not any(item.reference for item in read.items):
        text = _without_systems(text, OF_REFERENCES)
    return text, read


def still_to_state(read: ItemFile) -> tuple[list[str], list[str]]:
    """Return what dialogues do not say: keys for the study file, and labels for their own file."""
    unsaid = () if read.form == "items" else not_stated(read.items)
    in_study = [key for key in unsaid if key in TO_STATE]
    return in_study, [label for label in unsaid if label not in TO_STATE]


def leave_out_english(text: str, items: Sequence[Item]) -> tuple[str, list[str]]:
    """Return a study file without systems that write English to items of another language.

    Where nothing would be left to compare they stay. What was done is said.
    """
    study = tomllib.loads(text)
    presets = [str(system.get("preset")) for system in study["system"]]
    words = english_words(presets, items)
    if words is None:
        return text, []
    n_left = sum(preset not in IN_ENGLISH for preset in presets)
    n_left += bool(study.get("people", {}).get("writers_per_item"))
    if n_left < LEAST_SYSTEMS:
        return text, [f"{words}: put another model in their place"]
    return _without_systems(text, IN_ENGLISH), [f"{words}: left out of the study"]


def english_words(presets: Iterable[str | None], items: Sequence[Item]) -> str | None:
    """Say which systems write English though most items are in another language; None if none."""
    english = [preset for preset in presets if preset in IN_ENGLISH]
    n_others = sum(not is_english(item) for item in items)
    if not english or 2 * n_others <= len(items):
        return None
    verb = "writes" if len(english) == 1 else "write"
    of = f"{count(n_others)} of {count(len(items))}"
    return f"{listed(english)} {verb} English, and {of} dialogues are in another language"


def _without_systems(text: str, presets: Iterable[str]) -> str:
    return re.sub(rf'\[\[system\]\]\npreset = "({"|".join(presets)})".*\n\n', "", text)


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
