"""What every verb on a study file needs: settings, the store, and the study's current version."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from heartbench import __version__
from heartbench.cli.console import note, utc_now, warn
from heartbench.completions.baselines import baseline_system
from heartbench.completions.prompting import support_prompt_hash
from heartbench.config import (
    JudgeSettings,
    ModelSettings,
    StudySettings,
    SystemSettings,
    load_study,
)
from heartbench.domain import Rater, Study, System, hash_records, record_id
from heartbench.errors import SettingsError, StoreError
from heartbench.items.run import GatheredItems, gather_items
from heartbench.judgments.cue_judge.judge import cue_rater
from heartbench.judgments.judge_prompt import judge_prompt_hash
from heartbench.judgments.plan import PlanPolicy, shrunk_settings
from heartbench.judgments.rating_prompt import rating_prompt_hash
from heartbench.judgments.stress import stress_systems
from heartbench.protocol import PROTOCOL_VERSION
from heartbench.store.base import Store
from heartbench.store.sql import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A study file with its open store."""

    settings: StudySettings
    store: Store


@contextmanager
def open_session(settings: StudySettings) -> Iterator[Session]:
    """Open a study's store, made where there is none, and close it at the end."""
    store = SqlStore.open(settings.store)
    try:
        yield Session(settings=settings, store=store)
    finally:
        store.close()


def output_path(settings: StudySettings, suffix: str) -> Path:
    """Return the path of a file that a verb writes: NAME.suffix beside the study file."""
    return settings.file.parent / f"{settings.name}.{suffix}"


def gather(settings: StudySettings) -> GatheredItems:
    """Read or build the study's items, and warn where there are fewer than it asks for."""
    if settings.items.source == "esconv":
        note("building items from the corpus …")
    gathered = gather_items(
        settings.items.source,
        settings.items.path,
        regular=settings.items.regular,
        adversarial=settings.items.adversarial,
        seed=settings.seed,
        rng=np.random.default_rng(settings.seed),
    )
    for subset, lacking in gathered.shortfall.items():
        warn(f"{lacking} {subset} items fewer than the study asks for; there are no more")
    return gathered


def register(session: Session, gathered: GatheredItems) -> Study:
    """Store items, systems, raters and, where anything has changed, a new version of the study."""
    settings, store = session.settings, session.store
    systems = study_systems(settings)
    raters = study_raters(settings)
    study = Study(
        name=settings.name,
        seed=settings.seed,
        item_ids=tuple(item.id for item in gathered.items),
        items_hash=hash_records(gathered.items),
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=tuple(sorted(rater.id for rater in raters)),
        design=_design(settings, gathered),
        protocols={"llm": settings.judging.protocol},
        protocol_version=PROTOCOL_VERSION,
        settings_hash=settings.settings_hash,
        software_version=__version__,
        created_at=utc_now(),
    )
    previous = store.latest_study(study.id)
    if previous is not None:
        if replace(study, version=previous.version, created_at=previous.created_at) == previous:
            return previous
        _require_growth(settings, list(store.iter(Study, study)))
        study = replace(study, version=previous.version + 1)
    store.add([*gathered.items, *gathered.screenings, *systems, *raters, study])
    return study


def stored_plan(study: Study) -> PlanPolicy:
    """Return what a stored version of a study says of its plan."""
    return PlanPolicy(**{field.name: study.design[field.name] for field in fields(PlanPolicy)})


def is_rated(study: Study) -> bool:
    """Say whether a version of a study has its judges rate completions, not compare them."""
    return study.protocols["llm"] == "rating"


def _require_growth(settings: StudySettings, versions: Sequence[Study]) -> None:
    """Raise `SettingsError` where a plan would shrink; each protocol has a plan of its own."""
    alike = [v for v in versions if v.protocols["llm"] == settings.judging.protocol]
    if not alike:
        return
    newest = max(alike, key=lambda version: version.version)
    shrunk = shrunk_settings(stored_plan(newest), settings.judging.plan)
    if shrunk:
        places = [f"judging.{name}" for name in shrunk]
        raise SettingsError(
            f"{settings.file}: {', '.join(places)}: the stored study asks for more, and a plan can "
            "only grow; set it back, or start a study with another name",
            ids=places,
        )


@contextmanager
def open_stored(path: Path) -> Iterator[tuple[Session, Study]]:
    """Open a study that has been stored, in its newest version, for verbs that only read it.

    Raises:
        StoreError: Nothing was stored under this name and seed.
    """
    settings = load_study(path)
    if "://" not in settings.store and not Path(settings.store).exists():
        raise _nothing_stored(settings)
    with open_session(settings) as session:
        yield session, _newest(session)


def _newest(session: Session) -> Study:
    settings = session.settings
    study = session.store.latest_study(study_id(settings))
    if study is None:
        raise _nothing_stored(settings)
    if study.settings_hash != settings.settings_hash:
        warn(
            f"{settings.file} has changed since version {study.version} of the study was stored; "
            "the results are of that version. Run `heart run` to follow the file"
        )
    return study


def study_id(settings: StudySettings) -> str:
    """Return the id of the study that a file describes."""
    return record_id("study", {"name": settings.name, "seed": settings.seed})


def _nothing_stored(settings: StudySettings) -> StoreError:
    return StoreError(
        f"the store holds no study {settings.name!r} with seed {settings.seed}; run "
        f"`heart run {settings.file}` first"
    )


def study_systems(settings: StudySettings) -> tuple[System, ...]:
    """Return the study's competitors and the bearers of the stress set."""
    competitors = [_competitor(entry, seed=settings.seed) for entry in settings.systems]
    return (*competitors, *stress_systems(seed=settings.seed))


def study_raters(settings: StudySettings) -> tuple[Rater, ...]:
    """Return the study's judges."""
    return tuple(_rater(entry, settings) for entry in settings.judging.judges)


def system_models(settings: StudySettings) -> dict[str, ModelSettings]:
    """Return the models that compete, by system id."""
    return {
        _competitor(entry, seed=settings.seed).id: entry.model
        for entry in settings.systems
        if entry.model is not None
    }


def imported_systems(settings: StudySettings) -> dict[str, str]:
    """Return the names of the systems whose completions are imported, by system id."""
    return {
        _competitor(entry, seed=settings.seed).id: entry.name
        for entry in settings.systems
        if entry.imported is not None
    }


def judge_models(settings: StudySettings) -> dict[str, ModelSettings]:
    """Return the models that judge, by rater id."""
    return {
        _rater(entry, settings).id: entry.model
        for entry in settings.judging.judges
        if entry.model is not None
    }


def _competitor(entry: SystemSettings, *, seed: int) -> System:
    if entry.preset is not None:
        return replace(baseline_system(entry.preset, seed=seed), name=entry.name, id="")
    if entry.imported is not None:
        return System(
            name=entry.name,
            kind="model",
            family=entry.imported.family,
            settings=entry.imported.identity,
        )
    assert entry.model is not None
    return System(
        name=entry.name,
        kind="model",
        family=entry.model.family,
        settings={**entry.model.identity, "prompt_hash": support_prompt_hash()},
    )


def _rater(entry: JudgeSettings, settings: StudySettings) -> Rater:
    if entry.model is None:
        return cue_rater()
    protocol = settings.judging.protocol
    return Rater(
        name=entry.name,
        kind="llm",
        family=entry.model.family,
        settings={
            **entry.model.identity,
            "protocol": protocol,
            "prompt_hash": rating_prompt_hash()
            if protocol == "rating"
            else judge_prompt_hash(protocol=protocol),
        },
    )


def _design(settings: StudySettings, gathered: GatheredItems) -> dict[str, Any]:
    return {
        "items": {
            "source": gathered.source,
            "regular": settings.items.regular,
            "adversarial": settings.items.adversarial,
            "funnel": [
                {"rule": step.rule, "n_in": step.n_in, "n_out": step.n_out}
                for step in gathered.funnel
            ],
        },
        **asdict(settings.judging.plan),
    }
