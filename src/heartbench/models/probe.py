"""One call that shows whether a model answers, and whether its endpoint enforces a schema."""

import json
from dataclasses import dataclass, replace

from heartbench.models.base import AskedModel, Message, Schema

WORD = "heartbench-probe"
PROBE_TOKENS = 512
QUESTION = "Name a colour you like, in one word."


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What a probe found.

    Attributes:
        model: The model that answered, as the endpoint names it.
        follows_schema: Whether the reply is what only a schema can bring about; None where none was
            asked for.
    """

    model: str
    follows_schema: bool | None


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
    sampling = replace(sampling, schema=_schema() if has_schema else None, max_tokens=tokens)
    reply = await asked.model.complete((Message(role="user", content=QUESTION),), sampling)
    return ProbeResult(
        model=reply.model, follows_schema=_is_probe(reply.text) if has_schema else None
    )


def _schema() -> Schema:
    return Schema(
        name="heart_probe",
        schema={
            "type": "object",
            "properties": {"colour": {"type": "string", "enum": [WORD]}},
            "required": ["colour"],
            "additionalProperties": False,
        },
    )


def _is_probe(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"colour": WORD})
    except ValueError:
        return False
