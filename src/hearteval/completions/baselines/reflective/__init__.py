"""The reflective system: an ELIZA-style listener (Weizenbaum 1966) that mirrors and asks.

It takes the most salient clause of the seeker's last turn (`clauses` finds it), turns it to the
second person (`mirror`) and adds an open question. It understands nothing: a system that loses to
it loses to a mirror.
"""

import hashlib
from collections.abc import Sequence

from hearteval.completions.baselines.reflective.clauses import (
    find_clauses,
    find_feeling,
    speaks_of_ending,
)
from hearteval.completions.baselines.reflective.mirror import mirror_person
from hearteval.protocol import load_protocol


def write_reflection(turn: str, *, key: tuple[object, ...]) -> str:
    """Answer a seeker's turn in one or two sentences that mirror it.

    Without a clause to mirror it picks up a feeling word, and without one it asks neutrally. A
    turn that speaks of suicide or self-harm gets a fixed sentence and is never mirrored. Choices
    between wordings depend on the key, e.g. the seed and the item's id.
    """
    wording = load_protocol("baselines")["reflective"]
    if speaks_of_ending(turn):
        return str(wording["safety"])
    clauses = find_clauses(turn)
    if clauses:
        clause = clauses[0]
        is_asking = clause.kind == "asking"
        frames = wording["question_frames" if is_asking else "frames"]
        mirrored = clause.text if is_asking else mirror_person(clause.text)
        question = draw(wording["questions"][clause.kind], *key, "question")
        return f"{draw(frames, *key, 'frame').format(clause=mirrored)} {question}"
    word = find_feeling(turn)
    if word is not None:
        question = draw(wording["questions"]["word"], *key, "question")
        return f"{draw(wording['word_frames'], *key, 'frame').format(word=word)} {question}"
    return draw(wording["neutral"], *key, "neutral")


def draw(options: Sequence[str], *key: object) -> str:
    """Choose one of the options by the SHA-256 of a key; every option is about equally likely.

    A generator would make each choice depend on how many came before it; a hash of what the choice
    is about (the seed, an item id, what is being chosen) does not, so a study that grows keeps what
    it has.
    """
    text = "\x1f".join(str(part) for part in key)
    return options[int.from_bytes(hashlib.sha256(text.encode()).digest()) % len(options)]
