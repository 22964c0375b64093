"""What a model that labels is sent, and the schema of its reply.

It sees the text, a completion after its conversation, as judges do: as data between marker lines
whose code nobody could foresee, and nothing that says whose it is. Evidence comes before the
verdict, the verdict before its probability; all values but the evidence are enums, because some
back ends drop bounds of numbers and texts. A scale has a score where others have a verdict.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, get_args

from hearteval.domain import LabelVerdict, Turn, content_hash
from hearteval.labels.taxonomy import Category, Taxonomy, Unit
from hearteval.labels.texts import LabelledText
from hearteval.protocol import load_protocol
from hearteval.protocol.markers import Message, ask_again, marked_material
from hearteval.protocol.strict_json import closed_object

EVIDENCE, VERDICT, PROBABILITY = KEYS = ("evidence", "verdict", "probability")
_, SCORE = SCALE_KEYS = (EVIDENCE, "score")
_STAND_IN_CODE = "0123456789abcdef"
_STAND_IN_TURNS = (Turn(role="supporter", text="One."), Turn(role="seeker", text="Two."))


def label_messages(text: LabelledText, taxonomy: Taxonomy, *, nonce: str) -> tuple[Message, ...]:
    """Write the messages that ask which categories hold of a text; as `judge_messages`.

    Raises:
        ValueError: The code stands in one of the texts.
    """
    words = taxonomy.words(text.of)
    parts = [(words["part"], text.text)] if text.text else []
    if text.situation:
        parts.append((words["situation"], text.situation))
    labels, texts = [label for label, _ in parts], [one for _, one in parts]
    material = marked_material(text.context, labels, texts, nonce=nonce)
    user = "\n\n".join((*material, words["question"]))
    return (("system", _system_text(taxonomy, text.of)), ("user", user))


def label_again(messages: Sequence[Message], fault: str) -> tuple[Message, ...]:
    """Write the one request to repair; as `ask_again`. The fault is one of `LABEL_FAULTS`."""
    return ask_again(messages, fault, load_protocol("label_prompt")["repair"])


@cache
def label_prompt_hash(taxonomy: Taxonomy) -> str:
    """Return the hash of all that makes the prompt: texts, versions, layout, schema, categories."""
    stand_ins = [
        LabelledText(
            of=of,
            id="",
            text="Three.",
            context=() if of == "reasons" else _STAND_IN_TURNS,
            situation="Four." if of == "item" else "",
        )
        for of in taxonomy.of
    ]
    return content_hash(
        {
            "label_prompt": load_protocol("label_prompt"),
            "rendered": [
                label_messages(text, taxonomy, nonce=_STAND_IN_CODE) for text in stand_ins
            ],
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
    one = closed_object(
        {
            EVIDENCE: evidence,
            VERDICT: {"type": "string", "enum": [*get_args(LabelVerdict)]},
            PROBABILITY: {"type": "integer", "enum": steps},
        }
    )
    return closed_object(
        {
            category.key: closed_object(
                {EVIDENCE: evidence, SCORE: {"type": "string", "enum": scores_of(category)}}
            )
            if category.levels
            else one
            for category in taxonomy.categories
        }
    )


def scores_of(category: Category) -> list[str]:
    """Return what a reply may give as the score of a scale."""
    return [*map(str, range(1, len(category.levels) + 1)), "uncertain"]


@cache
def _system_text(taxonomy: Taxonomy, of: Unit) -> str:
    prompt, words = load_protocol("label_prompt"), taxonomy.words(of)
    *most, last = map(str, prompt["probabilities"])
    steps = f"{', '.join(most)} or {last}"
    scale_rules = prompt["scale_rules"] if any(c.levels for c in taxonomy.categories) else ""
    lines = ",\n".join(f'"{one.key}": {_sample(one, steps)}' for one in taxonomy.categories)
    parts = (
        words["role"],
        words["data"],
        prompt["heading"],
        "\n\n".join(map(_describe, taxonomy.categories)),
        (words["rules"] + prompt["rules"].lstrip() + scale_rules.lstrip()).format(steps=steps),
        f"{prompt['format']}\n{{{lines}}}",
    )
    return "\n\n".join(part.strip() for part in parts)


def _describe(category: Category) -> str:
    prompt = load_protocol("label_prompt")
    if category.levels:
        numbered = enumerate(category.levels, start=1)
        said = [prompt["levels"].format(score=score, words=words) for score, words in numbered]
        examples = [prompt["scale"], *said]
    else:
        examples = [f"{prompt['yes']} {category.present}", f"{prompt['no']} {category.absent}"]
    return "\n".join([f"{category.name} (key {category.key}). {category.definition}", *examples])


def _sample(category: Category, steps: str) -> str:
    prompt = load_protocol("label_prompt")
    if category.levels:
        return str(prompt["scale_sample"].format(most=len(category.levels)))
    return str(prompt["sample"].format(steps=steps))
