"""``heart import``: bring completions that a model gave elsewhere into a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heartbench.cli.options import json_option, quoted, study_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heartbench.completions.imported import ImportedReplies
    from heartbench.config import ImportedModel, StudySettings
    from heartbench.models.reply_log import ReplyLog

MAX_NAMED = 3
MAX_WIDTH = 40


@click.command("import")
@study_argument
@click.argument("log_file", metavar="LOG", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--system", "name", required=True, help="Name of the imported system in the study.")
@json_option
def command(study_file: Path, log_file: Path, *, name: str, as_json: bool) -> None:
    """Bring the replies of an Inspect log into a study, as the completions of one of its systems.

    The study file names the system with model = "imported/MODEL". Nothing is asked and nothing is
    spent. The same log a second time adds nothing; another text for the same item is refused.
    """
    from heartbench.cli.console import emit_json
    from heartbench.cli.imported_systems import import_command
    from heartbench.cli.run_log import run_log
    from heartbench.config import load_study
    from heartbench.exchange.inspect_logs import read_inspect_log

    settings = load_study(study_file)
    model = _find_model(settings, name)
    log = read_inspect_log(log_file)
    _require_model(settings, name, model, log)
    with run_log(settings, "import"):
        found, n_items, n_stored = _store(settings, name, log)
        _warn(found, log)
    body = {
        "study": settings.name,
        "system": name,
        "model": model.model,
        "log": {"file": log.name, "sha256": log.sha256, "id": log.log_id, "status": log.status},
        "n_items": n_items,
        "n_replies": len(log.replies),
        "n_completions": found.n_completions,
        "n_added": found.n_new,
        "n_stored": n_stored,
        "unusable": dict(found.unusable),
        "other_prompt": list(found.other_prompt),
        "unknown": list(found.unknown),
    }
    if as_json:
        emit_json("import", body)
        return
    click.echo(f"{n_stored} of {n_items} completions of {name} stored ({found.n_new} new)")
    done = n_stored == n_items
    click.echo(
        f"next: {f'heart run {quoted(study_file)}' if done else import_command(settings, name)}"
    )


def _find_model(settings: StudySettings, name: str) -> ImportedModel:
    from heartbench.errors import SettingsError

    imported = {entry.name: entry.imported for entry in settings.systems if entry.imported}
    if name not in imported:
        known = f"it imports {', '.join(imported)}" if imported else "it imports none"
        raise SettingsError(
            f"{settings.file}: there is no imported system {name!r}; {known}. Add [[system]] with"
            ' name, model = "imported/MODEL" and family',
            ids=(name,),
        )
    return imported[name]


def _require_model(settings: StudySettings, name: str, model: ImportedModel, log: ReplyLog) -> None:
    from heartbench.errors import SettingsError

    if model.model != log.model:
        raise SettingsError(
            f"{log.name}: is a log of the model {log.model}, but {settings.file} says that {name!r}"
            f' is {model.model}; set model = "imported/{log.model}" there if it is the same',
            ids=(name,),
        )


def _store(settings: StudySettings, name: str, log: ReplyLog) -> tuple[ImportedReplies, int, int]:
    """Store what is new; return it, the number of items, and of completions now stored."""
    from heartbench.cli.console import utc_now
    from heartbench.cli.session import gather, imported_systems, open_session, register
    from heartbench.completions.imported import count_imports, import_replies
    from heartbench.domain import Attempt, Completion

    system_id = {name: id_ for id_, name in imported_systems(settings).items()}[name]
    gathered = gather(settings)
    with open_session(settings) as session:
        study = register(session, gathered)
        stored: list[Completion | Attempt] = [*session.store.iter(Completion, study)]
        stored += session.store.iter(Attempt, study)
        stored = [record for record in stored if record.system_id == system_id]
        found = import_replies(log, system_id, gathered.items, stored=stored, now=utc_now())
        session.store.add(found.records)
    counts = count_imports([system_id], gathered.items, [*stored, *found.records])
    return found, len(gathered.items), counts.n_before


def _warn(found: ImportedReplies, log: ReplyLog) -> None:
    from heartbench.cli.console import warn
    from heartbench.domain import Completion

    if log.status != "success":
        warn(f"the log ends with {log.status}: it may lack replies")
    if found.unknown:
        warn(
            f"{len(found.unknown)} samples of the log are no items of this study and were left out:"
            f" {_named(found.unknown)}"
        )
    if found.other_prompt:
        warn(
            f"{len(found.other_prompt)} completions answer another prompt than heartbench's, and"
            f" are marked so: {_named(found.other_prompt)}"
        )
    n_repeats = sum(isinstance(r, Completion) and r.repeat > 0 for r in found.records)
    if n_repeats:
        warn(
            f"{n_repeats} completions are repeats (epochs): each is compared like a first one; the"
            " estimate of judgments does not count them"
        )
    for reason, n in found.unusable.items():
        warn(f"{n} replies of the log can be no completions: {reason}")


def _named(ids: Sequence[str]) -> str:
    from heartbench.report.text import printable, shortened

    shown = ", ".join(shortened(printable(id_), MAX_WIDTH) for id_ in ids[:MAX_NAMED])
    return f"{shown} and {len(ids) - MAX_NAMED} more" if len(ids) > MAX_NAMED else shown
