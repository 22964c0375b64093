"""The project's own items: 60 regular and 20 adversarial, written for heartbench.

They let a study run without any corpus. The people in them are invented and their references are
authored for the project, not taken from a human supporter: no report may call them human.
"""

from importlib.resources import files

from heartbench.domain import Item
from heartbench.items.files import parse_items

STARTER_FILE = "items.jsonl"


def load_starter_items() -> tuple[Item, ...]:
    """Read the starter items from the installed package: regular ones first, in a fixed order."""
    text = files(__name__).joinpath(STARTER_FILE).read_text(encoding="utf-8")
    return parse_items(text, name=f"starter/{STARTER_FILE}")
