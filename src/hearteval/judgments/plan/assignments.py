"""Who judges what, and in which order: pairs or completions, and raters -> assignments or targets.

A pair shown in both orders is two assignments. Of pairs shown once the sides are chosen so that of
two systems each stands first as often as the other, one time more at most. LLM judges never see a
system of their own family. Nothing is stored of a plan of ratings: a rating is named by its
completion and its judge, so what is missing follows from what is there. All is decided by hashes of
seed and content, so that a rerun plans the same.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from hearteval.domain import Assignment, Completion, Rater, RatingTarget, Study, System
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.pairs import Candidate, choose_again, seeded_rank

Planned = Mapping[tuple[str, int], Mapping[str, int]]
"""In how many orders each pair is planned, by pair id, by rater id and repeat."""
NOTHING_PLANNED: Planned = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentPolicy:
    """How pairs are given to raters; `repeat` is 0 for the first time a rater is asked."""

    study_id: str
    seed: int
    both_orders: bool
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPlan:
    """What is to be rated."""

    targets: tuple[RatingTarget, ...]
    """Every rating wanted, the stress set and repeats among them."""
    n_completions: int
    """Of ranked systems."""
    n_stress: int
    n_own_family: int
    """Completions of a judge left out because of its own family."""
    n_repeats: int
    """Ratings that ask a judge again."""


class Assigned(NamedTuple):
    """What giving pairs to judges comes to."""

    new: tuple[Assignment, ...]
    """Those that are not planned yet, sorted by id; of a pair planned in one order of two, both."""
    n_planned: int
    """Assignments wanted that are planned already; `new` apart."""
    n_own_family: int
    """Pairs of a judge left out because of its own family."""


def assign_pairs(
    candidates: Sequence[Candidate],
    raters: Sequence[Rater],
    *,
    families: Mapping[str, str],
    policy: AssignmentPolicy,
    planned: Planned = NOTHING_PLANNED,
    earlier: Iterable[Assignment] = (),
) -> Assigned:
    """Give every pair to every LLM judge that may see it and has not got it yet.

    No judge gets a pair with a system of its own family, where `families` names it by system id.
    `earlier` is read only for pairs shown once, where one is not planned yet: a pair keeps the side
    that it has there, the first of them if there are several.
    """
    own = {r.id: {one for one, family in families.items() if family == r.family} for r in raters}
    eligible = [
        (rater, candidate)
        for rater in sorted(raters, key=lambda rater: rater.id)
        for candidate in candidates
        if own[rater.id].isdisjoint(candidate.of_completions)
    ]
    n_own_family = len(raters) * len(candidates) - len(eligible)
    n_orders = 2 if policy.both_orders else 1
    before = {rater.id: planned.get((rater.id, policy.repeat), {}) for rater in raters}
    open_ones = [(r, c) for r, c in eligible if before[r.id].get(c.id, 0) < n_orders]
    n_planned = n_orders * (len(eligible) - len(open_ones))
    shown_first: Iterable[tuple[Rater, Candidate, str]]
    if policy.both_orders:
        shown_first = ((*each, id_) for each in open_ones for id_ in each[1].completion_ids)
    elif open_ones:
        sides = _balance_sides(eligible, earlier, seed=policy.seed)
        shown_first = (one for one in sides if one[1].id not in before[one[0].id])
    else:
        shown_first = ()
    new = [
        Assignment(
            study_id=policy.study_id,
            pair_id=candidate.id,
            rater_id=rater.id,
            first_completion_id=first,
            repeat=policy.repeat,
        )
        for rater, candidate, first in shown_first
    ]
    new.sort(key=lambda assignment: assignment.id)
    return Assigned(tuple(new), n_planned, n_own_family)


def plan_ratings_of(
    completions: Sequence[Completion],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    study: Study,
    policy: PlanPolicy,
    rated_again: Collection[RatingTarget] = (),
) -> RatingPlan:
    """Plan every rating of a study: every judge rates the stress set, all else it may, some again.

    Repeats that were given before (`rated_again`) stay.
    """
    bearers = {system.id for system in systems if system.kind == "stress"}
    families = {system.id: system.family for system in systems}
    stress = [c for c in completions if c.system_id in bearers]
    ranked = [c for c in completions if c.system_id not in bearers]
    targets: list[RatingTarget] = []
    n_own_family = n_repeats = 0
    for rater in sorted(raters, key=lambda rater: rater.id):
        own = rater.family if policy.exclude_own_family else None
        eligible = [c for c in ranked if families[c.system_id] != own]
        n_own_family += len(ranked) - len(eligible)
        before = {target.completion_id for target in rated_again if target.rater_id == rater.id}
        before.intersection_update(c.id for c in eligible)
        repeated = choose_again(eligible, before, n=policy.repeat_pairs, seed=study.seed)
        n_repeats += len(repeated)
        for repeat, rated in enumerate(((*eligible, *stress), repeated)):
            targets += [RatingTarget(study.id, c.id, rater.id, repeat) for c in rated]
    return RatingPlan(
        targets=tuple(targets),
        n_completions=len(ranked),
        n_stress=len(stress),
        n_own_family=n_own_family,
        n_repeats=n_repeats,
    )


def _balance_sides(
    eligible: Sequence[tuple[Rater, Candidate]], earlier: Iterable[Assignment], *, seed: int
) -> Iterator[tuple[Rater, Candidate, str]]:
    """Choose for every rater and pair which completion is shown first.

    Of two systems the one comes first that did so less often, over all raters or else with this
    one; where there is no less, a seeded coin falls. `eligible` is sorted by rater.
    """
    before: dict[tuple[str, str], str] = {}
    for assignment in earlier:
        before.setdefault((assignment.rater_id, assignment.pair_id), assignment.first_completion_id)
    leads: Counter[tuple[str, ...]] = Counter()

    def place(rater: Rater, candidate: Candidate, side: int) -> tuple[Rater, Candidate, str]:
        systems = candidate.system_ids
        step = 1 if candidate.of_completions[side] == systems[0] else -1
        leads[systems] += step
        leads[rater.id, *systems] += step
        return rater, candidate, candidate.completion_ids[side]

    open_ones: list[tuple[str, str, Rater, Candidate]] = []
    for rater, candidate in eligible:
        first = before.get((rater.id, candidate.id))
        if first is None:
            rank = seeded_rank(seed, rater.id, candidate.id)
            open_ones.append((rater.id, rank, rater, candidate))
        else:
            yield place(rater, candidate, candidate.completion_ids.index(first))
    for _, rank, rater, candidate in sorted(open_ones, key=itemgetter(0, 1)):
        systems = candidate.system_ids
        lead = leads[systems] or leads[rater.id, *systems]
        side = int(rank, 16) % 2
        if lead:
            side = candidate.of_completions.index(systems[1 if lead > 0 else 0])
        yield place(rater, candidate, side)
