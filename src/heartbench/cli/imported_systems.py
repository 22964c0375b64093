"""Completions that a study imports: how many have come, and what is said of those that have not."""

import shlex

from heartbench.cli.options import quoted
from heartbench.cli.session import imported_systems, open_session, study_id
from heartbench.completions.imported import NOT_IMPORTED, ImportCounts, count_imports
from heartbench.config import StudySettings
from heartbench.domain import Attempt, Completion, Item, Study
from heartbench.store.base import Store
from heartbench.store.probe import is_readable_as_is


def count_study_imports(store: Store, study: Study, settings: StudySettings) -> ImportCounts:
    """Count the completions of a study's imported systems."""
    system_ids = sorted(imported_systems(settings))
    stored: list[Completion | Attempt] = [*store.iter(Completion, study)]
    stored += store.iter(Attempt, study)
    return count_imports(system_ids, store.iter(Item, study), stored)


def missing_imports(settings: StudySettings, counts: ImportCounts) -> list[str]:
    """Say what is missing of each imported system, and how it is brought in."""
    names = imported_systems(settings)
    return [
        _missing_words(settings, names[system_id], reason, n)
        for system_id, reasons in counts.missing.items()
        for reason, n in sorted(reasons.items())
    ]


def stored_imports(settings: StudySettings) -> dict[str, tuple[int, int]]:
    """Return completions stored and items, by imported system, of a study as it was last stored.

    Nothing is made or changed; empty where there is no store yet, or one of an older heartbench.
    """
    if not is_readable_as_is(settings.store):
        return {}
    with open_session(settings) as session:
        study = session.store.latest_study(study_id(settings))
        if study is None:
            return {}
        counts = count_study_imports(session.store, study, settings)
    n_items = len(study.item_ids)
    return {
        name: (n_items - sum(counts.missing[system_id].values()), n_items)
        for system_id, name in imported_systems(settings).items()
    }


def import_command(settings: StudySettings, name: str) -> str:
    """Return the command that imports completions of a system."""
    return f"heart import {quoted(settings.file)} LOG --system {shlex.quote(name)}"


def _missing_words(settings: StudySettings, name: str, reason: str, n: int) -> str:
    if reason == NOT_IMPORTED:
        return f"{n} completions of {name} are not imported yet: {import_command(settings, name)}"
    return f"{n} completions of {name} are missing, their logged replies unusable: {reason}"
