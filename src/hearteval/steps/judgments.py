"""Judgments and ratings: ask the judges for what they have not judged yet.

There is one kind of task: find what is wanted of a judge, show it one or two texts, read its reply.
A pair and a rating are two of them; the offline cue judge answers the same pairs.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from hearteval.domain import (
    Assignment,
    Attempt,
    Call,
    Completion,
    Display,
    Item,
    Judgment,
    Pair,
    Rater,
    Rating,
    RatingTarget,
    Study,
    System,
    display_form,
    record_id,
)
from hearteval.judgments.cue_judge.judge import Text, judge_pair
from hearteval.judgments.form import RATED, USUAL, JudgeForm
from hearteval.judgments.prompt import (
    judge_messages,
    judge_prompt_hash,
    judge_schema,
    repair_messages,
)
from hearteval.judgments.reply import REPLY_FAULTS, read_rating, read_reply
from hearteval.models.asking import (
    MAX_CLAIM,
    NOTHING_ASKED,
    AskedCounts,
    Question,
    Tries,
    Wanted,
    earlier_tries,
    find_wanted,
    to_messages,
    used,
)
from hearteval.models.base import Message, Reply, Schema
from hearteval.protocol.markers import delimiter_nonce
from hearteval.steps import WholeStep, answer_offline
from hearteval.store.base import Store

_prompt_hash = cache(judge_prompt_hash)


class Case(NamedTuple):
    """What a judge is asked about: one completion to rate, or two as they are shown."""

    target: Assignment | RatingTarget
    item: Item
    texts: tuple[Text, ...]
    """In the form that the study shows."""


class JudgingStep:
    """What judges are asked of a pair and of one text. A reply that is not exactly that is none."""

    __slots__ = ()
    form: JudgeForm
    who: Literal["judge"] = "judge"

    def ask(self, study: Study, _target: Any, case: Case) -> Question:
        """Show a judge a case, between marker lines."""
        target, form, context = case.target, self.form, case.item.context
        named = _attempt_fields(target)
        texts = [text.text for text in case.texts]
        nonce = delimiter_nonce(study.seed, target.id, [*texts, *(turn.text for turn in context)])
        messages = judge_messages(context, *texts, nonce=nonce, form=form)

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            shown = repair_messages(messages, faults[-1], form) if faults else messages
            return to_messages(shown), target.repeat

        def read(reply: Reply, at: datetime) -> tuple[Judgment | Rating]:
            end = {"finish_reason": reply.finish_reason, "refusal": reply.refusal}
            made: dict[str, Any] = {
                "seconds": None if reply.total_ms is None else reply.total_ms / 1000,
                "raw": reply.text,
                "prompt_hash": _prompt_hash(form),
                "call": used(reply),
                "created_at": at,
            }
            if isinstance(target, RatingTarget):
                scores = read_rating(reply.text, form=form, **end)
                return (Rating(**named, **scores._asdict(), **made),)
            verdict = read_reply(reply.text, form=form, **end)
            return (Judgment(assignment_id=target.id, **verdict._asdict(), **made),)

        return Question(target=named, messages_after=messages_after, read=read)

    def schema(self, bound: int | None) -> Schema:
        """Hold replies to what is asked."""
        return schema_of_judges(self.form, bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairStep(JudgingStep):
    """Have pairs judged, as they are assigned."""

    form: JudgeForm = USUAL
    only: Collection[str] | None = None
    answer = "judgment"

    def find(self, store: Store, study: Study, ids: Collection[str]) -> Wanted[Any]:
        """Find these judges' assignments, of which the study has all records."""
        open_ones = [a for a in store.unjudged(study) if a.rater_id in ids]
        if self.only is not None:
            open_ones = [a for a in open_ones if a.id in self.only]
        wanted = self._wanted(store, study, open_ones, store.iter(Attempt, study))
        n_before = self._n_judged(store, study, ids)
        return replace(wanted, n_wanted=n_before + wanted.n_wanted, n_before=n_before)

    def pages(
        self, store: Store, study: Study, ids: Collection[str], *, begin: str
    ) -> Iterator[Wanted[Any]]:
        """Find these judges' assignments page by page, of which none reads what others hold."""
        for page in store.open_pages(study, ids, begin=begin):
            tried = store.attempts_on([assignment.id for assignment in page])
            wanted = self._wanted(store, study, page, tried)
            yield replace(wanted, has_more=len(page) >= MAX_CLAIM)

    def _wanted(
        self,
        store: Store,
        study: Study,
        open_ones: Sequence[Assignment],
        attempts: Iterable[Attempt],
    ) -> Wanted[Any]:
        items, completions = _texts(store, study, self.form.display) if open_ones else ({}, {})
        frozen = _frozen(store, study) if self.only is None else frozenset()
        pairs = {
            pair.id: pair
            for pair in store.find(Pair, [a.pair_id for a in open_ones])
            if all(completion_id in completions for completion_id in pair.completion_ids)
            and not frozen.issuperset(pair.completion_ids)
        }
        assignments = {a.id: a for a in open_ones if a.pair_id in pairs}

        def find_case(assignment_id: str) -> Case:
            assignment = assignments[assignment_id]
            pair = pairs[assignment.pair_id]
            low, high = pair.completion_ids
            first = assignment.first_completion_id
            second = high if first == low else low
            shown = (completions[first][1], completions[second][1])
            return Case(assignment, items[pair.item_id], shown)

        return find_wanted(
            list(assignments),
            (),
            _tries(attempts),
            owner_of=lambda id_: assignments[id_].rater_id,
            case_of=find_case,
        )

    def _n_judged(self, store: Store, study: Study, rater_ids: Collection[str]) -> int:
        if self.only is None:
            counts = store.count_assigned(study)
            return sum(count.n_judged for count in counts if count.rater_id in rater_ids)
        asked = [a for a in store.find(Assignment, list(self.only)) if a.rater_id in rater_ids]
        ids = [record_id("judgment", {"assignment_id": a.id}) for a in asked]
        return len(store.find(Judgment, ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingStep(JudgingStep, WholeStep):
    """Have completions rated by themselves."""

    targets: Sequence[RatingTarget]
    """What is wanted, from `plan_ratings`."""
    form: JudgeForm = RATED
    answer = "rating"

    def find(self, store: Store, study: Study, ids: Collection[str]) -> Wanted[Any]:
        """Find these judges' ratings."""
        items, completions = _texts(store, study, self.form.display)

        def find_case(target: RatingTarget) -> Case:
            item_id, text = completions[target.completion_id]
            return Case(target, items[item_id], (text,))

        return find_wanted(
            [target for target in self.targets if target.rater_id in ids],
            {rating.target for rating in store.iter(Rating, study)},
            _tries(store.iter(Attempt, study)),
            owner_of=attrgetter("rater_id"),
            case_of=find_case,
        )


def schema_of_judges(form: JudgeForm, bound: int | None) -> Schema:
    """Return the schema of what judges are asked, its texts of at most so many characters."""
    return Schema(
        name="heart_rating" if form.protocol == "rating" else "heart_judgment",
        schema=judge_schema(form, max_reason_characters=bound),
    )


def judge_assignments(
    store: Store,
    study: Study,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
    only: Collection[str] | None = None,
) -> AskedCounts:
    """Have the cue judge answer every assignment of its own, a batch a transaction.

    Assignments about items, systems or judges that the study no longer names stay as they are, and
    so do those that are none of `only`, where any are given.
    """
    judges = store.iter(Rater, study)
    raters = {rater.id for rater in judges if rater.family == "cue" and not rater.is_imported}
    if not raters:
        return NOTHING_ASKED
    form = JudgeForm(display=study.display)
    wanted = PairStep(form=form, only=only).find(store, study, raters)
    return answer_offline(
        store, wanted, lambda id_: [_cue_judgment(wanted.case_of(id_), now())], progress=progress
    )


def given_up_judgments(store: Store, study: Study) -> frozenset[str]:
    """Return the assignments whose judgment stays missing: nobody asks for them again."""
    given_up = _given_up(store, study)
    return frozenset(target for target in given_up if not isinstance(target, RatingTarget))


def settled_ratings(store: Store, study: Study) -> frozenset[RatingTarget]:
    """Return the ratings that are given or stay missing: nobody asks for them again."""
    given_up = (t for t in _given_up(store, study) if isinstance(t, RatingTarget))
    return frozenset(given_up).union(rating.target for rating in store.iter(Rating, study))


def _given_up(store: Store, study: Study) -> list[str | RatingTarget]:
    tries = _tries(store.iter(Attempt, study))
    return [target for target, tried in tries.items() if tried.is_over]


def _tries(attempts: Iterable[Attempt]) -> Mapping[Any, Tries]:
    return earlier_tries(attempts, _find_target, faults=REPLY_FAULTS)


def _find_target(attempt: Attempt) -> str | RatingTarget | None:
    """Return the assignment's id or the rating that an attempt was for; None for a completion."""
    if attempt.study_id is None or attempt.completion_id is None or attempt.rater_id is None:
        return attempt.assignment_id
    return RatingTarget(attempt.study_id, attempt.completion_id, attempt.rater_id, attempt.repeat)


def _attempt_fields(target: Assignment | RatingTarget) -> dict[str, Any]:
    """Return the fields by which an attempt names what it was for."""
    if isinstance(target, RatingTarget):
        return target._asdict()
    return {"assignment_id": target.id, "repeat": target.repeat}


def _frozen(store: Store, study: Study) -> frozenset[str]:
    """Return the texts of a pool and of its stress set: of two of them nothing is asked."""
    if not study.pool:
        return frozenset()
    new = {s.id for s in store.iter(System, study) if s.kind != "stress"} - study.pool
    return frozenset(c.id for c in store.iter(Completion, study) if c.system_id not in new)


def _texts(
    store: Store, study: Study, display: Display
) -> tuple[dict[str, Item], dict[str, tuple[str, Text]]]:
    """Return items, and by completion its item's id and its text as it is shown.

    The texts of the stress set and of audits are shown as they are: they test what a judge makes
    of them, formatting included.
    """
    items = {item.id: item for item in store.iter(Item, study)}
    as_made = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    return items, {
        one.id: (
            one.item_id,
            Text(one.id, display_form(one.text, "raw" if one.system_id in as_made else display)),
        )
        for one in store.iter(Completion, study)
        if not one.is_withdrawn
    }


def _cue_judgment(case: Case, created_at: datetime) -> Judgment:
    first, second = case.texts
    verdict = judge_pair(case.item.context, first, second)._asdict()
    call = Call(finish_reason="undecided" if verdict.pop("is_undecided") else "decided")
    return Judgment(assignment_id=case.target.id, **verdict, call=call, created_at=created_at)
