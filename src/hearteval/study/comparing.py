"""Two stored studies, or two panels of one, side by side."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hearteval.analysis.ranking.checks.compared import Compared, Comparison, compare_studies
from hearteval.config.model_settings import guess_meant
from hearteval.domain import Rater, Study
from hearteval.errors import SettingsError
from hearteval.study import Tell
from hearteval.study.results import read_data
from hearteval.study.session import is_rated, open_stored
from hearteval.study.simulation.apart import require_one_sort_of_studies

PEOPLE = "people"
"""Names all people of a study, who are never chosen one by one."""


def compare_stored(
    first: Path, second: Path, panels: tuple[Sequence[str], Sequence[str]], tell: Tell
) -> Comparison:
    """Compare two studies as they are stored; `panels` names the raters of each, all where none.

    Raises:
        SettingsError: A study rates completions, or a panel names nobody who judged.
        StoreError: Nothing is stored of a study, or one of the two is simulated.
        InvalidVotesError: The two share under two systems.
        NotIdentifiedError: One of them determines no ranking.
    """
    is_one = first.resolve() == second.resolve()
    (study, one), (other_study, other) = (
        _read(path, panel, tell, is_one=is_one)
        for path, panel in zip((first, second), panels, strict=True)
    )
    require_one_sort_of_studies(study, other_study)
    if one.name == other.name:
        names = [f"{one.name} ({path})" for path in (first, second)]
        if is_one:
            names = [f"{one.name} (first)", f"{one.name} (second)"]
        one, other = replace(one, name=names[0]), replace(other, name=names[1])
    return compare_studies(one, other)


def _read(path: Path, panel: Sequence[str], tell: Tell, *, is_one: bool) -> tuple[Study, Compared]:
    with open_stored(path, tell) as (session, study):
        if is_rated(study):
            raise SettingsError(
                f"{path}: its judges rate replies, so nothing is ranked that could be compared"
            )
        data = read_data(session, study).without_excluded()
        who = {*data.judgments.rater.present}
        known = [rater for rater in session.store.iter(Rater) if rater.id in who]
    raters = [*data.raters] if not panel else _panel(path, panel, known)
    name = f"{study.name} by {', '.join(panel)}" if panel and is_one else study.name
    return study, Compared(name=name, data=data, protocols=study.protocols, raters=raters)


def _panel(path: Path, panel: Sequence[str], known: Sequence[Rater]) -> list[Rater]:
    """Return the raters of these names, those too whom the study file no longer names."""
    names = sorted({rater.name for rater in known if rater.kind == "llm"})
    has_people = any(rater.kind == "human" for rater in known)
    there = [*names, *([PEOPLE] if has_people else [])]
    for name in panel:
        if name not in there:
            raise SettingsError(
                f"{path}: nobody called {name!r} has judged{guess_meant(name, there)}; there are"
                f" {', '.join(there) or 'none'}",
                ids=(name,),
            )
    return [
        rater
        for rater in known
        if (rater.kind == "llm" and rater.name in panel)
        or (rater.kind == "human" and PEOPLE in panel)
    ]
