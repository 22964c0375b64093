"""Invented studies of ratings drawn with planted effects, and judgments of pairs beside them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from judged_study import make_items, provenance
from rated_records import NOW, STUDY_ID

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import JudgmentRow, judgments_of
from hearteval.analysis.packed.pairs import pairs_of
from hearteval.domain import (
    AXES,
    Assignment,
    Axis,
    AxisMark,
    Completion,
    Pair,
    Rater,
    Rating,
    RatingTarget,
    System,
)


def drawn_study(  # noqa: PLR0913 - a study has many sizes
    effects: dict[str, float],
    *,
    n_items: int = 20,
    people: int = 0,
    judges: int = 1,
    item_sd: float = 0.4,
    rater_sd: float = 0.0,
    hidden: float = 0.0,
    seed: int = 1,
) -> StudyData:
    """Scores of systems by people and judges; names that begin with P are people.

    Raters disagree about systems with `rater_sd`; people lose `hidden` less on implicit items.
    """
    rng = np.random.default_rng(seed)
    cues: tuple[Literal["implicit"], Literal["explicit"]] = ("implicit", "explicit")
    items = [replace(item, cue=cues[k % 2], id="") for k, item in enumerate(make_items(n_items))]
    systems = [
        System(name=name, kind="human" if name[0] == "P" else "model", family=name)
        for name in effects
    ]
    raters = [
        Rater(name=f"p{k}", kind="human", family="human", group="crowd") for k in range(people)
    ] + [
        Rater(name=f"j{k}", kind="llm", family=f"j{k}", settings={"model": f"j{k}"})
        for k in range(judges)
    ]
    taste = {(r.id, s.id): rater_sd * rng.standard_normal() for r in raters for s in systems}
    completions, ratings = [], []
    for item in items:
        for system in systems:
            writer = "w1" if system.kind == "human" else None
            text = Completion(
                item_id=item.id,
                system_id=system.id,
                writer_id=writer,
                text=f"{system.name} to {item.id}",
                created_at=NOW,
            )
            completions.append(text)
            level = 3 + effects[system.name] + item_sd * rng.standard_normal()
            level += hidden * (item.cue == "implicit" and system.kind == "human")
            for rater in raters:
                axes: dict[Axis, int] = {
                    axis: int(
                        np.clip(
                            round(level + taste[rater.id, system.id] + 0.6 * rng.standard_normal()),
                            1,
                            5,
                        )
                    )
                    for axis in AXES
                }
                target = RatingTarget(STUDY_ID, text.id, rater.id, 0)
                ratings.append(Rating(**target._asdict(), axes=axes, created_at=NOW))
    return StudyData(
        items=items,
        systems=systems,
        raters=raters,
        completions=completions,
        ratings=ratings,
        targets=[rating.target for rating in ratings],
        provenance=replace(provenance(), protocols={"human": "rating", "llm": "rating"}),
    )


def with_pairs(data: StudyData, order: Sequence[str], *, sure: float = 0.9) -> StudyData:
    """Add judgments of pairs, by the study's raters, in which an order of systems holds."""
    rng = np.random.default_rng(3)
    texts = {(one.item_id, one.system_id): one for one in data.completions}
    named = {system.name: system for system in data.systems}
    pairs: list[Pair] = []
    rows: list[JudgmentRow] = []
    for item in data.items:
        for k, better in enumerate(order):
            for worse in order[k + 1 :]:
                a, b = (texts[item.id, named[name].id] for name in (better, worse))
                pair = Pair(item_id=item.id, completion_ids=(a.id, b.id))
                pairs.append(pair)
                for rater in data.raters:
                    asked = Assignment(
                        study_id=STUDY_ID,
                        pair_id=pair.id,
                        rater_id=rater.id,
                        first_completion_id=a.id,
                    )
                    rows.append(
                        JudgmentRow(
                            assignment_id=asked.id,
                            pair_id=pair.id,
                            item_id=item.id,
                            first_system_id=a.system_id,
                            second_system_id=b.system_id,
                            first_completion_id=a.id,
                            rater_id=rater.id,
                            repeat=0,
                            choice="first" if rng.random() < sure else "second",
                            strength=2,
                            axes={"E": AxisMark("first", 2)},
                            finish_reason=None,
                        )
                    )
    return replace(data, pairs=pairs_of(pairs), judgments=judgments_of(rows))
