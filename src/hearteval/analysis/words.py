"""The words of a text, and its formatting marks, as they are counted.

Marks are Markdown and emoji, as chat models write them; HTML and emoticons made of punctuation are
left out. `count_words` counts what white space separates, so languages written without it have no
word count worth controlling for.
"""

import re

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")

FENCES = ("```", "~~~")
_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
# Skin tones, variation selectors and zero-width joiners make one emoji of several characters.
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3"
    f"|{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
_IN_LINE = (
    (re.compile(r"^#{1,6}\s+"), ""),
    (re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+"), ""),
    (re.compile("`[^`]+`"), "x"),
    (re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r"\b(?:https?://|www\.)[^\s<>()]+"), "x"),
    (re.compile(_EMOJI), "x"),
    # Innermost emphasis first: its words stay, so that what encloses it is seen.
    (re.compile(r"\*\*\*(?=[^\s*])([^*]*[^\s*])\*\*\*"), r"\1"),
    (re.compile(r"(?<!\*)\*(?=[^\s*])([^*]*[^\s*])\*(?!\*)"), r"\1"),
    (re.compile(r"\*\*(?=[^\s*])([^*]*[^\s*])\*\*"), r"\1"),
    (re.compile(r"(?<!\w)___(?=[^\s_])([^_]*[^\s_])___(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)__(?=[^\s_])([^_]*[^\s_])__(?!\w)"), r"\1"),
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, apostrophes straight."""
    return _WORD.findall(plain(text))


def plain(text: str) -> str:
    """Return a text in lower case with straight apostrophes."""
    return text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def count_words(text: str) -> int:
    """Count what white space separates."""
    return len(text.split())


def count_formatting(text: str) -> int:
    """Count formatting marks.

    One each: a heading, a list entry, a row of a table, a run of bold or italic, a code block, a
    piece of code in a line, a link, an emoji. What stands in code is not looked at.
    """
    n = 0
    fence = ""
    for line in text.splitlines():
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif bare.startswith(FENCES) and bare[0] not in bare.lstrip(bare[0]):
            fence = bare[:3]
            n += 1
        else:
            n += _count_in_line(bare)
    return n


def _count_in_line(line: str) -> int:
    if line.startswith("|") and line.endswith("|") and not line.strip("|-: "):
        return 0  # the rule under the heading of a table
    n = int(len(line) > 1 and line.startswith("|") and line.endswith("|"))
    for pattern, words in _IN_LINE:
        line, n_found = pattern.subn(words, line)
        n += n_found
    return n
