"""The step of the `rating` protocol: have LLM judges rate the completions that they have not rated.

It mirrors `run` and `run_models`, which do the same for pairs.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
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
from heartbench.judgments.stress import stress_completions
from heartbench.models.asking import end_of, n_workers, used
from heartbench.models.base import AskedModel, Reply
from heartbench.models.questions import AskedCounts, Question, Tries, ask_question
from heartbench.store.base import Store
from heartbench.store.grouped import GroupedWriter


def store_stress_set(
    store: Store, study: Study, policy: PlanPolicy, *, now: Callable[[], datetime]
) -> None:
    """Store the texts that every judge faces, once there is a completion to stand beside."""
    systems = list(store.iter(System, study))
    bearers = [system for system in systems if system.kind == "stress"]
    ids = {system.id for system in bearers}
    completions = list(store.iter(Completion, study))
    stored = [completion for completion in completions if completion.system_id in ids]
    if len(stored) < len(completions):
        store.add(
            stress_completions(
                list(store.iter(Item, study)),
                bearers,
                stored,
                n_items=policy.stress_items,
                seed=study.seed,
                now=now,
            )
        )


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
    found = _find(writer.store, study, targets, asked)
    outcomes, n_before = Counter(found.given_up), found.n_wanted - found.n_unrated
    items = {item.id: item for item in writer.store.iter(Item, study)}
    completions = {c.id: c for c in writer.store.iter(Completion, study)}
    asking = _Asking(seed=study.seed, prompt_hash=rating_prompt_hash(), now=now)
    progress(n_before + sum(outcomes.values()), found.n_wanted)

    async def rate(model: AskedModel, target: RatingTarget) -> None:
        completion = completions[target.completion_id]
        question = _question(target, completion, items[completion.item_id], asking)
        tries = found.tries[target]
        outcomes[await ask_question(model, question, tries, keep=writer.add, now=now)] += 1
        progress(n_before + sum(outcomes.values()), found.n_wanted)

    def tasks() -> Iterator[Callable[[], Awaitable[None]]]:
        for target in found.open_ones:
            model = asked[target.rater_id]
            assert model is not None, "a judge that is to be asked has no model"
            yield partial(rate, model, target)

    await run_tasks(tasks(), n_at_once=n_workers(asked.values()))
    n_added = outcomes.pop("", 0)
    return AskedCounts(
        n_wanted=found.n_wanted, n_before=n_before, n_added=n_added, missing=dict(outcomes)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What is there of some judges, and what is to be asked."""

    n_wanted: int
    n_unrated: int
    open_ones: Sequence[RatingTarget]
    given_up: Mapping[str, int]
    tries: Mapping[RatingTarget, Tries]


def _find(
    store: Store, study: Study, targets: Sequence[RatingTarget], rater_ids: Collection[str]
) -> _Found:
    wanted = [target for target in targets if target.rater_id in rater_ids]
    rated = {rating.target for rating in store.iter(Rating, study)}
    tries = _earlier_tries(store, study)
    unrated = [target for target in wanted if target not in rated]
    return _Found(
        n_wanted=len(wanted),
        n_unrated=len(unrated),
        open_ones=[target for target in unrated if not tries[target].is_over],
        given_up=Counter(tries[t].faults[-1] for t in unrated if tries[t].is_over),
        tries=tries,
    )


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
