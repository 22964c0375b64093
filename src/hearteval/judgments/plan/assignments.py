"""Who judges what, and in which order: pairs or completions, and raters -> assignments or targets.

The order of a pair shown once is a seeded coin for each rater and pair; a pair shown in both orders
is two assignments. LLM judges never see a system of their own family. Nothing is stored of a plan
of ratings: a rating is named by its completion and its judge, so what is missing follows from what
is there. All is decided by hashes of seed and content, so that a rerun plans the same.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hearteval.domain import Assignment, Completion, Rater, RatingTarget, Study, System
from hearteval.judgments.plan import PlanPolicy
from hearteval.judgments.plan.pairs import Candidate, choose_again, seeded_rank


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


def assign_pairs(
    candidates: Sequence[Candidate],
    raters: Sequence[Rater],
    *,
    families: Mapping[str, str],
    policy: AssignmentPolicy,
) -> tuple[tuple[Assignment, ...], int]:
    """Give every pair to every LLM judge that may see it; return the assignments, sorted by id.

    No judge gets a pair with a system of its own family, where `families` names it by system id;
    how many pairs of a rater were left out so is the second value.
    """
    assignments: list[Assignment] = []
    n_own_family = 0
    for rater in raters:
        for candidate in candidates:
            if any(families.get(system_id) == rater.family for system_id in candidate.system_ids):
                n_own_family += 1
            else:
                assignments.extend(_in_orders(rater, candidate, policy))
    assignments.sort(key=lambda assignment: assignment.id)
    return tuple(assignments), n_own_family


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


def _in_orders(rater: Rater, candidate: Candidate, policy: AssignmentPolicy) -> list[Assignment]:
    pair = candidate.pair
    shown_first: Sequence[str] = pair.completion_ids
    if not policy.both_orders:
        coin = int(seeded_rank(policy.seed, rater.id, pair.id), 16) % 2
        shown_first = [pair.completion_ids[coin]]
    return [
        Assignment(
            study_id=policy.study_id,
            pair_id=pair.id,
            rater_id=rater.id,
            first_completion_id=first,
            repeat=policy.repeat,
        )
        for first in shown_first
    ]
