"""STEP 1: corpora -> items. Pure but for `run`, which reads a user's files.

The project's own starter items (``starter/items.jsonl``: 114 regular, 30 adversarial; 20 regular
ones in German beside it) let a study run without any corpus. A language model wrote them and no
person has read them; the people in them are invented, and no human supporter gave their
references: no report may call them human.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from hearteval.domain import Item
from hearteval.items.files import parse_items
from hearteval.protocol import ENGLISH

STARTER_FILE = "starter/items.jsonl"


@cache
def starter_files() -> Mapping[str, str]:
    """Return the files of starter items by language, English first."""
    found = {ENGLISH: STARTER_FILE}
    for path in sorted(resources.files(__name__).joinpath("starter").iterdir(), key=str):
        language = path.name.removeprefix("items-").removesuffix(".jsonl")
        if path.name == f"items-{language}.jsonl":
            found[language] = f"starter/{path.name}"
    return found


@cache
def load_starter_items(language: str = ENGLISH) -> tuple[Item, ...]:
    """Read the starter items of a language: regular ones first, in a fixed order."""
    file = starter_files()[language]
    text = resources.files(__name__).joinpath(file).read_text(encoding="utf-8")
    return parse_items(text, name=file)
