"""Rows of a table -> labels that people or models gave elsewhere: one category of one completion.

What a row does not say stays missing: a category that nobody marked is no "absent". Words that are
given as evidence must stand in the reply, as those of a labeler that is asked here.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import get_args

from hearteval.domain import Completion, Label, LabelVerdict, Rater, plain_text
from hearteval.domain.systems import IMPORTED
from hearteval.errors import SettingsError
from hearteval.exchange.records.reading import RecordTable, named_first
from hearteval.labels.cues import FAMILY as CUE_FAMILY
from hearteval.labels.taxonomy import Taxonomy, taxonomies_of_replies
from hearteval.study.records.judgments import Reader
from hearteval.study.records.known import GONE, Found, Known, Raters, time_of

NOT_OF_COMPLETIONS = "labels of something else than a reply"
OTHER_VERSION = "labels by another version of the taxonomy"
OTHER_TAXONOMY = "labels of a taxonomy that is not of what replies do"
CELLS = (
    "system",
    "taxonomy",
    "taxonomy_version",
    "category",
    "verdict",
    "probability",
    "evidence",
    "created_at",
)
VERDICTS: Mapping[str, LabelVerdict] = {
    **{verdict: verdict for verdict in get_args(LabelVerdict)},
    **dict.fromkeys(("1", "yes", "true"), "present"),
    **dict.fromkeys(("0", "no", "false"), "absent"),
    **dict.fromkeys(("?", "unsure"), "uncertain"),
}
"""What a cell may say, in lower case."""


def read_labels(
    table: RecordTable, known: Known, stored: Mapping[str, Label], *, now: datetime
) -> Found:
    """Return what a table of labels adds to a study; of the same one a second time, nothing.

    Raises:
        SettingsError: Rows cannot be taken; it lists them.
        StoreError: Rows say otherwise than what is stored; it lists them.
    """
    return _Labels(table, known, stored, now).read_all()


class _Labelers(Raters):
    """Finds who a row says has labelled: a person, or a model that labelled elsewhere."""

    def _read(
        self, name: str | None, kind: str | None, family: str | None, group: str | None
    ) -> Rater:
        if name is None:
            raise ValueError("no rater is named")
        if kind not in (None, "human", "llm"):
            raise ValueError(f"rater_kind is {kind!r:.40}; expected human or llm")
        if kind == "human" or (kind is None and name in self._known.people):
            return self._person(name, group)
        if kind is None:
            raise ValueError(
                f"nothing says whether {name!r:.60} is a person or a model: say --rater-kind human"
                " or --rater-kind llm"
            )
        # Its family says of an offline baseline what it is; nothing else rests on it.
        settings = {"provider": IMPORTED, "model": name}
        return Rater(name=name, kind="llm", family=family or name, settings=settings)


class _Labels(Reader):
    def __init__(
        self, table: RecordTable, known: Known, stored: Mapping[str, Label], now: datetime
    ) -> None:
        super().__init__(table, known, stored, now)
        self._raters = _Labelers(known, table, self._found, self._faults)
        self._said = {name: table.column(name) for name in CELLS}
        self._plain: dict[str, str] = {}
        for what in ("evidence", "probability", "verdict"):
            if table.marked and table.says(what):
                raise SettingsError(
                    f"{table.label}: {what} is of one category, and here each has a column; give a"
                    " row for each, with --category COL"
                )

    def read(self, row: int, rater: Rater) -> None:
        """Take one row, or leave it out; `ValueError` says why it cannot be taken."""
        if self._said["system"][row] is None:
            self._leave_out(NOT_OF_COMPLETIONS)
            return
        named = [
            (taxonomy, key, verdict)
            for category, verdict in self._marks(row)
            for taxonomy, key in _find_category(self._said["taxonomy"][row], category)
        ]
        if not named:
            self._leave_out(OTHER_TAXONOMY)
            return
        version = self._said["taxonomy_version"][row]
        if version is not None and any(one.version != version for one, _, _ in named):
            self._leave_out(OTHER_VERSION)
            return
        texts = self._texts(row, {"system": "system"})
        if texts is None or (rater.kind == "human" and not self._may_judge(rater, texts)):
            return
        if texts[0].is_withdrawn:
            self._leave_out(GONE)
            return
        for taxonomy, key, verdict in named:
            self._take(row, rater, texts[0], taxonomy, key, verdict)

    def _marks(self, row: int) -> list[tuple[str | None, str | None]]:
        """Return a row's categories with their verdicts; of many, an empty cell says nothing."""
        if not self._table.marked:
            return [(self._said["category"][row], self._said["verdict"][row])]
        cells = [(name, self._table.column(name)[row]) for name in self._table.marked]
        return [(name, cell) for name, cell in cells if cell is not None]

    def _take(
        self,
        row: int,
        rater: Rater,
        text: Completion,
        taxonomy: Taxonomy,
        key: str,
        verdict: str | None,
    ) -> None:
        if rater.kind == "llm":
            settings = {**rater.settings, **taxonomy.settings}
            rater = replace(rater, settings=settings, id="")
        evidence = plain_text(self._said["evidence"][row] or "")
        if not self._stands(evidence, text, rater):
            raise ValueError(f"the evidence {evidence!r:.60} does not stand in the reply")
        label = Label(
            completion_id=text.id,
            **taxonomy.stamp,
            category=key,
            verdict=_read_verdict(verdict),
            probability=_read_probability(self._said["probability"][row]),
            evidence=evidence,
            rater_id=rater.id,
            created_at=time_of(self._said["created_at"][row], self._now),
        )
        if self._is_new(row, rater, label):
            self._keep(rater, label)
            self._found.show(
                row,
                {
                    "item": self._known.item_words(text.item_id),
                    "rater": f"{rater.name} ({'a person' if rater.kind == 'human' else 'a model'})",
                    "system": self._known.system_of(text).name,
                    "category": f"{taxonomy.name}/{key}",
                    "verdict": label.verdict,
                    "evidence": label.evidence,
                },
            )

    def _stands(self, evidence: str, text: Completion, rater: Rater) -> bool:
        """Say whether evidence stands in a completion; the baseline quotes in lower case."""
        said = self._plain.setdefault(text.id, plain_text(text.text))
        return evidence in (said.lower() if rater.family == CUE_FAMILY else said)


def _find_category(name: str | None, category: str | None) -> list[tuple[Taxonomy, str]]:
    """Return the category of a key or a name; none where its taxonomy is none of completions.

    Raises:
        ValueError: There is no such category, or several taxonomies have it.
    """
    if category is None:
        raise ValueError("no category is named")
    all_of = taxonomies_of_replies()
    if name is not None and name not in {one.name for one in all_of}:
        return []
    wanted = category.strip().lower()
    found = [
        (one, each.key)
        for one in all_of
        if name in (None, one.name)
        for each in one.categories
        if wanted in (each.key.lower(), each.name.lower())
    ]
    if len(found) == 1:
        return found
    if found:
        raise ValueError(f"{category!r:.60} is in several taxonomies; name one with --taxonomy")
    keys = [key for one in all_of if name in (None, one.name) for key in one.keys]
    raise ValueError(f"there is no category {category!r:.60}; there are {named_first(keys, 30)}")


def _read_verdict(cell: str | None) -> LabelVerdict:
    found = VERDICTS.get((cell or "").strip().lower())
    if found is None:
        said = "no verdict is given" if cell is None else f"the verdict is {cell!r:.40}"
        raise ValueError(f"{said}; expected present, absent or uncertain (or 1, 0 and ?)")
    return found


def _read_probability(cell: str | None) -> float | None:
    if cell is None:
        return None
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError(f"probability is {cell!r:.40}; expected a number from 0 to 1")
    return number
