"""The version of a study that its file describes: its items, systems and judges, stored if new."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, TypeVar

import numpy as np

from hearteval.completions.baselines import OF_REFERENCES, baseline_system
from hearteval.config import (
    JudgeSettings,
    ModelSettings,
    PeopleSettings,
    StudySettings,
    SystemSettings,
)
from hearteval.domain import (
    Completion,
    Item,
    Judgment,
    Rater,
    Rating,
    Study,
    System,
    content_hash,
    display_name,
    hash_records,
)
from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError
from hearteval.items.run import GatheredItems, gather_items, merge_items
from hearteval.items.screening import DEFAULT_TOPICS
from hearteval.judgments.cue_judge.judge import cue_rater
from hearteval.judgments.plan import shrunk_settings
from hearteval.judgments.prompt import judge_prompt_hash
from hearteval.judgments.stress_set import stress_systems
from hearteval.protocol import PROTOCOL_VERSION, load_protocol
from hearteval.store.base import Store
from hearteval.store.engines import holds_store
from hearteval.store.sql import PATIENCE_SECONDS
from hearteval.study import Tell
from hearteval.study.items.chosen import chosen_before, chosen_records
from hearteval.study.kept import KeptFile
from hearteval.study.session import Session, open_session, stored_plan, study_id
from hearteval.study.simulation.apart import require_growth_of_one_sort
from hearteval.version import __version__

NO_MODELS = ("original", "baseline")
"""Kinds of systems that are no models, which are their families too."""
Simulable = TypeVar("Simulable", System, Rater)


@contextmanager
def open_grown(
    settings: StudySettings, tell: Tell, *, patience_seconds: float | None = None
) -> Iterator[tuple[Session, Study]]:
    """Open a study in the version that its file describes, stored first where it is new."""
    patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
    is_there = holds_store(settings.store, patience_seconds=patience)
    # Where there is no store yet, items that cannot be read leave none behind.
    gathered = None if is_there else gather(settings, tell, is_kept=True)
    with open_session(settings, tell, patience_seconds=patience_seconds) as session:
        if gathered is None:
            gathered = gather(settings, tell, session.store, is_kept=True)
        yield session, register(session, gathered)


def gather(
    settings: StudySettings, tell: Tell, store: Store | None = None, *, is_kept: bool = False
) -> GatheredItems:
    """Read or build the study's items, and warn where there are fewer than it asks for.

    What the study in the store chose from a corpus stays. Else a choice that was kept is used
    again; with `is_kept` a new one is kept.
    """
    study = None if store is None else store.latest_study(study_id(settings))
    known = frozenset(() if study is None else study.item_ids)
    before, tables = chosen_before(settings, store, study), []
    with tell.progress("items"):
        for number, (table, had) in enumerate(zip(settings.items, before, strict=True), 1):
            one = gather_items(
                table.source,
                table.path,
                regular=table.regular,
                adversarial=table.adversarial,
                seed=settings.seed,
                rng=np.random.default_rng(settings.seed),
                names=table.names,
                topics=table.topics,
                keep=KeptFile(
                    settings, f"items-{number}" if number > 1 else "items", is_written=is_kept
                ),
                before=had,
                known=known,
                language=table.language,
            )
            tables.append(one)
            if had is not None and table.topics is None and had.chosen.topics != DEFAULT_TOPICS:
                tell.warn(
                    f"{settings.file}: the study keeps its items of {table.source}, chosen under"
                    f" topics = {had.chosen.topics!r}, though the default is {DEFAULT_TOPICS!r}"
                    " now; write these topics into its [[items]]"
                )
    gathered = merge_items(tables, known=known)
    require_growth_of_one_sort(settings, gathered.items)
    for number, (table, one) in enumerate(zip(settings.items, tables, strict=True), 1):
        of_table = f"[[items]] {number}: " if len(tables) > 1 else ""
        if one.notes:
            tell.note(f"{of_table}{table.path}: {'; '.join(one.notes)}")
        for subset, lacking in one.shortfall.items():
            tell.warn(
                f"{of_table}{lacking} {subset} items fewer than the study asks for;"
                " there are no more"
            )
    if len(tables) > 1:
        tell.note("; ".join((gathered.source, *gathered.notes)))
    silent = [entry.name for entry in settings.systems if entry.preset in OF_REFERENCES]
    if silent and not any(item.reference for item in gathered.items):
        tell.warn(
            f"no item has a reference reply, so there are no replies of {', '.join(silent)};"
            f" remove these systems from {settings.file}"
        )
    return gathered


def register(session: Session, gathered: GatheredItems) -> Study:
    """Store items, systems, raters and, where anything has changed, a new version of the study."""
    settings, store = session.settings, session.store
    gathered = as_stored(store, gathered)
    study = describe(session, gathered)
    previous = store.latest_study(study.id)
    if previous is not None:
        if is_same_version(previous, study):
            return previous
        versions = list(store.iter(Study, study))
        _require_newest_served(session, versions, study)
        _require_growth(settings, versions)
        _require_pool(session, previous, study)
        _require_one_human_system(session, previous, study)
        _require_one_display(session, previous, study)
        study = replace(study, version=previous.version + 1)
    systems, raters = study_systems(settings), study_raters(settings)
    store.add([*gathered.items, *gathered.screenings, *systems, *raters, study])
    return study


def as_stored(store: Store, gathered: GatheredItems) -> GatheredItems:
    """Return the items as the store has them where it lacks some of their labels.

    Records are never edited: what was kept before a label was known stays without it.
    """
    stored = {one.id: one for one in store.find(Item, [one.id for one in gathered.items])}
    items = [
        stored[item.id] if item.id in stored and _lacks_labels(stored[item.id], item) else item
        for item in gathered.items
    ]
    return replace(gathered, items=tuple(items))


def _lacks_labels(stored: Item, item: Item) -> bool:
    """Say whether a stored item differs in nothing but labels that it does not have.

    Nobody edits the starter items but hearteval: whatever it labels anew, the stored ones stay.
    """
    labels = ("culture", "population", *Item.ADDED_LATER)
    is_ours = item.source == "starter"
    before = {name: getattr(stored, name) for name in labels}
    kept: dict[str, Any] = {name: one for name, one in before.items() if is_ours or one is None}
    return stored == replace(item, **kept)


def is_same_version(stored: Study, described: Study) -> bool:
    """Say whether a stored version is what a file describes."""
    return replace(described, version=stored.version, created_at=stored.created_at) == stored


def describe(session: Session, gathered: GatheredItems) -> Study:
    """Return the study that a file describes, as its first version."""
    settings = session.settings
    return Study(
        name=settings.name,
        seed=settings.seed,
        item_ids=tuple(item.id for item in gathered.items),
        items_hash=hash_records(gathered.items),
        system_ids=tuple(sorted(system.id for system in study_systems(settings))),
        rater_ids=tuple(sorted(rater.id for rater in study_raters(settings))),
        design={
            "items": {
                "source": gathered.source,
                "funnel": [asdict(step) for step in gathered.funnel],
                "tables": [
                    {"source": t.source, "regular": t.regular, "adversarial": t.adversarial}
                    for t in settings.items
                ],
                "chosen": chosen_records(gathered),
            },
            **settings.judging.plan.settings,
            **_pool(settings),
            **({} if settings.people is None else {"people": settings.people.identity}),
            **({SIMULATED: True} if settings.is_simulated else {}),
            **_display(settings),
        },
        protocols=_protocols(settings),
        protocol_version=PROTOCOL_VERSION,
        settings_hash=settings.settings_hash,
        software_version=__version__,
        created_at=session.now(),
    )


def frozen_systems(settings: StudySettings) -> frozenset[str]:
    """Return the ids of the systems of the released board that a study continues."""
    names = () if settings.pool is None else settings.pool.systems
    return frozenset(one.id for one in study_systems(settings) if one.name in names)


def _pool(settings: StudySettings) -> dict[str, Any]:
    if settings.pool is None:
        return {}
    pool = settings.pool.model_dump(exclude={"systems"})
    return {"pool": {**pool, "system_ids": sorted(frozen_systems(settings))}}


def _display(settings: StudySettings) -> dict[str, str]:
    display = settings.judging.form.display
    return {} if display == "raw" else {"display": display_name(display)}


def _protocols(settings: StudySettings) -> dict[str, str]:
    people = settings.people
    human = {"human": people.protocol} if people is not None and people.raters_per_pair else {}
    return {"llm": settings.judging.protocol, **human}


def _require_one_human_protocol(settings: StudySettings, versions: Sequence[Study]) -> None:
    """Raise `SettingsError` where people would be asked otherwise than those before them."""
    wanted = _protocols(settings).get("human")
    asked = {v.protocols["human"] for v in versions if "human" in v.protocols}
    if wanted is not None and asked - {wanted}:
        raise SettingsError(
            f"{settings.file}: people.protocol is {wanted!r}, and people have been asked"
            f" {' and '.join(sorted(asked))} in this study, which is not the same question; set it"
            " back, or start a study with another name",
            ids=("people.protocol",),
        )


def _require_pool(session: Session, before: Study, after: Study) -> None:
    """Raise `SettingsError` where a system or a judge of a released board is another now."""
    if not after.pool:
        return
    store, file = session.store, session.settings.file
    systems = [one for one in study_systems(session.settings) if one.id in after.pool]
    known = {one.id for one in store.find(System, sorted(after.pool))}
    if changed := [one.name for one in systems if one.id not in known]:
        raise SettingsError(
            f"{file}: system {changed[0]!r} belongs to the released board, and is described"
            " otherwise now: its replies would leave the board; set it back, and give a system of"
            " your own another name",
            ids=changed,
        )
    gone = store.find(Rater, sorted(set(before.rater_ids) - set(after.rater_ids)))
    if names := sorted(one.name for one in gone):
        raise SettingsError(
            f"{file}: {', '.join(names)} judged the released board, and no judge of the study file"
            " has the same family, model, settings and prompt: set it back. Where it no longer"
            " answers, docs/how-to/join-a-board.md says what to do",
            ids=names,
        )
    judges = {one.id: one.name for one in study_raters(session.settings)}
    if others := [judges[id_] for id_ in after.rater_ids if id_ not in before.rater_ids]:
        raise SettingsError(
            f"{file}: {', '.join(others)} did not judge the released board, and would judge new"
            " systems alone, on a scale of its own: remove it, or take out [pool] and the design"
            ' "newcomers", so that it judges all',
            ids=others,
        )


def _require_one_human_system(session: Session, before: Study, after: Study) -> None:
    """Raise `SettingsError` where what people have written would leave the study.

    Its name and the brief under which people write are part of a system.
    """
    gone = set(before.system_ids) - set(after.system_ids)
    systems = [one for one in session.store.find(System, sorted(gone)) if one.kind == "human"]
    has_human = any(one.kind == "human" for one in study_systems(session.settings))
    if systems and has_human and any(c.system_id in gone for c in _written(session, before)):
        raise SettingsError(
            f"{session.settings.file}: people have written for {systems[0].name!r}, under the brief"
            " of that time; another people.name or brief is another system, which would lose their"
            " texts: set the name back, or start a study with another name",
            ids=("people.name",),
        )


def _require_one_display(session: Session, before: Study, after: Study) -> None:
    """Raise `SettingsError` where some replies would be judged in one form and some in another."""
    was, now = (one.design.get("display", "raw") for one in (before, after))
    if was == now or not _is_judged(session, before):
        return
    back = (
        f'set judging.display = "{before.display}", or ' if before.display != after.display else ""
    )
    raise SettingsError(
        f"{session.settings.file}: judging.display: replies of this study were judged as {was!r},"
        f" and would now be shown as {now!r}, which a result cannot mix; {back}start a study with"
        " another name",
        ids=("judging.display",),
    )


def _is_judged(session: Session, study: Study) -> bool:
    given = (record for kind in (Judgment, Rating) for record in session.store.iter(kind, study))
    return any(True for _ in given)


def _written(session: Session, study: Study) -> Iterator[Completion]:
    return (c for c in session.store.iter(Completion, study) if c.writer_id is not None)


def _require_newest_served(session: Session, versions: Sequence[Study], study: Study) -> None:
    """Raise `SettingsError` for an earlier version than another server shows to people now."""
    made = (study.settings_hash, study.software_version)
    earlier = [v.version for v in versions if (v.settings_hash, v.software_version) == made]
    served = session.store.served(study)
    newest = 0 if served is None else max(served.versions, default=0)
    if earlier and max(earlier) < newest:
        raise SettingsError(
            f"{session.settings.file} describes version {max(earlier)} of the study, and another"
            f" server serves version {newest}: take that study file and hearteval here, or stop the"
            " others first"
        )


def _require_growth(settings: StudySettings, versions: Sequence[Study]) -> None:
    """Raise `SettingsError` where a plan would shrink; each protocol has a plan of its own."""
    _require_one_human_protocol(settings, versions)
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


def study_systems(settings: StudySettings) -> tuple[System, ...]:
    """Return the study's competitors and the bearers of the stress set."""
    competitors = [_competitor(entry, settings) for entry in settings.systems]
    if settings.people is not None and settings.people.writers_per_item:
        written = human_system(settings.people)
        competitors.append(_as_simulated(written) if settings.is_simulated else written)
    return (*competitors, *stress_systems(seed=settings.seed))


def human_system(people: PeopleSettings) -> System:
    """Return the system whose completions the people of a study write, under one brief."""
    brief = content_hash(load_protocol("people_writing")["task"])
    return System(name=people.name, kind="human", family="human", settings={"brief": brief})


def study_raters(settings: StudySettings) -> tuple[Rater, ...]:
    """Return the study's judges."""
    return tuple(_rater(entry, settings) for entry in settings.judging.judges)


def system_models(settings: StudySettings) -> dict[str, ModelSettings]:
    """Return the models that compete and may be asked, by system id."""
    frozen = () if settings.pool is None else settings.pool.systems
    return {
        _competitor(entry, settings).id: entry.model
        for entry in settings.systems
        if entry.model is not None and entry.name not in frozen
    }


def imported_systems(settings: StudySettings) -> dict[str, str]:
    """Return the names of the systems whose completions are imported, by system id."""
    return {
        _competitor(entry, settings).id: entry.name
        for entry in settings.systems
        if entry.imported is not None
    }


def imported_judges(settings: StudySettings) -> dict[str, Rater]:
    """Return the judges whose verdicts are imported, by name."""
    found = [_rater(entry, settings) for entry in settings.judging.judges if entry.imported]
    return {rater.name: rater for rater in found}


def judge_models(settings: StudySettings) -> dict[str, ModelSettings]:
    """Return the models that judge, by rater id."""
    return {
        _rater(entry, settings).id: entry.model
        for entry in settings.judging.judges
        if entry.model is not None
    }


def _competitor(entry: SystemSettings, study: StudySettings) -> System:
    if entry.preset is not None:
        return replace(baseline_system(entry.preset, seed=study.seed), name=entry.name, id="")
    made = entry.model or entry.imported
    assert made is not None
    brief = {} if entry.brief is None else entry.brief.settings
    settings = {**made.identity, **brief}
    # What is imported may be no model's: its family says so.
    kind: Any = made.family if made.family in NO_MODELS else "model"
    system = System(name=entry.name, kind=kind, family=made.family, settings=settings)
    return _as_simulated(system) if study.is_simulated else system


def _as_simulated(one: Simulable) -> Simulable:
    """Return a system or a judge that says of itself that it is simulated."""
    return replace(one, settings={**one.settings, SIMULATED: True}, id="")


def _rater(entry: JudgeSettings, settings: StudySettings) -> Rater:
    form = settings.judging.form
    if entry.imported is not None:
        # What it was told is not known here: its name stands for that.
        told = {"name": entry.name, "protocol": form.protocol}
        family, made = entry.imported.family, entry.imported.identity
        judge = Rater(name=entry.name, kind="llm", family=family, settings={**made, **told})
        return _as_simulated(judge) if settings.is_simulated else judge
    if entry.model is None:
        return cue_rater(form.display)
    return Rater(
        name=entry.name,
        kind="llm",
        family=entry.model.family,
        settings={
            **entry.model.identity,
            **form.settings,
            "prompt_hash": judge_prompt_hash(form),
        },
    )
