"""Who rates which completions under the `rating` protocol: every judge all it may, and some again.

Decided by hashes of seed and content, so a rerun plans the same. Nothing is stored of a plan: a
rating is named by its completion and its judge, so what is missing follows from what is there.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from heartbench.domain import Completion, Rater, RatingTarget, Study, System
from heartbench.judgments.pairing import seeded_rank
from heartbench.judgments.plan import PlanPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPlan:
    """What is to be rated.

    Attributes:
        targets: Every rating wanted, the stress set and repeats among them.
        n_completions: Completions of ranked systems.
        n_stress: Texts of the stress set.
        n_own_family: Completions of a judge left out because of its own family.
        n_repeats: Ratings that ask a judge again.
    """

    targets: tuple[RatingTarget, ...]
    n_completions: int
    n_stress: int
    n_own_family: int
    n_repeats: int


def plan_ratings_of(
    completions: Sequence[Completion],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    study: Study,
    policy: PlanPolicy,
    rated_again: Collection[RatingTarget] = (),
) -> RatingPlan:
    """Plan every rating of a study.

    Args:
        completions: The study's completions; every judge rates those of `stress` systems.
        systems: Its systems.
        raters: The judges.
        study: The study.
        policy: Whether a judge rates its own family, and how many completions it rates again.
        rated_again: Repeats that were given before; they stay.
    """
    bearers = {system.id for system in systems if system.kind == "stress"}
    families = {system.id: system.family for system in systems}
    stress = [c for c in completions if c.system_id in bearers]
    ranked = [c for c in completions if c.system_id not in bearers]
    again = {(target.completion_id, target.rater_id) for target in rated_again}
    targets: list[RatingTarget] = []
    n_own_family = n_repeats = 0
    for rater in sorted(raters, key=lambda rater: rater.id):
        own = rater.family if policy.exclude_own_family else None
        eligible = [c for c in ranked if families[c.system_id] != own]
        n_own_family += len(ranked) - len(eligible)
        repeated = _chosen_again(eligible, rater, again, study=study, n=policy.repeat_pairs)
        n_repeats += len(repeated)
        targets += _targets((*eligible, *stress), rater, study, repeat=0)
        targets += _targets(repeated, rater, study, repeat=1)
    return RatingPlan(
        targets=tuple(targets),
        n_completions=len(ranked),
        n_stress=len(stress),
        n_own_family=n_own_family,
        n_repeats=n_repeats,
    )


def _chosen_again(
    eligible: Sequence[Completion],
    rater: Rater,
    again: Collection[tuple[str, str]],
    *,
    study: Study,
    n: int,
) -> list[Completion]:
    """Return what one judge rates again: what it has already, then in an order of the seed."""
    before = {c.id for c in eligible if (c.id, rater.id) in again}
    order = sorted(
        eligible, key=lambda c: (c.id not in before, seeded_rank(study.seed, "repeat", c.id))
    )
    return order[: max(n, len(before))]


def _targets(
    completions: Iterable[Completion], rater: Rater, study: Study, *, repeat: int
) -> list[RatingTarget]:
    return [RatingTarget(study.id, c.id, rater.id, repeat) for c in completions]
