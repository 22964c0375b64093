"""The calibration round: keyed examples that judges score by themselves. Pure planning.

They are a study of their own beside the one whose judges rate: its ratings enter no score. A judge
asked with another prompt is another rater, so it is calibrated anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hearteval.domain import (
    Axis,
    Completion,
    Item,
    Rater,
    RatingTarget,
    Study,
    System,
    Turn,
    hash_records,
    record_id,
)
from hearteval.judgments.stress_set.audit import next_version
from hearteval.protocol import load_protocol

SOURCE = "hearteval calibration"
CONSENT_BASIS = "Written for hearteval by a language model; no real person"
Key = Mapping[Axis, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedExamples:
    """The keyed examples as records, with the key of each completion by its id."""

    items: tuple[Item, ...]
    systems: tuple[System, ...]
    completions: tuple[Completion, ...]
    keys: Mapping[str, Key]


def keyed_examples(now: datetime) -> KeyedExamples:
    """Return the keyed examples of the protocol; a reply's system is its place in the example."""
    protocol = load_protocol("calibration")
    n_most = max(len(example["reply"]) for example in protocol["example"])
    systems = tuple(
        System(
            name=f"calibration-{k + 1}",
            kind="stress",
            family="baseline",
            settings={"calibration": protocol["version"]},
        )
        for k in range(n_most)
    )
    items, completions, keys = [], [], {}
    for example in protocol["example"]:
        item = _item(example)
        items.append(item)
        for system, reply in zip(systems, example["reply"], strict=False):
            one = Completion(
                item_id=item.id, system_id=system.id, text=reply["text"], created_at=now
            )
            completions.append(one)
            keys[one.id] = reply["key"]
    return KeyedExamples(
        items=tuple(items), systems=systems, completions=tuple(completions), keys=keys
    )


def calibration_name(study: str) -> str:
    """Return the name of the study that holds a study's calibration; no study file can bear it."""
    return f"{study} (calibration of its raters)"


def calibration_study_id(study: Study) -> str:
    """Return the id of the study that holds a study's calibration."""
    return record_id("study", {"name": calibration_name(study.name), "seed": study.seed})


def calibration_study(
    study: Study, before: Study | None, examples: KeyedExamples, rater_ids: Iterable[str]
) -> Study:
    """Return the study that holds a study's calibration: as it was before, or its next version."""
    made = replace(
        study,
        id="",
        version=1,
        name=calibration_name(study.name),
        item_ids=tuple(sorted(item.id for item in examples.items)),
        items_hash=hash_records(examples.items),
        system_ids=tuple(sorted(system.id for system in examples.systems)),
        rater_ids=tuple(sorted(rater_ids)),
        design={"calibration_of": study.id},
    )
    return next_version(made, before)


def calibration_targets(
    study: Study, examples: KeyedExamples, raters: Sequence[Rater]
) -> tuple[RatingTarget, ...]:
    """Return what is asked: every example once of every rater."""
    return tuple(
        RatingTarget(study.id, completion.id, rater.id, 0)
        for rater in raters
        for completion in examples.completions
    )


def _item(example: Mapping[str, Any]) -> Item:
    turns = example["context"]
    roles = ["seeker" if (len(turns) - k) % 2 else "supporter" for k in range(len(turns))]
    return Item(
        source=SOURCE,
        dialogue_id=example["name"],
        turn_index=len(turns) - 1,
        situation=example["situation"],
        context=tuple(
            Turn(role="seeker" if role == "seeker" else "supporter", text=text)
            for role, text in zip(roles, turns, strict=True)
        ),
        subset="regular",
        emotion="",
        problem="",
        licence="Apache-2.0",
        consent_basis=CONSENT_BASIS,
    )
