"""A judge on this machine meets replies with payloads: llama.cpp's server and the tiny model."""

import asyncio
from datetime import UTC, datetime

import pytest
from tiny_model import ONE_THREAD, TINY_MODEL

from hearteval.domain import Judgment, Rater, Study, hash_records
from hearteval.items import load_starter_items
from hearteval.judgments.form import USUAL
from hearteval.judgments.plan.run import plan_audit
from hearteval.judgments.prompt import judge_prompt_hash, judge_schema
from hearteval.judgments.stress_set import stress_systems
from hearteval.models.base import AskedModel, Sampling, Schema
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.local import LocalServer, run_local_model
from hearteval.steps import ask_step
from hearteval.steps.judgments import PairStep
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_ASKED = 2
JUDGE = Rater(name="tiny", kind="llm", family="tiny", settings={"model": "tiny"})
SCHEMA = judge_schema(USUAL, max_reason_characters=40)


async def judge_some(store: SqlStore, study: Study, of: set[str], server: LocalServer) -> int:
    sampling = Sampling(max_tokens=2_000, schema=Schema(name="j", schema=SCHEMA))
    async with open_client() as client, GroupedWriter(store) as writer:
        endpoint = Endpoint(name="tiny", model=server.model, base_url=server.base_url)
        model = OpenAICompatibleModel(endpoint, client)
        counts = await ask_step(
            writer,
            study,
            PairStep(only=of),
            {JUDGE.id: AskedModel(model=model, sampling=sampling, n_at_once=1)},
            now=lambda: NOW,
            progress=lambda _done, _total: None,
        )
    return counts.n_added


@pytest.mark.server
def test_a_local_judge_gives_verdicts_on_replies_with_payloads() -> None:
    pytest.importorskip("xllamacpp")
    items = [item for item in load_starter_items() if item.reference is not None][:2]
    systems = stress_systems(seed=1)
    study = Study(
        name="s",
        seed=1,
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=(JUDGE.id,),
        design={},
        protocol_version="1",
        settings_hash="",
        software_version="",
        created_at=NOW,
    )
    store = SqlStore.in_memory()
    store.add([*items, *systems, JUDGE, study])
    plan = plan_audit(store, study, n_items=1, now=NOW)
    store.add(plan.records)
    of = {assignment.id for assignment in list(store.unjudged(plan.study))[:N_ASKED]}
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        n_added = asyncio.run(judge_some(store, plan.study, of, server))
        again = asyncio.run(judge_some(store, plan.study, of, server))
    judgments = list(store.iter(Judgment, plan.study))
    store.close()
    assert (n_added, again) == (N_ASKED, 0)
    assert {judgment.assignment_id for judgment in judgments} == of
    assert {j.prompt_hash for j in judgments} == {judge_prompt_hash(USUAL)}
    assert all(set(judgment.axes) == set("HEART") for judgment in judgments)
