"""What a study file says of a model, read and checked: who it is and how it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heartbench.domain import content_hash
from heartbench.models.presets import INSPECT, Backend, BatchInterface
from heartbench.models.prices import TokenPrice

IMPORTED = "imported"
MaxTokensKey = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model that a study asks.

    Attributes:
        provider: Who serves it: a provider of the presets, ``inspect/`` and one of Inspect's,
            ``openai-compatible`` or ``local``.
        model: Its id there; of a local model the file's name.
        family: The developer's line.
        preset: The preset it comes from; None for one's own.
        base_url: Address of the endpoint; may hold a secret. None for a local model.
        key_name: Environment variable that holds the key; None where none is needed.
        refuses: Settings it does not take.
        max_tokens: Most tokens of a reply, reasoning included.
        max_tokens_key: What the endpoint calls that limit.
        extra_body: Further keys of every request.
        price: The study file's own price; None takes the list's.
        concurrency: Most calls at once; with batch jobs, of one job.
        path: The file of a local model.
        batch: The batch interface that its calls go through; None to call it directly. Not part of
            what it is: the model and its settings are the same.
    """

    provider: str
    model: str
    family: str
    preset: str | None
    base_url: str | None = field(repr=False)
    key_name: str | None
    refuses: frozenset[str]
    max_tokens: int
    max_tokens_key: MaxTokensKey
    extra_body: Mapping[str, Any]
    price: TokenPrice | None
    concurrency: int
    path: Path | None
    batch: BatchInterface | None = None

    @property
    def backend(self) -> Backend:
        """Who makes the calls."""
        return "inspect" if self.provider.startswith(INSPECT) else "openai-compatible"

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it another model: never an address, a key, a path or a speed."""
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
    """A model whose completions `heart import` brings in: never asked, it costs nothing here.

    Attributes:
        model: Its name in the log.
        family: The developer's line.
    """

    model: str
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

    @property
    def identity(self) -> dict[str, Any]:
        """What of the entry makes the study's settings."""
        return _identity(self.name, self.preset, self.model or self.imported)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """One LLM judge: its name in the study and its model; None for the offline cue judge."""

    name: str
    model: ModelSettings | None

    @property
    def identity(self) -> dict[str, Any]:
        """What of the entry makes the study's settings."""
        return _identity(self.name, None, self.model)


def _identity(
    name: str, preset: str | None, model: ModelSettings | ImportedModel | None
) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "preset": preset}
    return found if model is None else {**found, "model": content_hash(model.identity)}
