"""A model without a network: scripted and deterministic, for tests, trials and examples.

A real implementation of `ChatModel`, not a mock: it passes the tests that the client passes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hearteval.errors import ModelCallError
from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.http import Endpoint, build_body, effective_settings, requested_settings

Answer = str | Reply | ModelCallError
Answering = Callable[[Sequence[Message], Sampling, int], Answer]


class CannedCall(NamedTuple):
    """What a `CannedModel` was asked."""

    messages: tuple[Message, ...]
    sampling: Sampling
    repeat: int


class CannedModel:
    """A model that says what it was told to say: a `ChatModel`."""

    def __init__(self, answers: Answering | Iterable[Answer], *, name: str = "canned") -> None:
        """Take answers to be given in turn, or a function whose answers depend on nothing else."""
        self.name = name
        self._answers = answers if callable(answers) else deque(answers)
        self.calls: list[CannedCall] = []

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        """Give the answer; see `ChatModel.complete`.

        Raises:
            IndexError: All answers have been given.
        """
        endpoint = Endpoint(name=self.name, model=self.name, base_url="http://canned.invalid")
        build_body(messages, sampling, endpoint)
        self.calls.append(CannedCall(messages=tuple(messages), sampling=sampling, repeat=repeat))
        answers = self._answers
        if isinstance(answers, deque):
            answer = answers.popleft()
        else:
            answer = answers(messages, sampling, repeat)
        await asyncio.sleep(0)
        if isinstance(answer, ModelCallError):
            raise answer
        reply = answer if isinstance(answer, Reply) else Reply(text=answer, finish_reason="stop")
        return replace(
            reply,
            model=reply.model or self.name,
            requested=requested_settings(sampling),
            effective=effective_settings(sampling, endpoint),
            raw=reply.raw or reply.text,
        )
