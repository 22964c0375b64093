"""A question to an LLM judge, of a pair or of one completion: asked again with its fault named."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from heartbench.domain import Attempt, Judgment, Rating
from heartbench.errors import InvalidReplyError
from heartbench.judgments import judge_prompt
from heartbench.judgments.reply_json import REPLY_FAULTS
from heartbench.models import questions
from heartbench.models.asking import to_messages
from heartbench.models.base import Message, Reply
from heartbench.models.questions import Question, Tries


def judge_question(
    target: Mapping[str, Any],
    messages: Sequence[judge_prompt.Message],
    *,
    read: Callable[[Reply], Judgment | Rating],
) -> Question:
    """Return a question that names the fault of the reply before it.

    Args:
        target: The fields by which an attempt names it, its repeat among them.
        messages: The question, without any fault named.
        read: Makes the record of a reply.
    """

    def word(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
        if not faults:
            return to_messages(messages), target["repeat"]
        error = InvalidReplyError("", reason=faults[-1])
        return to_messages(judge_prompt.repair_messages(messages, error)), target["repeat"]

    return Question(target=target, word=word, read=read)


def earlier_tries(
    attempts: Iterable[Attempt], target_of: Callable[[Attempt], Any]
) -> Mapping[Any, Tries]:
    """Gather what was tried of judges; see `heartbench.models.questions.earlier_tries`."""
    return questions.earlier_tries(attempts, target_of, faults=REPLY_FAULTS)
