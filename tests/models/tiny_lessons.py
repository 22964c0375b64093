"""What the tiny test model is trained on: chats and JSON replies, drawn from its own texts.

Two habits are taught, because tests need them: a short reply to a seeker's turn that ends, and JSON
whose strings are short and end too (a grammar forces the rest, but no grammar closes a string).
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from tiny_tokenizer import Tokenizer, own_texts

from hearteval.domain import Item
from hearteval.items import load_starter_items

ROLES = {"seeker": "user", "supporter": "assistant"}
KEYS = ("H", "E", "A", "R", "T", "axes", "choice", "label", "overall", "rationale", "reason",
        "reasons", "strength", "text", "verdict", "winner")  # fmt: skip
MARKS = ("A", "B", "first", "second", "tie", "1", "2", "3", "4", "5", 1, 2, 3, 4, 5)
ORDER = "Reply in JSON."
N_STRINGS, N_WORDS_OF_STRING = 60, 5

Message = tuple[str, str]


class Lessons:
    """An endless, seeded supply of training sequences."""

    def __init__(self, tokenizer: Tokenizer, rng: np.random.Generator) -> None:
        self._tokenizer = tokenizer
        self._rng = rng
        self._items = load_starter_items()
        texts = own_texts()
        self._sentences = [s for text in texts for s in re.split(r"(?<=[.?!])\s+", text) if s]
        # Few and short, so that even a model of this size learns where they end.
        short = [s for s in self._sentences if 2 <= len(s.split()) <= N_WORDS_OF_STRING]
        self._strings = [s for s in dict.fromkeys(short) if '"' not in s][:N_STRINGS]

    def sequence(self, length: int) -> list[int]:
        """Concatenate lessons into exactly `length` tokens."""
        tokens: list[int] = []
        for lesson in self._lessons(longest_prompt=length // 2):
            tokens += self._tokenizer.encode_chat(lesson)
            if len(tokens) >= length:
                break
        return tokens[:length]

    def _lessons(self, longest_prompt: int) -> Iterator[list[Message]]:
        while True:
            n_prompt = int(self._rng.integers(1, longest_prompt))
            yield self._json_reply(n_prompt) if self._rng.random() < 0.5 else self._chat()

    def _chat(self) -> list[Message]:
        item = self._items[self._rng.integers(len(self._items))]
        turns = as_messages(item)
        first = self._rng.choice([i for i in range(len(turns) - 1) if turns[i][0] == "user"])
        turns = turns[first:] if self._rng.random() < 0.5 else turns
        if self._rng.random() < 0.3:
            turns = as_transcript(turns)
        if self._rng.random() < 0.6:
            turns = [("system", self._prose(int(self._rng.integers(10, 80)))), *turns]
        return turns

    def _json_reply(self, n_prompt: int) -> list[Message]:
        reply = json.dumps(self._value(depth=0), separators=self._separators())
        return [("user", f"{self._prose(n_prompt)}\n{ORDER}"), ("assistant", reply)]

    def _separators(self) -> tuple[str, str]:
        return (", ", ": ") if self._rng.random() < 0.5 else (",", ":")

    def _value(self, *, depth: int) -> Any:
        chance = self._rng.random()
        if depth == 0 or (depth == 1 and chance < 0.35):
            n_keys = int(self._rng.integers(1, 7))
            keys = self._rng.permutation(len(KEYS))[:n_keys]
            return {KEYS[k]: self._value(depth=depth + 1) for k in keys}
        if chance < 0.6:
            return MARKS[self._rng.integers(len(MARKS))]
        return self._strings[self._rng.integers(len(self._strings))]

    def _sentence(self) -> str:
        return self._sentences[self._rng.integers(len(self._sentences))]

    def _prose(self, n_tokens: int) -> str:
        """String together unrelated sentences of about so many tokens (four characters each)."""
        text = self._sentence()
        while len(text) < 3 * n_tokens:
            text += ("\n" if self._rng.random() < 0.2 else " ") + self._sentence()
        return text


def as_messages(item: Item) -> list[Message]:
    """An item's dialogue as a chat; one without a reference ends before its last seeker turn."""
    turns = [(ROLES[turn.role], turn.text) for turn in item.context]
    return [*turns, ("assistant", item.reference)] if item.reference else turns[:-1]


def as_transcript(turns: list[Message]) -> list[Message]:
    """The same dialogue told in one message, with the last turn as the reply."""
    names = {"user": "Seeker", "assistant": "Supporter"}
    told = "\n".join(f"{names[role]}: {text}" for role, text in turns[:-1])
    return [("user", told), turns[-1]]
