"""A study's judgments -> `PeopleResults`: people beside judges, and models beside people."""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.agreement.pair_votes import PairVotes
from hearteval.analysis.columns import JudgmentColumns
from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import Judgments
from hearteval.domain.study import DEFAULT_RULE, AmbiguityRule
from hearteval.sections.people.groups import PeopleGroups, group_people
from hearteval.sections.people.judges.agreement import AgreementPart, measure_people
from hearteval.sections.people.judges.study import PeopleAndJudges, compare_with_judges
from hearteval.sections.people.models.best_human import BestHuman, find_best_humans
from hearteval.sections.people.models.leads import LeadContrast, compare_leads
from hearteval.sections.people.models.meetings import find_meetings
from hearteval.sections.people.models.shares import (
    AgainstModels,
    StratumAgainstModels,
    compare_by_stratum,
    compare_with_models,
)
from hearteval.sections.people.rankings import (
    KindRanking,
    RankDifference,
    compare_ranks,
    rank_by_kind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleResults:
    """What people say beside judges, and how models fare against people."""

    rankings: tuple[KindRanking, ...]
    """By people alone and by judges alone, on the items that people are shown; empty unless both
    kinds judged."""
    differences: tuple[RankDifference, ...]
    """Ranks by people and by judges, by name; empty unless both rank."""
    agreement: tuple[AgreementPart, ...]
    """On all items, then by subset where there are several; empty where no person judged."""
    against_models: tuple[AgainstModels, ...]
    """By kind of rater, for all writers and then by their groups; empty unless models met people.
    """
    groups: PeopleGroups | None
    """By what people told about themselves; None where they were asked nothing."""
    level: float
    """Nominal coverage of every interval."""
    against_models_by: tuple[StratumAgainstModels, ...] = ()
    """The same by subset (planned), profile, emotion, problem, family and model (exploratory)."""
    leads: tuple[LeadContrast, ...] = ()
    """Whether the models' lead differs between subsets and between kinds of rater; planned."""
    with_judges: PeopleAndJudges | None = None
    """How far people and judges agree; None where no pair was answered by both."""
    best_human: tuple[BestHuman, ...] = ()
    """By people's votes and by those of judges; empty where models met no person."""


def analyze_people(  # noqa: PLR0913 - parts of a `Basis`, which simulations have none of
    judgments: Judgments,
    columns: JudgmentColumns,
    votes: PairVotes,
    data: StudyData,
    *,
    level: float,
    seed: int,
    rule: AmbiguityRule = DEFAULT_RULE,
) -> PeopleResults | None:
    """Set people beside judges and models; None where no person judged or wrote what is judged.

    `judgments` are the first ones of ranked systems, `columns` the same, `votes` what they say of
    each pair; `seed` draws the bootstrap's items, and the splits of raters; `rule` says which pairs
    are ambiguous.
    """
    # People and judges are compared on the items that both were shown.
    if hidden := {item.id for item in data.not_shown}:
        judgments = judgments.select(~judgments.item.is_in(hidden))
        is_shared = np.array([item.id not in hidden for item in columns.names.items])
        columns = columns.select(is_shared[columns.item])
        votes = votes.select(is_shared[votes.item])
    met = find_meetings(columns)
    rankings = rank_by_kind(judgments, data.ranked, data.raters, writers=data.writers, level=level)
    results = PeopleResults(
        rankings=rankings,
        differences=compare_ranks(rankings),
        agreement=measure_people(votes, level=level, seed=seed),
        against_models=compare_with_models(met, data, level=level),
        against_models_by=compare_by_stratum(met, level=level),
        leads=compare_leads(met, level=level),
        best_human=find_best_humans(columns, level=level, seed=seed),
        groups=group_people(judgments, data, level=level),
        level=level,
        with_judges=compare_with_judges(votes, rule, level=level, seed=seed, display=data.display),
    )
    return results if results.agreement or results.against_models else None
