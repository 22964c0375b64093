"""Versioned text as data: what raters, writers and models are told, and what baselines say.

Each TOML file here has a ``version`` at its top; a change of wording is a new version. Nothing is
read on import.
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

PROTOCOL_VERSION = "1"
"""Version of the protocol texts as a whole; part of every study record."""

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
