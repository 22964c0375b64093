"""Replies that a model gave elsewhere -> completions of a study, or attempts with their reason.

A logged reply is held to the same checks as one that is asked for here, and is taken whole or not
at all. What was really sent is compared with this project's prompts and hashed where it differs;
what the log says it cost is not this study's spending and is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from hearteval.completions.checks import check_completion
from hearteval.completions.prompting import known_briefs, support_messages
from hearteval.domain import Attempt, Call, Completion, Item, content_hash
from hearteval.domain.reasons import NOT_IMPORTED
from hearteval.errors import InvalidReplyError, SettingsError, StoreError, first_few
from hearteval.models.base import MAX_RAW, LoggedReply, ReplyLog

MAX_NAMED, MAX_SHOWN = 5, 80
"""Of ids in an error: how many, and how many characters of each; other tasks have long ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedReplies:
    """What a log gives a study."""

    records: tuple[Completion | Attempt, ...]
    """Completions and attempts that the study does not have yet."""
    n_completions: int
    """Completions that the log holds, those the study has already among them."""
    n_new: int
    """Of these, new ones."""
    unusable: Mapping[str, int]
    """Replies of the log that can be no completions, by reason."""
    other_prompt: tuple[str, ...]
    """Items whose reply answers something else than one of this project's prompts."""
    unknown: tuple[str, ...]
    """What the log calls things that are no items of the study."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """How far the imports of a study have come."""

    n_wanted: int
    """Imported systems times items."""
    n_before: int
    """Completions that are there."""
    missing: Mapping[str, Mapping[str, int]]
    """Completions that are not, by system id and reason: that of the last attempt, or
    ``not-imported``."""


def import_replies(
    log: ReplyLog,
    system_id: str,
    items: Iterable[Item],
    *,
    stored: Collection[Completion | Attempt],
    now: datetime,
) -> ImportedReplies:
    """Return what of a log is new to a study; of the same log a second time, nothing.

    The log calls things by the ids of items, all of which are given. The replies become completions
    of one system, of which `stored` is what the store has.

    Raises:
        SettingsError: Nothing in the log is about an item of the study.
        StoreError: The log has another text than the study for the same item.
    """
    by_id = {item.id: item for item in items}
    known = [reply for reply in log.replies if reply.item_id in by_id]
    unknown = sorted({reply.item_id for reply in log.replies} - by_id.keys())
    if not known:
        raise SettingsError(
            f"{log.name}: none of its {len(log.replies)} samples ({_named(unknown)}) is an item of"
            f" this study; it is a log of the task {log.task!r}. Run hearteval/completions with"
            " the study's items and seed",
            ids=unknown[:MAX_NAMED],
        )
    made = [_record(log, reply, system_id, by_id[reply.item_id], now) for reply in known]
    completions = [record for record in made if isinstance(record, Completion)]
    attempts = [record for record in made if isinstance(record, Attempt)]
    new = _new_completions(completions, stored, log.name)
    return ImportedReplies(
        records=(*new, *new_attempts(attempts, stored)),
        n_completions=len(completions),
        n_new=len(new),
        unusable=dict(Counter(attempt.reason for attempt in attempts)),
        other_prompt=tuple(
            sorted({c.item_id for c in completions if c.prompt_hash not in _known_hashes()})
        ),
        unknown=tuple(unknown),
    )


def count_imports(
    system_ids: Sequence[str], items: Iterable[Item], stored: Collection[Completion | Attempt]
) -> ImportCounts:
    """Count what imported systems have, and what they still lack and why."""
    items = list(items)
    answered = {(r.system_id, r.item_id) for r in stored if isinstance(r, Completion)}
    attempts = sorted((r for r in stored if isinstance(r, Attempt)), key=lambda r: r.attempt)
    reasons = {(attempt.system_id, attempt.item_id): attempt.reason for attempt in attempts}
    missing = {
        system_id: Counter(
            reasons.get((system_id, item.id), NOT_IMPORTED)
            for item in items
            if (system_id, item.id) not in answered
        )
        for system_id in system_ids
    }
    n_wanted = len(items) * len(system_ids)
    return ImportCounts(
        n_wanted=n_wanted,
        n_before=n_wanted - sum(reasons.total() for reasons in missing.values()),
        missing=missing,
    )


def _record(
    log: ReplyLog, logged: LoggedReply, system_id: str, item: Item, now: datetime
) -> Completion | Attempt:
    reply = logged.reply
    made: dict[str, Any] = {
        "item_id": item.id,
        "system_id": system_id,
        "repeat": logged.repeat,
        "call": Call(
            requested={
                **reply.requested,
                "imported_from": {"log_id": log.log_id, "file": log.name, "sha256": log.sha256},
            },
            effective={**reply.effective, "model": reply.model},
            finish_reason=reply.finish_reason,
            usage={name: n for name, n in asdict(reply.usage).items() if n is not None},
            cached=reply.cached,
        ),
        "created_at": now,
    }
    if logged.failure:
        return Attempt(**made, reason=logged.failure, raw=reply.text[:MAX_RAW])
    try:
        text = check_completion(
            reply.text, finish_reason=reply.finish_reason, refusal=reply.refusal
        )
    except InvalidReplyError as error:
        return Attempt(**made, reason=error.reason, raw=reply.text[:MAX_RAW])
    prompt_hash = content_hash({"messages": logged.messages, "tools": logged.tools})
    for brief in () if logged.tools else known_briefs().values():
        if logged.messages == support_messages(item, brief):
            prompt_hash = brief.prompt_hash
    return Completion(**made, text=text, prompt_hash=prompt_hash, total_ms=reply.total_ms)


def _known_hashes() -> frozenset[str]:
    return frozenset(brief.prompt_hash for brief in known_briefs().values())


def _new_completions(
    completions: Sequence[Completion], stored: Collection[Completion | Attempt], name: str
) -> list[Completion]:
    texts = {(r.item_id, r.repeat): r.text for r in stored if isinstance(r, Completion)}
    new, differing = [], set()
    for made in completions:
        place = (made.item_id, made.repeat)
        if place not in texts:
            texts[place] = made.text
            new.append(made)
        elif texts[place] != made.text:
            differing.add(made.item_id)
    if differing:
        others = sorted(differing)
        raise StoreError(
            f"{name}: there already is another completion of this system for {len(others)}"
            f" item(s): {_named(others)}; completions are never replaced. Give the log's to a"
            " system of another name",
            ids=others[:MAX_NAMED],
        )
    return new


def new_attempts(
    attempts: Iterable[Attempt], stored: Iterable[Completion | Attempt]
) -> list[Attempt]:
    """Return failed completions that are not stored, each numbered after those before it."""
    before: dict[tuple[str | None, str | None, int], list[tuple[str, str]]] = defaultdict(list)
    for record in stored:
        if isinstance(record, Attempt):
            key = (record.item_id, record.system_id, record.repeat)
            before[key].append((record.reason, record.raw))
    new = []
    for attempt in attempts:
        seen = before[attempt.item_id, attempt.system_id, attempt.repeat]
        if (attempt.reason, attempt.raw) not in seen:
            new.append(replace(attempt, attempt=len(seen), id=""))
            seen.append((attempt.reason, attempt.raw))
    return new


def _named(ids: Sequence[str]) -> str:
    return first_few([id_[:MAX_SHOWN] for id_ in ids], MAX_NAMED)
