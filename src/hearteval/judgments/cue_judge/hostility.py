"""The hostility that the cue judge sees in a text: blame, dismissal, contempt, commands, insults.

What is hostile is said in ``cues.toml`` by patterns over small classes of words, so that new
sentences built the same way are found too. It sees no irony and no tact.
"""

from functools import lru_cache

from hearteval.judgments.cue_judge.lexicon import (
    find_insults,
    find_patterns,
    find_phrases,
    lower_word,
)
from hearteval.judgments.cue_judge.reading import CACHED_TEXTS, read_text

SUSPECTS_PER_HIT = 2


@lru_cache(maxsize=CACHED_TEXTS)
def find_hostility(text: str) -> tuple[int, tuple[str, ...]]:
    """Return the number of hits in a text and its hostile places, as written there.

    A pattern or an insult meant for *you* is a hit; so are every two different suspect words in
    the rest of the text.
    """
    sure = find_patterns("hostility", text)
    for sentence in read_text(text).sentences:
        sure += [one for one in find_insults(sentence.text) if one not in sure]
    covered = " / ".join(lower_word(quote) for quote in sure)
    suspects = [one for one in find_phrases("suspect", text) if lower_word(one) not in covered]
    n_pairs = len(suspects) // SUSPECTS_PER_HIT
    return len(sure) + n_pairs, tuple(sure + suspects if n_pairs else sure)
