"""The step of the `rating` protocol: have LLM judges rate the completions that they have not rated.

It mirrors `run` and `run_models`, which do the same for pairs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from heartbench.domain import (
    Attempt,
    Completion,
    Item,
    Rater,
    Rating,
    RatingTarget,
    Study,
    System,
)
from heartbench.engine.local import run_tasks
from heartbench.judgments.delimiters import delimiter_nonce
from heartbench.judgments.plan import PlanPolicy
from heartbench.judgments.rating_plan import RatingPlan, plan_ratings_of
from heartbench.judgments.rating_prompt import rating_messages, rating_prompt_hash
from heartbench.judgments.rating_reply import read_rating
from heartbench.judgments.run_question import earlier_tries, judge_question
from heartbench.judgments.run_stress import prepare_stress_set
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


def store_stress_set(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> None:
    """Store the texts that every judge faces, once there is a completion to stand beside."""
    bearers = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    if any(c.system_id not in bearers for c in store.iter(Completion, study)):
        store.add(prepare_stress_set(store, study, policy, now=now))


def plan_ratings(store: Store, study: Study, policy: PlanPolicy) -> RatingPlan:
    """Plan the ratings of the completions that are stored; nothing is stored of it."""
    return plan_ratings_of(
        list(store.iter(Completion, study)),
        list(store.iter(System, study)),
        [rater for rater in store.iter(Rater, study) if rater.kind == "llm"],
        study=study,
        policy=policy,
        rated_again=[r.target for r in store.iter(Rating, study) if r.repeat],
    )


async def ask_raters(
    writer: GroupedWriter,
    study: Study,
    targets: Sequence[RatingTarget],
    asked: Mapping[str, AskedModel | None],
    *,
    now: Callable[[], datetime],
    progress: Callable[[int, int], None],
) -> AskedCounts:
    """Ask every judge for the ratings it has not given.

    A reply that is not exactly what was asked is an attempt with its reason, asked for once more,
    then missing: never a default.

    Args:
        writer: Where ratings are written, at the store they are about.
        study: The study's current version.
        targets: What is wanted, from `plan_ratings`.
        asked: Judges by rater id; None for those with nothing in `open_ratings`.
        now: Gives the time, UTC.
        progress: Told how many of how many are there.

    Raises:
        ExceptionGroup: As `heartbench.completions.run_models.ask_systems`.
    """
    items = {item.id: item for item in writer.store.iter(Item, study)}
    completions = {c.id: c for c in writer.store.iter(Completion, study)}
    asking = _Asking(seed=study.seed, prompt_hash=rating_prompt_hash(), now=now)

    def pose(target: RatingTarget) -> tuple[AskedModel | None, Question]:
        completion = completions[target.completion_id]
        item = items[completion.item_id]
        return asked[target.rater_id], _question(target, completion, item, asking)

    return await ask_wanted(
        _find(writer.store, study, targets, asked),
        pose,
        run=partial(run_tasks, n_at_once=n_workers(asked.values())),
        keep=writer.add,
        now=now,
        progress=progress,
    )


def open_ratings(
    store: Store, study: Study, targets: Sequence[RatingTarget], rater_ids: Collection[str]
) -> Counter[str]:
    """Count what is left to be asked of each of these judges; the others need no key."""
    return Counter(t.rater_id for t in _find(store, study, targets, rater_ids).open_ones)


def settled_ratings(store: Store, study: Study) -> frozenset[RatingTarget]:
    """Return the ratings that are given or stay missing: nobody asks for them again."""
    tries = _earlier_tries(store, study)
    given_up = {target for target, tried in tries.items() if tried.is_over}
    return frozenset(given_up.union(rating.target for rating in store.iter(Rating, study)))


def _find(
    store: Store, study: Study, targets: Sequence[RatingTarget], rater_ids: Collection[str]
) -> Wanted[RatingTarget]:
    wanted = [target for target in targets if target.rater_id in rater_ids]
    rated = {rating.target for rating in store.iter(Rating, study)}
    return find_wanted(wanted, rated, _earlier_tries(store, study))


def _earlier_tries(store: Store, study: Study) -> Mapping[RatingTarget, Tries]:
    return earlier_tries(store.iter(Attempt, study), _target_of)


def _target_of(attempt: Attempt) -> RatingTarget | None:
    if attempt.study_id is None or attempt.completion_id is None or attempt.rater_id is None:
        return None
    return RatingTarget(attempt.study_id, attempt.completion_id, attempt.rater_id, attempt.repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """What is the same for all ratings."""

    seed: int
    prompt_hash: str
    now: Callable[[], datetime]


def _question(
    target: RatingTarget, completion: Completion, item: Item, asking: _Asking
) -> Question:
    texts = [completion.text, *(turn.text for turn in item.context)]
    nonce = delimiter_nonce(asking.seed, target.id, texts)

    def read(reply: Reply) -> Rating:
        verdict = read_rating(reply.text, finish_reason=reply.finish_reason, refusal=reply.refusal)
        return Rating(
            **target._asdict(),
            axes=verdict.axes,
            comments=verdict.comments,
            seconds=None if reply.total_ms is None else reply.total_ms / 1000,
            raw=reply.text,
            prompt_hash=asking.prompt_hash,
            finish_reason=end_of(reply),
            cached=reply.cached,
            created_at=asking.now(),
            **used(reply),
        )

    messages = rating_messages(item.context, completion.text, nonce=nonce)
    return judge_question(target._asdict(), messages, read=read)
