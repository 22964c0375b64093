"""A small corpus in the form of ESConv, made up: half of its dialogues tell of drinking."""

import json
from pathlib import Path

from hearteval.items.esconv import SPLIT_FILES

OPEN_TURN = "I feel so lost since it ended and I cannot sleep, so what should I do now, honestly?"


def write_corpus(folder: Path, *, n_per_file: int = 8) -> Path:
    """Write the three files of a corpus into a folder, which is made, and return it."""
    folder.mkdir(exist_ok=True)
    for index, name in enumerate(SPLIT_FILES):
        lines = [_dialogue(f"{index}{number}", number) for number in range(n_per_file)]
        (folder / name).write_text("\n".join(lines), "utf-8")
    return folder


def _dialogue(word: str, number: int) -> str:
    told = "He came home drunk again" if number % 2 else "He went away again"
    said = ["Hello.", "Hi, what is it?", f"{told}, {word}.", "And then?"]
    said += [f"{OPEN_TURN} It is {word}.", f"That sounds heavy, {word}."]
    dialog = [{"speaker": ("usr", "sys")[i % 2], "text": text} for i, text in enumerate(said)]
    about = {"emotion_type": "fear", "problem_type": "breakup", "situation": word}
    return json.dumps({**about, "dialog": dialog})
