"""What comes into a study from elsewhere, and goes out: logged completions, logs."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hearteval.completions.imported import (
    ImportedReplies,
    count_imports,
    import_replies,
)
from hearteval.completions.prompting import brief_of, known_briefs, support_messages
from hearteval.config import StudySettings, keys_at_hand
from hearteval.domain import Completion, Item, Study
from hearteval.errors import SettingsError, first_few
from hearteval.exchange.inspect import ExportedLog, export_study
from hearteval.exchange.inspect.logs import read_inspect_log
from hearteval.exchange.records.writing import DRAFTS
from hearteval.models.base import ReplyLog
from hearteval.models.failures import redact_reply
from hearteval.report.text import printable, shortened
from hearteval.study import Tell, remove_left_drafts
from hearteval.study.grow import imported_systems
from hearteval.study.records.imports import outcomes
from hearteval.study.report.left_behind import remember
from hearteval.study.report.reading import released_words
from hearteval.study.results import read_data
from hearteval.study.session import Session
from hearteval.study.simulation.apart import require_same_sort

MAX_NAMED, MAX_WIDTH = 3, 40


def read_log_of(settings: StudySettings, name: str, path: Path) -> ReplyLog:
    """Read the Inspect log of an imported system.

    Raises:
        SettingsError: The study imports no such system, the log cannot be read, or it is of another
            model.
    """
    imported = {entry.name: entry.imported for entry in settings.systems if entry.imported}
    if name not in imported:
        known = f"it imports {', '.join(imported)}" if imported else "it imports none"
        raise SettingsError(
            f"{settings.file}: there is no imported system {name!r}; {known}. Add [[system]] with"
            ' name, model = "imported/MODEL" and family',
            ids=(name,),
        )
    log, model = read_inspect_log(path), imported[name].model
    keys = keys_at_hand()
    replies = [dataclasses.replace(r, reply=redact_reply(r.reply, keys)) for r in log.replies]
    log = dataclasses.replace(log, replies=tuple(replies))
    if model != log.model:
        raise SettingsError(
            f"{log.name}: is a log of the model {log.model}, but {settings.file} says that {name!r}"
            f' is {model}; set model = "imported/{log.model}" there if it is the same',
            ids=(name,),
        )
    return log


def import_log(session: Session, study: Study, name: str, log: ReplyLog) -> dict[str, Any]:
    """Store what a log has that an imported system lacks; return what was done as JSON says it."""
    settings = session.settings
    require_same_sort(log.name, settings, is_simulated=log.is_simulated)
    system_id = {name: id_ for id_, name in imported_systems(settings).items()}[name]
    items = list(session.store.iter(Item, study))
    stored = [c for c in outcomes(session.store, study) if c.system_id == system_id]
    found = import_replies(log, system_id, items, stored=stored, now=session.now())
    session.store.add(found.records)
    _warn(found, log, session.tell)
    return {
        "study": settings.name,
        "system": name,
        "model": log.model,
        "log": {"file": log.name, "sha256": log.sha256, "id": log.log_id, "status": log.status},
        "n_items": len(items),
        "n_replies": len(log.replies),
        "n_completions": found.n_completions,
        "n_added": found.n_new,
        "n_stored": count_imports([system_id], items, [*stored, *found.records]).n_before,
        "unusable": dict(found.unusable),
        "other_prompt": list(found.other_prompt),
        "unknown": list(found.unknown),
    }


def export_logs(
    session: Session, study: Study, out: Path, *, replace: bool
) -> tuple[ExportedLog, ...]:
    """Write a stored study as Inspect logs, one for each system; the stress set stays out.

    So does what a person has written and nobody has released.
    """
    data = read_data(session, study).without_excluded()
    released = released_words(session, study)
    texts = [c for c in data.completions if c.writer_id is None or c.id in released]
    data = dataclasses.replace(data, completions=texts)
    remove_left_drafts(out, DRAFTS)
    logs = export_study(
        study,
        data,
        out,
        prompts={
            brief.prompt_hash: {item.id: support_messages(item, brief) for item in data.items}
            for brief in (*known_briefs().values(), *filter(None, map(brief_of, data.systems)))
        },
        replace=replace,
    )
    remember(session, study, [log.path for log in logs])
    return logs


def _warn(found: ImportedReplies, log: ReplyLog, tell: Tell) -> None:
    if log.status != "success":
        tell.warn(f"the log ends with {log.status}: it may lack replies")
    if found.unknown:
        tell.warn(
            f"{len(found.unknown)} samples of the log are no items of this study and were left out:"
            f" {_named(found.unknown)}"
        )
    if found.other_prompt:
        tell.warn(
            f"{len(found.other_prompt)} replies answer another prompt than hearteval's, and"
            f" are marked so: {_named(found.other_prompt)}"
        )
    n_repeats = sum(isinstance(r, Completion) and r.repeat > 0 for r in found.records)
    if n_repeats:
        tell.warn(
            f"{n_repeats} replies are repeats (epochs): each is compared like a first one; the"
            " estimate of judgments does not count them"
        )
    for reason, n in found.unusable.items():
        tell.warn(f"{n} replies of the log cannot be used: {reason}")


def _named(ids: Sequence[str]) -> str:
    return first_few([shortened(printable(id_), MAX_WIDTH) for id_ in ids], MAX_NAMED)
