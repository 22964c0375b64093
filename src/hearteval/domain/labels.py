"""What is said of a text: whether one category of a taxonomy holds of it (HEART 9.2, 9.10)."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal, TypeVar, get_args

from hearteval.domain.ids import fill_id, require

LabelVerdict = Literal["present", "absent", "uncertain"]
V = TypeVar("V")
_PLAIN = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A rater's verdict on one category of a taxonomy for one text, be it a person, model or rule.

    Its text is a completion, the reasons of a judgment, or an item: its conversation.
    """

    ADDED_LATER: ClassVar = ("item_id", "score", "taxonomy_version")

    completion_id: str | None = None
    """The completion it is of; else None."""
    judgment_id: str | None = None
    """The judgment whose reasons it is of; else None."""
    item_id: str | None = None
    """The item it is of; else None."""
    taxonomy: str
    """What the category belongs to, e.g. ``safety``."""
    taxonomy_version: str | None = None
    """By which wording it was given; None for the one of the time before labels bore one."""
    category: str
    verdict: LabelVerdict
    """Whether the category is in the text."""
    probability: float | None = None
    """That it is, 0 to 1; None where the rater gave none."""
    score: int | None = None
    """How much of it, where the category is a scale, which the taxonomy describes; else None."""
    evidence: str = ""
    """The few words it rests on; may be empty. They tell who somebody is only where that is the
    question, and are not exported then."""
    rater_id: str
    created_at: datetime
    id: str = ""

    def __post_init__(self) -> None:
        texts = (self.completion_id, self.judgment_id, self.item_id)
        named = [text for text in texts if text is not None]
        where = f"label {self.taxonomy}/{self.category} of {' and '.join(named) or 'no text'}"
        require(
            len(named) == 1, where, "must name a completion, a judgment or an item, and one of them"
        )
        require(bool(self.taxonomy.strip()), where, "taxonomy is empty")
        require(bool(self.category.strip()), where, "category is empty")
        require(self.verdict in get_args(LabelVerdict), where, f"verdict is {self.verdict!r}")
        require(
            self.probability is None or 0 <= self.probability <= 1,
            where,
            f"probability must be 0 to 1, not {self.probability}",
        )
        require(self.created_at.tzinfo is not None, where, "created_at has no time zone")
        names = ("completion_id", "judgment_id", "taxonomy", "category", "rater_id")
        later = {"item_id": self.item_id, "taxonomy_version": self.taxonomy_version}
        known = {name: value for name, value in later.items() if value is not None}
        fill_id(self, "label", *names, **known)

    @property
    def text_id(self) -> str:
        """The id of what it is of."""
        return self.completion_id or self.judgment_id or str(self.item_id)

    @property
    def answer(self) -> str:
        """What is said: the verdict, or the score of a scale."""
        return self.verdict if self.score is None else str(self.score)


def last_word(said: Sequence[V]) -> V | None:
    """Return what people settle, given what each said in the order of time; None while it is open.

    What all say alike stands. Where two differ, the next one decides, and so does whoever speaks
    after that.
    """
    *before, last = said
    return last if len(set(said)) == 1 or len(set(before)) > 1 else None


def plain_text(text: str) -> str:
    """Return a text as evidence is looked for in it: NFC, straight quotes, one space for any."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_PLAIN).split())
