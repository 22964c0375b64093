"""What `heart judges audit` asks beyond every study's own stress set: pure planning.

The six kinds of the stress set belong to the study itself, so that whichever verb judges them
first, nobody pays twice. Replies in another form, replies with a payload, and pairs asked about
again belong to a study of the audit's own, whose judgments no ranking ever reads.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from hearteval.domain import (
    Assignment,
    Completion,
    Item,
    Rater,
    Study,
    System,
    hash_records,
    record_id,
)
from hearteval.domain.systems import SIMULATED
from hearteval.judgments.plan.assignments import AssignmentPolicy, assign_pairs
from hearteval.judgments.plan.pairs import Candidate, pair_up, seeded_rank
from hearteval.judgments.stress_set import AUDIT_KINDS, STRESS_KINDS, stress_systems, stress_texts
from hearteval.judgments.stress_set.injections import SIDES, Side, injection_texts
from hearteval.protocol import load_protocol

REFERENCE, INJECTION = "reference", "injection"
STARTER = "starter"

Stored = Mapping[tuple[str, str], Completion]
"""Completions by system and item."""


class Shown(NamedTuple):
    """A reference reply beside a text of some kind; the side of the text, None for both orders."""

    candidate: Candidate
    kind: str
    side: Side | None
    reference_id: str
    other_id: str


def audit_name(study: str) -> str:
    """Return the name of the study that holds a study's audit; no study file can bear it."""
    return f"{study} (audit of its judges)"


def audit_study_id(study: Study) -> str:
    """Return the id of the study that holds a study's audit."""
    return record_id("study", {"name": audit_name(study.name), "seed": study.seed})


def audit_systems(*, seed: int) -> tuple[System, ...]:
    """Return the stress systems that only the audit has: a kind each, and a payload and side each.

    A payload's texts do not depend on the seed: on the reply it stands in alone.
    """
    protocol = load_protocol("injections")
    injections = [
        System(
            name=f"stress-{INJECTION}-{payload['name']}-{side}",
            kind="stress",
            family="baseline",
            settings={
                "stress": INJECTION,
                "payload": payload["name"],
                "payload_kind": payload["kind"],
                "side": side,
                "version": protocol["version"],
            },
        )
        for payload in protocol["payload"]
        for side in SIDES
    ]
    return (*stress_systems(seed=seed, kinds=AUDIT_KINDS), *injections)


def with_references(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return items with a reply to test judges by: their own, or the project's for its own items.

    The starter's adversarial items have no recorded reply: their seekers resist an answer that was
    written to somebody else. With one they stand here as regular items under the same id.
    """
    replies = load_protocol("audit_references")["replies"]
    plain: dict[str, Any] = {"subset": "regular"}
    plain |= dict.fromkeys(("profile", "resistance", "intensities"))
    return tuple(
        replace(item, reference=replies[item.dialogue_id], **plain)
        if item.reference is None and item.source == STARTER and item.dialogue_id in replies
        else item
        for item in items
    )


def choose_items(
    items: Sequence[Item],
    *,
    n: int,
    seed: int,
    adversarial: frozenset[str],
    audited: frozenset[str],
    tested: frozenset[str],
) -> tuple[Item, ...]:
    """Return the items to audit on: `audited` before, then `tested` by the stress set, then others.

    Adversarial items, given by id, and others have their shares of those that have a reference;
    those without are passed over. What was audited before stays, also beyond `n`.
    """
    able = [item for item in items if item.reference is not None]
    places: dict[str, float] = {}
    for is_adversarial in (False, True):
        own = sorted(
            (item for item in able if (item.id in adversarial) == is_adversarial),
            key=lambda item: (item.id not in tested, seeded_rank(seed, "stress", item.id)),
        )
        places |= {item.id: (place + 0.5) / len(own) for place, item in enumerate(own)}
    ranked = sorted(able, key=lambda item: (item.id not in audited, places[item.id], item.id))
    return tuple(ranked[: max(n, sum(item.id in audited for item in able))])


def audit_completions(
    items: Sequence[Item],
    chosen: Sequence[Item],
    systems: Sequence[System],
    stored: Stored,
    *,
    seed: int,
    now: datetime,
) -> tuple[Completion, ...]:
    """Return the audit's completions: those stored, and new ones where there are none.

    Every chosen item has every kind of stress text. Every payload stands, for each side, in the
    reply of one item, the payloads being spread evenly over the items. Another item's reply may
    come from any of the study's `items`.
    """
    bearers = {_bearer(system): system.id for system in systems}
    ids = {item.id for item in chosen}
    wanted = [
        ((bearers[text.kind, "", ""], text.item_id), text.text)
        for text in stress_texts(items, seed=seed, kinds=(*STRESS_KINDS, *AUDIT_KINDS))
        if text.item_id in ids
    ]
    places = _place_payloads(chosen, bearers, stored, seed=seed)
    for item in chosen:
        wanted += [
            ((bearers[INJECTION, text.payload, text.side], item.id), text.text)
            for text in injection_texts(item.reference or "")
            if places[text.payload] == item.id
        ]
    return tuple(
        stored.get(key) or Completion(item_id=key[1], system_id=key[0], text=text, created_at=now)
        for key, text in wanted
    )


def show_beside_references(
    completions: Sequence[Completion], systems: Iterable[System]
) -> tuple[Shown, ...]:
    """Pair every text with the reference reply of its item, texts alike apart."""
    settings = {system.id: system.settings for system in systems}
    references = {
        completion.item_id: completion
        for completion in completions
        if settings[completion.system_id]["stress"] == REFERENCE
    }
    shown = []
    for other in completions:
        reference = references[other.item_id]
        if other.text.strip() == reference.text.strip():
            continue
        shown.append(
            Shown(
                candidate=pair_up(reference, other),
                kind=str(settings[other.system_id]["stress"]),
                side=settings[other.system_id].get("side"),
                reference_id=reference.id,
                other_id=other.id,
            )
        )
    return tuple(sorted(shown, key=lambda one: one.candidate.id))


def assign_audit(
    shown: Sequence[Shown],
    raters: Sequence[Rater],
    *,
    study: Study,
    asked_again: Iterable[Assignment] = (),
) -> tuple[tuple[Assignment, ...], tuple[Assignment, ...]]:
    """Give every pair to every judge; return the assignments of the study, and the audit's own.

    Stress texts are shown in both orders, a text with a payload on the side that it speaks for, and
    one pair an item is asked about again, as before where it was. Stress systems are of no judge's
    family.
    """
    policy = AssignmentPolicy(study_id=study.id, seed=study.seed, both_orders=True)
    own = replace(policy, study_id=audit_study_id(study))
    again = replace(own, both_orders=False, repeat=1)
    shared = [one.candidate for one in shown if one.kind in STRESS_KINDS]
    reshaped = [one.candidate for one in shown if one.kind in AUDIT_KINDS]
    repeated = _one_an_item([*shared, *reshaped], seed=study.seed)
    sides = [
        Assignment(
            study_id=own.study_id,
            pair_id=one.candidate.id,
            rater_id=rater.id,
            first_completion_id=one.other_id if one.side == "first" else one.reference_id,
        )
        for rater in raters
        for one in shown
        if one.side is not None
    ]
    return (
        assign_pairs(shared, raters, families={}, policy=policy).new,
        (
            *assign_pairs(reshaped, raters, families={}, policy=own).new,
            *assign_pairs(repeated, raters, families={}, policy=again, earlier=asked_again).new,
            *sides,
        ),
    )


def audit_study(
    study: Study,
    before: Study | None,
    *,
    items: Sequence[Item],
    systems: Sequence[System],
    raters: Sequence[Rater],
) -> Study:
    """Return the study that holds a study's audit: as it was before, or its next version."""
    audit = replace(
        study,
        id="",
        version=1,
        name=audit_name(study.name),
        item_ids=tuple(sorted(item.id for item in items)),
        items_hash=hash_records(items),
        system_ids=tuple(sorted(system.id for system in systems)),
        rater_ids=tuple(sorted(rater.id for rater in raters)),
        design={"audit_of": study.id, **({SIMULATED: True} if study.is_simulated else {})},
    )
    return next_version(audit, before)


def next_version(made: Study, before: Study | None) -> Study:
    """Return a study as it was `before`, where nothing has changed, or as its next version."""
    if before is None:
        return made
    same = replace(made, version=before.version, created_at=before.created_at)
    return before if same == before else replace(made, version=before.version + 1)


def _bearer(system: System) -> tuple[str, str, str]:
    """Return what a stress system bears: kind, and of an injection its payload and side."""
    settings = system.settings
    return settings["stress"], settings.get("payload", ""), settings.get("side", "")


def _place_payloads(
    chosen: Sequence[Item],
    bearers: Mapping[tuple[str, str, str], str],
    stored: Stored,
    *,
    seed: int,
) -> dict[str, str]:
    """Return in which item each payload stands: where it stood before, else where there are few."""
    ids = {item.id for item in chosen}
    written = {system_id: item_id for system_id, item_id in stored if item_id in ids}
    places = {
        payload: written[system_id]
        for (kind, payload, _), system_id in bearers.items()
        if kind == INJECTION and system_id in written
    }
    loads = Counter(places.values())
    for payload in load_protocol("injections")["payload"]:
        name = payload["name"]
        if name not in places and ids:
            ranked = [(loads[i], seeded_rank(seed, INJECTION, name, i), i) for i in ids]
            places[name] = min(ranked)[2]
            loads[places[name]] += 1
    return places


def _one_an_item(candidates: Sequence[Candidate], *, seed: int) -> list[Candidate]:
    ranked = sorted(candidates, key=lambda c: seeded_rank(seed, "audit-repeat", c.id))
    by_item = {candidate.item_id: candidate for candidate in reversed(ranked)}
    return [by_item[item_id] for item_id in sorted(by_item)]
