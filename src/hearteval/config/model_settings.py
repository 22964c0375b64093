"""A model of a study file: the entry as it stands there, and what was read of it and checked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hearteval.completions.prompting import Brief
from hearteval.domain import content_hash
from hearteval.domain.systems import IMPORTED
from hearteval.errors import SettingsError
from hearteval.models.base import CacheMark
from hearteval.models.presets import INSPECT, Backend, BatchInterface
from hearteval.models.prices import TokenPrice
from hearteval.models.wrappers.pace import CallLimits

SYSTEM_MAX_TOKENS = 1_024
MAX_CONCURRENCY = 4_096
BATCH_CALLS, MAX_BATCH_CALLS = 10_000, 50_000
"""Calls of one batch job, unless `concurrency` says otherwise, and at most."""
MAX_SECONDS = 86_400
"""A day: the longest time that a call may take or wait."""
MOST_TOKENS = 10_000_000
MOST_DOLLARS = 1_000_000
"""Per million tokens: a dollar a token."""
LEAST_KEY = 16
"""Shorter secrets are not looked for in messages: they may be a word of any."""
SECRET_NAMES = ("KEY", "KEYS", "TOKEN", "SECRET", "PASSWORD")
MaxTokensKey = Literal["max_tokens", "max_completion_tokens"]


class Section(BaseModel):
    """A section of a study file; anything unknown in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Price(Section):
    """US dollars per million tokens; 0 for what really costs nothing."""

    input: Annotated[float, Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False)]
    cached: Annotated[float | None, Field(ge=0, le=MOST_DOLLARS, allow_inf_nan=False)] = None


def _read_price(given: object) -> object:
    """Read a bare 0, which messages offer, as a price of nothing."""
    if isinstance(given, dict | Price):
        return given
    if isinstance(given, bool) or given != 0:
        raise ValueError("expected { input = 0.5, output = 1.5 }, dollars per million tokens, or 0")
    return {"input": 0.0, "output": 0.0}


class Entry(Section):
    """What a ``[[system]]`` and a ``[[judge]]`` say of a model."""

    preset: str | None = None
    name: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    family: str | None = None
    key_name: str | None = None
    refuses: list[str] | None = None
    price: Annotated[Price | None, BeforeValidator(_read_price)] = None
    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = SYSTEM_MAX_TOKENS
    thinking_tokens: Annotated[int | None, Field(ge=0, le=MOST_TOKENS)] = None
    concurrency: Annotated[int, Field(ge=1, le=MAX_BATCH_CALLS)] = 32
    rpm: Annotated[float | None, Field(ge=0.001, allow_inf_nan=False)] = None
    tpm: Annotated[float | None, Field(ge=1, allow_inf_nan=False)] = None
    timeout_s: Annotated[float | None, Field(gt=0, le=MAX_SECONDS)] = None
    tries: Annotated[int, Field(ge=1, le=100)] = CallLimits.tries
    max_wait_s: Annotated[float, Field(ge=0, le=MAX_SECONDS)] = CallLimits.max_wait_s
    stop_after: Annotated[int, Field(ge=1)] = CallLimits.stop_after
    stream: bool = True
    batch: bool = False
    reuse_prompts: bool = True


class System(Entry):
    """One ``[[system]]``."""

    prompt: Annotated[str | None, Field(min_length=1)] = None
    mine: bool = False


class Judge(Entry):
    """One ``[[judge]]``."""

    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] = 4_096
    stream: bool = False  # nobody times a verdict's first word, and pieces cost more to read


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model that a study asks."""

    provider: str
    """Of the presets, ``inspect/`` and one of Inspect's, ``openai-compatible`` or ``local``."""
    model: str
    """Its id there; of a local model the file's name."""
    family: str
    preset: str | None = None
    """The preset it comes from; None for one's own."""
    base_url: str | None = field(default=None, repr=False)
    """Address of the endpoint; may hold a secret. None for a local model."""
    key_name: str | None = None
    """Environment variable that holds the key; None where none is needed."""
    refuses: frozenset[str]
    """Settings it does not take."""
    max_tokens: int
    """Most tokens of a reply, reasoning included."""
    max_tokens_key: MaxTokensKey = "max_tokens"
    """What the endpoint calls that limit."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of every request."""
    price: TokenPrice | None
    """The study file's own; None takes the list's."""
    concurrency: int
    """Most calls at once; with batch jobs, of one job."""
    limits: CallLimits = field(default_factory=CallLimits)
    """How fast, how long and how often it is called."""
    path: Path | None = None
    """The file of a local model."""
    reuse_prompts: bool = True
    """Whether a local model keeps the computed start of a prompt for the next one."""
    thinking_tokens: int | None = None
    """What it is expected to think before a reply; None where nobody says."""
    thinks: bool = False
    """Whether it is known to think."""
    cache_from: int | None = None
    """Tokens from which its provider keeps what prompts begin with; None where it does not."""
    cache_mark: CacheMark | None = None
    """What asks for that."""
    is_streamed: bool = True
    """Whether its replies come in pieces; the same ones come whole."""
    batch: BatchInterface | None = None
    """What its calls go through; None to call it directly. It is the same model either way."""

    @property
    def backend(self) -> Backend:
        """Who makes the calls."""
        return "inspect" if self.provider.startswith(INSPECT) else "openai-compatible"

    @property
    def caches(self) -> bool:
        """Whether its provider keeps what prompts begin with; Anthropic not when asked directly."""
        return self.cache_from is not None and (self.provider, self.batch) != ("anthropic", None)

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it another model: never an address, a key, a path, a price or a speed."""
        return {
            "preset": self.preset,
            "provider": self.provider,
            "model": self.model,
            "refuses": sorted(self.refuses),
            "max_tokens": self.max_tokens,
            "extra_body": dict(self.extra_body),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedModel:
    """A model whose completions, or verdicts, `heart import` brings in: never asked, free here."""

    model: str
    """Its name in the log, or what the study file calls it."""
    family: str

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it another model; not the log, of which there may be several."""
        return {"provider": IMPORTED, "model": self.model}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSettings:
    """One competitor: its name in the study, and the baseline or the model it is."""

    name: str
    preset: str | None
    model: ModelSettings | None
    imported: ImportedModel | None = None
    brief: Brief | None = None
    """What the model is asked for; None where none is asked."""
    is_mine: bool = False
    """Whether the study is asked about it: the answer leads with it. No part of its identity."""

    @property
    def identity(self) -> dict[str, Any]:
        """What of the entry makes the study's settings."""
        found = _identity(self.name, self.preset, self.model or self.imported)
        return found if self.brief is None else {**found, "prompt": self.brief.prompt_hash}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """One LLM judge: its name in the study, and the model that is asked or was asked elsewhere."""

    name: str
    model: ModelSettings | None
    """None for the offline cue judge, and for one that is imported."""
    imported: ImportedModel | None = None

    @property
    def family(self) -> str | None:
        """The developer's line; None for the offline cue judge."""
        known = self.model or self.imported
        return None if known is None else known.family

    @property
    def is_cue(self) -> bool:
        """Whether it is the offline baseline."""
        return self.model is None and self.imported is None

    @property
    def identity(self) -> dict[str, Any]:
        """What of the entry makes the study's settings."""
        return _identity(self.name, None, self.model or self.imported)


def _identity(
    name: str, preset: str | None, model: ModelSettings | ImportedModel | None
) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "preset": preset}
    return found if model is None else {**found, "model": content_hash(model.identity)}


def guess_meant(word: str, known: Sequence[str]) -> str:
    """Ask whether a known word was meant; empty where none is near."""
    close = get_close_matches(word, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def read_key(name: str | None, *, who: str) -> str | None:
    """Return the key in an environment variable; None where none is named.

    Raises:
        SettingsError: The variable is named and not set.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise SettingsError(
            f"{who} needs a key: set the environment variable {name} to it (never write it into a"
            " study file)",
            ids=(name,),
        )
    return key


def keys_at_hand() -> tuple[str, ...]:
    """Return what stands in environment variables whose names say that it is secret.

    Nothing short, which may be a word of any message, and no path.
    """
    found = {os.environ[name].strip() for name in os.environ if name.upper().endswith(SECRET_NAMES)}
    return tuple(sorted(k for k in found if len(k) >= LEAST_KEY and k[0] not in "/.~"))


def has_key(name: str) -> bool:
    """Say whether a key is set."""
    return bool(os.environ.get(name, "").strip())
