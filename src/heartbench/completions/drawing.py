"""Choices by hash: the same inputs give the same choice, on any machine and in any order of items.

A generator would make each choice depend on how many came before it; a hash of what the choice is
about does not, so a study that grows keeps what it has.
"""

import hashlib
from collections.abc import Sequence


def draw(options: Sequence[str], *key: object) -> str:
    """Choose one of the options by the SHA-256 of a key; every option is about equally likely.

    Args:
        options: What to choose from, not empty.
        *key: What the choice is about: the seed, an item id, what is being chosen.
    """
    text = "\x1f".join(str(part) for part in key)
    return options[int.from_bytes(hashlib.sha256(text.encode()).digest()) % len(options)]
