"""Say once which model did not keep a setting it was asked with, as the stored replies show."""

from collections.abc import Iterable, Mapping
from typing import Any

from heartbench.cli.console import warn
from heartbench.cli.session import Session, judge_models, system_models
from heartbench.config import ModelSettings
from heartbench.domain import Assignment, Completion, Judgment, Rater, Rating, Study, System
from heartbench.models.dropped_settings import find_dropped

Used = tuple[str, Mapping[str, Any], Mapping[str, Any]]
"""Who replied, by id; the settings asked for; those used."""


def warn_of_dropped_by_systems(session: Session, study: Study) -> None:
    """Warn of each model that completed with other settings than those asked for."""
    names = {system.id: system.name for system in session.store.iter(System, study)}
    replies = (
        (completion.system_id, completion.requested, completion.effective)
        for completion in session.store.iter(Completion, study)
    )
    _warn(names, system_models(session.settings), replies)


def warn_of_dropped_by_judges(session: Session, study: Study) -> None:
    """Warn of each model that judged or rated with other settings than those asked for."""
    store = session.store
    names = {rater.id: rater.name for rater in store.iter(Rater, study)}
    who = {assignment.id: assignment.rater_id for assignment in store.iter(Assignment, study)}
    judgments = (
        (who[judgment.assignment_id], judgment.requested, judgment.effective)
        for judgment in store.iter(Judgment, study)
    )
    ratings = (
        (rating.rater_id, rating.requested, rating.effective)
        for rating in store.iter(Rating, study)
    )
    models = judge_models(session.settings)
    _warn(names, models, [*judgments, *ratings])


def _warn(
    names: Mapping[str, str], models: Mapping[str, ModelSettings], replies: Iterable[Used]
) -> None:
    said: set[tuple[str, str]] = set()
    for id_, requested, effective in replies:
        if id_ not in models:
            continue
        dropped = find_dropped(requested, effective, refuses=models[id_].refuses)
        for setting, used in dropped.items():
            if (id_, setting) not in said:
                said.add((id_, setting))
                warn(f"{names[id_]} {_describe(setting, requested[setting], used)}")


def _describe(setting: str, asked: Any, used: Any) -> str:
    if used is not None:
        return f"used {setting} {used:g}, not {asked:g}, as its replies say"
    if setting == "max_tokens":
        return f"did not keep max_tokens {asked}: its replies count more tokens"
    return f"was not sent {setting} {asked}: its back end left it out"
