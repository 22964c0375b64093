"""What keeps simulated studies and real ones apart: the rules, and where they are asked.

A simulated study says so in its file (`study.simulated`), in its record (`Study.is_simulated`), in
its systems, judges, people and items. A store holds studies of one sort. A release of a study, once
there is one, begins with `require_real`.
"""

from collections.abc import Iterable

from hearteval.config import StudySettings
from hearteval.domain import Item, Study
from hearteval.domain.systems import SIMULATED
from hearteval.errors import StoreError, first_few
from hearteval.store.base import Store

MAX_NAMED = 3
NEVER_MIXED = "simulated and real data are never mixed; start a study of your own (heart init DIR)"


def require_one_sort(store: Store, settings: StudySettings) -> None:
    """Let a study file open only a store whose studies are simulated as it is, or real as it is.

    Raises:
        StoreError: They are of the other sort, or its own study was stored as the other.
    """
    others = {one.name for one in store.iter(Study) if one.is_simulated != settings.is_simulated}
    if not others:
        return
    name = min(others)
    words = (
        f"study.simulated is true, and the store holds the real study {name!r}"
        if settings.is_simulated
        else f"study.simulated is not true, and the store holds the simulated study {name!r}"
    )
    raise StoreError(f"{settings.file}: {words}: {NEVER_MIXED}", ids=(name,))


def require_one_sort_of_studies(*studies: Study) -> None:
    """Let studies be compared only where all are simulated or all are real.

    Raises:
        StoreError: Some are simulated, and others are not.
    """
    names = {one.is_simulated: one.name for one in studies}
    if len(names) > 1:
        raise StoreError(
            f"{names[True]} is simulated and {names[False]} is real, and the two are never"
            " compared: what moves between them says nothing. Compare two that are real, or two"
            " that are simulated",
            ids=(names[True], names[False]),
        )


def holds_simulated(store: Store) -> bool:
    """Say whether a store is of simulated studies."""
    return any(study.is_simulated for study in store.iter(Study))


def require_one_sort_of_stores(source: Store, target: Store) -> None:
    """Let a store be copied only into one that is empty, or of the same sort.

    Raises:
        StoreError: One is simulated, and the other holds real studies.
    """
    sorts = [{study.is_simulated for study in store.iter(Study)} for store in (source, target)]
    if all(sorts) and sorts[0] != sorts[1]:
        raise StoreError(
            "one of these stores is simulated and the other holds real studies, and the two are"
            " never mixed; nothing was copied. Copy into an empty database"
        )


def require_growth_of_one_sort(settings: StudySettings, items: Iterable[Item]) -> None:
    """Let a real study have real items, and a simulated one nothing that is real.

    Raises:
        StoreError: An item is of the other sort, or a system or judge of a simulated study would
            really write or judge.
    """
    sorts = ("real", "simulated")
    for item in items:
        is_simulated = item.source == SIMULATED
        if is_simulated != settings.is_simulated:
            raise StoreError(
                f"{settings.file}: the item {item.dialogue_id} of {item.source} is"
                f" {sorts[is_simulated]} and the study is {sorts[settings.is_simulated]}:"
                f" {NEVER_MIXED}",
                ids=(item.id,),
            )
    real = [one.name for one in settings.systems if one.imported is None]
    real += [one.name for one in settings.judging.judges if one.imported is None]
    if settings.is_simulated and real:
        raise StoreError(
            f"{settings.file}: the study is simulated, and {first_few(real, MAX_NAMED)} would"
            f" really write or judge: {NEVER_MIXED}",
            ids=real,
        )


def require_real(study: Study, what: str) -> None:
    """Refuse what only real studies may do: a release, people who take part, an import of theirs.

    Raises:
        StoreError: The study is simulated.
    """
    if study.is_simulated:
        raise StoreError(
            f"{study.name} is simulated, so {what}; start a study of your own (heart init DIR)",
            ids=(study.name,),
        )


def require_same_sort(table: str, settings: StudySettings, *, is_simulated: bool) -> None:
    """Let a file into a study only where both are simulated or both are real.

    Raises:
        StoreError: One is simulated, and the other is not.
    """
    if is_simulated == settings.is_simulated:
        return
    words = (
        f"it is simulated, and {settings.name} is a real study"
        if is_simulated
        else f"it does not say that it is simulated, as {settings.name} is"
    )
    raise StoreError(f"{table}: {words}: {NEVER_MIXED}", ids=(settings.name,))


def said_simulated(*, is_simulated: bool) -> dict[str, bool]:
    """Return what an object of JSON or a row of a table begins with; nothing where it is real."""
    return {SIMULATED: True} if is_simulated else {}
