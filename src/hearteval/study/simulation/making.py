"""A simulated study as files and a store that every command reads; or its votes alone."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from hearteval.config import StudySettings, load_study
from hearteval.config.simulation import SimulationPlan
from hearteval.domain import Item, System
from hearteval.domain.systems import SIMULATED
from hearteval.errors import SettingsError, not_written
from hearteval.exchange.records.writing import Columns, format_table, write_files
from hearteval.items.files import format_items
from hearteval.labels.safety import label_completion, safety_rater
from hearteval.store.records import Record
from hearteval.study import Tell, write_whole
from hearteval.study.grow import open_grown
from hearteval.study.session import utc_now
from hearteval.study.simulation.drawing import Drawn, draw_study
from hearteval.study.simulation.texts import ITEM_FILE, simulated_items, study_text
from hearteval.study.simulation.truth import TRUTH_SCHEMA, expected_truth
from hearteval.study.simulation.world import World, plant

TRUTH_FILE = "truth.json"
BATCH = 4_000
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}


def make_study(folder: Path, name: str, plan: SimulationPlan, tell: Tell) -> dict[str, Any]:
    """Make a simulated study in a new folder; return what was made as JSON says it.

    Raises:
        SettingsError: The folder holds something.
        StoreError: It cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingsError(f"{folder}: is already there; name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
    with ExitStack() as undone:
        # Half a study would pass as a whole one from which much is missing.
        undone.callback(rmtree, folder, ignore_errors=True)
        settings, drawn, n_items = _made_study(folder, name, plan, tell)
        undone.pop_all()
    return {
        SIMULATED: True,
        "study": name,
        "path": str(folder / f"{name}.toml"),
        "truth": str(folder / TRUTH_FILE),
        "store": settings.store,
        "n_items": n_items,
        "n_systems": len(drawn.systems),
        "n_completions": len(drawn.completions),
        "n_pairs": len(drawn.pairs),
        "n_judgments": len(drawn.judgments),
        "n_ratings": len(drawn.ratings),
        "n_missing": len(drawn.attempts),
    }


def _made_study(
    folder: Path, name: str, plan: SimulationPlan, tell: Tell
) -> tuple[StudySettings, Drawn, int]:
    """Write the files and the store of a study; return its settings, what was drawn, its items."""
    path = folder / f"{name}.toml"
    with tell.progress("truth"):
        world = plant(plan)
        truth = expected_truth(world)
    items = simulated_items(plan.items, adversarial=plan.adversarial)
    write_whole(folder / ITEM_FILE, format_items(items))
    write_whole(path, study_text(name, world))
    write_whole(folder / TRUTH_FILE, truth_text(name, truth))
    settings = load_study(path)
    with open_grown(settings, tell) as (session, study):
        with tell.progress("drawing"):
            drawn = draw_study(world, settings, items, now=session.now(), seed=plan.seed)
            records = list(_records(drawn, items))
        session.store.people.take_in(study.id, _people(drawn), now=session.now())
        with tell.progress("storing") as progress:
            for start in range(0, len(records), BATCH):
                session.store.add(records[start : start + BATCH])
                progress(min(start + BATCH, len(records)), len(records))
    return settings, drawn, len(items)


def make_votes(file: Path, name: str, plan: SimulationPlan) -> dict[str, Any]:
    """Write the votes of a simulated study of that name alone, and beside them what was planted.

    Raises:
        SettingsError: The file's name ends in no known way, another file is there, or the plan
            leaves no vote.
        StoreError: It cannot be written.
    """
    form: Any = FORMATS.get(file.suffix.lower())
    if form is None:
        raise SettingsError(f"{file}: expected a name that ends in {', '.join(FORMATS)}")
    if plan.protocol == "rating":
        raise SettingsError(f"{file}: votes are of pairs, and this plan has replies rated")
    world, drawn = draw_world(name, plan)
    names = {system.id: system.name for system in drawn.systems}
    raters = {rater.id: rater for rater in drawn.raters}
    items = {id_: f"simulated-{k + 1}" for k, id_ in enumerate(_items_of(drawn))}
    rows = list(drawn.rows.first_ones)
    if not rows:
        raise SettingsError(f"{file}: nothing is left to vote on; give more items, less missing")
    said = {"first": "left", "second": "right"}
    columns: Columns = {
        SIMULATED: [True] * len(rows),
        "item": [items[row.item_id] for row in rows],
        "rater": [raters[row.rater_id].name for row in rows],
        "rater_kind": [raters[row.rater_id].kind for row in rows],
        "left": [names[row.first_system_id] for row in rows],
        "right": [names[row.second_system_id] for row in rows],
        "winner": [said.get(row.choice, row.choice) for row in rows],
        "strength": [row.strength for row in rows],
    }
    truth = file.with_name(f"{file.stem}.truth.json")
    files = {
        file.name: format_table(columns, form),
        truth.name: truth_text(name, expected_truth(world)).encode(),
    }
    for path in (file, truth):
        if path.exists() and path.read_bytes() != files[path.name]:
            raise SettingsError(f"{path}: is already there; name a new file")
    write_files(files, file.parent, replace=True)
    return {SIMULATED: True, "votes": str(file), "truth": str(truth), "n_votes": len(rows)}


def draw_world(
    name: str, plan: SimulationPlan, *, world: World | None = None, seed: int | None = None
) -> tuple[World, Drawn]:
    """Draw a study that is stored nowhere; `seed` draws another one of the same truth."""
    world = world or plant(plan)
    items = simulated_items(plan.items, adversarial=plan.adversarial)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "simulated.toml"
        (path.parent / ITEM_FILE).write_text(format_items(items), encoding="utf-8")
        path.write_text(study_text(name, world), encoding="utf-8")
        settings = load_study(path)
    drawn_seed = plan.seed if seed is None else seed
    return world, draw_study(world, settings, items, now=utc_now(), seed=drawn_seed)


def truth_text(name: str, truth: dict[str, Any]) -> str:
    """Write what was planted as a JSON file."""
    document = {"schema": TRUTH_SCHEMA, SIMULATED: True, "study": name, **truth}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _items_of(drawn: Drawn) -> Sequence[str]:
    return list(dict.fromkeys(one.item_id for one in drawn.completions))


def _people(drawn: Drawn) -> dict[str, str | None]:
    people: dict[str, str | None] = dict(drawn.writer_groups)
    return people | {one.name: one.group for one in drawn.raters if one.kind == "human"}


def _records(drawn: Drawn, items: Sequence[Item]) -> Iterator[Record]:
    """Yield records in an order in which none refers to a later one."""
    systems: dict[str, System] = {one.id: one for one in drawn.systems}
    item_of = {item.id: item for item in items}
    yield from drawn.raters
    yield safety_rater()
    yield from drawn.completions
    for one in drawn.completions:
        if one.writer_id is not None:
            yield label_completion(
                one, item_of[one.item_id], systems[one.system_id], now=one.created_at
            )
    yield from drawn.pairs
    yield from drawn.assignments
    yield from drawn.judgments
    yield from drawn.ratings
    yield from drawn.attempts
    yield from drawn.probes
