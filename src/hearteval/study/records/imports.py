"""What a study imports, and what of it is still missing."""

import shlex

from hearteval.completions.imported import ImportCounts, count_imports
from hearteval.config import StudySettings
from hearteval.domain import Attempt, Completion, Item, Rating, Study
from hearteval.domain.reasons import NOT_IMPORTED
from hearteval.store.base import Store
from hearteval.store.engines import is_readable_as_is
from hearteval.study import Tell, quoted
from hearteval.study.grow import imported_judges, imported_systems
from hearteval.study.session import is_rated, open_session, study_id


def count_study_imports(store: Store, study: Study, settings: StudySettings) -> ImportCounts:
    """Count the completions of a study's imported systems."""
    system_ids = sorted(imported_systems(settings))
    return count_imports(system_ids, store.iter(Item, study), outcomes(store, study))


def missing_imports(settings: StudySettings, counts: ImportCounts) -> list[str]:
    """Say what is missing of each imported system, and how it is brought in."""
    names, said = imported_systems(settings), []
    for system_id, reasons in counts.missing.items():
        name = names[system_id]
        for reason, n in sorted(reasons.items()):
            how = f"are missing, their logged replies unusable: {reason}"
            if reason == NOT_IMPORTED:
                how = f"are not imported yet: {import_command(settings, name)}"
            said.append(f"{n} replies of {name} {how}")
    return said


def stored_imports(settings: StudySettings, tell: Tell) -> dict[str, tuple[int, int]]:
    """Return completions stored and items, by imported system, of a study as it was last stored.

    Nothing is made or changed; empty where there is no store yet, or one of an older hearteval.
    """
    if not is_readable_as_is(settings.store):
        return {}
    with open_session(settings, tell) as session:
        study = session.store.latest_study(study_id(settings))
        if study is None:
            return {}
        counts = count_study_imports(session.store, study, settings)
    n_items = len(study.item_ids)
    return {
        name: (n_items - sum(counts.missing[system_id].values()), n_items)
        for system_id, name in imported_systems(settings).items()
    }


def unjudged_imports(store: Store, study: Study, settings: StudySettings) -> list[str]:
    """Return the names of the imported judges of whom nothing was brought in."""
    counts = [*store.count_assigned(study)] if not is_rated(study) else []
    judged = {one.rater_id for one in counts if one.n_judged}
    judged |= {one.rater_id for one in store.iter(Rating, study)}
    return [name for name, one in imported_judges(settings).items() if one.id not in judged]


def judge_import_command(settings: StudySettings) -> str:
    """Return the command that imports what judges said."""
    kind = "ratings" if settings.judging.protocol == "rating" else "judgments"
    return f"heart import {quoted(settings.file)} FILE --kind {kind}"


def import_command(settings: StudySettings, name: str) -> str:
    """Return the command that imports completions of a system."""
    return f"heart import {quoted(settings.file)} LOG --system {shlex.quote(name)}"


def outcomes(store: Store, study: Study) -> list[Completion | Attempt]:
    """Return what became of every completion of a study that was tried or brought in."""
    return [*store.iter(Completion, study), *store.iter(Attempt, study)]
