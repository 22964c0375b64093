"""One class that every store passes."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_world import NOW, World, make_item, make_world

from hearteval.analysis.judgments import JudgmentRow
from hearteval.domain import (
    CHOICES,
    Assignment,
    Attempt,
    BatchJob,
    Call,
    Completion,
    Item,
    Judgment,
    Label,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    Study,
    System,
    unpack_marks,
)
from hearteval.errors import StoreError
from hearteval.store.base import Store
from hearteval.store.records import StoredReply
from hearteval.store.rows import LOOKUP_IDS, PAGE_ROWS
from hearteval.store.sql import SqlStore

LATER = datetime(2026, 2, 2, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture(
    params=["sqlite-file", "sqlite-memory", pytest.param("postgres", marks=[pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite-memory":
        opened = SqlStore.in_memory()
    elif request.param == "sqlite-file":
        opened = SqlStore.open(str(tmp_path / "study.db"))
    else:
        opened = SqlStore.open(request.getfixturevalue("postgres_url"))
    yield opened
    opened.close()


class TestStore:
    def test_returns_every_record_as_it_went_in(self, store: Store, world: World) -> None:
        assert store.add(world.records) == len(world.records)
        for record in world.records:
            assert record in list(store.iter(type(record)))
            assert record in list(store.iter(type(record), world.study))

    def test_adding_again_adds_nothing(self, store: Store, world: World) -> None:
        store.add(world.records)
        assert store.add(world.records) == 0
        assert len(list(store.iter(Judgment))) == 1

    def test_a_later_time_is_the_same_content(self, store: Store, world: World) -> None:
        store.add(world.records)
        assert store.add([replace(world.judgment, created_at=LATER)]) == 0
        assert next(store.iter(Judgment)).created_at == NOW

    def test_other_content_under_one_id_is_an_error(self, store: Store, world: World) -> None:
        store.add(world.records)
        changed = replace(world.judgment, choice="second")
        with pytest.raises(StoreError, match="already stored with another choice") as caught:
            store.add([changed])
        assert caught.value.ids == (changed.id,)
        assert next(store.iter(Judgment)).choice == "first"

    def test_a_batch_that_contradicts_itself_is_an_error(self, store: Store, world: World) -> None:
        with pytest.raises(StoreError, match="twice in one batch"):
            store.add([*world.records, replace(world.judgment, choice="second")])
        assert not list(store.iter(Item))

    def test_a_failing_batch_leaves_nothing(self, store: Store, world: World) -> None:
        store.add(world.records)
        with pytest.raises(StoreError):
            store.add([make_item(1), replace(world.judgment, choice="second")])
        assert [item.id for item in store.iter(Item)] == [world.item.id]

    def test_a_record_without_its_parent_is_refused(self, store: Store, world: World) -> None:
        with pytest.raises(StoreError, match="refers to one"):
            store.add([world.pair])
        assert not list(store.iter(Pair))

    def test_a_second_completion_of_one_target_is_refused(self, store: Store, world: World) -> None:
        store.add(world.records)
        with pytest.raises(StoreError, match="contradicts"):
            store.add([replace(world.completions[0], text="Something else.", id="")])

    def test_iteration_is_in_the_order_of_ids_across_pages(self, store: Store) -> None:
        items = [make_item(number) for number in range(PAGE_ROWS + 5)]
        store.add(items)
        found = [item.id for item in store.iter(Item)]
        assert found == sorted(item.id for item in items)

    def test_what_is_read_by_columns_is_whole_across_pages(
        self, store: Store, world: World
    ) -> None:
        repeats = range(1, PAGE_ROWS + 5)
        more = [replace(world.assignments[0], repeat=n, id="") for n in repeats]
        judged = [replace(world.judgment, assignment_id=one.id, id="") for one in more]
        store.add([*world.records, *more, *judged])
        ids = sorted(one.id for one in (*world.assignments, *more))
        assert [one.id for one in store.iter(Assignment, world.study)] == ids
        tables = list(store.judgment_table(world.study))
        found = [id_ for columns in tables for id_ in columns["assignment_id"]]
        assert len(tables) == 2
        assert found == [id_ for id_ in ids if id_ != world.assignments[1].id]

    def test_records_are_found_by_id_each_once_and_in_order(self, store: Store) -> None:
        items = [make_item(number) for number in range(LOOKUP_IDS + 5)]
        store.add(items)
        ids = [item.id for item in items[3:]]
        found = store.find(Item, [*ids, ids[0], "0" * 32])
        assert found == sorted(items[3:], key=lambda item: item.id)
        assert store.find(Item, []) == []

    def test_the_labels_of_an_adversarial_item_come_back(self, store: Store) -> None:
        item = replace(
            make_item(1),
            subset="adversarial",
            profile="mid-spike",
            reference=None,
            cue="explicit",
            resistance="stonewalling",
            intensities=(7,),
            id="",
        )
        store.add([item])
        assert list(store.iter(Item)) == [item]

    def test_iteration_may_be_interleaved_with_adding(self, store: Store) -> None:
        store.add([make_item(number) for number in range(3)])
        for number, _ in enumerate(store.iter(Item)):
            store.add([make_item(100 + number)])
        assert len(list(store.iter(Item))) == 6

    def test_an_iteration_with_a_study_leaves_out_what_is_not_its_own(
        self, store: Store, world: World
    ) -> None:
        other = make_item(9)
        stranger = System(name="three", kind="baseline", family="baseline")
        foreign = Completion(item_id=other.id, system_id=stranger.id, text="Hello.", created_at=NOW)
        store.add([*world.records, other, stranger, foreign])
        assert list(store.iter(Item, world.study)) == [world.item]
        assert foreign not in list(store.iter(Completion, world.study))
        assert stranger not in list(store.iter(System, world.study))

    def test_a_study_grows_by_versions(self, store: Store, world: World) -> None:
        store.add(world.records)
        other = make_item(9)
        grown = replace(world.study, version=2, item_ids=tuple(sorted((world.item.id, other.id))))
        assert store.add([other, grown]) == 2
        assert store.latest_study(world.study.id) == grown
        assert list(store.iter(Study, world.study)) == [world.study, grown]
        assert len(list(store.iter(Item, world.study))) == 1
        assert len(list(store.iter(Item, grown))) == 2

    def test_an_unknown_study_is_none(self, store: Store) -> None:
        assert store.latest_study("00" * 16) is None

    def test_unjudged_are_the_assignments_without_judgment(
        self, store: Store, world: World
    ) -> None:
        store.add(world.records)
        assert list(store.unjudged(world.study)) == [world.assignments[1]]

    def test_what_is_planned_and_judged_is_counted(self, store: Store, world: World) -> None:
        again = replace(world.assignments[0], repeat=1, id="")
        store.add([*world.records, again])
        rater, pair = world.rater.id, world.pair.id
        assert store.planned(world.study) == {(rater, 0): {pair: 2}, (rater, 1): {pair: 1}}
        counts = sorted(store.count_assigned(world.study))
        assert counts == [(rater, 0, 2, 1), (rater, 1, 1, 0)]
        shrunk = replace(world.study, version=2, system_ids=(world.systems[0].id,))
        store.add([shrunk])
        assert list(store.count_assigned(shrunk)) == []
        assert store.planned(shrunk) == store.planned(world.study)

    def test_what_replies_used_is_found_by_who_gave_them(self, store: Store, world: World) -> None:
        counted = {"input_tokens": 9, "output_tokens": 4}
        judged = replace(world.assignments[1], repeat=1, id="")
        verdict = replace(world.judgment, assignment_id=judged.id, call=Call(usage=counted), id="")
        store.add([*world.records, judged, verdict])
        assert list(store.usages(world.systems[1].id, n=5)) == [{"tokens": 3}]
        found = store.usages(world.rater.id, n=5)
        assert sorted(found, key=len) == [{}, counted]
        assert len(store.usages(world.rater.id, n=1)) == 1
        assert list(store.usages(world.item.id, n=5)) == []

    def test_what_came_since_a_read_is_in_the_next(self, store: Store, world: World) -> None:
        store.add(world.records)
        before = list(store.iter(Completion, world.study))
        n_judged = sum(count.n_judged for count in store.count_assigned(world.study))
        more = replace(world.completions[0], repeat=1, text="And then?", id="")
        judgment = replace(world.judgment, assignment_id=world.assignments[1].id, id="")
        store.add([more, judgment])
        assert sorted([*before, more], key=lambda one: one.id) == list(
            store.iter(Completion, world.study)
        )
        assert sum(count.n_judged for count in store.count_assigned(world.study)) == n_judged + 1

    def test_what_nobody_added_to_is_not_read_again(self, store: Store, world: World) -> None:
        store.add(world.records)
        once, again = (list(store.iter(Item, world.study)) for _ in range(2))
        assert once[0] is again[0]

    def test_a_reply_is_found_whole_once_its_record_holds_it(
        self, store: Store, world: World
    ) -> None:
        text = world.completions[0].text
        replies = [
            StoredReply(id=f"{n:032x}", reply={"text": text, "n": n}, cost=None, created_at=NOW)
            for n in range(3)
        ]
        store.keep_replies(replies[:2])
        store.add(world.records)
        store.keep_replies(replies[2:])
        assert [store.find_reply(reply.id) for reply in replies] == replies

    def test_settings_that_replies_share_are_held_once(self, store: Store, world: World) -> None:
        call = Call(requested={"temperature": 0.5}, effective={"seed": 3})
        store.add([world.item, *world.systems])
        store.add([replace(completion, call=call) for completion in world.completions])
        one, other = (completion.call for completion in store.iter(Completion))
        assert one == other == call
        assert one.requested is other.requested
        assert one.effective is other.effective

    def test_judgment_table_gives_the_analysis_columns(self, store: Store, world: World) -> None:
        store.add(world.records)
        (batch,) = store.judgment_table(world.study)
        assert tuple(batch) == JudgmentRow._fields
        assert [*batch["item_id"]] == [world.item.id]
        assert [*batch["first_system_id"]] == [world.systems[0].id]
        assert [*batch["second_system_id"]] == [world.systems[1].id]
        assert [CHOICES[place] for place in batch["choice"]] == ["first"]
        assert [*batch["strength"]] == [4]
        assert [*map(unpack_marks, batch["axes"])] == [world.judgment.axes]

    def test_label_table_gives_the_labels_of_texts(self, store: Store, world: World) -> None:
        of_item = replace(
            world.labels[0], completion_id=None, item_id=world.item.id, score=3, id=""
        )
        store.add([*world.records, of_item])
        own = sorted([*world.labels, of_item], key=lambda one: one.id)
        (batch,) = store.label_table(world.study)
        names = ("id", "text_id", "taxonomy", "category", "verdict", "score", "rater_id")
        assert tuple(batch) == names
        for name in names:
            assert batch[name] == [getattr(one, name) for one in own]
        assert list(store.find(Label, [of_item.id])) == [of_item]
        other = replace(world.study, version=2, system_ids=world.study.system_ids[1:])
        store.add([other])
        left = [id_ for each in store.label_table(other) for id_ in each["text_id"]]
        gone = {c.id for c in world.completions if c.system_id == world.study.system_ids[0]}
        assert gone.isdisjoint(left)
        assert world.item.id in left

    def test_labels_are_found_by_taxonomy_and_those_of_people_as_they_came(
        self, store: Store, world: World
    ) -> None:
        first = world.labels[0]
        ann, ben = (Rater(name=name, kind="human", family="human") for name in ("ann", "ben"))
        later = first.created_at + timedelta(minutes=1)
        of_ann = replace(first, taxonomy="made", rater_id=ann.id, created_at=later, id="")
        of_ben = replace(of_ann, rater_id=ben.id, created_at=first.created_at, id="")
        of_item = replace(of_ben, completion_id=None, item_id=world.item.id, id="")
        by_model = replace(of_ann, rater_id=world.rater.id, id="")
        store.add([*world.records, ann, ben, of_ann, of_ben, of_item, by_model])
        texts = [str(first.completion_id), world.item.id]
        assert store.labels_by_people("made", texts[:1]) == [of_ben, of_ann]
        assert set(store.labels_by_people("made", texts)) == {of_ann, of_ben, of_item}
        assert store.labels_by_people("other", texts) == []
        newer = replace(of_ann, taxonomy_version="2", id="")
        store.add([newer])
        assert store.labels_by_people("made", texts[:1]) == [of_ben, of_ann]
        assert store.labels_by_people("made", texts[:1], version="2") == [newer]
        assert set(store.labels_of(world.study, "made")) == {
            *(of_ann, of_ben, of_item, by_model, newer)
        }

    def test_judgment_table_leaves_out_attention_checks(self, store: Store, world: World) -> None:
        check = replace(world.assignments[0], check="second", repeat=1, id="")
        answer = replace(world.judgment, assignment_id=check.id, id="")
        store.add([*world.records, check, answer])
        (batch,) = store.judgment_table(world.study)
        assert [*batch["assignment_id"]] == [world.assignments[0].id]

    def test_judgment_table_gives_those_of_people_alone(self, store: Store, world: World) -> None:
        ann = Rater(name="ann", kind="human", family="human")
        asked = replace(world.assignments[0], rater_id=ann.id, id="")
        said = replace(world.judgment, assignment_id=asked.id, id="")
        store.add([*world.records, ann, asked, said])
        (batch,) = store.judgment_table(world.study, of_people=True)
        assert [*batch["assignment_id"]] == [asked.id]

    def test_text_that_databases_cannot_hold_comes_back_as_it_was(
        self, store: Store, world: World
    ) -> None:
        store.add(world.records)
        odd = replace(
            world.attempt,
            attempt=1,
            raw="nul \x00, half a pair \ud83d, mark \x1a",
            call=Call(usage={"note": "\x00 \udc00"}),
            id="",
        )
        marked = replace(world.attempt, attempt=2, raw="\x1astarts with the mark", id="")
        store.add([odd, marked])
        found = list(store.iter(Attempt))
        assert odd in found
        assert marked in found

    def test_ratings_are_of_their_study(self, store: Store, world: World) -> None:
        elsewhere = replace(world.rating, study_id="0" * 32, id="")
        store.add([*world.records, elsewhere])
        assert list(store.iter(Rating, world.study)) == [world.rating]
        assert len(list(store.iter(Rating))) == 2

    def test_failed_ratings_are_of_their_study(self, store: Store, world: World) -> None:
        failed = Attempt(**world.rating.target._asdict(), reason="timeout", created_at=NOW)
        elsewhere = replace(failed, study_id="0" * 32, id="")
        store.add([*world.records, failed, elsewhere])
        found = list(store.iter(Attempt, world.study))
        assert failed in found
        assert elsewhere not in found

    def test_latency_probes_are_of_their_study_and_its_members(
        self, store: Store, world: World
    ) -> None:
        other = make_item(9)
        elsewhere = replace(world.probe, study_id="0" * 32, id="")
        of_stranger = replace(world.probe, item_id=other.id, id="")
        store.add([*world.records, other, elsewhere, of_stranger])
        assert list(store.iter(LatencyProbe, world.study)) == [world.probe]
        assert len(list(store.iter(LatencyProbe))) == 3

    def test_labels_are_of_a_studys_completions_and_judgments(
        self, store: Store, world: World
    ) -> None:
        other = make_item(9)
        stranger = replace(world.completions[0], item_id=other.id, id="")
        elsewhere = replace(world.assignments[0], study_id="0" * 32, id="")
        foreign = replace(world.judgment, assignment_id=elsewhere.id, id="")
        own = world.labels
        others = (
            replace(own[0], completion_id=stranger.id, id=""),
            replace(own[1], judgment_id=foreign.id, id=""),
        )
        store.add([*world.records, other, stranger, elsewhere, foreign, *others])
        ordered = sorted(own, key=lambda label: label.id)
        assert list(store.iter(Label, world.study)) == ordered
        assert len(list(store.iter(Label))) == 4

    def test_a_rater_labels_a_category_of_a_text_once(self, store: Store, world: World) -> None:
        store.add(world.records)
        with pytest.raises(StoreError, match="another verdict"):
            store.add([replace(world.labels[0], verdict="absent")])

    def test_a_label_of_a_text_that_is_not_there_is_refused(
        self, store: Store, world: World
    ) -> None:
        store.add(world.records)
        with pytest.raises(StoreError, match="refers to one"):
            store.add([replace(world.labels[0], completion_id="0" * 32, id="")])

    def test_a_probe_at_another_concurrency_is_another_measurement(
        self, store: Store, world: World
    ) -> None:
        crowded = replace(world.probe, concurrency=8, first_token_ms=700.0, id="")
        assert store.add([*world.records, crowded]) == len(world.records) + 1
        with pytest.raises(StoreError, match="another first_token_ms"):
            store.add([replace(world.probe, first_token_ms=1.0)])

    def test_first_reply_under_an_id_stays(self, store: Store) -> None:
        kept = StoredReply(id="0" * 31 + "1", reply={"text": "é"}, cost=0.5, created_at=NOW)
        store.keep_replies([kept])
        store.keep_replies([replace(kept, reply={"text": "other"}, cost=9.0)])
        assert store.find_reply(kept.id) == kept
        assert store.spent_usd() == 0.5

    def test_what_a_second_reply_cost_is_spent_once(self, store: Store) -> None:
        kept = StoredReply(id="0" * 31 + "1", reply={"text": "é"}, cost=0.5, created_at=NOW)
        second = replace(kept, reply={"text": "other"}, cost=0.25, created_at=LATER)
        store.keep_replies([kept])
        for _ in range(2):
            store.keep_replies([second])
            assert store.find_reply(kept.id) == kept
            assert store.spent_usd() == 0.75

    def test_unknown_reply_is_none_and_nothing_is_spent(self, store: Store) -> None:
        store.keep_replies([])
        assert store.find_reply("0" * 32) is None
        assert store.spent_usd() == 0

    def test_unknown_costs_are_not_summed(self, store: Store) -> None:
        reply = StoredReply(id="0" * 32, reply={}, cost=None, created_at=NOW)
        store.keep_replies([reply, replace(reply, id="1" * 32, cost=0.25)])
        assert store.spent_usd() == 0.25

    def test_batch_job_is_kept_and_what_becomes_known_of_it(self, store: Store) -> None:
        job = BatchJob(
            id="2" * 32,
            provider="openai",
            model="m-1",
            custom_ids=("0" * 32, "1" * 32),
            created_at=NOW,
        )
        earlier = replace(job, id="3" * 32, created_at=datetime(2025, 1, 1, tzinfo=UTC))
        store.keep_job(job)
        store.keep_job(earlier)
        assert store.jobs() == [earlier, job]
        known = replace(job, remote_id="batch_1", custom_ids=("1" * 32,))
        store.keep_job(known)
        assert store.jobs() == [earlier, known]
        store.keep_job(replace(known, closed_at=LATER))
        assert [one.closed_at for one in store.jobs()] == [None, LATER]
