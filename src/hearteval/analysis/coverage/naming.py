"""Replies that name a maker or model of language models: whoever reads them is blinded no more."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from hearteval.domain import Item, System

NOTHING_ELSE = (
    *("OpenAI", "ChatGPT", "Anthropic", "DeepMind", "DeepSeek", "Mistral AI", "Moonshot AI"),
    *("Meta AI", "Qwen", "Alibaba Cloud", "xAI"),
)
"""Names that mean a maker or a model wherever they stand."""
OF_FAMILY: Mapping[str, tuple[str, ...]] = {
    "gpt": (r"GPT(?:-?\d\w*)?",),
    "claude": ("Claude",),
    "gemini": ("Gemini", "Google", "Bard"),
    "llama": (r"Llama(?:-?\d\w*)?", "Meta"),
    "kimi": ("Kimi", "Moonshot"),
    "mistral": ("Mistral", "Mixtral"),
    "qwen": ("Tongyi", "Alibaba"),
    "grok": ("Grok",),
    "gemma": ("Gemma", "Google"),
    "phi": (r"Phi-?\d\w*", "Microsoft"),
}
"""Patterns that mean a maker or a model in a reply of its own family; elsewhere they may be the
name of a person, a sign of the zodiac, or a place where the seeker works."""


def find_name(text: str, item: Item, system: System) -> str | None:
    """Return what a system's reply names of makers and models; None for nothing.

    A name that stands in the dialogue is no sign of who replies.
    """
    spoken = "\n".join((item.situation, *(turn.text for turn in item.context)))
    found = (match[0] for match in _pattern(system.family, *_own_names(system)).finditer(text))
    return next((name for name in found if name.lower() not in spoken.lower()), None)


@cache
def _pattern(family: str, *own: str) -> re.Pattern[str]:
    names = (*map(re.escape, (*own, *NOTHING_ELSE)), *OF_FAMILY.get(family, ()))
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE)


def _own_names(system: System) -> Iterable[str]:
    """Return the system's name and its model's id, where they cannot be ordinary words."""
    model = str(system.settings.get("model", "")).rpartition("/")[2]
    return sorted({name for name in (system.name, model) if re.search(r"[\d_-]", name)})
