"""What a model that labels is sent, and the schema of its reply.

It sees the conversation and one reply, as judges do: as data between marker lines whose code nobody
could foresee, and nothing that says whose the reply is. Evidence comes before the verdict, the
verdict before its probability; all values but the evidence are enums, because some back ends drop
bounds of numbers and texts.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, get_args

from hearteval.domain import LabelVerdict, Turn, content_hash
from hearteval.labels.taxonomy import Taxonomy
from hearteval.protocol import load_protocol
from hearteval.protocol.markers import Message, ask_again, marked_material

EVIDENCE, VERDICT, PROBABILITY = KEYS = ("evidence", "verdict", "probability")
_STAND_IN_CODE = "0123456789abcdef"
_STAND_IN_TURNS = (Turn(role="supporter", text="One."), Turn(role="seeker", text="Two."))


def label_messages(
    context: Sequence[Turn], text: str, taxonomy: Taxonomy, *, nonce: str
) -> tuple[Message, ...]:
    """Write the messages that ask which categories hold of a text; as `judge_messages`.

    Raises:
        ValueError: The code stands in one of the texts.
    """
    prompt = load_protocol("label_prompt")
    material = marked_material(context, [prompt["part"]], [text], nonce=nonce)
    user = "\n\n".join((*material, prompt["question"]))
    return (("system", _system_text(taxonomy)), ("user", user))


def label_again(messages: Sequence[Message], fault: str) -> tuple[Message, ...]:
    """Write the one request to repair; as `ask_again`. The fault is one of `LABEL_FAULTS`."""
    return ask_again(messages, fault, load_protocol("label_prompt")["repair"])


@cache
def label_prompt_hash(taxonomy: Taxonomy) -> str:
    """Return the hash of all that makes the prompt: texts, versions, layout, schema, categories."""
    stand_in = label_messages(_STAND_IN_TURNS, "Three.", taxonomy, nonce=_STAND_IN_CODE)
    return content_hash(
        {
            "label_prompt": load_protocol("label_prompt"),
            "rendered": stand_in,
            "schema": label_schema(taxonomy),
        }
    )


def label_schema(
    taxonomy: Taxonomy, *, max_evidence_characters: int | None = None
) -> dict[str, Any]:
    """Return the schema of a reply: for each category evidence, verdict and probability.

    A bound on the evidence is for endpoints that keep it, as in `judge_schema`.
    """
    evidence: dict[str, Any] = {"type": "string"}
    if max_evidence_characters is not None:
        evidence["maxLength"] = max_evidence_characters
    steps = load_protocol("label_prompt")["probabilities"]
    one = _closed(
        {
            EVIDENCE: evidence,
            VERDICT: {"type": "string", "enum": [*get_args(LabelVerdict)]},
            PROBABILITY: {"type": "integer", "enum": steps},
        }
    )
    return _closed(dict.fromkeys(taxonomy.keys, one))


@cache
def _system_text(taxonomy: Taxonomy) -> str:
    prompt = load_protocol("label_prompt")
    *most, last = map(str, prompt["probabilities"])
    steps = f"{', '.join(most)} or {last}"
    categories = (
        f"{one.name} (key {one.key}). {one.definition}\n"
        f"{prompt['yes']} {one.present}\n{prompt['no']} {one.absent}"
        for one in taxonomy.categories
    )
    sample = prompt["sample"].format(steps=steps)
    lines = ",\n".join(f'"{key}": {sample}' for key in taxonomy.keys)
    parts = (
        prompt["role"],
        prompt["data"],
        prompt["heading"],
        "\n\n".join(categories),
        prompt["rules"].format(steps=steps),
        f"{prompt['format']}\n{{{lines}}}",
    )
    return "\n\n".join(part.strip() for part in parts)


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
