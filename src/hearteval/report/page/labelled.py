"""Replies chosen for what they do, with the words that the labeler rests on: a page of the folder.

Only replies that the folder shows anyway, and of which the label was read, stand here.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.labels.differences import RateDifference
from hearteval.analysis.labels.examples import LabelExample
from hearteval.analysis.labels.use import LabelResults, LabelSource
from hearteval.domain import Completion, Item
from hearteval.report import labels
from hearteval.report.page import replies
from hearteval.report.page.links import item_page

N_SHOWN = 3


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


class Labelled(NamedTuple):
    """What one taxonomy has to show."""

    found: LabelResults
    source: LabelSource
    categories: Sequence[Category]

    @property
    def has_quotes(self) -> bool:
        """Whether the labeler quoted anything; people need not."""
        return any(one.evidence for category in self.categories for one in category.replies)


def labelled(
    all_labels: Sequence[LabelResults],
    items: Sequence[Item],
    completions: Mapping[str, Sequence[tuple[str, Completion]]],
    evidence: Mapping[str, str],
) -> list[Labelled]:
    """Return what is to be read, by taxonomy; those without a chosen reply are left out.

    Args:
        all_labels: What was labelled.
        items: All items of the study.
        completions: By item those that may be read, each with the name of its system.
        evidence: What labels quote, by their ids; one without is not shown.
    """
    by_id = {item.id: item for item in items}
    texts = {one.id: one.text for said in completions.values() for _, one in said}

    def quoted(examples: Sequence[LabelExample]) -> Iterator[Quoted]:
        for one in examples:
            if one.completion_id in texts and one.label_id in evidence and one.item_id in by_id:
                page, text = item_page(one.item_id), texts[one.completion_id]
                yield Quoted(one.system, by_id[one.item_id], page, evidence[one.label_id], text)

    made = []
    for found in all_labels:
        source = labels.headline_source(found)
        if not source.examples:
            continue
        categories = [
            Category(
                found.categories[row.category],
                _difference_words(source, row),
                list(quoted([one for one in source.examples if one.category == row.category]))[
                    :N_SHOWN
                ],
            )
            for row in labels.named_differences(source)
        ]
        made.append(Labelled(found, source, categories))
    return made


def _difference_words(source: LabelSource, row: RateDifference) -> str:
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
