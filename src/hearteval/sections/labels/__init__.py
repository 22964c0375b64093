"""What the replies do, and replies chosen for it, with the words that the labeler rests on.

Only replies that the folder shows anyway, and of which the label was read, are to be read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

from markupsafe import Markup

from hearteval.analysis.section import Basis, Records, Section
from hearteval.domain import Completion, Item, flat_fields
from hearteval.report.page import replies
from hearteval.report.page.links import item_page
from hearteval.sections.labels import plot, words
from hearteval.sections.labels.differences import RateDifference
from hearteval.sections.labels.examples import LabelExample
from hearteval.sections.labels.use import LabelResults, LabelSource, analyze_labels

N_SHOWN = 3
OF_USE = ("group", "kind", "subset", "n_completions", "n_items")
OF_WINS = ("judged_by", "n_comparisons", "interval_used")


class Quoted(NamedTuple):
    """A reply with what a labeler quoted of it."""

    system: str
    item: Item
    page: str
    """Where its dialogue and all other replies are."""
    evidence: str
    text: str


class Category(NamedTuple):
    """Something that is done unalike, and who did it in which words."""

    name: str
    words: str
    replies: Sequence[Quoted]


def _difference_words(row: RateDifference) -> str:
    more, less = (row.group, row.against) if row.difference > 0 else (row.against, row.group)
    points = f"{100 * abs(row.difference):.0f}"
    return f"More often by {more} than by {less}, by {points} points."


def marked(text: str, evidence: str) -> Iterator[Markup]:
    """Yield the paragraphs of a reply, escaped, what the labeler quoted marked where it stands."""
    wanted = " ".join(replies.lines(evidence)).lower()
    for line in replies.lines(text):
        at = line.lower().find(wanted) if wanted else -1
        if at < 0 or len(line.lower()) != len(line):
            yield Markup("{}").format(line)
        else:
            end = at + len(wanted)
            yield Markup("{}<mark>{}</mark>{}").format(line[:at], line[at:end], line[end:])


class Labels(Section[tuple[LabelResults, ...]]):
    """How often replies do what, by taxonomy and by labeler."""

    NAME: ClassVar = "labels"
    TITLE: ClassVar = "What the replies do"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("labels",)
    NOTHING: ClassVar = ()
    PAGE: ClassVar = "labels.html"
    PAGE_TITLE: ClassVar = TITLE
    PAGE_HOLDS: ClassVar = "replies chosen for what models, people or systems do most unalike."
    TABLES: ClassVar = {
        "labels": "how often replies do what, by labeler",
        "labels-in-short": "how varied they are",
        "labels-differences": "who does it more often than whom",
        "labels-and-wins": "whether replies that do it win more often",
        "labels-opposed": "what judges choose against people",
        "labels-agreement": "labelers with each other, and with people",
        "labels-people": "two people with each other",
    }
    TERMS: ClassVar = {
        "Labels, F1": "A labeler says of every reply what it does, with words of the reply as"
        " evidence. F1 says how far two labelers name the same: 1 always, 0 never."
    }
    FIGURES: ClassVar = plot.FIGURES
    MANY_COLUMNS: ClassVar = words.MANY_COLUMNS
    headline_source = staticmethod(words.headline_source)
    shown_uses = staticmethod(words.shown_uses)
    group_name = staticmethod(words.group_name)
    answer = staticmethod(words.answer)
    who_words = staticmethod(words.who_words)
    uncertain_words = staticmethod(words.uncertain_words)
    heat_rows = staticmethod(words.heat_rows)
    variety_rows = staticmethod(words.variety_rows)
    wins_words = staticmethod(words.wins_words)
    opposed_words = staticmethod(words.opposed_words)
    notes = staticmethod(words.labeler_notes)
    marked = staticmethod(marked)
    opening = staticmethod(replies.opening)

    def line(self) -> Markup:
        """Say in plain words who does what more often, by each taxonomy."""
        return Markup(" ").join(words.answer(words.headline_source(one)) for one in self.found)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Describe what was labelled; None where nothing was."""
        found = analyze_labels(basis.data, basis.columns, level=basis.level)
        return cls(found) if found else None

    @property
    def has_page(self) -> bool:
        """Whether replies were chosen to be read."""
        return any(words.headline_source(found).examples for found in self.found)

    def to_read(
        self,
        items: Sequence[Item],
        completions: Mapping[str, Sequence[tuple[str, Completion]]],
        quotes: Mapping[str, str],
    ) -> Iterator[tuple[LabelResults, LabelSource, list[Category]]]:
        """Yield what is to be read on its page, by taxonomy.

        Args:
            items: All items of the study.
            completions: By item those that may be read, each with the name of its system.
            quotes: What labels quote, by their ids; one without is not shown.
        """
        by_id = {item.id: item for item in items}
        texts = {one.id: one.text for said in completions.values() for _, one in said}

        def quoted(examples: Sequence[LabelExample], category: str) -> Iterator[Quoted]:
            for one in examples:
                is_known = one.completion_id in texts and one.item_id in by_id
                if one.category == category and is_known and one.label_id in quotes:
                    page, text = item_page(one.item_id), texts[one.completion_id]
                    yield Quoted(one.system, by_id[one.item_id], page, quotes[one.label_id], text)

        for found in self.found:
            source = words.headline_source(found)
            if source.examples:
                yield (
                    found,
                    source,
                    [
                        Category(
                            found.categories[row.category],
                            _difference_words(row),
                            list(islice(quoted(source.examples, row.category), N_SHOWN)),
                        )
                        for row in words.named_differences(source)
                    ],
                )

    def records(self, table: str) -> Records:
        """Return rows of all taxonomies and labelers."""
        return [
            {"taxonomy": found.taxonomy, **row}
            for found in self.found
            for row in _records_of(found, table)
        ]


def _records_of(found: LabelResults, table: str) -> Iterator[dict[str, Any]]:
    if table == "labels-people":
        yield from map(flat_fields, found.people.agreement if found.people else ())
    if table == "labels-agreement":
        yield from map(flat_fields, found.agreement)
    for source in found.sources:
        who = {"labeler": source.labeler}
        of_uses = {**who, "labeler_kind": source.kind}
        for use in (*source.systems, *source.families, *source.by_subset):
            if table == "labels-in-short":
                yield {**of_uses, **flat_fields(use)}
            elif table == "labels":
                of_use = {**of_uses, **_some(use, OF_USE), "subset": use.subset or "all"}
                yield from ({**of_use, **flat_fields(rate)} for rate in use.rates)
        if table == "labels-differences":
            yield from ({**who, **flat_fields(row)} for row in source.differences)
        elif table == "labels-opposed":
            yield from ({**who, **flat_fields(row)} for row in source.opposed)
        for wins in source.wins if table == "labels-and-wins" else ():
            of_wins = {**who, **_some(wins, OF_WINS)}
            yield from ({**of_wins, **flat_fields(row)} for row in wins.categories)


def _some(record: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}
