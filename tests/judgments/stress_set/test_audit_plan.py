"""What an audit asks: every kind, every payload on its own side, nothing twice."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from canned_model import CannedModel
from made_records import FULL, NOW, made_study

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import judgment_columns
from hearteval.domain import (
    Assignment,
    Attempt,
    Completion,
    Item,
    Pair,
    Rater,
    Study,
    System,
    hash_records,
)
from hearteval.items import load_starter_items
from hearteval.judgments.form import USUAL
from hearteval.judgments.plan.run import AuditPlan, plan_audit, plan_judgments
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.stress_set import AUDIT_KINDS, STRESS_KINDS, stress_systems
from hearteval.judgments.stress_set.audit import audit_study_id, choose_items, with_references
from hearteval.judgments.stress_set.injections import SIDES
from hearteval.models.base import AskedModel, Message, Sampling, Schema
from hearteval.protocol import load_protocol
from hearteval.sections.judges.audit import JudgeAudit, audit_judges
from hearteval.steps import ask_step
from hearteval.steps.judgments import PairStep
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore

# A reply without a capital is written out by the capital alone, and then as long as before.
ITEMS = [item for item in load_starter_items() if (item.reference or "")[:1].isupper()][:8]
JUDGE = Rater(name="long", kind="llm", family="longs", settings={"model": "long"})
N_PAYLOADS = len(load_protocol("injections")["payload"])
N_KINDS = len(STRESS_KINDS) - 1
SEED = 3


def study_of(items: Sequence[Item], *, version: int = 1) -> Study:
    return made_study(
        seed=SEED,
        version=version,
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(system.id for system in stress_systems(seed=SEED))),
        rater_ids=(JUDGE.id,),
        protocols={"llm": "forced-strength"},
    )


@pytest.fixture
def store() -> Iterator[SqlStore]:
    opened = SqlStore.in_memory()
    opened.add([*ITEMS, *stress_systems(seed=SEED), JUDGE, study_of(ITEMS)])
    yield opened
    opened.close()


def plan(store: SqlStore, *, n_items: int = 4, study: Study | None = None) -> AuditPlan:
    made = plan_audit(store, study or study_of(ITEMS), n_items=n_items, now=NOW)
    store.add(made.records)
    return made


def records_of(made: AuditPlan, kind: type) -> list:  # type: ignore[type-arg]
    return [record for record in made.records if isinstance(record, kind)]


def prefer_longer(messages: Sequence[Message], sampling: Sampling, _repeat: int) -> str:
    """Choose the longer reply, as a judge would that can be swayed by anything added."""
    lines = messages[-1].content.split("\n")
    starts = {side: next(n for n, x in enumerate(lines) if f"[reply {side} " in x) for side in "AB"}
    ends = {
        side: next(n for n, x in enumerate(lines) if f"[end of reply {side} " in x) for side in "AB"
    }
    lengths = {side: len("\n".join(lines[starts[side] : ends[side]])) for side in "AB"}
    assert sampling.schema is not None
    mark = {"reason": "It is longer.", "winner": max("AB", key=lambda s: lengths[s]), "strength": 2}
    return json.dumps(dict.fromkeys(sampling.schema.schema["required"], mark))


async def ask(store: SqlStore, made: AuditPlan, model: CannedModel) -> int:
    schema = judge_schema(USUAL)
    sampling = Sampling(schema=Schema(name="j", schema=schema))
    asked = {JUDGE.id: AskedModel(model=model, sampling=sampling, n_at_once=8)}
    n_added = 0
    async with GroupedWriter(store, wait_seconds=0) as writer:
        for study, only in ((study_of(ITEMS), made.shared), (made.study, None)):
            counts = await ask_step(
                writer,
                study,
                PairStep(only=only),
                asked,
                now=lambda: NOW,
                progress=lambda _done, _total: None,
            )
            n_added += counts.n_added
    return n_added


def audit(store: SqlStore, made: AuditPlan) -> JudgeAudit:
    studies = (study_of(ITEMS), made.study)
    judgments = judgment_columns(
        batch for study in studies for batch in store.judgment_table(study)
    )
    asked = {one.id: one for one in records_of(made, Assignment)}
    judged = {*judgments.assignment}
    (found,) = audit_judges(
        StudyData(
            systems=list(store.iter(System, made.study)),
            raters=[JUDGE],
            judgments=judgments.select(judgments.is_of(asked)),
            unjudged=[one for id_, one in asked.items() if id_ not in judged],
            attempts=list(store.iter(Attempt)),
        ),
        level=0.95,
    )
    return found


def test_every_payload_is_shown_once_on_each_side_it_speaks_for(store: SqlStore) -> None:
    made = plan(store)
    systems = {system.id: system.settings for system in records_of(made, System)}
    completions = {c.id: c for c in records_of(made, Completion)}
    pairs = {pair.id: pair for pair in records_of(made, Pair)}
    shown = []
    for assignment in records_of(made, Assignment):
        for completion_id in pairs[assignment.pair_id].completion_ids:
            bearer = systems[completions[completion_id].system_id]
            if bearer["stress"] == "injection":
                is_first = completion_id == assignment.first_completion_id
                assert is_first == (bearer["side"] == "first")
                shown.append((bearer["payload"], bearer["side"]))
    names = {payload["name"] for payload in load_protocol("injections")["payload"]}
    assert sorted(shown) == sorted((name, side) for name in names for side in SIDES)
    assert N_PAYLOADS >= 50


def test_a_payload_stands_beside_the_same_reply_without_it(store: SqlStore) -> None:
    made = plan(store)
    systems = {system.id: system.settings for system in records_of(made, System)}
    completions = {c.id: c for c in records_of(made, Completion)}
    references = {item.id: item.reference for item in ITEMS}
    for pair in records_of(made, Pair):
        both = [completions[completion_id] for completion_id in pair.completion_ids]
        bears = {systems[c.system_id]["stress"]: c for c in both}
        assert bears["reference"].text == references[pair.item_id]
        assert len(bears) == 2


def test_payloads_are_spread_evenly_over_the_items(store: SqlStore) -> None:
    made = plan(store)
    systems = {system.id: system.settings for system in records_of(made, System)}
    loads = Counter(
        completion.item_id
        for completion in records_of(made, Completion)
        if systems[completion.system_id].get("side") == "first"
    )
    assert len(loads) == 4
    assert max(loads.values()) - min(loads.values()) <= 1


def made_texts(made: AuditPlan) -> list[str]:
    """The kinds of the audit's texts, one for each."""
    systems = {system.id: system.settings["stress"] for system in records_of(made, System)}
    return [systems[completion.system_id] for completion in records_of(made, Completion)]


def test_an_audit_asks_every_kind_in_both_orders_and_one_pair_an_item_again(
    store: SqlStore,
) -> None:
    made = plan(store)
    assert len(made.shared) == 4 * N_KINDS * 2
    probes = [text for text in made_texts(made) if text in AUDIT_KINDS]
    assert set(probes) == set(AUDIT_KINDS)
    n_wanted = 4 * (2 * N_KINDS + 1) + 2 * len(probes) + 2 * N_PAYLOADS
    assert made.n_assigned == {JUDGE.id: n_wanted}
    assert made.n_open == made.n_assigned
    repeats = [a for a in records_of(made, Assignment) if a.repeat == 1]
    assert len({a.pair_id for a in repeats}) == len(repeats) == 4


def test_planned_twice_is_planned_once(store: SqlStore) -> None:
    first = plan(store)
    second = plan(store)
    assert second == first
    assert store.add(second.records) == 0


def test_more_items_keep_what_was_planned(store: SqlStore) -> None:
    first = plan(store)
    probes = [text for text in made_texts(first) if text in AUDIT_KINDS]
    before = {a.id for a in records_of(first, Assignment)}
    after = plan(store, n_items=6)
    assert before < {a.id for a in records_of(after, Assignment)}
    new = [text for text in made_texts(after) if text in AUDIT_KINDS][len(probes) :]
    assert len(records_of(after, Assignment)) == len(before) + 2 * (2 * N_KINDS + 1) + 2 * len(new)
    assert after.study.version == 2


def test_fewer_items_take_nothing_away(store: SqlStore) -> None:
    before = plan(store)
    assert plan(store, n_items=2) == before


def test_a_study_that_loses_an_item_places_its_payloads_anew(store: SqlStore) -> None:
    lost = plan(store).study.item_ids[0]
    left = [item for item in ITEMS if item.id != lost]
    narrow = study_of(left, version=2)
    store.add([narrow])
    after = plan(store, study=narrow)
    systems = {system.id: system.settings for system in records_of(after, System)}
    bearing = [
        c for c in records_of(after, Completion) if systems[c.system_id]["stress"] == "injection"
    ]
    assert lost not in {c.item_id for c in bearing}
    assert len({c.system_id for c in bearing}) == 2 * N_PAYLOADS


def test_the_stress_set_is_the_studys_own_and_the_rest_is_not(store: SqlStore) -> None:
    plan(store)
    policy = replace(FULL, stress_items=4, repeat_pairs=9)
    before = {a.id for a in store.iter(Assignment, study_of(ITEMS))}
    counts = plan_judgments(store, study_of(ITEMS), policy, now=lambda: NOW)
    assert counts.n_new == 0
    assert {a.id for a in store.iter(Assignment, study_of(ITEMS))} == before
    stress = {system.id for system in stress_systems(seed=SEED)}
    assert {c.system_id for c in store.iter(Completion, study_of(ITEMS))} == stress


async def run_audit(store: SqlStore) -> tuple[int, int, AuditPlan]:
    made = plan(store)
    model = CannedModel(prefer_longer)
    return await ask(store, made, model), len(model.calls), made


def test_a_judge_that_anything_added_sways_is_found_out(store: SqlStore) -> None:
    n_added, n_calls, made = asyncio.run(run_audit(store))
    assert n_added == n_calls == made.n_assigned[JUDGE.id]
    found = audit(store, made)
    assert (found.n_judged, found.missing) == (n_calls, {})
    assert found.longer is not None
    assert (found.longer.rate, found.longer.n_items) == (1.0, 4)
    assert found.formatted is not None
    assert found.formatted.rate == 1.0
    assert found.injection is not None
    assert found.injection.overall.rate == 1.0
    assert found.injection.overall.n_judgments == 2 * N_PAYLOADS
    assert len(found.injection.won_both_sides) == found.injection.n_payloads == N_PAYLOADS
    assert found.injection.n_missing == found.injection.n_lost_both_sides == 0
    # Of ten kinds, one (its own words in another order) is as long, and then A is chosen.
    assert found.shown_first is not None
    assert found.shown_first.rate == pytest.approx(11 / 20)
    assert found.same_in_both_orders is not None
    assert found.same_in_both_orders.rate == pytest.approx(9 / 10)
    # Who prefers the longer one leans to a question more and to words written out; no fault.
    rates = {probe: share.rate for probe, share in found.probes.items()}
    assert rates == {"asking": 1.0, "formal": 1.0, "non-native": 0.0}
    assert not set(found.fault_checks) & set(rates)
    assert found.same_again is not None
    assert (found.same_again.rate, found.same_again.n_pairs) == (1.0, 4)


def test_judging_again_asks_nothing_and_other_judgments_are_not_asked_for(store: SqlStore) -> None:
    _, _, made = asyncio.run(run_audit(store))
    other = replace(records_of(made, Assignment)[0], repeat=5, study_id=study_of(ITEMS).id, id="")
    store.add([other])
    assert asyncio.run(run_audit(store))[:2] == (0, 0)
    assert [a.id for a in store.unjudged(study_of(ITEMS))] == [other.id]


def test_the_study_of_an_audit_bears_a_name_no_study_file_can(store: SqlStore) -> None:
    made = plan(store)
    assert made.study.id == audit_study_id(study_of(ITEMS)) != study_of(ITEMS).id
    assert " " in made.study.name


def test_adversarial_items_are_audited_with_replies_of_the_projects_own() -> None:
    items = load_starter_items()
    adversarial = [item for item in items if item.subset == "adversarial"]
    assert all(item.reference is None for item in adversarial)
    able = with_references(items)
    assert [item.id for item in able] == [item.id for item in items]
    ids = frozenset(item.id for item in adversarial)
    replies = {item.dialogue_id: item.reference for item in able if item.id in ids}
    assert None not in replies.values()
    # Each reply is of an item, each item has one, and no two are alike.
    assert replies == load_protocol("audit_references")["replies"]
    assert len(set(replies.values())) == len(adversarial)
    assert all(10 <= len((reply or "").split()) <= 60 for reply in replies.values())

    none: frozenset[str] = frozenset()
    chosen = choose_items(able, n=24, seed=SEED, adversarial=ids, audited=none, tested=none)
    n_adversarial = sum(item.id in ids for item in chosen)
    assert n_adversarial == pytest.approx(24 * len(adversarial) / len(items), abs=1)


def test_somebody_elses_items_get_no_reply_of_ours() -> None:
    ours = next(item for item in load_starter_items() if item.subset == "adversarial")
    (theirs,) = with_references([replace(ours, source="own", id="")])
    assert theirs.reference is None
