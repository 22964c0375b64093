"""The texts of a study that can be labelled: completions, the reasons of raters, and items.

What evidence may be taken from, and how records name such a text, is settled here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from hearteval.domain import (
    Attempt,
    Completion,
    Item,
    Judgment,
    Turn,
    in_order,
    record_id,
    shows_text,
)
from hearteval.labels.taxonomy import Unit

_FIELDS: Mapping[Unit, str] = {
    "completion": "completion_id",
    "reasons": "judgment_id",
    "item": "item_id",
}
"""What names such a text in a `Label` and an `Attempt`."""

BETWEEN = "\n\x00\n"


@dataclass(frozen=True, kw_only=True)
class LabelledText:
    """A text as a labeler reads it.

    Attributes:
        text: What is labelled beside the conversation: a completion; a rater's reasons; of an item
            the reply that was really given, empty where there is none.
        context: The conversation; none for reasons, which are read by themselves.
        situation: Of an item, what its corpus says of it beside the conversation; may be empty.
    """

    of: Unit
    id: str
    text: str
    context: Sequence[Turn] = ()
    situation: str = ""

    @property
    def names(self) -> dict[str, Any]:
        """Return what names it in a record, by field."""
        return {_FIELDS[self.of]: self.id}

    @cached_property
    def quotable(self) -> str:
        """All that evidence may be taken from: of an item, all that is known of it.

        Between its texts stands what no quote can hold: none is of two of them.
        """
        turns = [turn.text for turn in self.context] if self.of == "item" else []
        return BETWEEN.join([self.situation, *turns, self.text] if turns else [self.text])


class LabelTarget(NamedTuple):
    """What is asked of a labeler: all labels of a text by the taxonomy that it is of."""

    study_id: str
    of: Unit
    text_id: str
    rater_id: str

    @property
    def fields(self) -> dict[str, str]:
        """Return what an attempt at it names."""
        return {
            "study_id": self.study_id,
            _FIELDS[self.of]: self.text_id,
            "rater_id": self.rater_id,
        }

    @property
    def id(self) -> str:
        """An id, given or still missing."""
        return record_id("labels", self._asdict())


def find_target(attempt: Attempt) -> LabelTarget | None:
    """Return the labels that an attempt was for; None for another kind of attempt.

    A rating of a completion looks the same: who rates is no labeler.
    """
    for of, name in _FIELDS.items():
        text_id = getattr(attempt, name)
        if text_id is not None and attempt.study_id is not None and attempt.rater_id is not None:
            return LabelTarget(attempt.study_id, of, text_id, attempt.rater_id)
    return None


def reasons_text(judgment: Judgment) -> str:
    """Return a rater's words about a pair as they are labelled: overall, then by axis."""
    said = [judgment.rationale, *(judgment.reasons[axis] for axis in in_order(judgment.reasons))]
    return "\n".join(dict.fromkeys(words for words in said if shows_text(words)))


def text_of(record: Completion | Judgment | Item, context: Sequence[Turn] = ()) -> LabelledText:
    """Return a record as it is labelled; a completion after the conversation it belongs to."""
    match record:
        case Completion():
            return LabelledText(of="completion", id=record.id, text=record.text, context=context)
        case Judgment():
            return LabelledText(of="reasons", id=record.id, text=reasons_text(record))
    return LabelledText(
        of="item",
        id=record.id,
        text=record.reference or "",
        context=record.context,
        situation=record.situation,
    )
