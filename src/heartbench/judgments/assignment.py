"""Who judges what, and in which order: pairs and raters -> assignments.

The order of a pair shown once is a seeded coin for each rater and pair; a pair shown in both orders
is two assignments. LLM judges never see a pair that holds a system of their own family.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from heartbench.domain import Assignment, Rater
from heartbench.judgments.pairing import Candidate, seeded_rank


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentPolicy:
    """How pairs are given to raters.

    Attributes:
        study_id: The study.
        seed: Its seed.
        both_orders: Whether each rater sees each pair in both orders.
        exclude_own_family: Whether LLM judges skip pairs with a system of their own family.
        repeat: 0 for the first time a rater is asked, 1 for the second.
    """

    study_id: str
    seed: int
    both_orders: bool
    exclude_own_family: bool
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """The assignments of a plan.

    Attributes:
        assignments: Sorted by id.
        n_own_family: Pairs of a rater that were left out because of its own family.
    """

    assignments: tuple[Assignment, ...]
    n_own_family: int


def assign_pairs(
    candidates: Sequence[Candidate],
    raters: Sequence[Rater],
    *,
    families: dict[str, str],
    policy: AssignmentPolicy,
) -> Assigned:
    """Give every pair to every eligible LLM judge.

    Args:
        candidates: The chosen pairs.
        raters: LLM judges.
        families: Family of each system, by its id.
        policy: How.
    """
    assignments: list[Assignment] = []
    n_own_family = 0
    for rater in raters:
        for candidate in candidates:
            if policy.exclude_own_family and _is_own_family(rater, candidate, families):
                n_own_family += 1
                continue
            assignments.extend(_in_orders(rater, candidate, policy))
    assignments.sort(key=lambda assignment: assignment.id)
    return Assigned(assignments=tuple(assignments), n_own_family=n_own_family)


def _is_own_family(rater: Rater, candidate: Candidate, families: dict[str, str]) -> bool:
    return any(families[system_id] == rater.family for system_id in candidate.system_ids)


def _in_orders(rater: Rater, candidate: Candidate, policy: AssignmentPolicy) -> list[Assignment]:
    pair = candidate.pair
    low, high = pair.completion_ids
    if policy.both_orders:
        shown_first = [low, high]
    else:
        coin = int(seeded_rank(policy.seed, rater.id, pair.id), 16) % 2
        shown_first = [(low, high)[coin]]
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
