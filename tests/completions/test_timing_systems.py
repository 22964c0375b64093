"""The timing step: every call once, warm-up left out, few at a time, slow is measured as slow."""

import asyncio
from collections.abc import Iterator

import pytest
from asked_study import model_system
from canned_model import Answer, CannedModel
from made_records import NOW, made_study
from scripted_server import Ticking, chunk, running_server, stream, text_events
from scripted_server import sse as events

from hearteval.completions.latency import ProbePlan, ProbePolicy, plan_probes
from hearteval.domain import Attempt, Completion, Item, LatencyProbe, hash_records
from hearteval.errors import ModelCallError
from hearteval.items import load_starter_items
from hearteval.models.base import AskedModel, ChatModel, Message, Reply, Sampling
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.steps.completions import probe_systems
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore

ITEMS = load_starter_items()[:4]
ONE, TWO = (model_system(name, family=name) for name in ("one", "two"))
TIMED = Reply(text="I hear you.", first_text_ms=120.0, total_ms=300.0)
STUDY = made_study(
    item_ids=tuple(sorted(item.id for item in ITEMS)),
    items_hash=hash_records(ITEMS),
    system_ids=tuple(sorted((ONE.id, TWO.id))),
)


@pytest.fixture
def store() -> Iterator[SqlStore]:
    opened = SqlStore.in_memory()
    opened.add([*ITEMS, ONE, TWO, STUDY])
    yield opened
    opened.close()


def plan(
    store: SqlStore, *, n_items: int = 2, n_repeats: int = 3, concurrency: int = 1
) -> ProbePlan:
    policy = ProbePolicy(n_items=n_items, n_repeats=n_repeats, concurrency=concurrency)
    return plan_for(store, [ONE.id, TWO.id], policy)


def plan_for(store: SqlStore, system_ids: list[str], policy: ProbePolicy) -> ProbePlan:
    items, probes = store.iter(Item, STUDY), store.iter(LatencyProbe, STUDY)
    return plan_probes(STUDY, items, system_ids, policy, probes)


def probe(store: SqlStore, made: ProbePlan, **models: ChatModel) -> dict[str, int]:
    ids = {"one": ONE.id, "two": TWO.id}
    asked = {
        ids[name]: AskedModel(model=model, sampling=Sampling(), n_at_once=9)
        for name, model in models.items()
    }

    async def run() -> dict[str, int]:
        async with GroupedWriter(store, wait_seconds=0) as writer:
            counts = await probe_systems(
                writer, made, asked, now=lambda: NOW, progress=lambda _done, _total: None
            )
        return {
            "before": counts.n_before,
            "added": counts.n_added,
            "warm": len(made.warm_ups),
            **counts.missing,
        }

    return asyncio.run(run())


def timed(*_asked: object) -> Reply:
    return TIMED


def test_every_item_is_asked_so_often_and_the_first_call_is_left_out(store: SqlStore) -> None:
    one, two = CannedModel(timed), CannedModel(timed)
    assert probe(store, plan(store), one=one, two=two) == {"before": 0, "added": 12, "warm": 2}
    assert len(one.calls) == len(two.calls) == 2 * 3 + 1
    probes = list(store.iter(LatencyProbe, STUDY))
    assert {(p.system_id, p.repeat) for p in probes} == {
        (system.id, repeat) for system in (ONE, TWO) for repeat in range(3)
    }
    assert {(p.first_token_ms, p.total_ms, p.concurrency) for p in probes} == {(120.0, 300.0, 1)}


def test_nothing_is_measured_twice(store: SqlStore) -> None:
    probe(store, plan(store), one=CannedModel(timed), two=CannedModel(timed))
    again = plan(store)
    assert (again.open_ones, again.warm_ups) == ((), ())
    more = plan(store, n_repeats=4)
    assert len(more.open_ones) == 2 * 2
    assert {repeat for repeat, _, _ in more.open_ones} == {3}


def test_more_items_keep_those_measured(store: SqlStore) -> None:
    first = plan(store)
    probe(store, first, one=CannedModel(timed), two=CannedModel(timed))
    more = plan(store, n_items=3)
    assert set(first.items) < set(more.items)
    assert len(more.open_ones) == 3 * 2


def test_another_concurrency_is_measured_anew(store: SqlStore) -> None:
    probe(store, plan(store), one=CannedModel(timed), two=CannedModel(timed))
    crowded = plan(store, concurrency=4)
    assert len(crowded.open_ones) == crowded.n_wanted == 12
    probe(store, crowded, one=CannedModel(timed), two=CannedModel(timed))
    assert len(list(store.iter(LatencyProbe, STUDY))) == 24


def test_systems_take_turns(store: SqlStore) -> None:
    systems = [system_id for _, _, system_id in plan(store).open_ones]
    assert systems == sorted((ONE.id, TWO.id)) * 6


def test_completions_and_attempts_are_left_alone(store: SqlStore) -> None:
    lost = ModelCallError("slow", reason="timeout")
    answers: list[Answer] = [TIMED, lost, *([TIMED] * 5)]
    counts = probe(store, plan(store), one=CannedModel(answers), two=CannedModel(timed))
    assert counts == {"before": 0, "added": 11, "warm": 2, "timeout": 1}
    assert not list(store.iter(Completion))
    assert not list(store.iter(Attempt))
    assert len(plan(store).open_ones) == 1


def test_a_failure_that_all_calls_would_meet_ends_the_pass(store: SqlStore) -> None:
    bad = CannedModel([ModelCallError("no", reason="bad-key")])
    with pytest.raises(ExceptionGroup) as caught:
        probe(store, plan(store), one=bad, two=CannedModel(timed))
    assert caught.group_contains(ModelCallError)


class _Crowd:
    """A model that notes how many calls are under way at once."""

    name = "crowd"

    def __init__(self) -> None:
        self.now = self.most = 0

    async def complete(self, _messages: object, _sampling: object, *, repeat: int = 0) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):
            await asyncio.sleep(0)
        self.now -= 1
        return TIMED


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_are_under_way_than_asked_for(store: SqlStore, concurrency: int) -> None:
    crowd = _Crowd()
    probe(store, plan(store, concurrency=concurrency), one=crowd, two=crowd)
    assert crowd.most == concurrency


def test_a_slow_first_text_is_measured_apart_from_earlier_reasoning(
    store: SqlStore, ticking: Ticking
) -> None:
    reasoning = events(chunk({"role": "assistant", "reasoning_content": "Hm."}))
    answer = stream(reasoning, ticking.tick, text_events("I hear you."))

    async def measure() -> None:
        async with (
            running_server(answer) as server,
            open_client() as client,
            GroupedWriter(store) as writer,
        ):
            endpoint = Endpoint(name="slow", model="slow", base_url=server.url)
            model = OpenAICompatibleModel(endpoint, client)
            reply = await model.complete([Message(role="user", content="x")], Sampling())
            assert reply.text == "I hear you."
            policy = ProbePolicy(n_items=1, n_repeats=2, concurrency=1)
            await probe_systems(
                writer,
                plan_for(store, [ONE.id], policy),
                {ONE.id: AskedModel(model=model, sampling=Sampling(), n_at_once=1)},
                now=lambda: NOW,
                progress=lambda _done, _total: None,
            )

    asyncio.run(measure())
    probes = list(store.iter(LatencyProbe, STUDY))
    assert len(probes) == 2
    for found in probes:
        assert (found.first_reasoning_ms, found.first_token_ms) == (1000, 2000)
        assert found.total_ms is not None
        assert found.total_ms >= 2000
