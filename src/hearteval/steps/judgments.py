"""The step: ask the judges for what they have not judged yet, and store each answer at once.

There is one kind of task: find what is wanted of a judge, show it one or two texts, read its reply.
A pair and a rating are two of them; the offline cue judge answers the same pairs.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from hearteval.analysis.coverage.missing import Cause, find_causes, last_attempts
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
from hearteval.domain.reasons import NOT_ASKED
from hearteval.engine.local import run_tasks
from hearteval.judgments.cue_judge.judge import Text, judge_pair
from hearteval.judgments.form import RATED, USUAL, JudgeForm
from hearteval.judgments.prompt import judge_messages, judge_prompt_hash, repair_messages
from hearteval.judgments.reply import REPLY_FAULTS, read_rating, read_reply
from hearteval.models.asking import (
    NOTHING_ASKED,
    AskedCounts,
    FindQuestion,
    Question,
    Tries,
    Wanted,
    ask_wanted,
    earlier_tries,
    find_wanted,
    first_of_each,
    n_workers,
    to_messages,
    used,
)
from hearteval.models.base import AskedModel, Message, Reply
from hearteval.protocol.markers import delimiter_nonce
from hearteval.store.base import Store
from hearteval.store.sharing.grouped import GroupedWriter

BATCH = 200


class Case(NamedTuple):
    """What a judge is asked about: one completion to rate, or two as they are shown."""

    target: Assignment | RatingTarget
    item: Item
    texts: tuple[Text, ...]
    """In the form that the study shows."""


Found = tuple[Wanted[Any], Callable[[Any], Case]]
"""What is wanted of some judges, by target, and what a judge is shown of a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTask:
    """Have pairs judged, as they are assigned."""

    form: JudgeForm = USUAL
    only: Collection[str] | None = None
    most: int | None = None
    """Questions for each judge; None for all."""

    def find(self, store: Store, study: Study, rater_ids: Collection[str]) -> Found:
        """Find these judges' assignments, of which the study has all records."""
        open_ones = [a for a in store.unjudged(study) if a.rater_id in rater_ids]
        if self.only is not None:
            open_ones = [a for a in open_ones if a.id in self.only]
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

        wanted = find_wanted(list(assignments), (), _earlier_tries(store, study))
        n_before = self._n_judged(store, study, rater_ids)
        n_wanted = n_before + len(assignments)
        return replace(wanted, n_wanted=n_wanted, n_before=n_before), find_case

    def _n_judged(self, store: Store, study: Study, rater_ids: Collection[str]) -> int:
        if self.only is None:
            counts = store.count_assigned(study)
            return sum(count.n_judged for count in counts if count.rater_id in rater_ids)
        asked = [a for a in store.find(Assignment, list(self.only)) if a.rater_id in rater_ids]
        ids = [record_id("judgment", {"assignment_id": a.id}) for a in asked]
        return len(store.find(Judgment, ids))

    def read(self, reply: Reply, target: Mapping[str, Any], made: Mapping[str, Any]) -> Judgment:
        """Make a judgment of a reply, for an assignment, and of how the reply was made."""
        verdict = read_reply(
            reply.text,
            form=self.form,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
        )
        return Judgment(assignment_id=target["assignment_id"], **verdict._asdict(), **made)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingTask:
    """Have completions rated by themselves."""

    targets: Sequence[RatingTarget]
    """What is wanted, from `plan_ratings`."""
    form: JudgeForm = RATED
    most: int | None = None

    def find(self, store: Store, study: Study, rater_ids: Collection[str]) -> Found:
        """Find these judges' ratings."""
        items, completions = _texts(store, study, self.form.display)

        def find_case(target: RatingTarget) -> Case:
            item_id, text = completions[target.completion_id]
            return Case(target, items[item_id], (text,))

        wanted = [target for target in self.targets if target.rater_id in rater_ids]
        rated = {rating.target for rating in store.iter(Rating, study)}
        return find_wanted(wanted, rated, _earlier_tries(store, study)), find_case

    def read(self, reply: Reply, target: Mapping[str, Any], made: Mapping[str, Any]) -> Rating:
        """Make a rating of a reply, for its target, and of how the reply was made."""
        verdict = read_rating(
            reply.text, form=self.form, finish_reason=reply.finish_reason, refusal=reply.refusal
        )
        return Rating(**target, **verdict._asdict(), **made)


JudgingTask = PairTask | RatingTask


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
    wanted, find_case = PairTask(form=form, only=only).find(store, study, raters)
    n_added = 0
    progress(wanted.n_before, wanted.n_wanted)
    for start in range(0, len(wanted.open_ones), BATCH):
        batch = wanted.open_ones[start : start + BATCH]
        n_added += store.add(
            [_cue_judgment(find_case(assignment_id), now()) for assignment_id in batch]
        )
        progress(wanted.n_before + start + len(batch), wanted.n_wanted)
    return AskedCounts(
        n_wanted=wanted.n_wanted, n_before=wanted.n_before, n_added=n_added, missing={}
    )


async def ask_judges(
    writer: GroupedWriter,
    study: Study,
    asked: Mapping[str, AskedModel | None],
    task: JudgingTask,
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Ask every judge for what it has not answered.

    A reply that is not exactly what was asked is an attempt with its reason, asked for once more,
    then missing: never a tie, a default or a win. Judges are given by rater id, None for those that
    `open_by_judge` leaves out.

    Raises:
        ExceptionGroup: As `hearteval.steps.completions.ask_systems`.
    """
    prompt_hash = judge_prompt_hash(task.form)

    def find_question(
        find_case: Callable[[Any], Case], wanted_target: Any
    ) -> tuple[AskedModel | None, Question]:
        case = find_case(wanted_target)
        target = _attempt_fields(case.target)
        texts = [text.text for text in case.texts]
        context = case.item.context
        nonce = delimiter_nonce(
            study.seed, case.target.id, [*texts, *(turn.text for turn in context)]
        )
        messages = judge_messages(context, *texts, nonce=nonce, form=task.form)

        def messages_after(faults: Sequence[str]) -> tuple[tuple[Message, ...], int]:
            shown = repair_messages(messages, faults[-1], task.form) if faults else messages
            return to_messages(shown), case.target.repeat

        def read(reply: Reply) -> tuple[Judgment | Rating]:
            made = {
                "seconds": None if reply.total_ms is None else reply.total_ms / 1000,
                "raw": reply.text,
                "prompt_hash": prompt_hash,
                "call": used(reply),
                "created_at": now(),
            }
            return (task.read(reply, target, made),)

        question = Question(target=target, messages_after=messages_after, read=read)
        return asked[case.target.rater_id], question

    def find() -> tuple[Wanted[Any], FindQuestion[Any]]:
        wanted, find_case = task.find(writer.store, study, asked)
        wanted = first_of_each(wanted, lambda one: find_case(one).target.rater_id, task.most)
        return wanted, partial(find_question, find_case)

    return await ask_wanted(
        find,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
        claims=writer.panel,
    )


def open_by_judge(
    store: Store, study: Study, task: JudgingTask, rater_ids: Collection[str]
) -> tuple[Counter[str], AskedCounts]:
    """Count what is left to be asked of each of these judges, and what there is if nobody asks.

    Those without anything left need no key.
    """
    wanted, find_case = task.find(store, study, rater_ids)
    n_open = Counter(find_case(target).target.rater_id for target in wanted.open_ones)
    missing = Counter(wanted.given_up)
    if wanted.open_ones:
        missing[NOT_ASKED] += len(wanted.open_ones)
    counts = AskedCounts(
        n_wanted=wanted.n_wanted, n_before=wanted.n_before, n_added=0, missing=missing
    )
    return n_open, counts


def missing_by_judge(
    store: Store, study: Study, task: JudgingTask, rater_ids: Collection[str]
) -> dict[str, tuple[Cause, ...]]:
    """Return why what is still missing of each of these judges is; those without are left out.

    The stress set and repeats count too.
    """
    wanted, find_case = task.find(store, study, rater_ids)
    absent: defaultdict[str, list[Any]] = defaultdict(list)
    for target in wanted.missing:
        absent[find_case(target).target.rater_id].append(target)
    last = last_attempts(list(store.iter(Attempt, study)), _find_target)
    return {rater_id: find_causes(targets, last) for rater_id, targets in absent.items()}


def given_up_judgments(store: Store, study: Study) -> frozenset[str]:
    """Return the assignments whose judgment stays missing: nobody asks for them again."""
    given_up = _given_up(store, study)
    return frozenset(target for target in given_up if not isinstance(target, RatingTarget))


def settled_ratings(store: Store, study: Study) -> frozenset[RatingTarget]:
    """Return the ratings that are given or stay missing: nobody asks for them again."""
    given_up = (t for t in _given_up(store, study) if isinstance(t, RatingTarget))
    return frozenset(given_up).union(rating.target for rating in store.iter(Rating, study))


def _given_up(store: Store, study: Study) -> list[str | RatingTarget]:
    return [target for target, tried in _earlier_tries(store, study).items() if tried.is_over]


def _earlier_tries(store: Store, study: Study) -> Mapping[str | RatingTarget, Tries]:
    return earlier_tries(store.iter(Attempt, study), _find_target, faults=REPLY_FAULTS)


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
