"""A release -> a study that continues it: its board frozen in a store, its study file to add to."""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.analysis.planner import measure_all
from hearteval.completions.baselines import BASELINES, baseline_texts
from hearteval.completions.baselines.borrowed import Missing
from hearteval.config import StudySettings, load_study
from hearteval.config.judging import OPPONENTS
from hearteval.config.study_file import read_toml
from hearteval.domain import (
    LEFT_OUT,
    Completion,
    Item,
    Study,
    System,
    hash_records,
    is_tombstone,
)
from hearteval.errors import NotIdentifiedError, SettingsError, StoreError, not_written
from hearteval.exchange.release import STUDY_FILE, Manifest, read_manifest
from hearteval.items.esconv import couplet_item, enumerate_couplets
from hearteval.items.run import read_dialogues
from hearteval.judgments.stress_set import stress_completions
from hearteval.report.text import plural
from hearteval.stats.planner.design import enough_opponents
from hearteval.store.base import Store
from hearteval.store.engines import holds_store
from hearteval.store.rows import TABLES
from hearteval.store.sql import PATIENCE_SECONDS, SqlStore
from hearteval.study import Tell, write_whole
from hearteval.study.grow import study_systems
from hearteval.study.release.computed import strange_members
from hearteval.study.release.loading import BATCH, load_people, open_release
from hearteval.study.release.study_file import CORPUS, ITEMS, NO_ADDRESS, format_study
from hearteval.study.results import read_data
from hearteval.study.session import Session, is_rated, study_id, utc_now
from hearteval.version import __version__

HEAD = """\
# The board of {name}, continued. Release {release}.
# {n} of it are frozen: they are asked no more, and no two of them are compared again.
#
# 1. Your system: take the marks away from the lines below and fill them in.
# 2. Its judges: write the address of each in place of {nowhere}, and key_name =
#    "MY_KEY" if it needs a key. Neither makes another judge of it, nor does its price.
# 3. heart run {file} --dry-run     what it asks and costs, and then without --dry-run
# 4. heart judges drift {file}      do the judges still judge as they did?
# 5. heart release {file} NEW --add {folder}

# [[system]]
# name = "my model"
# mine = true                             # the answer leads with it
# model = "openai-compatible/MODEL"       # the name its server knows it by
# base_url = "http://127.0.0.1:8080/v1"
# family = "mine"                         # no judge judges its own family
# price = 0                               # or {{ input = 0.5, output = 1.5 }}: dollars per million

"""


class Continued(NamedTuple):
    """A study that was made of a release."""

    path: Path
    release: Manifest
    systems: tuple[str, ...]
    """Of the board, by name."""
    to_fill_in: tuple[str, ...]
    """Judges whose address the release does not tell."""


def continue_release(release: Path, folder: Path, tell: Tell) -> Continued:
    """Make a folder with a study that holds a released board, to which systems can be added.

    Texts that the release leaves out are put back from the corpus in its folder ``esconv``.

    Raises:
        SettingsError: The folder holds such a study already, or texts are lacking that whoever
            joins must answer.
        StoreError: The release is not as it was made, or this version asks its judges otherwise.
    """
    manifest = read_manifest(release)
    path = folder / f"{manifest.name}.toml"
    if path.exists():
        raise SettingsError(f"{path}: is already there; choose another folder, or edit that file")
    with closing(open_release(release, tell)) as board:
        study = board.latest_study(manifest.study_id)
        assert study is not None
        _require_same_members(release, manifest, study)
        back = _put_back(release, board, study)
        described = study_systems(load_study(release / STUDY_FILE))
        ranked = [one.name for one in described if one.kind != "stress"]
        said = _said(release, folder, manifest, ranked, n=_opponents(release, board, study, tell))
        text = _head(release, path, manifest, ranked) + format_study(said)
        draft = folder / f".{path.name}"  # nobody takes a store that was not filled for a board
        try:
            _copy_files(release, folder)
            write_whole(draft, text)
            _fill(release, load_study(draft), board, back, tell)
            draft.replace(path)
        except OSError as error:
            raise not_written(folder, error) from error
        finally:
            draft.unlink(missing_ok=True)
    nowhere = [one for one in said.get("judge", ()) if one.get("base_url") == NO_ADDRESS]
    names = [str(one.get("name") or one.get("preset") or one.get("model")) for one in nowhere]
    return Continued(path, manifest, tuple(ranked), tuple(names))


def _require_same_members(release: Path, manifest: Manifest, study: Study) -> None:
    strange = strange_members(load_study(release / STUDY_FILE), study)
    if strange:
        raise StoreError(
            f"{release}: {', '.join(strange)}: this version, {__version__}, asks or makes them"
            f" otherwise, so that they would be others; continue it with hearteval"
            f" {manifest.heart_version}",
            ids=strange,
        )


def _head(release: Path, path: Path, manifest: Manifest, ranked: Sequence[str]) -> str:
    return HEAD.format(
        name=manifest.name,
        release=manifest.id[:16],
        n=plural(len(ranked), "system"),
        nowhere=NO_ADDRESS,
        file=path.name,
        folder=release.name,
    )


def _opponents(release: Path, board: Store, study: Study, tell: Tell) -> int:
    """Return how many opponents place a newcomer well enough, by the board's own votes."""
    if is_rated(study):  # nobody is compared
        return 0
    settings = load_study(release / STUDY_FILE)
    session = Session(settings=settings, store=board, tell=tell, now=utc_now)
    n_systems = sum(one.kind != "stress" for one in board.iter(System, study))
    try:
        known = measure_all(read_data(session, study), "judges", study.name)
    except NotIdentifiedError:
        return min(OPPONENTS, n_systems)
    return enough_opponents(
        known.basis.components,
        n_systems=n_systems,
        n_votes=max(1, len(settings.judging.judges)),
    )


def _said(
    release: Path, folder: Path, manifest: Manifest, ranked: Sequence[str], *, n: int
) -> dict[str, Any]:
    """Return what the study file of a release says, with its board as a pool for newcomers."""
    said = read_toml(release / STUDY_FILE)
    for table in said["items"] if isinstance(said["items"], list) else [said["items"]]:
        if "from" in table:
            table["from"] = Path(os.path.relpath(release / CORPUS, folder)).as_posix()
    for system in said.get("system", ()):
        system.pop("mine", None)
    judging = said["judging"]
    if judging.get("protocol") != "rating":
        judging.pop("comparisons", None)
        judging |= {"design": "newcomers", "opponents": max(n, judging.get("opponents", 1))}
    pool = {"release": manifest.id, "version": manifest.study_version, "systems": list(ranked)}
    return said | {"pool": pool}


def _copy_files(release: Path, folder: Path) -> None:
    """Copy the files that a study file names; the corpus stays where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("files", "models"):
        if (release / name).is_dir():
            shutil.copytree(release / name, folder / name, dirs_exist_ok=True)
    if (release / ITEMS).is_file():
        shutil.copyfile(release / ITEMS, folder / ITEMS)


def _fill(
    release: Path, settings: StudySettings, board: Store, back: Mapping[str, Any], tell: Tell
) -> None:
    """Store a board, with texts put back, where nothing of the study is stored yet."""
    if holds_store(settings.store, patience_seconds=PATIENCE_SECONDS):
        with closing(SqlStore.open(settings.store)) as store:
            if store.latest_study(study_id(settings)) is not None:
                raise StoreError(
                    f"{settings.store}: holds a study {settings.name!r} with this seed already, and"
                    " two boards cannot be one; name another folder, or another HEART_STORE"
                )
    with closing(SqlStore.open(settings.store)) as store, tell.progress("storing") as progress:
        for kind in TABLES:
            records = [back.get(one.id, one) for one in board.iter(kind)]
            for start in range(0, len(records), BATCH):
                store.add(records[start : start + BATCH])
                progress(min(start + BATCH, len(records)), len(records))
        load_people(release, store, study_id(settings))


def _put_back(release: Path, board: Store, study: Study) -> dict[str, Any]:
    """Return items and replies with their texts, by id, where the release left these out.

    An id is that of the very text, and the study holds a hash of its whole items: nothing else
    can take their place.

    Raises:
        SettingsError: Texts are lacking; it says where they belong.
    """
    items = list(board.iter(Item, study))
    closed = {one.id: one for one in board.iter(Item) if one.is_left_out}
    if not closed:
        return {}
    found = _from_corpus(release / CORPUS, closed.values())
    lacking = closed.keys() - found.keys()
    if lacking:
        raise SettingsError(
            f"{release}: the texts of {plural(len(lacking), 'dialogue')} are not in this release,"
            " and a new system has to answer them: put the ESConv corpus into"
            f" {release / CORPUS} (README.txt there says which files), and say this again",
            ids=sorted(lacking)[:5],
        )
    whole = [found.get(one.id, one) for one in items]
    if hash_records(whole) != study.items_hash:
        raise SettingsError(
            f"{release / CORPUS}: its dialogues are not quite those of this release, whose hash is"
            " another; take the corpus from where README.txt says"
        )
    left = {one.id: one for one in board.iter(Completion) if one.text == LEFT_OUT}
    made = _replies(board, study, whole)
    return found | {id_: replace(left[id_], text=made[id_]) for id_ in left.keys() & made.keys()}


def _from_corpus(folder: Path, closed: Iterable[Item]) -> dict[str, Item]:
    """Return closed items with the texts of a corpus, where there is one and ids prove them."""
    wanted = {(one.dialogue_id, one.turn_index): one for one in closed}
    if not any(folder.glob("*.json*")):
        return {}
    found = {}
    for dialogue in read_dialogues(folder):
        for couplet in enumerate_couplets(dialogue):
            old, new = wanted.get(couplet.place), couplet_item(couplet)
            if old is not None and old.id == new.id:
                texts = {name: getattr(new, name) for name in ("context", "reference", "situation")}
                found[old.id] = replace(old, **texts)
    return found


def _replies(board: Store, study: Study, items: Sequence[Item]) -> dict[str, str]:
    """Return, by id, what baselines and the stress set say to whole items."""
    systems = list(board.iter(System, study))
    presets = {one.id: one.settings.get("preset") for one in systems}
    told = partial(Completion, created_at=study.created_at)
    made = [
        told(item_id=item_id, system_id=id_, text=text)
        for id_, preset in presets.items()
        if preset in BASELINES
        for item_id, text in baseline_texts(preset, items, seed=study.seed).items()
        if not isinstance(text, Missing)
    ]
    made += stress_completions(
        items,
        [one for one in systems if one.kind == "stress"],
        [],
        n_items=study.design["stress_items"],
        seed=study.seed,
        now=lambda: study.created_at,
    )
    return {one.id: one.text for one in made if not is_tombstone(one)}
