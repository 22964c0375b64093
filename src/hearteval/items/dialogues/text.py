"""Dialogues as people type them: a line a turn, who speaks before the colon.

A blank line ends a dialogue; in a file with ``---`` between them blank lines may stand anywhere.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from hearteval.items.dialogues.looks import part_turns
from hearteval.items.dialogues.spoken import (
    LABELS,
    OF_ONE_DIALOGUE,
    Findings,
    Said,
    Spoken,
    folded,
)
from hearteval.items.files import LONGEST_TEXT

_RULE = re.compile(r"\s*-{3,}\s*$")
_COMMENT = re.compile(r"#+(\s|$)")
_PREFIX = re.compile(
    r"(?:[\[(*>\d-][\[\]()*>\d:.,/ TZ-]*)?"  # what chats put before a speaker: a time, a dash
    r"(?P<who>[^\W\d_][\w .'/-]{0,29}?)\s*+(?:\([^)]*\)|\[[^\]]*\])?"
    r"\s*+\**[:\N{FULLWIDTH COLON}]\**(?P<gap>\s*)(?P<text>.*)$"
)
"""``Seeker: …``, also as ``**Seeker:** …``, ``[10:32] Seeker: …`` or ``Seeker (10:32): …``."""
_NAME_WORDS = 2
"""Words of what may be a speaker that nobody knows; a longer start of a line is a sentence."""


def parse_text(text: str, findings: Findings) -> list[Spoken]:
    """Read the dialogues of a plain text; where it was several files, each is one or has rules."""
    lines = text.split("\n")
    begins = [start for start, _ in findings.starts] or [0]
    dialogues: list[Spoken] = []
    for start, end in pairwise((*begins, len(lines))):
        blank_ends = not findings.starts and not any(map(_RULE.match, lines))
        dialogues += read_lines(
            enumerate(lines[start:end], start=start + 1), findings, blank_ends=blank_ends
        )
    return dialogues


def read_lines(
    lines: Iterable[tuple[int, str]], findings: Findings, *, blank_ends: bool
) -> list[Spoken]:
    """Read the dialogues of some lines with their places."""
    reader = _Reader(findings, blank_ends=blank_ends)
    for number, line in lines:
        reader.read(number, line)
    reader.end()
    return reader.dialogues


def read_transcript(
    text: str, marks: Iterable[str], labels: Mapping[str, str], place: int, findings: Findings
) -> list[Spoken]:
    """Read a dialogue whose turns are one text: on lines, or one after the other at the marks."""
    lines = ((place, line) for line in part_turns(text, marks))
    n_faults = len(findings.faults)
    found = read_lines(lines, findings, blank_ends=False)
    if len(found) != 1 and len(findings.faults) == n_faults:
        of = "no turns" if not found else "several dialogues"
        findings.fault(place, f"{of} in a text that is to be one dialogue; correct it")
    for each in found:
        each.labels = {**each.labels, **{name: said for name, said in labels.items() if said}}
    return found


def refuse_parted_turns(dialogues: Sequence[Spoken], findings: Findings) -> None:
    """Refuse a text whose blank lines make a dialogue of each turn.

    Raises:
        SettingsError: It says how to part dialogues.
    """
    sides = {findings.parts.get(folded(said.who)) for each in dialogues for said in each.turns}
    is_single = all(len(each.turns) == 1 for each in dialogues)
    if is_single and {"seeker", "supporter"} <= sides:
        findings.faults.clear()
        findings.fault(
            dialogues[0].place,
            "a blank line after every turn makes each a dialogue of its own; put --- between the"
            " dialogues, or give a folder with a file for each",
        )
        findings.raise_all()


def split_turn(line: str) -> tuple[str, str] | None:
    """Split a line into who speaks and what is said; None where nobody is named."""
    match = _PREFIX.match(line)
    return (match["who"], match["text"]) if match else None


class _Reader:
    """Takes a file line by line."""

    def __init__(self, findings: Findings, *, blank_ends: bool) -> None:
        self._findings = findings
        self._blank_ends = blank_ends
        self._of_all: dict[str, str] = {}
        self._is_misread = False
        self._now: Spoken | None = None
        self.dialogues: list[Spoken] = []

    def read(self, number: int, line: str) -> None:
        if _COMMENT.match(line):
            if self._now is not None and self._now.turns:
                self._findings.left_out["lines within dialogues that begin with #"] += 1
        elif _RULE.match(line):
            self.end()
        elif not line.strip():
            self._read_blank()
        else:
            self._read_words(number, line)

    def end(self) -> None:
        """End the dialogue, if there is one; labels before the first one are everybody's."""
        ended, self._now, self._is_misread = self._now, None, False
        if ended is None:
            return
        if ended.turns:
            ended.labels = self._of_all | ended.labels
            self.dialogues.append(ended)
            return
        alone = [name for name in ended.labels if name in OF_ONE_DIALOGUE]
        if ended.labels and (self.dialogues or alone):
            words = "labels without turns; write the turns in the next line, without a blank one"
            self._findings.fault(ended.place, words)
        self._of_all |= ended.labels

    def _read_blank(self) -> None:
        now = self._now
        if self._blank_ends or (now is not None and not now.turns):
            self.end()
        elif now is not None:
            self._continue("")

    def _read_words(self, number: int, line: str) -> None:
        match = _PREFIX.match(line)
        who = match["who"] if match else ""
        if self._now is None:
            self._now = Spoken(place=number)
        if match and (folded(who) in self._findings.parts or self._is_speaker(match)):
            self._now.turns.append(Said(who=who, text=match["text"], place=number))
        elif match and not self._now.turns and folded(who) in LABELS:
            name = LABELS[folded(who)]
            if name in self._now.labels:
                self._findings.fault(number, f"{who!r} is said twice; remove one of the two")
            self._now.labels[name] = match["text"].strip()
        elif self._now.turns:
            self._continue(line)
        elif not self._is_misread:
            self._is_misread = True
            self._findings.fault(
                number,
                'a turn begins with who speaks, e.g. "Seeker: …"; if this goes on with the turn'
                " above, put --- between the dialogues, so that blank lines end none",
            )

    def _is_speaker(self, match: re.Match[str]) -> bool:
        """Say whether a line seems to begin with somebody unknown rather than with a sentence."""
        who = match["who"]
        is_spaced = bool(match["gap"]) or not match["text"]
        assert self._now is not None
        if not self._now.turns:
            return folded(who) not in LABELS and is_spaced
        return is_spaced and who[0].isupper() and len(who.split()) <= _NAME_WORDS

    def _continue(self, line: str) -> None:
        assert self._now is not None
        last = self._now.turns[-1]
        if len(last.text) <= LONGEST_TEXT:  # else it is refused, whatever follows
            text = f"{last.text}\n{line.strip()}"
            self._now.turns[-1] = Said(who=last.who, text=text, place=last.place)
