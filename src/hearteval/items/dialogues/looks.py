"""What a file of dialogues looks like where neither it nor the study says how it is to be read.

All of it is proposed to whoever has the file and never taken unasked. Words of a dialogue are in
none of it; those that stand for a speaker are.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import fmean

from hearteval.domain import Role

ENCODINGS = ("cp1252", "cp850")
"""Of files that are no UTF-8, as spreadsheet programs of Western Europe write them."""
TOPICS = (
    *("thema", "themen", "topic", "subject", "anliegen", "problem type", "issue", "category"),
    *("kategorie", "theme"),
)
"""Columns that may hold an item's problem."""
SIDES: Mapping[Role, tuple[str, ...]] = {
    "seeker": (
        *("client", "seeker", "patient", "user", "caller", "visitor", "klient", "ratsuchende"),
        *("anrufer", "nutzer", "hilfesuchende"),
    ),
    "supporter": (
        *("supporter", "counsellor", "therapist", "helper", "listener", "assistant", "volunteer"),
        *("advisor", "berater", "helfer"),
    ),
}
"""Words that a speaker's mark may be short for, so that who seeks support can be proposed."""
_MARK = re.compile(r"(?:^|(?<=\s))([^\W\d_][\w.-]{0,19})\s?:(?=\s)")
_MOST_SPEAKERS = 8
_SHORT = 40
"""Characters of a cell that may be an id or a speaker."""


def seems_encoded(content: bytes) -> str | None:
    """Return the encoding that a file which is no UTF-8 seems to have; None where none fits."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if any(byte < 32 and byte not in b"\t\n\r\f" for byte in set(content)):
        return None
    shares = {}
    for encoding in ENCODINGS:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        others = [one for one in text if one > "\x7f"]
        shares[encoding] = sum(map(str.isalpha, others)) / max(len(others), 1)
    return max(shares, key=lambda encoding: shares[encoding], default=None)


def find_marks(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the words that begin turns within whole transcripts; none where they are none."""
    found = [[match[1] for match in _MARK.finditer(text)] for text in texts]
    marks = _in_half(found)
    starts = [any(text.lstrip().startswith(word) for word in marks) for text in texts]
    is_transcript = len(marks) in range(2, _MOST_SPEAKERS + 1) and all(starts)
    return marks if is_transcript else ()


def part_turns(text: str, marks: Iterable[str]) -> list[str]:
    """Return the lines of a transcript, a new one wherever a mark begins a turn within a line."""
    words = "|".join(re.escape(mark) for mark in sorted(marks, key=len, reverse=True))
    begins = re.compile(rf"(?:(?<=\s)|^)(?=(?:{words})\s?:)") if words else None
    lines = text.strip().splitlines()
    if begins is None or sum(begins.match(line) is not None for line in lines) > 1:
        return lines
    return [part.strip() for line in lines for part in begins.split(line) if part.strip()]


def seems_role(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return which column seems to say who speaks: few words that take turns."""
    fits: dict[str, tuple[float, float]] = {}
    for name, cells in columns.items():
        n_words, n_pairs = len(set(cells)), max(len(cells) - 1, 1)
        share = sum(one != other for one, other in pairwise(cells)) / n_pairs
        is_few = 2 <= n_words <= min(max(2, len(cells) // 2), _MOST_SPEAKERS)
        if is_few and _is_short(cells) and share >= 1 / 3:
            # Of two columns that change as often, the one of fewer and shorter words.
            fits[name] = (share - n_words / 10, -fmean(map(len, cells)))
    return max(fits, key=lambda name: fits[name], default=None)


def seems_text(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return which column seems to hold what is said: the longest cells."""
    sizes = {name: fmean(map(len, cells)) for name, cells in columns.items() if cells}
    return max(sizes, key=lambda name: sizes[name], default=None)


def seems_dialogue(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return which column seems to name the dialogue: each value stands in one run of rows."""
    runs = {
        name: [key for key, _ in groupby(cells)]
        for name, cells in columns.items()
        if cells and seems_topic([name]) is None
    }
    whole = [name for name, run in runs.items() if len(set(run)) == len(run) and all(run)]
    several = [name for name in whole if len(runs[name]) < len(columns[name])]
    return max(several or whole, key=lambda name: len(runs[name]), default=None)


def seem_columns(columns: Mapping[str, Sequence[str]], lacking: Collection[str]) -> dict[str, str]:
    """Return which of some columns seem to hold what is lacking, each only once."""
    found: dict[str, str] = {}
    for what, look in _LOOKS.items():
        left = {name: cells for name, cells in columns.items() if name not in found.values()}
        if what in lacking and (name := look(left)) is not None:
            found[what] = name
    return found


def seems_id(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return which column seems to name its row: short, and each only once."""
    return next(
        (
            name
            for name, cells in columns.items()
            if all(cells)
            and len(set(cells)) == len(cells)
            and _is_id(cells)
            and seems_topic([name]) is None
        ),
        None,
    )


_LOOKS = {"role": seems_role, "text": seems_text, "dialogue": seems_dialogue}


def seems_topic(names: Iterable[str]) -> str | None:
    """Return which of the columns that nothing else is read from may hold the problem."""
    return next((name for name in names if name.casefold().replace("_", " ") in TOPICS), None)


def seem_sides(speakers: Sequence[Sequence[str]], known: Collection[Role]) -> dict[str, Role]:
    """Return which side the unknown speakers seem to be, by what they are called and who begins.

    Args:
        speakers: Of each dialogue, the unknown words in the order in which they speak.
        known: Sides that well-known or named words speak for already.
    """
    often = _in_half(speakers)
    if known:
        other: Role = "supporter" if "seeker" in known else "seeker"
        return {often[0]: other} if often and len(known) == 1 else {}
    if len(often) == 1:
        return {often[0]: "seeker"}
    if not often:
        return {}
    first = Counter(words[0] for words in speakers if words)
    one, two = sorted(often[:2], key=lambda word: -first[word])
    is_turned = _points(one, "supporter") + _points(two, "seeker")
    is_so = _points(one, "seeker") + _points(two, "supporter")
    seeker, supporter = (two, one) if is_turned > is_so else (one, two)
    return {seeker: "seeker", supporter: "supporter"}


def _in_half(speakers: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the words that speak in at least half of the dialogues, the most frequent first."""
    spread = Counter(word for words in speakers for word in dict.fromkeys(words))
    turns = Counter(word for words in speakers for word in words)
    often = [word for word in turns if 2 * spread[word] >= len(speakers)]
    return tuple(sorted(often, key=lambda word: (-spread[word], -turns[word])))


def _points(word: str, side: Role) -> bool:
    return any(known.startswith(word.casefold().rstrip(".")) for known in SIDES[side])


def _is_short(cells: Sequence[str]) -> bool:
    return all(0 < len(cell) <= _SHORT and not cell.isdecimal() for cell in cells)


def _is_id(cells: Sequence[str]) -> bool:
    return all(len(cell) <= _SHORT and " " not in cell for cell in cells)
