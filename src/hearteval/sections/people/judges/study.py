"""How far people and judges agree, and where not: `PeopleAndJudges` (SPEC section 7)."""

from dataclasses import dataclass
from typing import Final

from hearteval.analysis.agreement.pair_votes import PairVotes
from hearteval.analysis.estimates import EXPLORATORY, PLANNED
from hearteval.domain import Display
from hearteval.domain.study import AmbiguityRule
from hearteval.sections.people.judges.agreement import judged_by_both
from hearteval.sections.people.judges.ambiguity import (
    AgreementDifference,
    Ambiguity,
    measure_ambiguity,
    measure_differences,
)
from hearteval.sections.people.judges.consensus import (
    AxisAgreement,
    Consensus,
    compare_axes,
    measure_consensus,
)
from hearteval.sections.people.judges.disagreements import Disagreements, find_disagreements
from hearteval.sections.people.judges.each import (
    Ceiling,
    JudgeAgainstPeople,
    Subsample,
    compare_each_judge,
    measure_ceiling,
    subsample_judges,
)

STATUS: Final = {
    "judges": PLANNED,
    "ambiguity": PLANNED,
    "differences": PLANNED,
    "axes": PLANNED,
    "subsamples": PLANNED,
    "ceiling": EXPLORATORY,
    "consensus": EXPLORATORY,
    "disagreements": EXPLORATORY,
}
"""What was planned before the data, by part of `PeopleAndJudges`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleAndJudges:
    """Agreement of people and judges on the pairs that both answered; orders are merged first."""

    n_pairs: int
    """Pairs that both answered."""
    judges: tuple[JudgeAgainstPeople, ...]
    """The one that agrees most often with the people's majority first."""
    ambiguity: Ambiguity | None
    """None where no pair can be told to be clear or ambiguous."""
    differences: tuple[AgreementDifference, ...]
    """Regular less adversarial, clear less ambiguous, as far as there are both."""
    axes: tuple[AxisAgreement, ...]
    """Empty where people gave no marks."""
    subsamples: tuple[Subsample, ...]
    """By how many judges are drawn."""
    ceiling: Ceiling | None
    """None where no pair has votes of two people."""
    consensus: Consensus | None
    disagreements: Disagreements | None
    """None where no pair has a majority for a side of both kinds."""
    status: dict[str, str]


def compare_with_judges(
    votes: PairVotes,
    rule: AmbiguityRule,
    *,
    level: float,
    seed: int,
    display: Display = "raw",
) -> PeopleAndJudges | None:
    """Compare people with judges on the pairs that both answered; None without any."""
    both = votes.select(judged_by_both(votes))
    if not len(both):
        return None
    return PeopleAndJudges(
        n_pairs=len(both),
        judges=compare_each_judge(both, level=level, seed=seed),
        ambiguity=measure_ambiguity(both, rule, level=level, seed=seed),
        differences=measure_differences(both, rule, level=level),
        axes=compare_axes(both, level=level, seed=seed),
        subsamples=subsample_judges(both),
        ceiling=measure_ceiling(both, level=level),
        consensus=measure_consensus(both, level=level, seed=seed),
        disagreements=find_disagreements(both, level=level, display=display),
        status=dict(STATUS),
    )
