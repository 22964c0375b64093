"""What an LLM judge of the `rating` protocol is sent: one text and the rubric become messages.

The variant of the second source (SPEC section 5): each completion by itself, 1 to 5 on each axis,
a comment before each score. Markers, layout and the request to repair are `judge_prompt`'s.
"""

from collections.abc import Sequence

from heartbench.domain import AXES, Axis, Turn, content_hash
from heartbench.judgments.delimiters import between_markers
from heartbench.judgments.judge_prompt import Message, form_text
from heartbench.judgments.reply_schema import axis_key, ordered_axes, rating_schema
from heartbench.judgments.rubric import conversation_text, rubric_text
from heartbench.protocol import load_protocol

_STAND_IN_CODE = "0123456789abcdef"
_STAND_IN_TURNS = (Turn(role="supporter", text="One."), Turn(role="seeker", text="Two."))


def rating_messages(
    context: Sequence[Turn], text: str, *, nonce: str, axes: Sequence[Axis] = AXES
) -> tuple[Message, ...]:
    """Write the messages that ask how good a text is as the next turn.

    Args:
        context: The conversation.
        text: The text to score.
        nonce: The code of the markers, from `delimiter_nonce`.
        axes: The axes to score, in any order.

    Raises:
        ValueError: The code stands in the text, or the axes are not axes.
    """
    prompt = load_protocol("rating_prompt")
    layout = load_protocol("judge_prompt")["layout"]
    wanted = ordered_axes(axes)
    system = (
        prompt["role"],
        prompt["data"],
        load_protocol("judge_prompt")["axes_heading"],
        rubric_text(wanted),
        prompt["weighing"],
        prompt["answer"],
        form_text([axis_key(axis) for axis in wanted], prompt["sample"]),
    )
    user = (
        layout["code"].format(code=nonce),
        between_markers(layout["conversation"], conversation_text(context), nonce=nonce),
        between_markers(prompt["part"], text, nonce=nonce),
        prompt["question"],
    )
    return (
        ("system", "\n\n".join(part.strip() for part in system)),
        ("user", "\n\n".join(user)),
    )


def rating_prompt_hash(axes: Sequence[Axis] = AXES) -> str:
    """Return the hash of all that makes the prompt: texts, versions, layout, schema, axes."""
    rendered = rating_messages(_STAND_IN_TURNS, "Three.", nonce=_STAND_IN_CODE, axes=axes)
    return content_hash(
        {
            "rating_prompt": load_protocol("rating_prompt"),
            "judge_prompt": load_protocol("judge_prompt"),
            "rubric": load_protocol("rubric"),
            "rendered": rendered,
            "schema": rating_schema(axes),
        }
    )
