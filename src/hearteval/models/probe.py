"""One question that shows whether a model answers, and whether its endpoint holds to a schema."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from hearteval.models.base import AskedModel, Message, Schema

PROBE_TOKENS = 512
"""Enough for one word after a model that thinks has thought; a probe asks for little else."""
PROBE_QUESTION = Message(role="user", content="Name a colour you like, in one word.")
PROBE_WORD = "hearteval-probe"
PROBE_SCHEMA = Schema(
    name="heart_probe",
    schema={
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": [PROBE_WORD]}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)


class ProbeResult(NamedTuple):
    """What a probe found."""

    model: str
    follows_schema: bool | None
    """Whether the reply is what only a schema can bring about; None where none was asked for."""


async def probe_model(asked: AskedModel) -> ProbeResult:
    """Ask one question; with a schema, one that answers it only if it is enforced.

    The question asks for a colour and the schema allows a single word that is none: a model that is
    merely asked for JSON never gives it.

    Raises:
        ModelCallError: The model does not answer.
    """
    sampling = asked.sampling
    has_schema = sampling.schema is not None and "schema" not in sampling.refuses
    tokens = max(PROBE_TOKENS, sampling.max_tokens or 0)
    sampling = replace(sampling, schema=PROBE_SCHEMA if has_schema else None, max_tokens=tokens)
    reply = await asked.model.complete((PROBE_QUESTION,), sampling)
    follows = False if has_schema else None
    if has_schema:
        with suppress(ValueError, RecursionError):
            follows = bool(json.loads(reply.text) == {"colour": PROBE_WORD})
    return ProbeResult(model=reply.model, follows_schema=follows)
