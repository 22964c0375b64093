"""The published models, living ones, and judges of three families: how each is reached.

The facts are data, in ``models.toml``. None could be tried from where they were written down, so
every route says what it rests on (`Route.source`) and is unverified. Keys are named here, never
held: only `hearteval.config` reads them. Systems without a model (the corpus's own reply, the
baselines) are not here.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from hearteval.models.base import CacheMark, JsonObject

CUE_JUDGE = "cue"
INSPECT = "inspect/"
"""Begins the provider of every route whose calls Inspect makes."""
SOON_DAYS = 60
"""Before a model's end that it is worth a warning."""
Backend = Literal["openai-compatible", "inspect"]
BatchInterface = Literal["openai", "anthropic"]
"""Files and jobs as OpenAI has them, or Anthropic's Message Batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to reach a model."""

    provider: str
    """Who serves it; ``inspect/`` in front says that Inspect makes the calls."""
    model: str
    base_url: str
    """Address up to the version, without a key."""
    key_name: str | None = None
    """Environment variable that holds the key; None for endpoints without keys."""
    refuses: frozenset[str] = frozenset()
    """Settings of `Sampling` that it does not take or ignores; they are not sent."""
    max_tokens_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    strict_schema: bool | None = None
    """Whether a strict JSON schema is enforced, as documented; None if undocumented."""
    context: int | None = None
    extra_body: JsonObject = field(default_factory=dict)
    """Further keys of every request (through Inspect: fields of its `GenerateConfig`): as little
    reasoning as the model allows, and what stops a router from dropping settings without a word."""
    retires: date | None = None
    """The day from which calls fail or another model answers; None if none is known."""
    source: str = ""
    verified: bool = False
    batch: BatchInterface | None = None
    """The kind of its batch interface; None without one that hearteval speaks."""
    batch_refuses: frozenset[str] | None = None
    """What that interface refuses, where it is another set."""
    cache_from: int | None = None
    """Tokens from which it keeps what prompts begin with, as documented; None where nothing is
    known of a cache."""
    cache_mark: CacheMark | None = None
    """What asks it to; None where it does so by itself, when it likes."""

    @property
    def backend(self) -> Backend:
        """Who makes the calls: the core client, or Inspect (extra ``inspect``)."""
        return "inspect" if self.provider.startswith(INSPECT) else "openai-compatible"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPreset:
    """One published model."""

    id: str
    """What a study file calls it."""
    name: str
    """What the paper's table calls it."""
    family: str
    """The developer's line, whoever serves it; no judge of it decides on the model."""
    routes: tuple[Route, ...]
    """The preferred one first; none for a model without a public endpoint, which needs a base URL
    in the study file."""
    published: bool = True
    """Whether it is a row of the paper's table."""
    thinks: bool = False
    """Whether it thinks before it answers, as these routes ask it; that is charged as output."""
    open_weights: bool | None = None
    """Whether anybody may have its weights; None where nobody has written it down."""

    def end_at(self, provider: str) -> date | None:
        """Return the day on which it ends at a provider; where none is known, anywhere first."""
        ends = {route.provider: route.retires for route in self.routes if route.retires}
        return ends.get(provider) or min(ends.values(), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePreset:
    """One judge of the ensemble, or the offline baseline."""

    name: str
    family: str
    """Whose models it does not judge."""
    model: ModelPreset | None
    """The preset it asks; None for the offline baseline, which asks nobody."""

    @property
    def is_baseline(self) -> bool:
        """Whether it measures nothing and exists so that everything runs without a key."""
        return self.model is None


class Access(NamedTuple):
    """Where a provider of Inspect's is, and which environment variable holds its key."""

    base_url: str
    key_name: str
    cache_from: int | None
    cache_mark: CacheMark | None


def end_words(end: date | None, *, today: date) -> str:
    """Say that a model has ended or soon will; empty where its end is far or not known."""
    if end is None or (end - today).days > SOON_DAYS:
        return ""
    return f"ended {end}" if end <= today else f"ends {end}, in {(end - today).days} days"


@cache
def load_inspect_providers() -> Mapping[str, Access]:
    """Return the providers that Inspect can be asked for, by their names in Inspect."""
    providers = _read_file()["providers"]
    return MappingProxyType(
        {
            name.removeprefix(INSPECT): Access(*(p.get(key) for key in Access._fields))
            for name, p in providers.items()
            if name.startswith(INSPECT)
        }
    )


def price_provider(provider: str) -> str:
    """Return the name under which a provider's prices are listed."""
    served_by = provider.removeprefix(INSPECT)
    return "aws" if served_by == "bedrock" else served_by


@cache
def load_model_presets() -> Mapping[str, ModelPreset]:
    """Return the published models by id, in the order of the file: by family."""
    data = _read_file()
    providers = data["providers"]
    presets = {}
    for id_, entry in data["models"].items():
        routes = tuple(_route(route, providers[route["provider"]]) for route in entry["routes"])
        named = {
            key: entry[key]
            for key in ("name", "family", "published", "thinks", "open_weights")
            if key in entry
        }
        presets[id_] = ModelPreset(id=id_, **named, routes=routes)
    return MappingProxyType(presets)


def find_preset(model: str) -> ModelPreset | None:
    """Return the preset of a model, by its id at whatever provider; None if there is none."""
    last = _last_of(model)
    ids = {
        route.model.lower().rpartition("/")[2]: preset
        for preset in load_model_presets().values()
        for route in preset.routes
    }
    return ids.get(last)


def _last_of(model: str) -> str:
    return model.lower().rpartition("/")[2].partition(":")[0]


def find_family(model: str) -> str | None:
    """Return the developer's line of a model, by its id at whatever provider; None if unknown."""
    last, preset = _last_of(model), find_preset(model)
    if preset is not None:
        return preset.family
    for family, starts in _read_file()["families"].items():
        if re.match(rf"(?:[a-z]+\.)*(?:{'|'.join(map(re.escape, starts))})", last):
            return str(family)
    return None


def is_known_to_think(model: str) -> bool:
    """Say whether a model, by its id at whatever provider, thinks unless it is told not to."""
    last = model.lower().rpartition("/")[2]
    return re.match("|".join(_read_file()["thinking"]["ids"]), last) is not None


@cache
def load_judge_presets() -> Mapping[str, JudgePreset]:
    """Return the judges by name: living ones, the paper's, then the offline baseline."""
    models = load_model_presets()
    judges = {}
    for name, entry in _read_file()["judges"].items():
        model = models[entry["model"]]
        judges[name] = JudgePreset(name=name, family=model.family, model=model)
    judges[CUE_JUDGE] = JudgePreset(name=CUE_JUDGE, family=CUE_JUDGE, model=None)
    return MappingProxyType(judges)


@cache
def _read_file() -> dict[str, Any]:
    return tomllib.loads((files(__name__) / "models.toml").read_text(encoding="utf-8"))


def _route(entry: dict[str, Any], provider: dict[str, Any]) -> Route:
    merged = provider | entry
    merged |= {k: frozenset(merged[k]) for k in ("refuses", "batch_refuses") if k in merged}
    merged["extra_body"] = provider.get("extra_body", {}) | entry.get("extra_body", {})
    return Route(**merged)
