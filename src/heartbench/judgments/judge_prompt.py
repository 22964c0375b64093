"""What an LLM judge is sent: a pair and the rubric become messages (HEART 9.5, 9.6).

A judge sees the conversation and two texts, and nothing that says whose they are: no ids, names,
families, labels of the item, nor its reference. The system message is the same for all pairs; the
texts stand between marker lines in the user message, as they are, never shortened or cleaned.
"""

from collections.abc import Sequence
from typing import Literal

from heartbench.domain import AXES, Axis, Turn, content_hash
from heartbench.errors import InvalidReplyError
from heartbench.judgments.delimiters import between_markers
from heartbench.judgments.reply_schema import (
    OVERALL,
    PairProtocol,
    axis_key,
    judge_schema,
    ordered_axes,
)
from heartbench.judgments.rubric import conversation_text, rubric_text
from heartbench.protocol import load_protocol

Message = tuple[Literal["system", "user", "assistant"], str]

_STAND_IN_CODE = "0123456789abcdef"
_STAND_IN_TURNS = (Turn(role="supporter", text="One."), Turn(role="seeker", text="Two."))


def judge_messages(
    context: Sequence[Turn],
    first: str,
    second: str,
    *,
    nonce: str,
    axes: Sequence[Axis] = AXES,
    protocol: PairProtocol = "forced-strength",
) -> tuple[Message, ...]:
    """Write the messages that ask which of two texts is the better next turn.

    Args:
        context: The conversation.
        first: The text shown as A.
        second: The text shown as B.
        nonce: The code of the markers, from `delimiter_nonce`.
        axes: The axes to judge, in any order.
        protocol: ``forced-strength``, or ``five-point`` with ties.

    Raises:
        ValueError: The code stands in one of the texts, or the axes are not axes.
    """
    prompt = load_protocol("judge_prompt")
    layout = prompt["layout"]
    user = (
        layout["code"].format(code=nonce),
        between_markers(layout["conversation"], conversation_text(context), nonce=nonce),
        between_markers(layout["first"], first, nonce=nonce),
        between_markers(layout["second"], second, nonce=nonce),
        prompt[protocol]["question"],
    )
    return (("system", _system_text(ordered_axes(axes), protocol)), ("user", "\n\n".join(user)))


def repair_messages(messages: Sequence[Message], error: InvalidReplyError) -> tuple[Message, ...]:
    """Write the one request to repair: the same question again, with the fault named.

    Nothing of the bad reply goes back in, neither as the judge's turn nor as a quotation: it may
    hold words of the texts that are judged.

    Args:
        messages: What was asked, from `judge_messages` or `rating_messages`.
        error: Why the reply could not be used.
    """
    repair = load_protocol("judge_prompt")["repair"]
    note = repair["note"].format(error=repair["errors"][error.reason])
    *before, (role, content) = messages
    return (*before, (role, f"{content}\n\n{note}"))


def judge_prompt_hash(
    axes: Sequence[Axis] = AXES, *, protocol: PairProtocol = "forced-strength"
) -> str:
    """Return the hash of all that makes the prompt: texts, versions, layout, schema, axes."""
    rendered = judge_messages(
        _STAND_IN_TURNS, "Three.", "Four.", nonce=_STAND_IN_CODE, axes=axes, protocol=protocol
    )
    return content_hash(
        {
            "judge_prompt": load_protocol("judge_prompt"),
            "rubric": load_protocol("rubric"),
            "rendered": rendered,
            "schema": judge_schema(axes, protocol=protocol),
        }
    )


def form_text(keys: Sequence[str], sample: str) -> str:
    """Write the object that a judge must reply with, a line a key."""
    lines = ",\n".join(f'"{key}": {sample}' for key in keys)
    return f"{load_protocol('judge_prompt')['layout']['format']}\n{{{lines}}}"


def _system_text(axes: Sequence[Axis], protocol: PairProtocol) -> str:
    prompt = load_protocol("judge_prompt")
    keys = [*(axis_key(axis) for axis in axes), OVERALL]
    parts = (
        prompt["role"],
        prompt["data"],
        prompt["axes_heading"],
        rubric_text(axes),
        prompt["weighing"],
        prompt[protocol]["answer"],
        form_text(keys, prompt[protocol]["sample"]),
    )
    return "\n\n".join(part.strip() for part in parts)
