"""People and judges of a simulated study answer: what is true -> records, by the real planner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hearteval.analysis.judgments import NO_JUDGMENTS, JudgmentRow, Judgments, judgments_of
from hearteval.config import StudySettings
from hearteval.config.simulation import SimulationPlan
from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    AxisMark,
    Choice,
    Completion,
    Item,
    Judgment,
    LatencyProbe,
    Pair,
    Rater,
    Rating,
    RatingTarget,
    System,
)
from hearteval.domain.systems import SIMULATED
from hearteval.judgments.plan.assignments import AssignmentPolicy, assign_pairs
from hearteval.judgments.plan.pairs import (
    Candidate,
    choose_again,
    choose_balanced,
    enumerate_pairs,
)
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.simulated_scores import Rated, draw_scores
from hearteval.stats.simulation import (
    WORDS_SD,
    Answers,
    Raters,
    Shown,
    draw_answers,
    strengths,
)
from hearteval.study.grow import study_raters, study_systems
from hearteval.study.session import study_id
from hearteval.study.simulation.texts import simulated_text
from hearteval.study.simulation.world import World, stream

LEFT_OUT = "left-out"
"""Why what a plan leaves out is missing."""
GROUPS = ("crowd", "peer", "clinician")
FEWEST_WORDS, MOST_WORDS = 12, 150
MARKS = 0.4
"""Mean formatting marks of a completion."""
LATENCY = (6.0, 0.5, 0.3)
"""Mean of the logarithm of milliseconds to the first token, what strength adds, and its SD."""
TEXTS, WRITERS, WHO, SIDES, PEOPLE, JUDGES, GONE, TIMES = range(8)
"""Streams of the seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The records of a simulated study, its items apart."""

    systems: Sequence[System]
    """Those that compete."""
    raters: Sequence[Rater]
    """People and judges."""
    writer_groups: Mapping[str, str]
    completions: Sequence[Completion]
    pairs: Sequence[Pair]
    assignments: Sequence[Assignment]
    judgments: Sequence[Judgment]
    """Fewer than assignments where answers are missing."""
    attempts: Sequence[Attempt]
    probes: Sequence[LatencyProbe]
    rows: Judgments
    """The judgments as an analysis reads them."""
    n_identical: int
    ratings: Sequence[Rating] = ()
    """In place of pairs and judgments, where each completion is rated by itself."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Texts:
    """Completions in parallel arrays."""

    records: Sequence[Completion]
    system: IntArray
    """Position in the world's names."""
    quality: FloatArray
    words: FloatArray
    is_adversarial: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """What one kind of rater is asked, in parallel arrays."""

    assignments: Sequence[Assignment]
    first: IntArray
    """Position of the completion shown first, and of the second."""
    second: IntArray
    rater: IntArray
    """Position in the raters of its kind."""


def draw_study(
    world: World, settings: StudySettings, items: Sequence[Item], *, now: datetime, seed: int
) -> Drawn:
    """Draw everything beside the items; another seed draws another study of the same truth."""
    plan = world.plan
    systems = {one.name: one for one in study_systems(settings) if one.kind != "stress"}
    competing = [systems[name] for name in world.names]
    texts, writer_groups, gone = _write(world, items, competing, now=now, seed=seed)
    judges = [one for name in world.judges for one in study_raters(settings) if one.name == name]
    people = [_person(k) for k in range(plan.pool if plan.people else 0)]
    of_study = study_id(settings)
    if plan.protocol == "rating":
        ratings, missing = _rate(world, texts, (people, judges), of_study, now=now, seed=seed)
        return Drawn(
            systems=competing,
            raters=[*people, *judges],
            writer_groups=writer_groups,
            completions=texts.records,
            pairs=(),
            assignments=(),
            judgments=(),
            attempts=[*gone, *missing],
            probes=_time(world, items, competing, of_study, now=now, seed=seed),
            rows=NO_JUDGMENTS,
            n_identical=0,
            ratings=ratings,
        )
    candidates, n_identical = enumerate_pairs(texts.records)
    chosen: Sequence[Candidate] = candidates
    if plan.is_balanced:
        chosen = choose_balanced(candidates, n=plan.comparisons, seed=plan.seed)
    place = {one.id: k for k, one in enumerate(texts.records)}
    parts = []
    if people:
        asked = _ask_people(chosen, people, place, of_study, plan.people, seed=seed)
        pool = _drawn_pool(world, seed)
        parts.append((asked, world.for_people, pool, people, 0.0, PEOPLE))
    if judges:
        asked = _ask_judges(world, chosen, judges, competing, place, of_study)
        parts.append((asked, world.for_judges, world.panel, judges, plan.steadiness, JUDGES))
    judgments, rows, attempts = list[Judgment](), list[JudgmentRow](), list[Attempt](gone)
    for asked, seen, raters, who, steadiness, which in parts:
        answers = draw_answers(
            _shown(asked, texts),
            seen,
            raters,
            steadiness=steadiness,
            halo=plan.halo,
            rng=stream(seed, which),
        )
        n = len(asked.assignments)
        share = plan.missing if which == JUDGES else 0.0
        is_gone = stream(seed, GONE, which).random(n) < share
        judged = _judge(asked, answers, raters, has_axes=which == JUDGES, now=now)
        for k, judgment in enumerate(judged):
            if is_gone[k]:
                attempts.append(
                    Attempt(assignment_id=judgment.assignment_id, reason=LEFT_OUT, created_at=now)
                )
                continue
            judgments.append(judgment)
            rows.append(_row(asked, k, judgment, texts, who))
    return Drawn(
        systems=competing,
        raters=[*people, *judges],
        writer_groups=writer_groups,
        completions=texts.records,
        pairs=[one.pair for one in chosen],
        assignments=[one for asked, *_ in parts for one in asked.assignments],
        judgments=judgments,
        attempts=attempts,
        probes=_time(world, items, competing, of_study, now=now, seed=seed),
        rows=judgments_of(rows),
        n_identical=n_identical,
    )


def person_name(number: int) -> str:
    """Return the name of a person who judges."""
    return f"simulated person {number + 1}"


def _person(number: int) -> Rater:
    group = GROUPS[number % 2]
    return Rater(
        name=person_name(number),
        kind="human",
        family="human",
        pool=SIMULATED,
        group=group,  # type: ignore[arg-type]
    )


def _write(
    world: World, items: Sequence[Item], systems: Sequence[System], *, now: datetime, seed: int
) -> tuple[_Texts, dict[str, str], list[Attempt]]:
    """Write completions; return them, the groups of the writers, and what is left out."""
    plan, rng = world.plan, stream(seed, TEXTS)
    who = stream(seed, WRITERS)
    is_gone = stream(seed, GONE).random((len(items), plan.systems)) < plan.missing
    records, system, gone = list[Completion](), list[int](), list[Attempt]()
    words, adversarial, of_writer = list[int](), list[bool](), list[float]()
    groups: dict[str, str] = {}
    departure = plan.writer_sd * stream(seed, WRITERS, 1).normal(size=plan.writer_pool)
    log_words = world.for_people.log_words
    n_of_item = plan.systems + plan.writers
    sizes = rng.normal(size=(len(items), n_of_item))
    marks = rng.poisson(MARKS, size=(len(items), n_of_item))
    for i, item in enumerate(items):
        writers = _choose_writers(plan, who)
        for k in range(n_of_item):
            s = min(k, plan.systems)
            writer = None if k < plan.systems else int(writers[k - plan.systems])
            if writer is None and is_gone[i, k]:
                gone.append(
                    Attempt(
                        item_id=item.id,
                        system_id=systems[s].id,
                        reason=LEFT_OUT,
                        created_at=now,
                    )
                )
                continue
            n = round(np.exp(log_words[s] + WORDS_SD * sizes[i, k]))
            n = min(max(n, FEWEST_WORDS), MOST_WORDS)
            name = None if writer is None else f"simulated writer {writer + 1}"
            if name is not None:
                groups[name] = GROUPS[(writer or 0) % len(GROUPS)]
            records.append(
                Completion(
                    item_id=item.id,
                    system_id=systems[s].id,
                    text=simulated_text(i + 1, k + 1, n, int(marks[i, k]), rng),
                    writer_id=name,
                    created_at=now,
                )
            )
            system.append(s)
            words.append(n)
            of_writer.append(0.0 if writer is None else departure[writer])
            adversarial.append(item.subset == "adversarial")
    quality = plan.item_sd * rng.normal(size=len(records))
    texts = _Texts(
        records=records,
        system=np.array(system, dtype=np.int64),
        quality=quality + np.array(of_writer),
        words=np.array(words, dtype=np.float64),
        is_adversarial=np.array(adversarial, dtype=bool),
    )
    return texts, groups, gone


def _choose_writers(plan: SimulationPlan, who: np.random.Generator) -> IntArray:
    """Return who of the pool writes for an item."""
    if not plan.busiest_writers:
        return who.permutation(plan.writer_pool)[: plan.writers]
    share = np.arange(1.0, plan.writer_pool + 1) ** -plan.busiest_writers
    return who.choice(plan.writer_pool, plan.writers, replace=False, p=share / share.sum())


def _ask_people(
    chosen: Sequence[Candidate],
    people: Sequence[Rater],
    place: Mapping[str, int],
    of_study: str,
    n_each: int,
    *,
    seed: int,
) -> _Asked:
    """Give every pair to some people of the pool, in one order each."""
    who = stream(seed, WHO).random((len(chosen), len(people))).argsort(axis=1)[:, :n_each]
    sides = stream(seed, SIDES).integers(2, size=who.shape)
    assignments = [
        Assignment(
            study_id=of_study,
            pair_id=candidate.id,
            rater_id=people[rater].id,
            first_completion_id=candidate.completion_ids[side],
        )
        for candidate, raters, at in zip(chosen, who.tolist(), sides.tolist(), strict=True)
        for rater, side in zip(raters, at, strict=True)
    ]
    return _in_arrays(assignments, chosen, people, place)


def _ask_judges(
    world: World,
    chosen: Sequence[Candidate],
    judges: Sequence[Rater],
    systems: Sequence[System],
    place: Mapping[str, int],
    of_study: str,
) -> _Asked:
    """Give every pair to every judge that may see it, as the planner of real studies does."""
    plan = world.plan
    families = {one.id: one.family for one in systems} if world.excludes_own_family else {}
    policy = AssignmentPolicy(study_id=of_study, seed=plan.seed, both_orders=plan.both_orders)
    first = assign_pairs(chosen, judges, families=families, policy=policy)
    again = assign_pairs(
        choose_again(chosen, (), n=plan.repeat_pairs, seed=plan.seed),
        judges,
        families=families,
        policy=replace(policy, both_orders=False, repeat=1),
        earlier=() if plan.both_orders else first.new,
    )
    return _in_arrays([*first.new, *again.new], chosen, judges, place)


def _rate(
    world: World,
    texts: _Texts,
    who: tuple[Sequence[Rater], Sequence[Rater]],
    of_study: str,
    *,
    now: datetime,
    seed: int,
) -> tuple[list[Rating], list[Attempt]]:
    """Have people and judges rate completions; return ratings, and what is missing of judges."""
    plan, n = world.plan, len(texts.records)
    people, judges = who
    ratings, missing = list[Rating](), list[Attempt]()
    parts = []
    if people:
        order = stream(seed, WHO).random((n, len(people))).argsort(axis=1)[:, : plan.people]
        pool, rng = _drawn_pool(world, seed), stream(seed, PEOPLE, 2)
        leniency = plan.leniency_sd * rng.normal(size=plan.pool)
        chosen = np.repeat(np.arange(n), plan.people), order.ravel(), np.zeros(order.size, int)
        parts.append((people, chosen, world.for_people, pool, leniency, PEOPLE))
    if judges:
        chosen = _rated_by_judges(world, texts, seed=seed)
        parts.append((judges, chosen, world.for_judges, world.panel, world.leniency, JUDGES))
    for raters, (text, rater, repeat), seen, true, leniency, which in parts:
        rated = Rated(
            system=texts.system[text],
            quality=texts.quality[text],
            words=texts.words[text],
            is_adversarial=texts.is_adversarial[text],
            rater=rater,
        )
        scores = draw_scores(rated, seen, true, leniency, stream(seed, which))
        share = plan.missing if which == JUDGES else 0.0
        is_gone = stream(seed, GONE, which).random(len(text)) < share
        for k, values in enumerate(scores.T.tolist()):
            target = RatingTarget(
                of_study,
                texts.records[text[k]].id,
                raters[rater[k]].id,
                int(repeat[k]),
            )
            if is_gone[k]:
                missing.append(Attempt(**target._asdict(), reason=LEFT_OUT, created_at=now))
                continue
            axes = dict(zip(AXES, values, strict=True))
            ratings.append(Rating(**target._asdict(), axes=axes, created_at=now))
    return ratings, missing


def _rated_by_judges(
    world: World, texts: _Texts, *, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return completion, judge and repeat of everything that judges rate."""
    may = world.panel.may_judge[:, texts.system]
    judge, text = np.nonzero(may)
    again = [
        (k, row)
        for k, seen in enumerate(may)
        for row in stream(seed, JUDGES, k).permutation(np.flatnonzero(seen))[
            : world.plan.repeat_pairs
        ]
    ]
    repeats = np.array(again, dtype=np.int64).reshape(-1, 2)
    return (
        np.concatenate((text, repeats[:, 1])),
        np.concatenate((judge, repeats[:, 0])),
        np.repeat((0, 1), (len(text), len(repeats))),
    )


def _drawn_pool(world: World, seed: int) -> Raters:
    """Return the people of one study."""
    shape = world.people.departure.shape
    drawn = stream(seed, PEOPLE, 1).normal(size=shape)
    return replace(world.people, departure=world.plan.rater_sd * drawn)


def _in_arrays(
    assignments: Sequence[Assignment],
    chosen: Sequence[Candidate],
    raters: Sequence[Rater],
    place: Mapping[str, int],
) -> _Asked:
    ids = {one.id: one.completion_ids for one in chosen}
    number = {rater.id: k for k, rater in enumerate(raters)}
    n = len(assignments)
    first = np.fromiter((place[one.first_completion_id] for one in assignments), np.int64, n)
    both = np.fromiter(
        (place[id_] for one in assignments for id_ in ids[one.pair_id]), np.int64, 2 * n
    ).reshape(n, 2)
    return _Asked(
        assignments=assignments,
        first=first,
        second=both.sum(axis=1) - first,
        rater=np.fromiter((number[one.rater_id] for one in assignments), np.int64, n),
    )


def _shown(asked: _Asked, texts: _Texts) -> Shown:
    first, second = asked.first, asked.second
    low, high = np.minimum(first, second), np.maximum(first, second)
    n = len(texts.records)
    _, cell = np.unique((asked.rater * n + low) * n + high, return_inverse=True)
    return Shown(
        system=(texts.system[first], texts.system[second]),
        quality=(texts.quality[first], texts.quality[second]),
        words=(texts.words[first], texts.words[second]),
        is_adversarial=texts.is_adversarial[first],
        rater=asked.rater,
        cell=cell.ravel(),
        is_turned=first > second,
    )


def _judge(
    asked: _Asked, answers: Answers, raters: Raters, *, has_axes: bool, now: datetime
) -> list[Judgment]:
    """Return a judgment for every assignment."""
    choices, sizes = _said(answers.overall, strengths(answers.overall, raters))
    by_axis = [
        _said(sizes_of, strengths(sizes_of, raters)) for sizes_of in answers.axes if has_axes
    ]
    marks = {
        (choice, size): AxisMark(choice, size)
        for of_axis in by_axis
        for choice, size in {*zip(*of_axis, strict=True)}
    }
    judgments = []
    for k, assignment in enumerate(asked.assignments):
        axes = {
            axis: marks[chosen[k], strong[k]]
            for axis, (chosen, strong) in zip(AXES, by_axis, strict=False)
        }
        judgments.append(
            Judgment(
                assignment_id=assignment.id,
                choice=choices[k],
                strength=sizes[k],
                axes=axes,
                created_at=now,
            )
        )
    return judgments


def _said(preference: FloatArray, strength: IntArray) -> tuple[list[Choice], list[int | None]]:
    choices: list[Choice] = [
        "tie" if not size else "first" if x > 0 else "second"
        for x, size in zip(preference.tolist(), strength.tolist(), strict=True)
    ]
    return choices, [size or None for size in strength.tolist()]


def _row(
    asked: _Asked, k: int, judgment: Judgment, texts: _Texts, raters: Sequence[Rater]
) -> JudgmentRow:
    assignment = asked.assignments[k]
    first, second = texts.records[asked.first[k]], texts.records[asked.second[k]]
    return JudgmentRow(
        assignment_id=assignment.id,
        pair_id=assignment.pair_id,
        item_id=first.item_id,
        first_system_id=first.system_id,
        second_system_id=second.system_id,
        first_completion_id=first.id,
        rater_id=raters[asked.rater[k]].id,
        repeat=assignment.repeat,
        choice=judgment.choice,
        strength=judgment.strength,
        axes=judgment.axes,
        finish_reason=None,
    )


def _time(
    world: World,
    items: Sequence[Item],
    systems: Sequence[System],
    of_study: str,
    *,
    now: datetime,
    seed: int,
) -> list[LatencyProbe]:
    """Return times to the first token: stronger models take longer."""
    base, slope, sd = LATENCY
    rng = stream(seed, TIMES)
    found = []
    for s in range(world.plan.systems):
        usual = base + slope * world.for_people.theta[s] + sd * rng.normal()
        for item in items[:20]:
            first = float(np.exp(usual + 0.2 * rng.normal()))
            found.append(
                LatencyProbe(
                    study_id=of_study,
                    system_id=systems[s].id,
                    item_id=item.id,
                    first_token_ms=round(first, 1),
                    total_ms=round(3 * first, 1),
                    created_at=now,
                )
            )
    return found
