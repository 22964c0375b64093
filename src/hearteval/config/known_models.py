"""The models of the presets `paper` and `living`: what `heart init` writes of them, and says.

Models end. Who is left is what ``models.toml`` knows on the day that the file is written: a model
that nobody serves any more stands in it as a comment, with the reason.
"""

import json
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from hearteval.models.presets import (
    ModelPreset,
    Route,
    find_family,
    load_judge_presets,
    load_model_presets,
)

FAMILIES = ("gpt", "claude", "gemini")
"""Of the judges."""
PAPERS = "paper-"
"""Begins the names of the paper's own judges, which end with their models."""
THINKING_TOKENS = 8_192
"""Most tokens of a living model's reply: nearly all of them reason before they answer."""
LEFT_OUT = "left out"
ELSEWHERE = "ended at the maker, asked through another host"
TO_END = "will end at the maker"


class KnownModels(NamedTuple):
    """What a study file says of known models."""

    systems: str
    """Their ``[[system]]`` blocks, and as comments those that nobody serves."""
    judges: tuple[str, ...]
    notes: Mapping[str, list[str]]
    """Who is left out, and who has an end, for whoever makes the file."""


def known_models(*, published: bool, today: date) -> KnownModels:
    """Return the models of the paper's table, or the living ones, and the judges beside them.

    A judge of the paper's that nobody serves gives way to the living one of its family.
    """
    notes: dict[str, list[str]] = {LEFT_OUT: [], ELSEWHERE: [], TO_END: []}
    presets = [one for one in load_model_presets().values() if one.published == published]
    blocks = [
        _block(preset, _note(preset, preset.name, notes, today), today=today) for preset in presets
    ]
    judges = []
    for family in FAMILIES:
        name = f"{PAPERS}{family}" if published else family
        model = load_judge_presets()[name].model
        assert model is not None
        judges.append(name if _note(model, f"judge {name}", notes, today) else family)
    return KnownModels("\n\n".join(blocks), tuple(judges), notes)


def _note(
    preset: ModelPreset, name: str, notes: Mapping[str, list[str]], today: date
) -> Route | None:
    """Return the first route that is not known to have ended; note what is to be said of it."""
    route = next((r for r in preset.routes if r.retires is None or r.retires > today), None)
    end = _end(preset, route)
    if route is None:
        why = f"ended {end}" if end else "no public endpoint"
        notes[LEFT_OUT].append(f"{name} ({why})")
    elif end:
        notes[ELSEWHERE if end <= today else TO_END].append(f"{name} ({end})")
    return route


def _end(preset: ModelPreset, route: Route | None) -> date | None:
    if route is not None:
        return preset.end_at(route.provider)
    return max((end for each in preset.routes if (end := each.retires)), default=None)


def _block(preset: ModelPreset, route: Route | None, *, today: date) -> str:
    """Return the block of a model, or as a comment what can be done about one that is gone."""
    end = _end(preset, route)
    lines = ["[[system]]", f"preset = {json.dumps(preset.id)}"]
    if route is None:
        if end:
            lines[1:] = [f'name = "{preset.name}"', f'model = "imported/{preset.id}"']
            lines += [] if find_family(preset.id) else [f'family = "{preset.family}"']
            told = f"{preset.name} ended {end}. Replies that you have of it can be imported:"
        else:
            lines += ['model = "openai-compatible/ID"', 'base_url = "https://HOST/v1"']
            told = f"{preset.name} has no public endpoint. Where you have access to it:"
        return "\n".join(f"# {line}" for line in [told, *lines])
    lines[0] += f"                 # {preset.name}"
    if end:
        lines[0] += f"; its maker {'ended' if end <= today else 'ends'} it {end}"
    if route is not preset.routes[0]:
        lines.append(f"provider = {json.dumps(route.provider)}")
    if not preset.published:
        lines.append(f"max_tokens = {THINKING_TOKENS}          # with those of its reasoning")
    return "\n".join(lines)
