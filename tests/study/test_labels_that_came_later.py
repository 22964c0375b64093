"""A store from before an item had a label goes on with the item as it is there."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from small_world import make_item

from hearteval.items.run import GatheredItems
from hearteval.store.sql import SqlStore
from hearteval.study.grow import as_stored


def gathered(**labels: Any) -> GatheredItems:
    item = replace(make_item(1), **labels)
    return GatheredItems(items=(item,), screenings=(), funnel=(), shortfall={}, source="test")


def stored(tmp_path: Path, items: GatheredItems) -> SqlStore:
    store = SqlStore.open(str(tmp_path / "s.db"))
    store.add(items.items)
    return store


def test_an_item_without_the_label_stays_as_it_is_stored(tmp_path: Path) -> None:
    store = stored(tmp_path, gathered())
    assert as_stored(store, gathered(cue="implicit", culture="Irish")) == gathered()
    store.close()


def test_an_item_that_the_store_does_not_hold_keeps_its_label(tmp_path: Path) -> None:
    store = SqlStore.open(str(tmp_path / "s.db"))
    assert as_stored(store, gathered(cue="implicit")) == gathered(cue="implicit")
    store.close()


def test_another_label_and_any_other_change_are_left_for_the_store_to_refuse(
    tmp_path: Path,
) -> None:
    store = stored(tmp_path, gathered(cue="explicit"))
    for other in (gathered(cue="implicit"), gathered(emotion="anger")):
        assert as_stored(store, other) == other
    store.close()


def test_starter_items_that_were_labelled_anew_stay_as_they_are_stored(tmp_path: Path) -> None:
    before = gathered(source="starter", cue="explicit")
    store = stored(tmp_path, before)
    assert as_stored(store, gathered(source="starter", cue="implicit", edge=("risk",))) == before
    other = gathered(source="starter", cue="explicit", emotion="anger")
    assert as_stored(store, other) == other
    store.close()
