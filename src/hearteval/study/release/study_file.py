"""The study file as a release has it: no address, no place on anybody's disk, no private remark."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hearteval.config import StudySettings
from hearteval.config.models import LOCAL
from hearteval.config.study_file import read_toml
from hearteval.errors import SettingsError

NO_ADDRESS = "http://left-out.invalid/v1"
"""Stands for the address of an endpoint, which may be somebody's own."""
ITEMS, CORPUS = "items.jsonl", "esconv"
PUT_HERE = {
    CORPUS: (
        "The items of this release come from ESConv (CC BY-NC 4.0), whose texts are not passed on"
        " here.\nPut train.jsonl, valid.jsonl and test.jsonl, or ESConv.json, of"
        " github.com/thu-coai/Emotional-Support-Conversation into this folder.\n"
    ),
    LOCAL: "Put the model's file in the place of this one.\n",
}
"""What stands where somebody else's files belong."""
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
PRIVATE = ("store", "key_name", "max_usd", "contact", "endings", "signed_by", "checks_from")
"""Keys that say how a study was run, and not what it found; and checks, whose keys test nobody once
they are known."""


def public_study_file(settings: StudySettings) -> dict[str, bytes]:
    """Return the study file of a release, and the files that it names, by their paths in it.

    It is written anew from what the file says, so no comment of it is passed on.

    Raises:
        SettingsError: A file that it names cannot be read.
    """
    said = read_toml(settings.file)
    files: dict[str, bytes] = {}
    for table in said["items"] if isinstance(said["items"], list) else [said["items"]]:
        if "from" in table:
            table["from"] = CORPUS
            files[f"{CORPUS}/README.txt"] = PUT_HERE[CORPUS].encode()
        elif table["source"] != "starter":
            table["source"] = ITEMS
    for table in (*said.get("system", ()), *said.get("judge", ()), *said.get("labeler", ())):
        if "base_url" in table:
            table["base_url"] = NO_ADDRESS
        if str(table.get("model", "")).startswith(f"{LOCAL}:"):
            name = f"models/{Path(table['model'].removeprefix(f'{LOCAL}:')).name}"
            table["model"] = f"{LOCAL}:{name}"
            files[name] = PUT_HERE[LOCAL].encode()
        _take_along(table, "prompt", settings, files)
    for section, key in (("judging", "rubric"), ("people", "scale"), ("analysis", "covariates")):
        _take_along(said.get(section, {}), key, settings, files)
    text = format_study(_without(said, PRIVATE))
    return {**files, "study.toml": text.encode()}


def _take_along(
    table: dict[str, Any], key: str, settings: StudySettings, files: dict[str, bytes]
) -> None:
    """Copy a file that a table names, where what stands there is one."""
    named = table.get(key)
    path = settings.file.parent / named if isinstance(named, str) else None
    if path is None or not path.is_file():
        return
    name = f"files/{path.name}"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from error
    if files.get(name, content) != content:
        raise SettingsError(f"{path}: another file of that name is in the release; rename one")
    files[name] = content
    table[key] = name


def _without(value: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _without(one, keys) for key, one in value.items() if key not in keys}
    return [_without(one, keys) for one in value] if isinstance(value, list) else value


def format_study(said: Mapping[str, Any]) -> str:
    """Write a study file: each section is a table or several, and holds no table but inline."""
    written = []
    for section, value in said.items():
        for table in value if isinstance(value, list) else [value]:
            head = f"[[{section}]]" if isinstance(value, list) else f"[{section}]"
            rows = (f"{_key(key)} = {_value(one)}" for key, one in table.items())
            written.append("\n".join((head, *rows)) + "\n\n")
    return "".join(written)


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        rows = (f"{_key(key)} = {_value(one)}" for key, one in value.items())
        return f"{{ {', '.join(rows)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):  # TOML's escapes are JSON's, but for one character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else repr(value)
