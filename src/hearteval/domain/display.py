"""The one form in which raters see replies: how a text was typed does not tell who wrote it.

People type straight quotes and hyphens, models write curly quotes, dashes, Markdown and paragraphs.
The form is a function of the text alone, so what a rater saw is known from what is stored and the
setting. Words, spelling, capitals and punctuation stay; only what is typography changes.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from hearteval.domain.items import shows_text

Display = Literal["plain", "raw"]
VERSION = 1
"""Of the form; another one is another prompt of a judge, and no study mixes two."""

_EMOJI = "[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
_MODIFIERS = "[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
_FACE = r"(?<!\S)(?:[:;=]['\-]?[)(DPp]+|<3+)(?![\w<])"
_SPACE = r"[^\S\n]"
_SIGN = f"{_SPACE}*(?:{_EMOJI}{_MODIFIERS}*|{_FACE})"
_MARKER = r"^[ ]*(?:[-*+\u2022\u2023\u25e6\u25aa\u25cf\u00b7]|\d{1,3}[.)]|#{1,6}|>)(?: +|$)"

_RULES = [
    (re.compile(pattern, re.MULTILINE), by)
    for pattern, by in (
        ("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]", "\n"),
        ("[\u00ad\u200b\u2060\ufeff]", ""),
        (_SPACE, " "),
        # Quotes; guillemets with the spaces inside them.
        ("\u00ab *|[\u201c\u201d\u201e\u201f\u2033\uff02]| *\u00bb", '"'),
        ("\u2039 *|[\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\uff07]| *\u203a", "'"),
        (r"(?<=\w)`(?=\w)", "'"),
        # Markdown and the tags that models write.
        (r"^ *(?:```|~~~).*$", ""),
        (r"^ *(?:[-*_] *){3,}$", ""),
        (r"<br ?/?>", "\n"),
        (r"</?(?:b|i|u|s|em|strong)>", ""),
        (_MARKER, ""),
        (r"^\[[ xX]\] +", ""),
        (r"!?\[([^\[\]\n]+)\]\([^()\s]*\)", r"\1"),
        (r"(\*{2,3}|~~|__)(?=\S)([^\n]+?)(?<=\S)\1", r"\2"),
        (r"(?<![\w*])\*(?=[^\s*])([^*\n]+)(?<=\S)\*(?![\w*])", r"\1"),
        (r"(?<![\w_])_(?=[^\s_])([^_\n]+)(?<=\S)_(?![\w_])", r"\1"),
        (r"`", ""),
        (r"\\([*_#>~\[\]()-])", r"\1"),
        # Emoji and faces, with the space that would be left before a mark.
        (rf"{_SIGN} *(?=[.,!?;:\n]|\Z)", ""),
        (rf"{_SIGN} *", " "),
        (_MODIFIERS.replace("\u200d", ""), ""),
        # Dashes and dots.
        ("[\u2010\u2011]", "-"),
        ("(?<=\\d) ?[\u2012\u2013\u2212] ?(?=\\d)", "-"),
        ("[ \n]*(?:[\u2012-\u2015\u2212]|-{2,})[ \n]*", " - "),
        ("\u2026", "..."),
        (r" *\.{2,}(?=\w)", "... "),
        (r" *\.{2,}", "..."),
        # One paragraph: a line that ends without a mark would run into the next one.
        (r"(?<=\w) *\n\s*(?=\w)", ", "),
        (r"\s+", " "),
    )
]


@lru_cache(maxsize=1 << 15)
def display_form(text: str, display: Display) -> str:
    """Return a reply as raters see it; done twice, it changes nothing more.

    ``plain`` has straight quotes, hyphens for dashes, three dots, no Markdown, emoji or line break;
    a text of which nothing would be left stays. ``raw`` is the text as it is stored.
    """
    if display == "raw":
        return text
    before, shown = "", unicodedata.normalize("NFC", text)
    while shown != before:
        before = shown
        for pattern, by in _RULES:
            shown = pattern.sub(by, shown)
        shown = unicodedata.normalize("NFC", shown.strip())
    return shown if shows_text(shown) else " ".join(text.split())


def display_name(display: Display) -> str:
    """Return how a study and a rater hold the form that was shown, with its version."""
    return display if display == "raw" else f"{display}-{VERSION}"


def read_display(stored: object) -> Display:
    """Return the form that a study or a rater holds; those from before there was one are raw."""
    return "raw" if stored in (None, "raw") else "plain"
