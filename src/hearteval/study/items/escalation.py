"""`heart items adversarial`: have the seekers of a file's items resist help, and write the items.

No study is needed. What models answer is kept in a store beside the item file, so that the command,
given again, pays for nothing twice: it goes through the same tries, takes from the store what was
answered before, and asks for the rest.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hearteval.config.escalation import EscalationSettings, NamedModel
from hearteval.domain import Turn, hash_records
from hearteval.domain.reasons import ADVICE, NOT_ASKED
from hearteval.engine.local import run_tasks
from hearteval.errors import ModelCallError, SettingsError
from hearteval.items.dialogues import DialogueNames
from hearteval.items.escalation.by_person import format_table, is_whole, parse_table, read_table
from hearteval.items.escalation.checks import Reading
from hearteval.items.escalation.outcome import (
    TO_READ,
    count_missing,
    count_rejections,
    format_rejected,
    list_evidence,
    rewrite_id,
    whole_funnel,
)
from hearteval.items.escalation.plan import Plan, Planned, count_by, plan_rewrites
from hearteval.items.escalation.prompt import (
    reading_messages,
    reading_schema,
    rewrite_messages,
    rewrite_schema,
)
from hearteval.items.files import format_items, format_screenings
from hearteval.items.run import evidence_path, read_item_file, read_text
from hearteval.models.asking import MAX_INVALID, n_workers, to_messages
from hearteval.models.base import AskedModel, JsonObject, Message, Reply, Sampling, Schema
from hearteval.models.prices import estimate_prompt_tokens
from hearteval.models.wrappers.cached import Cached
from hearteval.steps.rewrites import Escalation, Hand, Read, escalate, reading_by
from hearteval.store.base import Store
from hearteval.store.engines import holds_store
from hearteval.store.sql import PATIENCE_SECONDS, SqlStore
from hearteval.study import write_whole
from hearteval.study.asking.cost import estimate_probe, require_prices
from hearteval.study.asking.expecting import Expected, estimate_replies
from hearteval.study.asking.models import LOCAL_REASON_CHARACTERS, Asking, sampling_of
from hearteval.study.asking.running import ask_models, warn_of_unheld_schemas
from hearteval.study.asking.verbs import agree_to
from hearteval.study.asking.words import Spending, in_all, spending_lines
from hearteval.study.session import Session, utc_now

WRITER, READER = "rewriter", "reader"
READING_TOKENS = 30
"""Of one turn in a reader's reply: its key, a few words, a number or a word."""
SECONDS = 15.0
PLACEHOLDER = Schema(name="heart_rewrite", schema={})
"""In place of the schema, which each question brings with it."""
N_REPLAYED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An escalation as it was asked for."""

    settings: EscalationSettings
    plan: Plan
    n: int
    """Items wanted."""
    tries: int
    """Rewrites of one item, at most."""
    canaries: tuple[str, ...]
    """Of the file that the sources come from."""
    readings: Mapping[str, Reading]
    """What a person has said so far, by rewrite."""

    @property
    def out(self) -> Path:
        """The item file."""
        return self.settings.asking.file

    @property
    def rejected(self) -> Path:
        """Where the rejected rewrites are kept."""
        return self.out.with_name(f"{self.out.name}.rejected.jsonl")

    @property
    def hands(self) -> Mapping[str, NamedModel]:
        """The models that take part."""
        reader = self.settings.reader
        return {WRITER: self.settings.writer} | ({READER: reader} if reader else {})


def read_task(
    source: Path, names: DialogueNames, settings: EscalationSettings, *, n: int, tries: int
) -> Task:
    """Choose what is rewritten how, and read what a person has said of it so far.

    Raises:
        SettingsError: A file cannot be read, or none of the items can be rewritten.
    """
    out = settings.asking.file
    if out.resolve() == source.resolve():
        raise SettingsError(
            f"{out}: is the file that --from reads; give another --out", ids=(str(out),)
        )
    read = read_item_file(source, names)
    plan = plan_rewrites(read.items, n=n, rng=np.random.default_rng(settings.asking.seed))
    if not plan.planned:
        lost = {step.rule: step.n_in - step.n_out for step in plan.funnel}
        left_out = ", ".join(f"{rule} {count}" for rule, count in lost.items() if count)
        raise SettingsError(
            f"{source}: none of its items can be rewritten (left out: {left_out}); it takes regular"
            " items of at least eight turns that begin with the supporter's greeting",
            ids=(str(source),),
        )
    readings: Mapping[str, Reading] = {}
    table = table_path(out)
    if settings.reader is None and table.exists():
        rows = parse_table(read_text(table), name=str(table))
        readings = read_table(rows, name=str(table))
    return Task(
        settings=settings,
        plan=plan,
        n=n,
        tries=tries,
        canaries=read.canaries,
        readings=readings,
    )


def table_path(out: Path) -> Path:
    """Return where the table stands that a person fills in."""
    return out.with_name(f"{out.name}.to-read.csv")


def replay(task: Task) -> Escalation:
    """Tell what has become of a task by what is kept; asks nobody, and makes no store."""
    place = task.settings.asking.store
    if not holds_store(place, patience_seconds=PATIENCE_SECONDS):
        return asyncio.run(_replay(task, None))
    with closing(SqlStore.open_to_read(place)) as store:
        return asyncio.run(_replay(task, store))


def plan_spending(task: Task, before: Escalation) -> Spending:
    """Estimate what is left to ask.

    Raises:
        SettingsError: A price is unknown.
    """
    when = utc_now()
    asking = task.settings.asking
    require_prices(asking, when, [(one.name, one.model) for one in task.hands.values()])
    left = [one.planned for one in before.outcomes if one.is_open]
    spending: Spending = {}
    for role, hand in task.hands.items():
        if not left:
            continue
        model, is_reader = hand.model, role == READER
        prompts = [_prompt_tokens(one, asking.seed, is_reader=is_reader) for one in left]
        tokens = round(sum(_reply_tokens(one, is_reader=is_reader) for one in left) / len(left))
        tries = task.tries * (MAX_INVALID if is_reader else 1)
        asked = estimate_replies(model, prompts, Expected(tokens, SECONDS, tries=tries), when)
        probed = asked + estimate_probe(model, when)
        spending = {**spending, f"{role} {hand.name}": probed}
    return spending


def describe_spending(task: Task, spending: Spending) -> dict[str, Any]:
    """Return what is to come and what it costs, as JSON says it."""
    return {
        "limit_usd": task.settings.asking.max_usd,
        "estimate": asdict(in_all(spending)),
        "by_model": [{"who": who, **asdict(one)} for who, one in spending.items()],
    }


def plan_words(task: Task, spending: Spending) -> str:
    """Say what is to come and what it costs."""
    return f"plan:\n{spending_lines(task.settings.asking, spending)}"


def escalate_items(session: Session, task: Task, before: Escalation, *, force: bool) -> Escalation:
    """Have the models do what is left, and write what came of it.

    Raises:
        SettingsError: A price is unknown, nobody agreed to what it costs, or the item file holds
            items that this task did not make.
    """
    _require_own(task, before, force=force)
    spending = plan_spending(task, before)
    agree_to(session, spending)
    found = before
    if in_all(spending).n_calls:
        found = _ask(session, task)
    _write(task, found)
    _warn(session, task, found)
    return found


def describe(task: Task, found: Escalation) -> dict[str, Any]:
    """Return what became of a task, as JSON says it."""
    items = [one.item for one in found.outcomes if one.item is not None]
    planned = task.plan.planned
    return {
        "n_requested": task.n,
        "n_planned": len(planned),
        "n_items": len(items),
        "shortfall": task.n - len(items),
        "funnel": [asdict(step) for step in whole_funnel(task.plan.funnel, found.outcomes)],
        "planned": {of: dict(count_by(planned, of)) for of in ("profile", "resistance")},
        "items": {
            of: dict(count_by([o.planned for o in found.outcomes if o.item], of))
            for of in ("profile", "resistance")
        },
        "rejected": dict(count_rejections(found.outcomes)),
        "missing": dict(count_missing(found.outcomes)),
        "path": str(task.out) if items else None,
        "rejected_path": str(task.rejected) if task.rejected.exists() else None,
        "n_to_read": len(_to_read(found)),
        "to_read_path": str(table_path(task.out)) if _to_read(found) else None,
        "items_hash": hash_records(items) if items else None,
        "stopped": found.stopped,
    }


def has_failed(found: Escalation) -> bool:
    """Say whether models gave no reply, or nothing came of it at all."""
    is_cut = found.stopped or any(one.is_open for one in found.outcomes)
    is_empty = not any(one.item or one.missing == TO_READ for one in found.outcomes)
    return bool(is_cut or is_empty)


class _Kept:
    """The replies of a store, to be read alone."""

    def __init__(self, store: Store | None) -> None:
        self._store = store

    def find(self, key: str) -> JsonObject | None:
        found = None if self._store is None else self._store.find_reply(key)
        return None if found is None else found.reply

    async def keep(self, key: str, reply: JsonObject, *, cost: float | None) -> None:
        raise AssertionError("a replay asks nobody, so that there is nothing to keep")


class _Nobody:
    """A model that is not asked."""

    name = "nobody"

    async def complete(
        self, messages: Sequence[Message], sampling: Sampling, *, repeat: int = 0
    ) -> Reply:
        raise ModelCallError("not asked", reason=NOT_ASKED, n_attempts=0)


async def _replay(task: Task, store: Store | None) -> Escalation:
    asked = {}
    for role, hand in task.hands.items():
        # As `ask_models` names what a model is asked as this rater.
        identity = {**hand.model.identity, "for": role}
        model = Cached(_Nobody(), _Kept(store), identity=identity)
        asked[role] = AskedModel(
            model=model, sampling=sampling_of(hand.model, _no_schema), n_at_once=1
        )
    return await _run(task, asked, n_at_once=N_REPLAYED, progress=lambda _done, _total: None)


def _ask(session: Session, task: Task) -> Escalation:
    async def ask(asking: Asking) -> Escalation:
        await warn_of_unheld_schemas(asking, session.tell, who="model")
        with session.tell.progress("rewrites", cost=lambda: asking.ledger.spent_usd) as progress:
            workers = n_workers(asking.models.values())
            return await _run(task, asking.models, n_at_once=workers, progress=progress)

    models = {role: hand.model for role, hand in task.hands.items()}
    return ask_models(session, ask, (models, _no_schema))


async def _run(
    task: Task,
    asked: Mapping[str, AskedModel],
    *,
    n_at_once: int,
    progress: Callable[[int, int], None],
) -> Escalation:
    hands = {role: _hand(named, asked[role]) for role, named in task.hands.items()}
    seed = task.settings.asking.seed

    async def read_by_person(planned: Planned, context: tuple[Turn, ...]) -> Reading | None:
        found = task.readings.get(rewrite_id(planned, context))
        return found if found is None or is_whole(found, context) else None

    read: Read = reading_by(hands[READER], seed=seed) if READER in hands else read_by_person
    return await escalate(
        task.plan.planned,
        hands[WRITER],
        read,
        tries=task.tries,
        seed=seed,
        run=partial(run_tasks, n_at_once=n_at_once),
        progress=progress,
    )


def _hand(named: NamedModel, asked: AskedModel) -> Hand:
    bound = LOCAL_REASON_CHARACTERS if named.model.path is not None else None
    return Hand(asked=asked, name=named.words, bound=bound)


def _no_schema(_bound: int | None) -> Schema:
    return PLACEHOLDER


def _prompt_tokens(planned: Planned, seed: int, *, is_reader: bool) -> int:
    """Estimate a prompt; a rewrite that is still to come is taken to be as long as its source."""
    context = planned.source.context
    if is_reader:
        messages, schema = reading_messages(context, planned.id, seed=seed), reading_schema(context)
    else:
        messages, schema = rewrite_messages(planned, seed=seed), rewrite_schema(context)
    return estimate_prompt_tokens(to_messages(messages), json.dumps(schema))


def _reply_tokens(planned: Planned, *, is_reader: bool) -> int:
    context = planned.source.context
    if is_reader:
        return READING_TOKENS * len(context)
    texts = [Message(role="user", content=context[place].text) for place in planned.seeker_turns]
    return estimate_prompt_tokens(texts)


def _require_own(task: Task, before: Escalation, *, force: bool) -> None:
    """Let an item file grow, and replace no other.

    Raises:
        SettingsError: It holds what this task, with the same settings, has not made.
    """
    if force or not task.out.exists():
        return
    made = {one.item.id for one in before.outcomes if one.item is not None}
    try:
        found = {item.id for item in read_item_file(task.out).items}
    except SettingsError:
        found = {""}
    if not found <= made:
        raise SettingsError(
            f"{task.out}: holds other content than this command made; give another --out, or"
            " --force to replace it",
            ids=(str(task.out),),
        )


def _write(task: Task, found: Escalation) -> None:
    items = [one.item for one in found.outcomes if one.item is not None]
    if items:
        write_whole(task.out, format_items(items, canaries=task.canaries), is_private=True)
        evidence = format_screenings(list_evidence(found.outcomes))
        write_whole(evidence_path(task.out), evidence, is_private=True)
    rejected = format_rejected(found.outcomes)
    if rejected:
        write_whole(task.rejected, rejected, is_private=True)
    if task.settings.reader is None:
        table = table_path(task.out)
        rows = parse_table(read_text(table), name=str(table)) if table.exists() else {}
        write_whole(table, format_table(rows, _to_read(found)), is_private=True)


def _warn(session: Session, task: Task, found: Escalation) -> None:
    n_planned = len(found.outcomes)
    if n_planned < task.n:
        session.tell.warn(
            f"{task.n - n_planned} items fewer than the {task.n} wanted can be rewritten"
        )
    for reason, n in count_missing(found.outcomes).items():
        if reason != TO_READ:
            advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
            session.tell.warn(f"{n} of {n_planned} items were not rewritten: {reason}{advice}")


def _to_read(found: Escalation) -> dict[str, Sequence[Turn]]:
    return {
        rewrite_id(one.planned, one.to_read): one.to_read
        for one in found.outcomes
        if one.to_read is not None
    }
