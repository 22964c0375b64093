"""What of a study's texts is read for its report, and the folder that holds all that was chosen."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from hearteval.analysis.examples import Example
from hearteval.analysis.study import StudyResults
from hearteval.domain import (
    Assignment,
    Completion,
    Item,
    Judgment,
    Label,
    Pair,
    Rater,
    Study,
    System,
    record_id,
)
from hearteval.judgments.plan.run import standings_of
from hearteval.labels.safety import Standing
from hearteval.labels.texts import reasons_text
from hearteval.report.page.folder import folder_pages
from hearteval.report.page.links import ALL, INDEX
from hearteval.report.page.replies import Reading, Shown, Verdict
from hearteval.sections.labels import Labels
from hearteval.sections.labels.use import LabelResults
from hearteval.sections.reasons import Reasons
from hearteval.sections.reasons.measure import ThemeExample
from hearteval.store.base import Store
from hearteval.study.report.folders import write_folder
from hearteval.study.session import Session

HELD_BACK = "[not shown: nobody has released these words yet]"
"""Stands for a person's reason that nobody may read yet."""


def read_examples(session: Session, study: Study, examples: Sequence[Example]) -> list[Reading]:
    """Read the texts of chosen comparisons, in their order.

    People are numbered anew for each: nobody is named, or followed from one to another.
    """
    find = session.store.find
    pairs = {one.id: one for one in find(Pair, [example.pair_id for example in examples])}
    texts = {
        one.id: one
        for one in find(Completion, [id_ for pair in pairs.values() for id_ in pair.completion_ids])
    }
    items = {one.id: one for one in find(Item, [example.item_id for example in examples])}
    wanted = [id_ for example in examples for id_ in example.assignment_ids]
    assignments = {one.id: one for one in find(Assignment, wanted)}
    ids = [record_id("judgment", {"assignment_id": id_}) for id_ in wanted]
    judgments = {one.assignment_id: one for one in find(Judgment, ids)}
    systems = {one.id: one.name for one in session.store.iter(System, study)}
    raters = {one.id: one for one in session.store.iter(Rater, study)}
    standings = standings_of(session.store, study)
    readings = []
    for example in examples:
        written = {
            systems[texts[id_].system_id]: texts[id_]
            for id_ in pairs[example.pair_id].completion_ids
        }
        names = {one.id: name for name, one in written.items()}
        verdicts = []
        shown_as = _shown_as([raters[assignments[id_].rater_id] for id_ in example.assignment_ids])
        for id_ in example.assignment_ids:
            assignment = assignments[id_]
            rater = raters[assignment.rater_id]
            first = names[assignment.first_completion_id]
            verdicts.append(
                Verdict(
                    rater=shown_as[assignment.rater_id],
                    first=first,
                    second=example.right if first == example.left else example.left,
                    judgment=_as_may_be_read(judgments[id_], rater, standings),
                    is_person=rater.kind == "human",
                )
            )
        readings.append(
            Reading(
                example=example,
                item=items[example.item_id],
                texts=(written[example.left].text, written[example.right].text),
                verdicts=tuple(sorted(verdicts, key=lambda one: (one.rater, one.first))),
            )
        )
    return readings


def released_words(session: Session, study: Study) -> frozenset[str]:
    """Return the ids of texts and judgments whose words the screen or a person has released."""
    standings = standings_of(session.store, study)
    return frozenset(id_ for id_, said in standings.items() if said == "released")


def _as_may_be_read(
    judgment: Judgment, rater: Rater, standings: Mapping[str, Standing]
) -> Judgment:
    """Return a judgment without words that are held; a person's have to be released."""
    standing = standings.get(judgment.id, "unscreened")
    is_free = standing == "released" or (rater.kind != "human" and standing == "unscreened")
    if is_free or not (judgment.rationale or judgment.reasons):
        return judgment
    return replace(judgment, rationale=HELD_BACK, reasons={})


def _shown_as(raters: Iterable[Rater]) -> dict[str, str]:
    """Return what the raters of one comparison are called, in the order of their assignments."""
    shown: dict[str, str] = {}
    people = count(1)
    for rater in raters:
        if rater.id not in shown:
            shown[rater.id] = f"person {next(people)}" if rater.kind == "human" else rater.name
    return shown


def write_replies(
    session: Session, study: Study, results: StudyResults, shown: Shown, folder: Path
) -> str:
    """Write all that was chosen to be read into a folder of its own; return where it begins.

    Raises:
        SettingsError: The folder is not of this study's reports, or holds something else too.
        StoreError: It cannot be written.
    """
    store = session.store
    items = list(store.iter(Item, study))
    systems = {one.id: one.name for one in store.iter(System, study) if one.kind != "stress"}
    completions: dict[str, list[tuple[str, Completion]]] = defaultdict(list)
    standings = standings_of(store, study)
    released = {id_ for id_, said in standings.items() if said == "released"}
    for one in store.iter(Completion, study):
        is_readable = one.writer_id is None or (one.id in released and not one.is_withdrawn)
        if one.system_id in systems and one.repeat == 0 and is_readable:
            completions[one.item_id].append((systems[one.system_id], one))
    held = {id_ for id_, said in standings.items() if said != "released"}
    themed = results.found(Reasons)
    given = [one for source in (themed.sources if themed else ()) for one in source.examples]
    words = read_quotes(store, results.found(Labels), held)
    words |= read_reasons(store, given, released, held)
    pages = (
        (name, text.encode())
        for name, text in folder_pages(results, shown, items, completions, words)
    )
    n_pairs = len({one.systems for one in shown.readings})
    n_pages = (
        len((INDEX, ALL))
        + sum(one is not None and one.has_page for one in results.sections.values())
        + len(results.win_rates)
        + n_pairs
        + len(items)
    )
    write_folder(session.tell, study.id, folder, pages, label="pages", n_files=n_pages)
    return str(folder / INDEX)


def read_reasons(
    store: Store, examples: Sequence[ThemeExample], released: Collection[str], held: Collection[str]
) -> dict[str, str]:
    """Return the reasons that were chosen to be read, by the ids of their judgments.

    A person's have to be released; a judge's may not be held. Reasons quote: nobody's are read
    about a person's text that may not be.
    """
    chosen = [
        one.judgment_id
        for one in examples
        if one.judgment_id in released or (one.given_by == "judges" and one.judgment_id not in held)
    ]
    found = store.find(Judgment, sorted({*chosen}))
    asked = {
        one.id: one.pair_id for one in store.find(Assignment, [j.assignment_id for j in found])
    }
    ends = {one.id: one.completion_ids for one in store.find(Pair, sorted({*asked.values()}))}
    unread = {
        one.id
        for one in store.find(Completion, sorted({id_ for both in ends.values() for id_ in both}))
        if one.writer_id is not None and (one.is_withdrawn or one.id not in released)
    }
    return {
        one.id: reasons_text(one)
        for one in found
        if unread.isdisjoint(ends[asked[one.assignment_id]])
    }


def read_quotes(
    store: Store, labels: Sequence[LabelResults] | None, held: Collection[str]
) -> dict[str, str]:
    """Return what labels of chosen replies quote, by their ids; nothing of a text that is held."""
    chosen = [
        one.label_id
        for found in labels or ()
        for source in found.sources
        for one in source.examples
        if one.completion_id not in held
    ]
    return {one.id: one.evidence for one in store.find(Label, chosen)}
