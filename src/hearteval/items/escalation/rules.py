"""The names of what a source and its rewrite are held against, in the order they are asked."""

from typing import Literal, get_args

SCREENS = ("self-harm", "nsfw", "hate", "identifying")
"""Rules of `screening`, as under ``topics = "paper"``, that a source and its rewrite must pass."""
SOURCE_RULES = (
    "regular",
    "english",
    "alternation",
    "turn-count",
    "greeting-first",
    *SCREENS,
    "one-a-dialogue",
    "quota",
)
"""Why an item is not rewritten."""
ShapeRule = Literal[
    "turn-count", "alternation", "greeting-first", "seeker-last", "supporter-unchanged"
]
ReadingRule = Literal["quiet-start", "hostile-end", "intensity-order", "profile-shape", "coherence"]
REWRITE_RULES: tuple[str, ...] = (
    *get_args(ShapeRule),
    "situation-kept",
    "no-new-names",
    *SCREENS,
    "threat",
    *get_args(ReadingRule),
)
"""Why a rewrite is rejected; the last five are for whoever reads it."""
