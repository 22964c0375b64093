"""The rubric and the conversation as judges read them: pure text from ``protocol/rubric.toml``."""

from collections.abc import Sequence

from heartbench.domain import AXIS_NAMES, Axis, Turn
from heartbench.judgments.reply_schema import axis_key
from heartbench.protocol import load_protocol


def rubric_text(axes: Sequence[Axis]) -> str:
    """Write the axes: anchor, sub-criteria, one high and one low example each."""
    return "\n\n".join(_axis_text(axis) for axis in axes)


def conversation_text(context: Sequence[Turn]) -> str:
    """Write the turns of a conversation, a label before each."""
    layout = load_protocol("judge_prompt")["layout"]
    return "\n".join(f"{layout[turn.role]} {turn.text}" for turn in context)


def _axis_text(axis: Axis) -> str:
    rubric = load_protocol("rubric")[axis]
    layout = load_protocol("judge_prompt")["layout"]
    criteria = (f"- {criterion['name']}: {criterion['text']}" for criterion in rubric["criteria"])
    return "\n".join(
        (
            f"{AXIS_NAMES[axis]} (key {axis_key(axis)}). {rubric['anchor']}",
            *criteria,
            f"{layout['seeker']} {rubric['seeker']}",
            f"{layout['high']} {rubric['high']}",
            f"{layout['low']} {rubric['low']}",
        )
    )
