"""What a worker reads: a page at a time, however large the study."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from asked_study import AskedStudy, asked_study, judge, model_system, plan

from hearteval.domain import Assignment, Attempt, Judgment, Pair
from hearteval.items import load_starter_items
from hearteval.steps.judgments import PairStep
from hearteval.store import sql
from hearteval.store.base import Store

ITEMS = load_starter_items()
PAGE = 4
BEGIN = "8" * 32
MANY = (Assignment, Attempt, Judgment, Pair)


class Counted:
    """A store that counts the records it is asked for, of kinds that grow with a study."""

    def __init__(self, store: Store) -> None:
        self._store, self.n_read = store, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        def read(*args: Any, **settings: Any) -> Any:
            found = method(*args, **settings)
            is_lazy = isinstance(found, Iterator)
            return self._counted(found) if is_lazy else [*self._counted(iter(found))]

        return read if callable(method) else method

    def _counted(self, found: Iterator[Any]) -> Iterator[Any]:
        for one in found:
            page = one if isinstance(one, Sequence) else [one]
            self.n_read.update(type(each).__name__ for each in page if isinstance(each, MANY))
            yield one


def judged_world(n_items: int) -> AskedStudy:
    items = ITEMS[:n_items]
    texts = {name: [f"{name} {n}" for n in range(n_items)] for name in ("a", "b")}
    world = asked_study([*map(model_system, texts)], [judge("j")], items=items, texts=texts)
    plan(world)
    return world


def open_of(world: AskedStudy, store: Store | None = None) -> Iterator[Any]:
    raters = [world.study.rater_ids[0]]
    return PairStep().pages(store or world.store, world.study, raters, begin=BEGIN)


def test_page_of_a_large_study_reads_no_more_than_one_of_a_small_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sql, "PAGE_ROWS", PAGE)
    n_read = []
    for n_items in (8, 32):
        world = judged_world(n_items)
        counted = Counted(world.store)
        assert len(next(open_of(world, cast("Store", counted))).open_ones) == PAGE
        n_read.append(counted.n_read)

    assert n_read[0]["Assignment"] == n_read[1]["Assignment"] == PAGE
    assert n_read[0].keys() == n_read[1].keys() == {"Assignment", "Pair"}
    assert all(n["Pair"] <= PAGE for n in n_read)


def test_pages_go_once_around_from_where_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "PAGE_ROWS", PAGE)
    world = judged_world(8)

    found = [id_ for wanted in open_of(world) for id_ in wanted.open_ones]

    ids = sorted(one.id for one in world.store.unjudged(world.study))
    assert found == [id_ for id_ in ids if id_ >= BEGIN] + [id_ for id_ in ids if id_ < BEGIN]
    assert ids[0] < BEGIN < ids[-1]
