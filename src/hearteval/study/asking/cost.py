"""What is left to ask and what it may cost: planned, estimated, shown, agreed to before a call."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal, cast

from hearteval.completions.prompting import brief_of, support_messages
from hearteval.config import ModelSettings, StudySettings, read_key
from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Pair,
    Rater,
    Study,
    System,
    content_hash,
)
from hearteval.errors import SettingsError
from hearteval.items.run import GatheredItems
from hearteval.judgments.plan.run import (
    PlanCounts,
    plan_judgments,
    plan_ratings,
    ratings_to_ask,
    store_stress_set,
    whole_repeat,
)
from hearteval.judgments.prompt import judge_messages
from hearteval.judgments.stress_set import STRESS_KINDS
from hearteval.labels.prompt import label_messages
from hearteval.labels.taxonomy import Taxonomy
from hearteval.models.asking import to_messages
from hearteval.models.base import Sampling
from hearteval.models.prices import Estimate, estimate_prompt_tokens, price_per_million
from hearteval.steps.completions import CompletionStep, given_up_completions
from hearteval.steps.judgments import (
    PairStep,
    RatingStep,
    given_up_judgments,
    schema_of_judges,
    settled_ratings,
)
from hearteval.steps.labels import LabelStep, texts_to_label
from hearteval.store.base import Store
from hearteval.store.records import Record
from hearteval.study.asking.expecting import (
    NOTHING_USED,
    Expected,
    Used,
    estimate_replies,
    read_used,
)
from hearteval.study.asking.models import (
    asked_directly,
    paid_models,
    sampling_of,
    schema_text,
    tariff_of,
)
from hearteval.study.asking.words import NOTHING, Spending, estimate_words, in_all, limit_words
from hearteval.study.grow import (
    as_stored,
    describe,
    frozen_systems,
    is_same_version,
    judge_models,
    study_raters,
    study_systems,
    system_models,
)
from hearteval.study.session import Session, study_id

PROBE_CALLS = 10
"""Questions of each model that show what its calls use."""
PROBE_TOKENS = 50
"""Of the question that shows whether a judge's endpoint enforces a schema, and of its reply."""


COMPLETION, PROBE = Expected(60, 3.0, 20, 110), Expected(PROBE_TOKENS, 3.0)
"""One to three sentences, about 40 words: from 15 to 80."""
JUDGMENT, RATING = Expected(420, 12.0, 240, 650), Expected(300, 12.0, 160, 490)
"""In JSON six reasons of a sentence or two, or five: from 10 to 60 words each."""
LABEL_TOKENS, LEAST_LABEL, MOST_LABEL = 32, 22, 48
"""Of one category in a labeler's reply: its key, from no word to 20, verdict and probability."""


def _label_reply(n: int) -> Expected:
    return Expected(LABEL_TOKENS * n, 12.0, LEAST_LABEL * n, MOST_LABEL * n)


TYPICAL_REPLY = "word " * 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a study has already, or has given up."""

    completions: Mapping[str, frozenset[str]]
    """Items answered, by system id."""
    judgments: Mapping[str, int]
    """Judgments or ratings given, by rater id."""
    open_judgments: Mapping[str, int] | None = None
    """Those planned and missing; None while completions are to come, on which the plan depends."""
    plan: PlanCounts | None = None
    """Of these judgments; None also where judges rate."""
    used: Used = field(default_factory=dict)
    """What calls have used so far."""


NOTHING_DONE = Done(completions={}, judgments={})


def what_is_done(store: Store, study: Study, pool: Collection[str] = ()) -> Done:
    """Count what a study has already, or never will have: what stays missing is not asked again.

    What a released board has of the systems of its `pool`, by id, is no part of what a study that
    continues it needs.
    """
    completions: dict[str, set[str]] = {}
    for completion in store.iter(Completion, study):
        completions.setdefault(completion.system_id, set()).add(completion.item_id)
    for system_id, item_id in given_up_completions(store, study):
        completions.setdefault(system_id, set()).add(item_id)
    settled = Counter(
        {(one.rater_id, one.repeat): one.n_judged for one in store.count_assigned(study)}
    )
    given_up = store.find(Assignment, list(given_up_judgments(store, study)))
    settled.update((one.rater_id, one.repeat) for one in given_up)
    if pool:
        settled = _of_newcomers(store, study, pool)
    judgments = Counter({rater_id: n for (rater_id, repeat), n in settled.items() if not repeat})
    # A whole repeat (`heart judge --again`) is more than the plan: it saves nothing of it.
    again: Counter[str] = Counter()
    for (rater_id, repeat), n in settled.items():
        again[rater_id] += n if repeat else 0
    for rater_id, n in again.items():
        judgments[rater_id] += min(n, study.design["repeat_pairs"])
    judgments.update(target.rater_id for target in settled_ratings(store, study))
    judges = [rater.id for rater in store.iter(Rater, study) if rater.kind == "llm"]
    return Done(
        completions={system: frozenset(items) for system, items in completions.items()},
        judgments=judgments,
        used=read_used(store, [*completions, *judges]),
    )


def _of_newcomers(store: Store, study: Study, pool: Collection[str]) -> Counter[tuple[str, int]]:
    """Count the assignments that are settled of pairs with a newcomer, by rater and repeat."""
    new = {s.id for s in store.iter(System, study) if s.kind != "stress" and s.id not in pool}
    texts = {one.id for one in store.iter(Completion, study) if one.system_id in new}
    pairs = {one.id for one in store.iter(Pair, study) if not texts.isdisjoint(one.completion_ids)}
    left = {one.id for one in store.unjudged(study)} - given_up_judgments(store, study)
    return Counter(
        (one.rater_id, one.repeat)
        for one in store.iter(Assignment, study)
        if one.pair_id in pairs and one.id not in left
    )


def plan_what_is_done(session: Session, study: Study, *, judges_only: bool = False) -> Done:
    """Count as `what_is_done`; where no completion is left to pay for, plan the judgments first.

    Then the estimate is of what is really open, not of the most that may come: identical texts and
    completions that stay missing make fewer pairs. The systems that ask no model have answered;
    with `judges_only` the others are not asked first.
    """
    store = session.store
    done = what_is_done(store, study, study.pool)
    systems = system_models(session.settings)
    if not judges_only and CompletionStep().find(store, study, systems).open_ones:
        return done
    policy, judges = session.settings.judging.plan, judge_models(session.settings)
    if session.settings.judging.protocol == "rating":
        store_stress_set(store, study, policy, now=session.now)
        targets = plan_ratings(store, study, policy).targets
        step = RatingStep(targets=ratings_to_ask(store, study, targets))
        return replace(done, open_judgments=step.find(store, study, judges).n_open)
    plan = plan_judgments(store, study, policy, now=session.now)
    open_ones = PairStep().find(store, study, judges).n_open
    return replace(done, open_judgments=open_ones, plan=plan)


def plan_unwritten(session: Session, gathered: GatheredItems) -> Done:
    """Count as `plan_what_is_done` for the version that the file describes; nothing is stored.

    Where that is not the newest stored version, or has not been completed, what is to be judged is
    not known yet.
    """
    store = session.store
    study = store.latest_study(study_id(session.settings))
    if study is None:
        return NOTHING_DONE
    heard = {c.system_id for c in store.iter(Completion, study)}
    heard.update(a.system_id for a in store.iter(Attempt, study) if a.system_id)
    ranked = {s.id for s in store.iter(System, study) if s.kind != "stress"}
    if not is_same_version(study, describe(session, as_stored(store, gathered))) or ranked - heard:
        return what_is_done(store, study, frozen_systems(session.settings))
    unwritten = cast("Store", _UnwrittenPlan(store))
    return plan_what_is_done(replace(session, store=unwritten), study)


def first_questions(settings: StudySettings, done: Done, items: Sequence[Item]) -> Done:
    """Count as done all but the first questions of each model, and of one with batch jobs all."""
    completions = {}
    for system_id, model in system_models(settings).items():
        answered = done.completions.get(system_id, frozenset())
        left = [item.id for item in items if item.id not in answered]
        completions[system_id] = answered.union(left[0 if model.batch else PROBE_CALLS :])
    known = done.open_judgments
    n_open = {
        rater_id: min(PROBE_CALLS, PROBE_CALLS if known is None else known.get(rater_id, 0))
        for rater_id, model in judge_models(settings).items()
        if model.batch is None
    }
    return replace(done, completions=completions, open_judgments=n_open)


class _UnwrittenPlan:
    """A store that keeps nothing new, and counts what would be new as not judged."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._added: list[Record] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def add(self, records: Sequence[Record]) -> int:
        self._added += records
        return 0

    def unjudged(self, study: Study, *, is_checked: bool = False) -> Iterator[Assignment]:
        yield from self._store.unjudged(study, is_checked=is_checked)
        added = {record.id: record for record in self._added if isinstance(record, Assignment)}
        known = {record.id for record in self._store.find(Assignment, list(added))}
        yield from (record for id_, record in added.items() if id_ not in known)


def require_keys(settings: StudySettings, store: Store, study: Study, done: Done) -> None:
    """See that every model that may be asked has its key, before anything is paid for.

    Raises:
        SettingsError: A key is not set; it names the variable.
    """
    systems, judges = system_models(settings), judge_models(settings)
    to_ask = CompletionStep().find(store, study, systems).n_open
    asked = [systems[system_id] for system_id in to_ask]
    left = done.open_judgments
    asked += [model for rater_id, model in judges.items() if left is None or left.get(rater_id)]
    for model in sorted(asked, key=lambda model: model.model):
        read_key(model.key_name, who=model.model)


def plan_again(session: Session, study: Study, done: Done) -> tuple[tuple[Assignment, ...], Done]:
    """Plan to ask about every ranked pair once more: what is new of that, and all that is open.

    Raises:
        SettingsError: The study's protocol is of ratings.
    """
    if session.settings.judging.protocol == "rating":
        raise SettingsError(
            f"{session.settings.file}: --again is for judgments of pairs; this study's protocol is"
            " 'rating', whose repeats are set by judging.repeat_pairs"
        )
    store = session.store
    assignments = whole_repeat(store, study, given_up=given_up_judgments(store, study))
    planned = {assignment.id for assignment in store.iter(Assignment, study)}
    new = Counter(a.rater_id for a in assignments if a.id not in planned)
    open_ones = Counter(done.open_judgments) + new
    return assignments, replace(done, open_judgments=open_ones)


def estimate_spending(
    settings: StudySettings,
    items: Sequence[Item],
    done: Done = NOTHING_DONE,
    *,
    when: datetime,
    of: Literal["systems", "judges", "both"] = "both",
) -> Spending:
    """Estimate the calls that a study still needs of its systems, its judges or both.

    Raises:
        SettingsError: A price is unknown.
    """
    require_prices(settings, when)
    known = {system.id: system for system in study_systems(settings)}
    spending: dict[str, Estimate] = {}
    systems = {} if of == "judges" else system_models(settings)
    judges = {} if of == "systems" else judge_models(settings)
    for system_id, model in systems.items():
        answered = done.completions.get(system_id, frozenset())
        open_items = [item for item in items if item.id not in answered]
        prompts = _prompt_tokens(known[system_id], open_items)
        spending[f"system {known[system_id].name}"] = estimate_replies(
            model, prompts, COMPLETION, when, used=done.used.get(system_id, ())
        )
    stress = [system.id for system in known.values() if system.kind == "stress"]
    tested = frozenset[str]().union(*(done.completions.get(id_, frozenset()) for id_ in stress))
    ceiling = n_judgments(settings, len(items), n_tested=len(tested))
    n_open = {rater_id: ceiling[rater_id] - done.judgments.get(rater_id, 0) for rater_id in judges}
    if done.open_judgments is not None:
        n_open = {rater_id: done.open_judgments.get(rater_id, 0) for rater_id in judges}
    return {
        **spending,
        **estimate_judgments(settings, items, n_open, when=when, used=done.used),
    }


def estimate_judgments(
    settings: StudySettings,
    items: Sequence[Item],
    n_open: Mapping[str, int],
    *,
    when: datetime,
    used: Used = NOTHING_USED,
) -> Spending:
    """Estimate so many judgments or ratings of each judge, by rater id.

    Raises:
        SettingsError: A price is unknown.
    """
    require_prices(settings, when)
    names = {rater.id: rater.name for rater in study_raters(settings)}
    spending: dict[str, Estimate] = {}
    reply = RATING if settings.judging.protocol == "rating" else JUDGMENT
    for rater_id, model in judge_models(settings).items():
        n = n_open.get(rater_id, 0)
        sampling = sampling_of(model, partial(schema_of_judges, settings.judging.form))
        tokens, beginning = _judge_prompt_tokens(items, sampling, settings)
        if n > 0:
            asked = estimate_replies(
                model, [tokens] * n, reply, when, beginning=beginning, used=used.get(rater_id, ())
            )
            probe = estimate_probe(model, when)
            if asked.n_measured:
                probe = replace(probe, n_measured=probe.n_calls, n_unthought=0)
            spending[f"judge {names[rater_id]}"] = asked + probe
    return spending


def estimate_probe(model: ModelSettings, when: datetime) -> Estimate:
    """Estimate the question that shows whether an endpoint enforces a schema."""
    return estimate_replies(model, [] if model.batch else [PROBE_TOKENS], PROBE, when)


def estimate_labels(
    session: Session,
    study: Study,
    taxonomy: Taxonomy,
    labelers: Mapping[str, tuple[str, ModelSettings]],
    n_open: Mapping[str, int],
) -> Spending:
    """Estimate so many labelled texts of each labeler, its name and model by rater id.

    Raises:
        SettingsError: A price is unknown.
    """
    when, store = session.now(), session.store
    named = [(f"labeler {name}", model) for name, model in labelers.values()]
    require_prices(session.settings, when, named)
    texts = list(texts_to_label(store, study, taxonomy).values())
    spending: dict[str, Estimate] = {}
    for rater_id, (name, model) in labelers.items():
        n = n_open.get(rater_id, 0)
        if not n:
            continue
        schema = schema_text(sampling_of(model, LabelStep(taxonomy=taxonomy).schema))
        tokens = sum(
            estimate_prompt_tokens(
                to_messages(label_messages(text, taxonomy, nonce=content_hash(text.id)[:16])),
                schema,
            )
            for text in texts
        )
        reply = _label_reply(len(taxonomy.keys))
        asked = estimate_replies(model, [round(tokens / len(texts))] * n, reply, when)
        spending[f"labeler {name}"] = asked + estimate_probe(model, when)
    return spending


def estimate_probes(
    settings: StudySettings, asked: Mapping[str, Sequence[Item]], *, when: datetime
) -> Estimate:
    """Estimate calls of `heart latency`: by system id, the item of each.

    Raises:
        SettingsError: A price is unknown.
    """
    require_prices(settings, when)
    total = NOTHING
    known = {system.id: system for system in study_systems(settings)}
    for system_id, model in system_models(settings).items():
        prompts = _prompt_tokens(known[system_id], asked.get(system_id, ()))
        total += estimate_replies(asked_directly(model), prompts, COMPLETION, when)
    return total


def n_judgments(settings: StudySettings, n_items: int, *, n_tested: int = 0) -> dict[str, int]:
    """Return how many judgments or ratings each judge may be asked for, by rater id; a ceiling.

    `n_tested` items are in the stress set so far: an audit may have tested more of them than the
    study file asks for.
    """
    plan = settings.judging.plan
    competing = [system for system in study_systems(settings) if system.kind != "stress"]
    pool = frozen_systems(settings) if plan.opponents is not None else frozenset()
    families = [system.family for system in competing if system.kind != "human"]
    old = [one.family for one in competing if one.kind != "human" and one.id in pool]
    n_writers = settings.people.writers_per_item if settings.people else 0
    comparisons = plan.comparisons
    if plan.opponents is not None:
        comparisons = n_items * plan.opponents * (len(families) - len(old))
    n_tested = max(min(n_items, plan.stress_items), n_tested)
    is_rating = settings.judging.protocol == "rating"
    n_stress = n_tested * (len(STRESS_KINDS) - (0 if is_rating else 1))
    n_orders = 2 if plan.both_orders and not is_rating else 1
    counts = {}
    for rater in (one for one in study_raters(settings) if not one.is_imported):
        n_own = families.count(rater.family) if plan.exclude_own_family else 0
        n_others = len(families) - n_own
        n_old = len(old) - (old.count(rater.family) if plan.exclude_own_family else 0)
        n_eligible = n_others + n_writers if is_rating else _n_pairs(n_others, n_writers)
        n_eligible -= _n_pairs(n_old, n_writers) if pool else 0
        wanted = n_items * n_eligible
        if comparisons is not None:
            # A balanced plan draws from all pairs; a judge gets its share of those it may judge.
            n_pairs = _n_pairs(len(families), n_writers)
            n_pairs -= _n_pairs(len(old), n_writers) if pool else 0
            wanted = min(wanted, math.ceil(comparisons * n_eligible / max(n_pairs, 1)))
        counts[rater.id] = wanted * n_orders
        if not pool:  # whose judges have faced the stress set, and been asked again
            counts[rater.id] += n_stress * n_orders + min(wanted, plan.repeat_pairs)
    return counts


def people_words(
    settings: StudySettings, items: Sequence[Item], *, when: datetime, used: Used
) -> str:
    """Say in a line of a plan what replies that people write add to the judges' bill, in all.

    Empty where nobody writes, or no judge is a model.
    """
    if settings.people is None or not settings.people.writers_per_item:
        return ""
    counts = n_judgments(settings, len(items))
    less = n_judgments(replace(settings, people=None), len(items))
    more = {rater_id: counts[rater_id] - less[rater_id] for rater_id in judge_models(settings)}
    priced = estimate_judgments(settings, items, more, when=when, used=used)
    n_more, added = sum(more.values()), in_all(priced)
    if n_more <= 0:
        return ""
    return (
        f"what people write ([people]) adds to what judges are asked, in all: at most {n_more:,}"
        f" of their {sum(counts[one] for one in more):,}"
        f" {'ratings' if settings.judging.protocol == 'rating' else 'judgments'}, expected"
        f" ${added.usd_low:.2f}"
    )


def _n_pairs(n_systems: int, n_writers: int) -> int:
    """Count the pairs of an item: of systems, and of each with what each writer wrote."""
    return math.comb(n_systems, 2) + n_systems * n_writers


def confirm_spending(session: Session, estimate: Estimate, more: str = "") -> None:
    """Ask before money is spent, which was said before; what costs nothing never asks.

    There may be `more` to say of it, a line.

    Raises:
        SettingsError: It costs money, nobody is there to be asked, and nobody has said yes.
    """
    if estimate.usd_high:
        words = estimate_words(estimate) + limit_words(session.settings, estimate)
        words += f"; {more}" if more else ""
        session.tell.confirm(words, study=str(session.settings.file))


def require_prices(
    settings: StudySettings,
    when: datetime,
    models: Sequence[tuple[str, ModelSettings]] | None = None,
) -> None:
    """Raise `SettingsError` where the price of a study's model, or of one of these, is unknown."""
    for name, model in paid_models(settings) if models is None else models:
        if price_per_million(tariff_of(model), when=when) is None:
            raise SettingsError(
                f"{settings.file}: {name}: no list has a price for {model.model} by"
                f" {model.provider}; give it in dollars per million tokens, e.g."
                " `price = { input = 0.5, output = 1.5 }`, or 0 for what costs nothing",
                ids=(name,),
            )


def _prompt_tokens(system: System, items: Sequence[Item]) -> list[int]:
    brief = brief_of(system)
    assert brief is not None, "a model that is asked has no brief"
    messages = (to_messages(support_messages(item, brief)) for item in items)
    return [estimate_prompt_tokens(one) for one in messages]


def _judge_prompt_tokens(
    items: Sequence[Item], sampling: Sampling, settings: StudySettings
) -> tuple[int, int]:
    """Return the tokens of a judge's prompt for an item of average length, and of its beginning.

    All of them begin with the same message.
    """
    if not items:
        return 0, 0
    form, tokens, beginning = settings.judging.form, 0, 0
    texts = [TYPICAL_REPLY] * (1 if form.protocol == "rating" else 2)
    for item in items:
        nonce = content_hash(item.id)[:16]
        messages = to_messages(judge_messages(item.context, *texts, nonce=nonce, form=form))
        tokens += estimate_prompt_tokens(messages, schema_text(sampling))
        beginning = estimate_prompt_tokens(messages[:1])
    return round(tokens / len(items)), beginning
