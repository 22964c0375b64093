"""Entries of a study file that name a model, as they stand there: ``[[system]]``, ``[[judge]]``."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MAX_CONCURRENCY = 4_096
BATCH_CALLS, MAX_BATCH_CALLS = 10_000, 50_000
"""Calls of one batch job, unless `concurrency` says otherwise, and at most."""


class Section(BaseModel):
    """A section of a study file; anything unknown in it is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Price(Section):
    """US dollars per million tokens; 0 for what really costs nothing."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class System(Section):
    """One ``[[system]]``."""

    preset: str | None = None
    name: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    model: str | None = None
    provider: str | None = None
    base_url: str | None = None
    family: str | None = None
    key_name: str | None = None
    refuses: list[str] | None = None
    price: Price | None = None
    max_tokens: Annotated[int | None, Field(ge=1)] = None
    concurrency: Annotated[int, Field(ge=1, le=MAX_BATCH_CALLS)] = 32
    batch: bool = False


class Judge(System):
    """One ``[[judge]]``."""
