"""Versioned text as data: what raters, writers and models are told, and what baselines say.

Each TOML file here has a ``version`` at its top; a change of wording is a new version. Nothing is
read on import.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

PROTOCOL_VERSION = "1"
"""Version of the protocol texts as a whole; part of every study record."""

Ending = Literal["whole", "cut_off", "refused", "not_finished"]

CUE_NOTICE = (
    "The cue judge is an offline baseline: it counts hand-set cues and measures nothing about "
    "empathy."
)
"""What every output says where the cue judge gave a judgment."""


@cache
def load_protocol(name: str) -> dict[str, Any]:
    """Read ``protocol/<name>.toml``; the result is shared and must not be mutated.

    Raises:
        FileNotFoundError: No protocol of that name ships with hearteval.
    """
    return tomllib.loads((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


def read_ending(finish_reason: str | None) -> Ending:
    """Return what an endpoint's word for the end of a reply means.

    No word is no complaint: some servers send none. A word that nobody knows is no whole reply,
    because endpoints keep inventing names for failures and hardly ever one for a plain end.
    """
    word = (finish_reason or "").strip().lower()
    if not word:
        return "whole"
    known = load_protocol("replies")["finish"]
    return next((end for end in get_args(Ending)[:-1] if word in known[end]), "not_finished")
