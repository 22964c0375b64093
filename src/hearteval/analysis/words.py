"""The words of a text, as they are counted."""

import re

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, apostrophes straight."""
    return _WORD.findall(plain(text))


def plain(text: str) -> str:
    """Return a text in lower case with straight apostrophes."""
    return text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
