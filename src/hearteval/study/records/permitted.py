"""Which words of a study may leave it, by any road.

What a person has written and nobody has released stays, and so does what raters said about it;
withdrawn texts never leave. Choices and marks do: they are the numbers of the results.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from hearteval.completions.baselines import OF_REFERENCES
from hearteval.domain import (
    Assignment,
    Completion,
    Item,
    Label,
    Pair,
    Rater,
    Study,
    System,
    record_id,
)
from hearteval.items.dialogues.spoken import NO_CONSENT, NOT_STATED
from hearteval.labels.taxonomy import TAXONOMIES, load_taxonomy
from hearteval.store.records import R
from hearteval.study.report.reading import released_words
from hearteval.study.session import Session

NOT_PUBLIC = "not for publication"
CORPORA = ("esconv",)
"""Sources whose texts are others', and are not passed on."""


def may_be_passed_on(item: Item) -> bool:
    """Say whether a dialogue's texts may be passed on, as far as its own fields say."""
    return (
        item.source not in CORPORA
        and item.consent_basis != NO_CONSENT
        and item.licence.lower() not in {NOT_STATED, NOT_PUBLIC}
    )


def repeats(system: System) -> bool:
    """Say whether a system's replies are made of those of the items, of this one or another."""
    is_borrowing = system.settings.get("preset") in OF_REFERENCES
    return is_borrowing or system.kind in ("original", "stress")


@dataclass(frozen=True)
class Permitted:
    """A study, asked what of its words may leave."""

    session: Session
    study: Study

    def iter(self, kind: type[R]) -> Iterable[R]:
        """Read the study's records of a kind."""
        return self.session.store.iter(kind, self.study)

    @cached_property
    def items(self) -> list[Item]:
        """In the order of their ids."""
        return list(self.iter(Item))

    @cached_property
    def texts(self) -> dict[str, Completion]:
        """Completions by id."""
        return {text.id: text for text in self.iter(Completion)}

    @cached_property
    def released(self) -> frozenset[str]:
        """Texts and judgments by people whose words somebody has released, by id."""
        return released_words(self.session, self.study)

    @cached_property
    def unreadable(self) -> frozenset[str]:
        """Texts that may not leave, by id: of people, and nobody has released them."""
        return frozenset(
            text.id
            for text in self.texts.values()
            if text.is_withdrawn or (text.writer_id is not None and text.id not in self.released)
        )

    @cached_property
    def _about(self) -> Mapping[str, tuple[str, str]]:
        """The texts that each judgment is about, by its id."""
        pairs = {pair.id: pair.completion_ids for pair in self.iter(Pair)}
        return {
            record_id("judgment", {"assignment_id": one.id}): pairs[one.pair_id]
            for one in self.iter(Assignment)
            if one.pair_id in pairs
        }

    @cached_property
    def _identifying(self) -> frozenset[tuple[str, str]]:
        taxonomies = map(load_taxonomy, TAXONOMIES)
        return frozenset((each.name, key) for each in taxonomies for key in each.identifying)

    def may_say(self, rater: Rater, record_id: str, *about: str) -> bool:
        """Say whether a rater's words about texts may leave."""
        is_read = rater.kind != "human" or record_id in self.released
        return is_read and self.unreadable.isdisjoint(about)

    def may_quote(self, label: Label) -> bool:
        """Say whether what a label quotes may leave."""
        text = self.texts.get(label.completion_id or "")
        is_own = label.item_id is not None or (text is not None and text.writer_id is None)
        return (
            (is_own or label.text_id in self.released)
            and (label.taxonomy, label.category) not in self._identifying
            and label.completion_id not in self.unreadable
            # Reasons quote what they are about.
            and self.unreadable.isdisjoint(self._about.get(label.judgment_id or "", ()))
        )
