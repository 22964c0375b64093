"""What is read, or is there already, waits for no writer: a run may hold the lock for long."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hearteval.domain import Assignment, Completion, Item, Judgment, Pair, Rater, Study, System
from hearteval.errors import StoreError
from hearteval.items import load_starter_items
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.run import plan_judgments
from hearteval.judgments.stress_set import stress_systems
from hearteval.steps.judgments import PairStep
from hearteval.store import engines
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ITEMS = load_starter_items()[:3]
SYSTEMS = [System(name=name, kind="model", family=name) for name in ("one", "two", "three")]
JUDGE = Rater(name="judge", kind="llm", family="other", settings={"model": "judge"})
PLAN = PlanPolicy(
    design="full",
    comparisons=None,
    both_orders=True,
    exclude_own_family=True,
    stress_items=2,
    repeat_pairs=4,
)


def now() -> datetime:
    return NOW


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Study]:
    """A store with a planned study, half of it judged; whoever waits for a lock fails at once."""
    monkeypatch.setattr(engines, "BUSY_TIMEOUT_SECONDS", 0)
    systems = [*SYSTEMS, *stress_systems(seed=1)]
    study = Study(
        name="s",
        seed=1,
        item_ids=tuple(sorted(item.id for item in ITEMS)),
        items_hash="",
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=(JUDGE.id,),
        design={},
        protocol_version="1",
        settings_hash="",
        software_version="",
        created_at=NOW,
    )
    place = str(tmp_path / "study.db")
    with closing(SqlStore.open(place)) as store:
        store.add([*ITEMS, *systems, JUDGE, study])
        store.add(
            [
                Completion(
                    item_id=item.id,
                    system_id=one.id,
                    text=f"I hear you, {one.name}.",
                    created_at=NOW,
                )
                for item in ITEMS
                for one in SYSTEMS
            ]
        )
        plan_judgments(store, study, PLAN, now=now)
        half = list(store.unjudged(study))[::2]
        store.add(
            [Judgment(assignment_id=a.id, choice="first", strength=3, created_at=NOW) for a in half]
        )
    return place, study


@pytest.fixture
def writer(planned: tuple[str, Study]) -> Iterator[sqlite3.Connection]:
    """Another process in the middle of a write."""
    with closing(sqlite3.connect(planned[0], isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_a_store_is_opened_and_read_while_another_process_writes(
    planned: tuple[str, Study], writer: sqlite3.Connection
) -> None:
    place, study = planned
    with closing(SqlStore.open(place, patience_seconds=0)) as store:
        n_assigned = len(list(store.iter(Assignment, study)))
        n_judged = sum(len(batch["choice"]) for batch in store.judgment_table(study))
        assert n_judged == (n_assigned + 1) // 2 > 0
        with pytest.raises(StoreError, match="another process holds it"):
            store.add([Rater(name="new", kind="llm", family="new")])


def test_a_plan_that_is_there_is_counted_without_writing(
    planned: tuple[str, Study], writer: sqlite3.Connection
) -> None:
    place, study = planned
    with closing(SqlStore.open(place, patience_seconds=0)) as store:
        plan = plan_judgments(store, study, PLAN, now=now)
        wanted = PairStep().find(store, study, {JUDGE.id})
        assert (plan.n_assignments, plan.n_new) == (len(list(store.iter(Assignment, study))), 0)
        # 9 pairs in both orders, 5 stress kinds on 2 items in both orders, 4 pairs again.
        assert plan.n_pairs == 9
        assert plan.n_assignments == 2 * 9 + 2 * plan.n_stress_pairs + 4
        assert wanted.n_wanted == plan.n_assignments
        assert wanted.n_open[JUDGE.id] == plan.n_assignments // 2


def test_a_plan_grows_by_what_is_new_alone(planned: tuple[str, Study]) -> None:
    place, study = planned
    with closing(SqlStore.open(place)) as store:
        n_before = len(list(store.iter(Assignment, study)))
        (first, *_) = store.iter(Item, study)
        late = System(name="late", kind="model", family="late")
        grown = Study(
            **{
                name: getattr(study, name)
                for name in Study.__dataclass_fields__
                if name not in ("id", "version", "system_ids")
            },
            version=2,
            system_ids=tuple(sorted((*study.system_ids, late.id))),
        )
        text = Completion(item_id=first.id, system_id=late.id, text="Me too.", created_at=NOW)
        store.add([late, grown, text])
        plan = plan_judgments(store, grown, PLAN, now=now)
        assert (plan.n_pairs, plan.n_new) == (12, 6)
        assert plan.n_assignments == n_before + 6 == len(list(store.iter(Assignment, grown)))
        assert len(list(store.iter(Pair, grown))) == 12 + plan.n_stress_pairs


@pytest.mark.parametrize("where", ["file", pytest.param("server", marks=pytest.mark.postgres)])
def test_what_comes_during_a_check_is_no_fault(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    is_file = where == "file"
    place = str(tmp_path / "study.db") if is_file else request.getfixturevalue("postgres_url")
    with closing(SqlStore.open(place)) as store, closing(SqlStore.open(place)) as other:
        store.add(ITEMS[:1])

        def add_others(_kind: str, _n: int) -> None:
            other.add(ITEMS)

        check = store.check(progress=add_others)
        assert check.faults == ()
        assert store.add(ITEMS) == 0
