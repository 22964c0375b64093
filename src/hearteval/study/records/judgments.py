"""Rows of a table -> judgments and ratings of a study, as they were given elsewhere.

A verdict keeps its rater, the order shown, its strength, its marks and its words. What the study's
own rules would never have asked is left out and counted: a judge's own family, a writer's own text,
two texts that are the same. Verdicts that its protocol does not know are faults.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hearteval.domain import (
    AXIS_NAMES,
    Assignment,
    Axis,
    AxisMark,
    Call,
    Choice,
    Completion,
    Judgment,
    Label,
    Pair,
    Rater,
    Rating,
)
from hearteval.domain.judging import MAX_SCORE, MAX_STRENGTH
from hearteval.errors import SettingsError
from hearteval.exchange.records.reading import Faults, RecordTable
from hearteval.exchange.votes import OutcomeNames
from hearteval.labels.safety import label_reasons, safety_rater
from hearteval.protocol import read_ending
from hearteval.study.people.kinds import FIVE_POINTS
from hearteval.study.records.completions import MOST_REPEATS
from hearteval.study.records.known import (
    GONE,
    NO_ITEM,
    NO_TEXT,
    REPEATED,
    STRESS,
    Found,
    Known,
    Raters,
    seconds_of,
    time_of,
    whole,
)

OWN_FAMILY = "a judge's own family"
OWN_TEXT = "a person's own text"
NOT_WHOLE = "a reply that its endpoint did not finish"
SAME_TEXT = "both texts are the same"
RATING = "rating"
STRENGTHS = {"five-point": sorted({n for _, n in FIVE_POINTS.values() if n is not None})}
"""Strengths of a protocol that does not know all from 1 to 5."""
TIED_PROTOCOLS = ("five-point",)
CELLS = ("repeat", "check", "strength", "rationale", "seconds", "created_at")
OF_CALL = ("prompt_hash", "finish_reason")
Stored = Mapping[str, Judgment] | Mapping[str, Rating] | Mapping[str, Label]
"""What a study has already, by id."""


def read_judgments(
    table: RecordTable, known: Known, outcomes: OutcomeNames, stored: Stored, *, now: datetime
) -> Found:
    """Return what a table of judgments adds to a study; of the same one a second time, nothing.

    `stored` holds what the study has; a person's reasons are read by the rule screen.

    Raises:
        SettingsError: Rows cannot be taken; it lists them. Or the study rates.
        InvalidVotesError: Labels of a column of winners are not as the others.
        StoreError: Rows say otherwise than what is stored; it lists them.
    """
    if known.protocol == RATING:
        raise SettingsError("this study has replies rated, so it takes no judgments of pairs")
    return _Judgments(table, known, outcomes, stored, now).read_all()


def read_ratings(table: RecordTable, known: Known, stored: Stored, *, now: datetime) -> Found:
    """Return what a table of ratings adds to a study; as `read_judgments`."""
    if known.protocol != RATING:
        raise SettingsError(
            f"this study has pairs compared ({known.protocol}), so it takes no ratings; set"
            ' judging.protocol = "rating"'
        )
    return _Ratings(table, known, stored, now).read_all()


class Reader(ABC):
    """What rows of judgments, of ratings and of labels share."""

    def __init__(self, table: RecordTable, known: Known, stored: Stored, now: datetime) -> None:
        self._table, self._known, self._found = table, known, Found()
        self._faults, self._now, self._stored = Faults(table), now, stored
        self._raters = Raters(known, table, self._found, self._faults)
        self._cells = {name: table.column(name) for name in (*CELLS, *OF_CALL)}
        self._items = table.column("item")
        self._ids = table.column("rater_id")
        self._origin = {"imported_from": {"file": table.name, "sha256": table.sha256}}
        self._seen: dict[str, tuple[int, object]] = {}
        self._kept: set[str] = set()

    @abstractmethod
    def read(self, row: int, rater: Rater) -> None:
        """Take one row, or leave it out; `ValueError` says why it cannot be taken."""

    def read_all(self) -> Found:
        """Take every row that can be taken; raise what is wrong with the others."""
        for row in range(self._table.n_rows):
            rater = self._raters.find(row)
            if rater is None:
                continue
            if read_ending(self._cells["finish_reason"][row]) != "whole":
                self._leave_out(NOT_WHOLE)
                continue
            try:
                self.read(row, rater)
            except ValueError as error:
                self._faults.add(row, str(error))
        self._faults.raise_if_any()
        return self._found

    def _leave_out(self, why: str) -> None:
        self._found.left_out[why] += 1

    def _texts(self, row: int, sides: dict[str, str]) -> list[Completion] | None:
        """Return the completions of a row, by the prefix of their columns; None if left out."""
        item = self._known.find_item(self._items[row])
        found = []
        for side, column in sides.items():
            name = self._table.column(column)[row]
            system = self._known.find_system(name)
            if system is None:
                self._found.leave_out_stranger(name or "")
                return None
            if item is None:
                continue
            writer = self._table.column(f"{side}_writer")[row]
            repeat = self._table.column(f"{side}_repeat")[row]
            number = whole(f"{side}_repeat", repeat, low=0, high=MOST_REPEATS)
            own = self._known.text_by_id.get(self._table.column(f"{side}_completion_id")[row] or "")
            if own is None and system.kind == "stress":
                self._leave_out(STRESS)  # another seed makes other texts
                return None
            if own is not None and (own.item_id, own.system_id) != (item.id, system.id):
                raise ValueError(f"{side}_completion_id is of another item or system")
            found.append(own or self._known.find_text(item, system, writer, number))
        if item is None:
            self._leave_out(NO_ITEM)
            return None
        texts = [one for one in found if one is not None]
        if len(texts) < len(found):
            self._leave_out(NO_TEXT)
            return None
        return texts

    def _may_judge(self, rater: Rater, texts: Sequence[Completion]) -> bool:
        """Say whether the study would have asked this rater about these; counted if not."""
        if rater.kind == "human":
            if self._known.is_gone(rater.name):
                self._leave_out(GONE)
                return False
            if any(text.writer_id == rater.name for text in texts):
                self._leave_out(OWN_TEXT)
                return False
        elif self._known.excludes_own_family and rater.family in {
            self._known.system_of(text).family for text in texts
        }:
            self._leave_out(OWN_FAMILY)
            return False
        return True

    def _made(self, row: int) -> dict[str, Any]:
        """Return how a record was made, as its row says it."""
        call = Call(requested=self._origin, finish_reason=self._cells["finish_reason"][row])
        return {
            "seconds": seconds_of("seconds", self._cells["seconds"][row]),
            "prompt_hash": self._cells["prompt_hash"][row],
            "call": call,
            "created_at": time_of(self._cells["created_at"][row], self._now),
        }

    def _is_new(self, row: int, rater: Rater, made: Judgment | Rating | Label) -> bool:
        """Say whether the study lacks a record; a row of the same file may have said it before."""
        said = _verdict_of(made)
        before, said_before = self._seen.setdefault(made.id, (row, said))
        if before != row:
            if said_before != said:
                raise ValueError(
                    f"row {before + 1} has another verdict of {rater.name} on the same; where they"
                    " were asked again, say so with --repeat COL (0, 1, ...)"
                )
            self._leave_out(REPEATED)
            return False
        self._found.by["rater"][rater.name] += 1
        stored = self._stored.get(made.id)
        if stored is not None:
            if _verdict_of(stored) != said:
                words = f"{rater.name} has said otherwise here, and verdicts are never replaced"
                self._faults.add(row, words, contradicts=True)
            else:
                self._found.n_there += 1
            return False
        if rater.kind == "llm" and not rater.is_imported and not self._is_same(row, rater):
            raise ValueError(
                f"the judge {rater.name!r} is asked here, and nothing shows that this is the same:"
                " a column rater_id as `heart export` writes it stands for family, model, settings"
                " and prompt. Give verdicts of another a [[judge]] of another name with"
                ' model = "imported/MODEL"'
            )
        self._found.n_new += 1
        return True

    def _is_same(self, row: int, rater: Rater) -> bool:
        """Say whether a row states the very judge that is asked here.

        An id is that of family, model, settings and prompt.
        """
        told = self._cells["prompt_hash"][row]
        is_told = told in (None, rater.settings.get("prompt_hash"))
        return is_told and self._ids[row] == rater.id

    def _keep(self, *records: Any) -> None:
        """Keep records; of those that many rows share, one."""
        for one in records:
            if one.id not in self._kept:
                self._kept.add(one.id)
                self._found.records.append(one)


class _Judgments(Reader):
    def __init__(
        self,
        table: RecordTable,
        known: Known,
        outcomes: OutcomeNames,
        stored: Stored,
        now: datetime,
    ) -> None:
        super().__init__(table, known, stored, now)
        self._choices = table.choices("winner", outcomes)
        self._axes = {
            axis: (
                table.choices(axis, outcomes),
                table.column(f"{axis}_strength"),
            )
            for axis in AXIS_NAMES
            if table.says(axis)
        }
        self._reasons = {
            axis: table.column(f"{axis}_reason")
            for axis in AXIS_NAMES
            if table.says(f"{axis}_reason")
        }

    def read(self, row: int, rater: Rater) -> None:
        """Take one row, or leave it out; `ValueError` says why it cannot be taken."""
        texts = self._texts(row, {"first": "first", "second": "second"})
        if texts is None:
            return
        first, second = texts
        if first.system_id == second.system_id:
            raise ValueError("a system is compared with itself")
        choice, strength = self._verdict(row, rater)
        axes = self._marks(row, rater)
        if not self._may_judge(rater, texts):
            return
        if first.text.strip() == second.text.strip():
            self._leave_out(SAME_TEXT)
            return
        pair = Pair(item_id=first.item_id, completion_ids=(first.id, second.id))
        check = self._cells["check"][row]
        if check not in (None, "first", "second", "tie"):
            raise ValueError(f"check is {check!r:.40}; expected first, second or tie")
        known_check: Any = check
        assignment = Assignment(
            study_id=self._known.study_id,
            pair_id=pair.id,
            rater_id=rater.id,
            first_completion_id=first.id,
            repeat=whole("repeat", self._cells["repeat"][row], low=0, high=MOST_REPEATS) or 0,
            check=known_check,
        )
        words = {axis: cells[row] for axis, cells in self._reasons.items()}
        judgment = Judgment(
            assignment_id=assignment.id,
            choice=choice,
            strength=strength,
            axes=axes,
            reasons={axis: said for axis, said in words.items() if said is not None},
            rationale=self._cells["rationale"][row] or "",
            **self._made(row),
        )
        if not self._is_new(row, rater, judgment):
            return
        self._keep(rater, pair, assignment, judgment)
        if rater.kind == "human":
            self._keep(safety_rater(), label_reasons(judgment, now=self._now))
        self._show(row, rater, texts, judgment)

    def _protocol_of(self, rater: Rater) -> str | None:
        return self._known.asks_people if rater.kind == "human" else self._known.protocol

    def _verdict(self, row: int, rater: Rater) -> tuple[Choice, int | None]:
        """Return the overall choice and its strength, as the rater's protocol knows them."""
        choice = self._choices[row]
        if choice is None:
            raise ValueError("it does not say who won")
        protocol = self._protocol_of(rater)
        if choice == "tie":
            if protocol not in TIED_PROTOCOLS:
                whose = "people" if rater.kind == "human" else "judging"
                raise ValueError(f"a tie, and {whose}.protocol = {protocol!r} knows none")
            return choice, None
        cell = self._cells["strength"][row]
        if cell is None:
            raise ValueError(
                "a decided verdict has no strength; name its column, or one for all: --strength 3"
            )
        strength = whole("strength", cell, low=1, high=MAX_STRENGTH)
        allowed = STRENGTHS.get(str(protocol), range(1, MAX_STRENGTH + 1))
        if strength not in allowed:
            raise ValueError(
                f"strength is {strength}, and the protocol {protocol!r} knows"
                f" {' and '.join(map(str, allowed))} only"
            )
        return choice, strength

    def _marks(self, row: int, rater: Rater) -> dict[Axis, AxisMark]:
        marks: dict[Axis, AxisMark] = {}
        protocol = self._protocol_of(rater)
        for axis, (choices, strengths) in self._axes.items():
            choice = choices[row]
            strength = whole(f"{axis}_strength", strengths[row], low=1, high=MAX_STRENGTH)
            if choice == "tie" and protocol not in TIED_PROTOCOLS:
                raise ValueError(f"a tie on the axis {axis}, and {protocol!r} knows none")
            if choice is not None:
                marks[axis] = AxisMark(choice, None if choice == "tie" else strength)
            elif strength is not None:
                raise ValueError(f"the axis {axis} has a strength and no winner")
        return marks

    def _show(
        self, row: int, rater: Rater, texts: Sequence[Completion], judgment: Judgment
    ) -> None:
        names = [_named(text, self._known) for text in texts]
        axes = {
            axis: f"{mark.choice}{'' if mark.strength is None else f' {mark.strength}'}"
            for axis, mark in judgment.axes.items()
        }
        self._found.show(
            row,
            {
                "item": self._known.item_words(texts[0].item_id),
                "rater": _rater_words(rater),
                "first": names[0],
                "second": names[1],
                "choice": judgment.choice,
                "strength": judgment.strength,
                "axes": ", ".join(f"{axis} {said}" for axis, said in axes.items()),
                "reasons": ", ".join(judgment.reasons),
                "rationale": judgment.rationale,
            },
        )


class _Ratings(Reader):
    def __init__(
        self,
        table: RecordTable,
        known: Known,
        stored: Stored,
        now: datetime,
    ) -> None:
        super().__init__(table, known, stored, now)
        self._scores = {a: table.column(a) for a in AXIS_NAMES if table.says(a)}
        self._comments = {a: table.column(f"{a}_comment") for a in AXIS_NAMES}
        if not self._scores:
            raise SettingsError(
                f"{table.label}: no column holds scores; name them by axis, as in --axis H=COL",
                ids=("axis",),
            )

    def read(self, row: int, rater: Rater) -> None:
        """Take one row, or leave it out; `ValueError` says why it cannot be taken."""
        texts = self._texts(row, {"system": "system"})
        if texts is None or not self._may_judge(rater, texts):
            return
        cells = {axis: column[row] for axis, column in self._scores.items()}
        scores = {
            axis: score
            for axis, cell in cells.items()
            if (score := whole(axis, cell, low=1, high=MAX_SCORE)) is not None
        }
        rated = self._known.rated
        lacking = [axis for axis in rated if axis not in scores]
        if lacking:
            raise ValueError(
                f"no score on {', '.join(lacking)}; a rating here is of {', '.join(rated)}"
            )
        comments = {axis: column[row] for axis, column in self._comments.items()}
        rating = Rating(
            study_id=self._known.study_id,
            completion_id=texts[0].id,
            rater_id=rater.id,
            repeat=whole("repeat", self._cells["repeat"][row], low=0, high=MOST_REPEATS) or 0,
            axes=scores,
            comments={axis: said for axis, said in comments.items() if said is not None},
            **self._made(row),
        )
        if not self._is_new(row, rater, rating):
            return
        self._keep(rater, rating)
        self._found.show(
            row,
            {
                "item": self._known.item_words(texts[0].item_id),
                "rater": _rater_words(rater),
                "system": _named(texts[0], self._known),
                "axes": ", ".join(f"{axis} {score}" for axis, score in scores.items()),
                "comments": ", ".join(rating.comments),
            },
        )


def _verdict_of(one: Judgment | Rating | Label) -> object:
    """Return what a verdict says; words that the other lacks are no contradiction."""
    if isinstance(one, Label):
        return one.verdict, one.score
    if isinstance(one, Rating):
        return dict(one.axes)
    return one.choice, one.strength, dict(one.axes)


def _named(text: Completion, known: Known) -> str:
    name = known.system_of(text).name
    return name if text.writer_id is None else f"{name}, written by {text.writer_id}"


def _rater_words(rater: Rater) -> str:
    if rater.kind == "human":
        return f"{rater.name} (a person{f', {rater.group}' if rater.group else ''})"
    return f"{rater.name} (a judge, family {rater.family})"
