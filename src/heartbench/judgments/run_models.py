"""The step for LLM judges: ask them for the judgments that are missing, and store each at once."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from heartbench.domain import (
    AXES,
    Assignment,
    Attempt,
    Axis,
    Completion,
    Item,
    Judgment,
    Pair,
    Study,
)
from heartbench.engine.local import run_tasks
from heartbench.judgments.delimiters import delimiter_nonce
from heartbench.judgments.judge_prompt import judge_messages, judge_prompt_hash
from heartbench.judgments.judge_reply import JudgeVerdict, read_reply
from heartbench.judgments.reply_schema import PairProtocol
from heartbench.judgments.run_question import earlier_tries, judge_question
from heartbench.models.asking import end_of, n_workers, used
from heartbench.models.base import AskedModel, Reply
from heartbench.models.questions import (
    AskedCounts,
    Question,
    Tries,
    Wanted,
    ask_wanted,
    find_wanted,
)
from heartbench.store.base import Store
from heartbench.store.grouped import GroupedWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One assignment with the texts it is about."""

    assignment: Assignment
    item: Item
    first: str
    second: str


async def ask_judges(  # noqa: PLR0913 - which of the assignments is rarely said
    writer: GroupedWriter,
    study: Study,
    asked: Mapping[str, AskedModel | None],
    *,
    protocol: PairProtocol,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
    of: Collection[str] | None = None,
) -> AskedCounts:
    """Ask every judge for the assignments it has not answered.

    A reply that is not exactly what was asked is an attempt with its reason, asked for once more,
    then missing: never a tie, a default or a win.

    Args:
        writer: Where judgments are written, at the store they are about.
        study: The study's current version.
        asked: Judges by rater id; None for those that `judges_to_ask` leaves out.
        protocol: What is asked of a pair.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.
        of: Ids of the only assignments to ask about; None for all.

    Raises:
        ExceptionGroup: As `heartbench.completions.run_models.ask_systems`.
    """
    found = _find(writer.store, study, asked, of=of)
    items = {item.id: item for item in writer.store.iter(Item, study)}
    asking = _Asking(seed=study.seed, protocol=protocol, now=now)

    def pose(assignment_id: str) -> tuple[AskedModel | None, Question]:
        case = found.case(assignment_id, items)
        return asked[case.assignment.rater_id], _question(case, asking)

    return await ask_wanted(
        found.wanted,
        pose,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
    )


def judges_to_ask(store: Store, study: Study, rater_ids: Collection[str]) -> frozenset[str]:
    """Return which of these judges have something left to be asked: only they need a key."""
    found = _find(store, study, rater_ids, of=None)
    return frozenset(found.assignments[id_].rater_id for id_ in found.wanted.open_ones)


def given_up_judgments(store: Store, study: Study) -> frozenset[str]:
    """Return the assignments whose judgment stays missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    return frozenset(id_ for id_, tried in tries.items() if tried.is_over)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The assignments of some judges, and what is to be asked."""

    wanted: Wanted[str]
    assignments: Mapping[str, Assignment]
    completions: Mapping[str, Completion]
    pairs: Mapping[str, Pair]

    def case(self, assignment_id: str, items: Mapping[str, Item]) -> _Case:
        """Return an assignment with its texts."""
        assignment = self.assignments[assignment_id]
        pair = self.pairs[assignment.pair_id]
        low, high = pair.completion_ids
        first = assignment.first_completion_id
        return _Case(
            assignment=assignment,
            item=items[pair.item_id],
            first=self.completions[first].text,
            second=self.completions[high if first == low else low].text,
        )


def _find(
    store: Store, study: Study, rater_ids: Collection[str], *, of: Collection[str] | None
) -> _Found:
    completions = {completion.id: completion for completion in store.iter(Completion, study)}
    pairs = {
        pair.id: pair
        for pair in store.iter(Pair, study)
        if all(completion_id in completions for completion_id in pair.completion_ids)
    }
    assignments = {
        a.id: a
        for a in store.iter(Assignment, study)
        if a.rater_id in rater_ids and a.pair_id in pairs and (of is None or a.id in of)
    }
    answered = assignments.keys() - {a.id for a in store.unjudged(study)}
    return _Found(
        wanted=find_wanted(list(assignments), answered, _earlier_tries(store, study)),
        assignments=assignments,
        completions=completions,
        pairs=pairs,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """What is the same for all assignments."""

    seed: int
    protocol: PairProtocol
    now: Callable[[], datetime]
    axes: tuple[Axis, ...] = AXES


def _earlier_tries(store: Store, study: Study) -> Mapping[str, Tries]:
    return earlier_tries(store.iter(Attempt, study), lambda attempt: attempt.assignment_id)


def _question(case: _Case, asking: _Asking) -> Question:
    assignment = case.assignment
    nonce = delimiter_nonce(
        asking.seed,
        assignment.id,
        [case.first, case.second, *(turn.text for turn in case.item.context)],
    )

    def read(reply: Reply) -> Judgment:
        verdict = read_reply(
            reply.text,
            axes=asking.axes,
            protocol=asking.protocol,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
        )
        return _judgment(assignment, verdict, reply, asking)

    messages = judge_messages(
        case.item.context,
        case.first,
        case.second,
        nonce=nonce,
        axes=asking.axes,
        protocol=asking.protocol,
    )
    target = {"assignment_id": assignment.id, "repeat": assignment.repeat}
    return judge_question(target, messages, read=read)


def _judgment(
    assignment: Assignment, verdict: JudgeVerdict, reply: Reply, asking: _Asking
) -> Judgment:
    return Judgment(
        assignment_id=assignment.id,
        choice=verdict.choice,
        strength=verdict.strength,
        axes=verdict.axes,
        reasons=verdict.reasons,
        rationale=verdict.rationale,
        seconds=None if reply.total_ms is None else reply.total_ms / 1000,
        raw=reply.text,
        prompt_hash=judge_prompt_hash(asking.axes, protocol=asking.protocol),
        finish_reason=end_of(reply),
        cached=reply.cached,
        created_at=asking.now(),
        **used(reply),
    )
