"""What an analysis reads is what was written: each edit of it ends the read, on both databases."""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from kept_store import make_store
from small_world import make_item, make_world
from sqlalchemy import Engine, event, text
from store_edits import EDITS

from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Judgment,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Study,
    System,
    content_hash,
)
from hearteval.errors import StoreError
from hearteval.store.engines import open_engine
from hearteval.store.integrity.as_read import AS_READ
from hearteval.store.integrity.fingerprint import fingerprint_of
from hearteval.store.integrity.seal import content_of
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
READ = (Item, System, Rater, Completion, Pair, Attempt, Rating, LatencyProbe)
OF_NO_RESULT = {
    "a reply replaced",
    "a cost changed",
    "a time changed",
    "a verdict of a screening changed",
    "a paid reply made cheaper",
    "a paid reply deleted",
}
"""Edits of what results do not rest on, and costs, of which they say sums."""
NOTICED = {name: edit for name, edit in EDITS.items() if name not in OF_NO_RESULT} | {
    "a label added": (
        "INSERT INTO labels SELECT * FROM (SELECT substr(content, 1, 16) AS id, completion_id,"
        " judgment_id, taxonomy, 'other' AS category, verdict, probability, evidence, rater_id,"
        " created_at, item_id, score, taxonomy_version, content FROM labels) AS others LIMIT 1"
    ),
}


def read_all(place: str) -> None:
    """Read what `hearteval.study.results` reads of a store's studies."""
    with closing(SqlStore.open_to_read(place)) as store:
        for name in {study.id for study in store.iter(Study)}:
            study = store.latest_study(name)
            assert study is not None
            for kind in READ:
                list(store.iter(kind, study))
            list(store.unjudged(study))
            list(store.judgment_table(study))
            list(store.label_table(study))


@contextmanager
def statements_about(table: str) -> Iterator[list[str]]:
    """Collect the statements that read a table."""
    said: list[str] = []

    def hear(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
        if f"FROM {table}" in statement:
            said.append(statement)

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield said
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


def change(place: str, edit: str) -> None:
    engine, _ = open_engine(place)
    try:
        with engine.begin() as connection:
            for statement in edit.split(";"):
                assert connection.execute(text(statement)).rowcount > 0
    finally:
        engine.dispose()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a file, of which tests take copies."""
    path = tmp_path_factory.mktemp("kept") / "study.db"
    make_store(str(path))
    return path


@pytest.fixture(params=["file", pytest.param("server", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, kept: Path, tmp_path: Path) -> str:
    if request.param == "file":
        return str(shutil.copy(kept, tmp_path))
    made = str(request.getfixturevalue("postgres_url"))
    make_store(made)
    return made


def fingerprints(place: str) -> dict[str, str | None]:
    """Return the fingerprint of each study of a store, by its name."""
    with closing(SqlStore.open_to_read(place)) as store:
        names = {study.name for study in store.iter(Study)}
    return {name: fingerprint_of(place, name) for name in names}


def require_noticed(place: str, edit: str) -> None:
    """It ends a read, and is a change to a run with nothing to do."""
    read_all(place)
    before = fingerprints(place)
    assert before == fingerprints(place)
    change(place, edit)
    assert fingerprints(place) != before
    with pytest.raises(StoreError, match="`heart store verify`"):
        read_all(place)


@pytest.mark.parametrize("edit", NOTICED.values(), ids=NOTICED)
def test_an_edit_is_noticed(kept: Path, tmp_path: Path, edit: str) -> None:
    require_noticed(str(shutil.copy(kept, tmp_path)), edit)


@pytest.mark.postgres
@pytest.mark.parametrize("name", ["an axis flipped", "a judgment slipped in", "a rating deleted"])
def test_an_edit_is_noticed_on_postgresql(postgres_url: str, name: str) -> None:
    make_store(postgres_url)
    require_noticed(postgres_url, NOTICED[name])


def test_what_was_said_in_another_study_is_seen_by_its_sum_alone(place: str) -> None:
    """So that a run reads what its own study holds, however many stand beside it."""
    before = fingerprints(place)
    change(place, EDITS["a strength changed"])
    after = fingerprints(place)
    changed = {name for name in before if after[name] != before[name]}
    assert len(changed) == 1
    assert changed < before.keys()
    with closing(SqlStore.open(place)) as store:
        store.add([make_item(7)])
    later = fingerprints(place)
    assert {name for name in before if later[name] != after[name]} == before.keys()


def test_no_more_than_the_totals_is_read_where_more_came(place: str) -> None:
    """So that a run with new data does not read all of the store to learn that it is another."""
    before = fingerprints(place)
    assert before == {name: fingerprint_of(place, name, like=str(before[name])) for name in before}
    with closing(SqlStore.open(place)) as store:
        store.add([make_item(7)])
    for name, after in fingerprints(place).items():
        of_totals = fingerprint_of(place, name, like=str(before[name]))
        assert of_totals == str(after)[:64] != str(before[name])[:64]


def test_who_was_asked_what_is_compared_where_it_is_read_alone(place: str) -> None:
    change(place, EDITS["an order turned"])
    with closing(SqlStore.open_to_read(place)) as store:
        (study,) = (one for one in store.iter(Study) if one.name == "small")
        with pytest.raises(StoreError, match="`heart store verify`"):
            list(store.iter(Assignment, study))


def test_completions_are_read_once_where_the_study_hides_none() -> None:
    world, store = make_world(), SqlStore.in_memory()
    store.add(world.records)
    with statements_about("completions") as said:
        assert list(store.iter(Completion, world.study))
    assert len(said) == 1


def test_a_hash_of_ids_alone_is_that_of_their_canonical_json(place: str) -> None:
    with closing(SqlStore.open_to_read(place)) as store:
        records: list[Pair | Assignment] = [*store.iter(Pair), *store.iter(Assignment)]
    for one in records:
        fields = {name: value for name, value in asdict(one).items() if value is not None}
        kind = type(one).__name__.lower()
        assert content_of(one) == content_hash({"kind": kind, **fields})[:32]


def calls_of_judges(store: SqlStore) -> dict[str, tuple[int, float]]:
    """How many calls of each judge of the study there were, and what they cost."""
    (study,) = (one for one in store.iter(Study) if one.name == "small")
    found: dict[str, tuple[int, float]] = {}
    for sums in store.call_sums(study):
        if sums["step"] == "judgments":
            n, usd = found.get(sums["owner_id"], (0, 0.0))
            found[sums["owner_id"]] = (n + sums["n_calls"], usd + sums["usd"])
    return found


def test_what_calls_of_judges_cost_is_added_up_as_they_come(place: str) -> None:
    with closing(SqlStore.open(place)) as store:
        (study,) = (one for one in store.iter(Study) if one.name == "small")
        judged = {one.assignment_id: one for one in store.iter(Judgment, study)}
        spent = {one.id: one.rater_id for one in store.iter(Assignment, study) if one.id in judged}
        open_ones = list(store.unjudged(study))
        for number, one in enumerate(open_ones):
            call = replace(next(iter(judged.values())).call, cost=0.01 * number, cached=False)
            judgment = Judgment(
                assignment_id=one.id, choice="tie", strength=None, call=call, created_at=NOW
            )
            store.add([judgment])
            judged[one.id], spent[one.id] = judgment, one.rater_id
        with statements_about("judgments") as said:
            found = calls_of_judges(store)
    assert open_ones
    assert said == []
    for rater_id, (n_calls, usd) in found.items():
        own = [judged[id_].call.cost or 0 for id_, rater in spent.items() if rater == rater_id]
        assert n_calls == len(own)
        assert usd == pytest.approx(sum(own), abs=1e-12)
    assert found.keys() == set(spent.values())


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE call_sums SET n_calls = n_calls + 1",
        "UPDATE call_sums SET pico_usd = pico_usd + 1, n_priced = n_priced + 1",
        "DELETE FROM call_sums",
    ],
)
def test_sums_of_calls_that_were_changed_are_made_again_of_the_judgments(
    place: str, edit: str
) -> None:
    with closing(SqlStore.open_to_read(place)) as store:
        before = calls_of_judges(store)
    change(place, edit)
    with closing(SqlStore.open_to_read(place)) as store:
        assert calls_of_judges(store) == before
    with closing(SqlStore.open(place)) as store:
        assert calls_of_judges(store) == before
        with statements_about("judgments") as said:
            assert calls_of_judges(store) == before
    assert said == []


def test_a_store_whose_sum_is_gone_is_checked_too(place: str) -> None:
    change(place, f"DELETE FROM totals WHERE kind = '{AS_READ}';{EDITS['a choice flipped']}")
    with pytest.raises(StoreError, match=r"the judgment .*: its content is not what was written"):
        read_all(place)


def test_judgments_that_nobody_changed_are_read_without_a_look_at_their_records(place: str) -> None:
    with closing(SqlStore.open_to_read(place)) as store:
        (study,) = (one for one in store.iter(Study) if one.name == "small")
        with statements_about("judgments") as said:
            assert list(store.judgment_table(study))
    assert said == []


def test_judgments_that_come_while_others_are_read_are_no_damage(place: str) -> None:
    with closing(SqlStore.open(place)) as store, closing(SqlStore.open(place)) as other:
        (study,) = (one for one in store.iter(Study) if one.name == "small")
        batches = store.judgment_table(study)
        next(batches)
        open_one = next(other.unjudged(study))
        judgment = Judgment(assignment_id=open_one.id, choice="tie", strength=None, created_at=NOW)
        other.add([judgment])
        list(batches)
        assert judgment.assignment_id in {
            id_ for batch in store.judgment_table(study) for id_ in batch["assignment_id"]
        }


def test_no_verb_says_anything_of_choices_that_were_flipped(heart: Heart, study: Path) -> None:
    heart("run", study)
    assert heart("run", study).code == 0
    store = study.parent / "tiny.db"
    change(
        str(store),
        "UPDATE judgments SET choice = CASE choice WHEN 'first' THEN 'second' ELSE 'first' END"
        " WHERE choice <> 'tie' AND rowid % 2 = 0",
    )
    with closing(SqlStore.open(str(store))) as opened:
        known = {judgment.id for judgment in opened.iter(Judgment)}
    for verb in ("report", "analyze", "run"):
        done = heart(verb, study)
        assert done.code == 1
        assert "`heart store verify`" in done.err
        assert any(id_ in done.err for id_ in known)
