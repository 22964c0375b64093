"""Whether a model is worth asking: it is on trial until one of its replies can be used.

While it is on trial only its first questions are asked. Where none of them gets a reply that can be
used it is asked no more in this run; others go on. A call that comes to nothing is its endpoint's
matter and says nothing here. Nothing is stored of a trial: each run tries anew.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from hearteval.domain import Attempt
from hearteval.domain.reasons import NOT_ASKED, outlook_of
from hearteval.models.base import AskedModel, Message
from hearteval.models.failures import excerpt
from hearteval.models.prices import money

Keep = Callable[[Sequence[Any]], Awaitable[None]]

LONGEST_SHOWN = 120
"""Characters of a reply that is shown; it ends in the log of the run."""


class Trial:
    """The questions that one model is asked in one run."""

    def __init__(self, asked: AskedModel) -> None:
        self._asked = asked
        self._n_under_way = self._n_given_up = 0
        self._tried: list[tuple[Attempt, Sequence[Message]]] = []
        self._is_passed = self._is_over = False
        self._has_ended = asyncio.Event()

    async def ask(
        self, ask: Callable[[Keep], Awaitable[str]], *, keep: Keep, spoken: Sequence[Message]
    ) -> str:
        """Ask a question in its turn, by giving `ask` what keeps its attempts.

        Returns what `ask` does, the reason why an answer is missing or an empty text, or
        `NOT_ASKED`. Of the messages nothing is said again.
        """
        while not self._is_passed:
            if self._is_over:
                return NOT_ASKED
            if self._n_under_way + self._n_given_up < self._asked.n_first:
                break
            await self._has_ended.wait()
        attempts: list[Attempt] = []

        async def keep_noted(records: Sequence[Any]) -> None:
            attempts.extend(record for record in records if isinstance(record, Attempt))
            await keep(records)

        self._n_under_way += 1
        reason = None
        try:
            reason = await ask(keep_noted)
        finally:
            self._n_under_way -= 1
            self._is_over |= reason is None  # a fault ends the run: nobody else is to wait
            self._note(reason, attempts, spoken)
            self._has_ended.set()
            self._has_ended = asyncio.Event()
        return reason

    def _note(
        self, reason: str | None, attempts: Sequence[Attempt], spoken: Sequence[Message]
    ) -> None:
        self._is_passed |= reason == ""
        if self._is_passed or not reason or outlook_of(reason) != "given-up":
            return
        self._n_given_up += 1
        self._tried += ((attempt, spoken) for attempt in attempts)
        if self._n_given_up == self._asked.n_first:
            self._is_over = True
            self._asked.say(self._words())

    def _words(self) -> str:
        """Say why it is asked no more, with one of its replies and what they cost."""
        ((fault, _),) = Counter(one.reason for one, _ in self._tried).most_common(1)
        shown, spoken = next((one, of) for one, of in self._tried if one.reason == fault)
        said = excerpt(shown.raw, secrets=(), spoken=[message.content for message in spoken])
        said = said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}…"
        usd = sum(one.call.cost or 0.0 for one, _ in self._tried)
        return (
            f"{self._asked.model.name}: none of its first {self._n_given_up:,} questions got a"
            f" reply that can be used, mostly for {fault}"
            f" ({f'one reads: {said}' if said else 'one has no text'}); {len(self._tried):,}"
            f" calls were made for ${money(usd)}. It is asked no more in this run, what others do"
            " goes on. Cure it, then run the same command again: it is tried with"
            f" {self._asked.n_first:,} other questions first"
        )
