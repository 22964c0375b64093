"""STEP 1: corpora -> items. Pure but for `run`, which reads a user's files.

The project's own starter items (``starter/items.jsonl``: 114 regular, 30 adversarial) let a study
run without any corpus. A language model wrote them and no person has read them; the people in them
are invented, and no human supporter gave their references: no report may call them human.
"""

from functools import cache
from importlib import resources

from hearteval.domain import Item
from hearteval.items.files import parse_items

STARTER_FILE = "starter/items.jsonl"


@cache
def load_starter_items() -> tuple[Item, ...]:
    """Read the starter items from the installed package: regular ones first, in a fixed order."""
    text = resources.files(__name__).joinpath(STARTER_FILE).read_text(encoding="utf-8")
    return parse_items(text, name=STARTER_FILE)
