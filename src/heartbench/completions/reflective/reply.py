"""The reflective system: an ELIZA-style listener (Weizenbaum 1966) that mirrors and asks.

It takes the most salient clause of the seeker's last turn, turns it to the second person and adds
an open question. It understands nothing: a system that loses to it loses to a mirror.
"""

from heartbench.completions.drawing import draw
from heartbench.completions.reflective.clauses import find_clauses, find_feeling, speaks_of_ending
from heartbench.completions.reflective.mirror import mirror_person
from heartbench.protocol import load_protocol


def write_reflection(turn: str, *, key: tuple[object, ...]) -> str:
    """Answer a seeker's turn in one or two sentences that mirror it.

    Without a clause to mirror it picks up a feeling word, and without one it asks neutrally. A
    turn that speaks of suicide or self-harm gets a fixed sentence and is never mirrored.

    Args:
        turn: The seeker's last turn, as typed.
        key: What choices between wordings depend on, e.g. the seed and the item's id.
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
