"""What one person answered beside the ranking: checks, repeats, triads. Facts; no rule is here.

Checks and repeats are assignments of a study of their own beside the one that people take part in
(`hearteval.judgments.people_checks`), so that nothing that counts votes can count them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from typing import NamedTuple

from hearteval.analysis.judgments import TIE, JudgmentRow
from hearteval.analysis.packed.pairs import Pairs
from hearteval.domain import Assignment, Choice, Judgment, Rating
from hearteval.domain.quality import CheckKind


class CheckAnswer(NamedTuple):
    """A gold pair or an attention check that a person was shown."""

    kind: CheckKind
    target_id: str
    """The pair; where people rate, the completion."""
    expected: Choice | int
    """The choice, or the score on every axis, that passes."""
    passed: bool | None
    """None where they did not answer: they skipped it, or left."""
    seconds: float | None
    answered_at: datetime | None


class PairAnswer(NamedTuple):
    """What a person said of a pair."""

    winner: str
    """Id of the better completion, or ``tie``."""
    strength: int | None
    first_completion_id: str
    """The one shown as A."""
    seconds: float | None


class Repeated(NamedTuple):
    """A pair that a person was given twice, the second time with the sides swapped."""

    pair_id: str
    first: PairAnswer
    second: PairAnswer | None
    """None where they did not answer it again."""

    @property
    def is_same(self) -> bool | None:
        """Whether the same completion was better, or both times neither; None for no answer."""
        return None if self.second is None else self.first.winner == self.second.winner


class Triad(NamedTuple):
    """Three completions of one item that one person compared in all three pairs."""

    item_id: str
    completion_ids: tuple[str, str, str]
    """Sorted."""
    winners: tuple[str, str, str]
    """Of the pairs (1, 2), (1, 3) and (2, 3): the id of a completion, or ``tie``."""

    @property
    def is_circular(self) -> bool:
        """Whether each completion beat one and lost to one: no order has such answers."""
        return TIE not in self.winners and len(set(self.winners)) == len(self.winners)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswers:
    """What a person answered beside the ranking."""

    rater_id: str
    checks: tuple[CheckAnswer, ...] = ()
    """In the order of their answers; those without one last."""
    repeats: tuple[Repeated, ...] = ()
    triads: tuple[Triad, ...] = ()

    @property
    def n_passed(self) -> int:
        """How many checks they passed."""
        return sum(check.passed is True for check in self.checks)

    @property
    def n_failed(self) -> int:
        """How many they failed; without those that they did not answer."""
        return sum(check.passed is False for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRecords:
    """What the study of checks holds."""

    kinds: Mapping[str, CheckKind]
    """By pair; of a repeat there is none."""
    scores: Mapping[str, int]
    """What is to be given on every axis, by the completion that says so."""
    assignments: Sequence[Assignment] = ()
    """Of checks and of repeats, answered or not."""
    judgments: Sequence[Judgment] = ()
    ratings: Sequence[Rating] = ()


def answers_of_people(
    rows: Sequence[JudgmentRow],
    pairs: Pairs,
    stored: CheckRecords,
    seconds: Mapping[str, float | None],
) -> dict[str, PersonAnswers]:
    """Return what each person answered beside the ranking, by rater id.

    `rows` are people's judgments of the study itself, and `pairs` what they are of; `seconds` are
    their times by assignment id.
    """
    ids_of = pairs.named({row.pair_id for row in rows}).ends
    checks = _checks(stored)
    repeats = _repeats(rows, ids_of, stored, seconds)
    triads = _triads(rows, ids_of)
    return {
        rater_id: PersonAnswers(
            rater_id=rater_id,
            checks=tuple(checks.get(rater_id, ())),
            repeats=tuple(repeats.get(rater_id, ())),
            triads=tuple(triads.get(rater_id, ())),
        )
        for rater_id in sorted({*checks, *repeats, *triads, *(row.rater_id for row in rows)})
    }


def _checks(stored: CheckRecords) -> dict[str, list[CheckAnswer]]:
    said = {judgment.assignment_id: judgment for judgment in stored.judgments}
    found: defaultdict[str, list[CheckAnswer]] = defaultdict(list)
    for one in stored.assignments:
        if one.check is None:
            continue
        given = said.get(one.id)
        found[one.rater_id].append(
            CheckAnswer(
                kind=stored.kinds[one.pair_id],
                target_id=one.pair_id,
                expected=one.check,
                passed=None if given is None else given.choice == one.check,
                seconds=None if given is None else given.seconds,
                answered_at=None if given is None else given.created_at,
            )
        )
    for rating in stored.ratings:
        score = stored.scores[rating.completion_id]
        found[rating.rater_id].append(
            CheckAnswer(
                kind="attention",
                target_id=rating.completion_id,
                expected=score,
                passed=set(rating.axes.values()) == {score},
                seconds=rating.seconds,
                answered_at=rating.created_at,
            )
        )
    for own in found.values():
        own.sort(key=lambda check: check.answered_at or datetime.max.replace(tzinfo=UTC))
    return found


def _repeats(
    rows: Sequence[JudgmentRow],
    ids_of: Mapping[str, tuple[str, str]],
    stored: CheckRecords,
    seconds: Mapping[str, float | None],
) -> dict[str, list[Repeated]]:
    first = {(row.rater_id, row.pair_id): row for row in rows if row.repeat == 0}
    said = {judgment.assignment_id: judgment for judgment in stored.judgments}
    found: defaultdict[str, list[Repeated]] = defaultdict(list)
    for one in stored.assignments:
        before = first.get((one.rater_id, one.pair_id))
        if one.check is not None or before is None:
            continue
        ids, again = ids_of[one.pair_id], said.get(one.id)
        found[one.rater_id].append(
            Repeated(
                one.pair_id,
                _answer(before, ids, seconds.get(before.assignment_id)),
                None
                if again is None
                else PairAnswer(
                    _winner(again.choice, one.first_completion_id, ids),
                    again.strength,
                    one.first_completion_id,
                    again.seconds,
                ),
            )
        )
    return found


def _triads(
    rows: Sequence[JudgmentRow], ids_of: Mapping[str, tuple[str, str]]
) -> dict[str, list[Triad]]:
    said: defaultdict[tuple[str, str], dict[tuple[str, str], str]] = defaultdict(dict)
    for row in rows:
        if row.repeat == 0:
            ids = ids_of[row.pair_id]
            winner = _winner(row.choice, row.first_completion_id, ids)
            said[row.rater_id, row.item_id][ids] = winner
    found: defaultdict[str, list[Triad]] = defaultdict(list)
    for (rater_id, item_id), by_pair in sorted(said.items()):
        texts = sorted({id_ for ids in by_pair for id_ in ids})
        for a, b, c in combinations(texts, 3):
            if (a, b) in by_pair and (a, c) in by_pair and (b, c) in by_pair:
                winners = (by_pair[a, b], by_pair[a, c], by_pair[b, c])
                found[rater_id].append(Triad(item_id, (a, b, c), winners))
    return found


def _answer(row: JudgmentRow, ids: tuple[str, str], seconds: float | None) -> PairAnswer:
    winner = _winner(row.choice, row.first_completion_id, ids)
    return PairAnswer(winner, row.strength, row.first_completion_id, seconds)


def _winner(choice: Choice, first: str, ids: tuple[str, str]) -> str:
    if choice == TIE:
        return TIE
    second = ids[1] if first == ids[0] else ids[0]
    return first if choice == "first" else second
