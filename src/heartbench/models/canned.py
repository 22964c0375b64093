"""A model without a network: scripted and deterministic, for tests, trials and examples.

A real implementation of `ChatModel`, not a mock: it passes the tests that the client passes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from heartbench.errors import ModelCallError
from heartbench.models.base import Message, Reply, Sampling
from heartbench.models.wire import Endpoint, build_body, effective_settings, requested_settings

Answer = str | Reply | ModelCallError
Answering = Callable[[Sequence[Message], Sampling, int], Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class CannedCall:
    """What a `CannedModel` was asked."""

    messages: tuple[Message, ...]
    sampling: Sampling
    repeat: int


class CannedModel:
    """A model that says what it was told to say: a `ChatModel`.

    Attributes:
        calls: What it was asked, in order.
    """

    def __init__(self, answers: Answering | Iterable[Answer], *, name: str = "canned") -> None:
        """Make a model.

        Args:
            answers: A function of messages, sampling and repeat, whose answers do not depend on the
                order of calls; or answers to be given in turn.
            name: What messages and logs call it.
        """
        self._answers = answers if callable(answers) else deque(answers)
        self._name = name
        self.calls: list[CannedCall] = []

    @property
    def name(self) -> str:
        """What messages and logs call it."""
        return self._name

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Give the answer; see `ChatModel.complete`.

        Raises:
            IndexError: All answers have been given.
        """
        endpoint = Endpoint(name=self._name, model=self._name, base_url="http://canned.invalid")
        build_body(messages, sampling, endpoint)
        self.calls.append(CannedCall(messages=tuple(messages), sampling=sampling, repeat=repeat))
        answers = self._answers
        answer = (
            answers.popleft()
            if isinstance(answers, deque)
            else (answers(messages, sampling, repeat))
        )
        await asyncio.sleep(0)
        if isinstance(answer, ModelCallError):
            raise answer
        reply = answer if isinstance(answer, Reply) else Reply(text=answer, finish_reason="stop")
        return replace(
            reply,
            model=reply.model or self._name,
            requested=requested_settings(sampling),
            effective=effective_settings(sampling, endpoint),
            raw=reply.raw or reply.text,
        )
