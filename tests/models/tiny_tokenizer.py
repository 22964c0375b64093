"""The tokenizer of the tiny test model: byte-level BPE learned from the starter items alone.

It splits words as GPT-2 does, because llama.cpp knows that rule by name, and needs nothing but the
standard library, so that a test can learn it anew and compare it with what the GGUF holds.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise

from hearteval.items import load_starter_items

SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
N_MERGES = 765

# GPT-2's rule with \p{L} and \p{N} written for the standard library's `re`.
WORD = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")

Pair = tuple[str, str]


def own_texts() -> list[str]:
    """Every situation, turn and reference of the starter items: all that the model learns from."""
    texts = []
    for item in load_starter_items():
        texts += [item.situation, *(turn.text for turn in item.context)]
        texts += [item.reference] if item.reference else []
    return texts


def byte_symbols() -> list[str]:
    """Name each of the 256 bytes by one printable character, as GPT-2 does."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    names = {byte: chr(byte) for byte in printable}
    names |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    return [names[byte] for byte in range(256)]


SYMBOLS = byte_symbols()


def split_words(text: str) -> list[tuple[str, ...]]:
    """Split a text into words, each a tuple of byte symbols."""
    return [tuple(SYMBOLS[b] for b in word.encode()) for word in WORD.findall(text)]


def merge_pair(word: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """Join every occurrence of a pair in a word, from the left."""
    merged: list[str] = []
    place = 0
    while place < len(word):
        if word[place : place + 2] == pair:
            merged.append(pair[0] + pair[1])
            place += 2
        else:
            merged.append(word[place])
            place += 1
    return tuple(merged)


def learn_merges(texts: Iterable[str], n_merges: int = N_MERGES) -> list[Pair]:
    """Learn BPE merges: the commonest pair first, of equals the first in the alphabet."""
    tally = Counter(word for text in texts for word in split_words(text))
    words, weights = list(tally), list(tally.values())
    counts: Counter[Pair] = Counter()
    places: defaultdict[Pair, set[int]] = defaultdict(set)
    for place, word in enumerate(words):
        for pair in pairwise(word):
            counts[pair] += weights[place]
            places[pair].add(place)
    merges: list[Pair] = []
    for _ in range(n_merges):
        most = max(counts.values())
        best = min(pair for pair, count in counts.items() if count == most)
        merges.append(best)
        for place in places.pop(best):
            for pair in pairwise(words[place]):
                counts[pair] -= weights[place]
            words[place] = merge_pair(words[place], best)
            for pair in pairwise(words[place]):
                counts[pair] += weights[place]
                places[pair].add(place)
    return merges


class Tokenizer:
    """Texts to token ids, the way llama.cpp does it for these merges."""

    def __init__(self, merges: list[Pair]) -> None:
        self.tokens = [*SPECIAL_TOKENS, *SYMBOLS, *(a + b for a, b in merges)]
        self._ids = {token: place for place, token in enumerate(self.tokens)}
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._known: dict[tuple[str, ...], list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Encode a text without special tokens."""
        return [token for word in split_words(text) for token in self._encode_word(word)]

    def encode_chat(self, messages: Iterable[tuple[str, str]]) -> list[int]:
        """Encode (role, text) messages as the chat template writes them."""
        tokens: list[int] = []
        for role, text in messages:
            tokens += [1, *self.encode(f"{role}\n{text}"), 2, *self.encode("\n")]
        return tokens

    def _encode_word(self, word: tuple[str, ...]) -> list[int]:
        if word not in self._known:
            parts = word
            while len(parts) > 1:
                pair = min(pairwise(parts), key=lambda p: self._ranks.get(p, N_MERGES))
                if pair not in self._ranks:
                    break
                parts = merge_pair(parts, pair)
            self._known[word] = [self._ids[part] for part in parts]
        return self._known[word]
