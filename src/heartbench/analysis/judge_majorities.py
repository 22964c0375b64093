"""What a study's judges say together: majorities, and how many judges stand behind each pair.

SPEC section 5. Only the judges: people are many and sampled, and their majorities are another
analysis. Intervals and chance-corrected agreement are not here either.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

from heartbench.analysis.audit_results import PLANNED
from heartbench.analysis.judgment_columns import JudgmentColumns, select_rows, select_systems
from heartbench.analysis.majority import (
    MajorityCounts,
    PairMajority,
    Winner,
    count_majorities,
    merge_answers,
    pair_majority,
    winner_of_pair,
)
from heartbench.domain import Choice, Rater, System

FLIP: Final = "flip"
CHOICES: Mapping[str, Choice] = {choice: choice for choice in get_args(Choice)}
Votes = Mapping[str, Winner | Literal["flip"]]
"""What each judge that answered one pair says, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeVotes:
    """How one judge voted, both orders of a pair being one vote or none.

    Attributes:
        judge: Its name.
        n_pairs: Pairs it answered.
        n_both_orders: Of these, answered in both orders; only there it can contradict itself.
        n_flips: Of these, where its two answers contradict each other; it has no vote there.
        n_ties: Pairs it calls a tie.
    """

    judge: str
    n_pairs: int
    n_both_orders: int
    n_flips: int
    n_ties: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPairJudges:
    """Who judged the pairs of two systems.

    Attributes:
        left: One system.
        right: The other, later by name.
        judges: Judges that answered any of these pairs.
        n_pairs: Pairs of their completions that any judge answered.
        n_no_majority: Of these without a majority.
    """

    left: str
    right: str
    judges: tuple[str, ...]
    n_pairs: int
    n_no_majority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """How often some judges say the same.

    Attributes:
        judges: Two of them, or all.
        n_pairs: Pairs on which each of them has a vote.
        n_same: Of these with one answer by all; a tie is an answer.
        rate: Their share; None without such a pair.
    """

    judges: tuple[str, ...]
    n_pairs: int
    n_same: int
    rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeMajorities:
    """What the judges say together; repeats and the stress set are left out.

    Attributes:
        counts: Pairs with and without a majority, and the judges behind them.
        judges: How each voted, by name.
        system_pairs: Who judged which two systems, by name.
        agreement: Of every two judges, and with three judges or more of all.
        status: ``planned``.
    """

    counts: MajorityCounts
    judges: tuple[JudgeVotes, ...]
    system_pairs: tuple[SystemPairJudges, ...]
    agreement: tuple[JudgeAgreement, ...]
    status: str


def count_judges_together(
    columns: JudgmentColumns, systems: Sequence[System], raters: Sequence[Rater]
) -> JudgeMajorities | None:
    """Merge what the judges answered to each pair, and count.

    None without a judgment by a judge.

    Args:
        columns: Judgments; repeats, people's, and those of other systems are left out.
        systems: The systems that are ranked.
        raters: Raters.
    """
    judges = {rater.id: rater.name for rater in raters if rater.kind == "llm"}
    columns = select_systems(columns, {system.id for system in systems})
    asked = zip(columns.rater_id, columns.repeat, strict=True)
    columns = select_rows(columns, [id_ in judges and repeat == 0 for id_, repeat in asked])
    if not len(columns):
        return None
    answers = _answers_by_pair(columns, judges)
    majorities = {pair_id: pair_majority(given) for pair_id, given in answers.items()}
    votes = [
        {judge: merge_answers(said) for judge, said in given.items()} for given in answers.values()
    ]
    names = sorted({judge for given in votes for judge in given})
    return JudgeMajorities(
        counts=count_majorities(majorities.values()),
        judges=tuple(_votes_of(judge, answers.values()) for judge in names),
        system_pairs=_system_pairs(
            columns, answers, majorities, {system.id: system.name for system in systems}
        ),
        agreement=_agreement(names, votes),
        status=PLANNED,
    )


def _answers_by_pair(
    columns: JudgmentColumns, judges: Mapping[str, str]
) -> Mapping[str, Mapping[str, Sequence[Winner]]]:
    """Return all answers to each pair, by pair id and name of the judge."""
    answers: dict[str, dict[str, list[Winner]]] = defaultdict(lambda: defaultdict(list))
    for row in range(len(columns)):
        first_is_low = columns.first_system_id[row] < columns.second_system_id[row]
        winner = winner_of_pair(CHOICES[columns.choice[row]], first_is_low=first_is_low)
        answers[columns.pair_id[row]][judges[columns.rater_id[row]]].append(winner)
    return answers


def _votes_of(judge: str, answers: Iterable[Mapping[str, Sequence[Winner]]]) -> JudgeVotes:
    said = [given[judge] for given in answers if judge in given]
    votes = Counter(map(merge_answers, said))
    return JudgeVotes(
        judge=judge,
        n_pairs=len(said),
        n_both_orders=sum(len(given) == 2 for given in said),
        n_flips=votes[FLIP],
        n_ties=votes["tie"],
    )


def _system_pairs(
    columns: JudgmentColumns,
    answers: Mapping[str, Mapping[str, Sequence[Winner]]],
    majorities: Mapping[str, PairMajority],
    names: Mapping[str, str],
) -> tuple[SystemPairJudges, ...]:
    pairs: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row, pair_id in enumerate(columns.pair_id):
        ends = (names[columns.first_system_id[row]], names[columns.second_system_id[row]])
        pairs[min(ends), max(ends)].add(pair_id)
    return tuple(
        SystemPairJudges(
            left=left,
            right=right,
            judges=tuple(sorted({judge for pair_id in pair_ids for judge in answers[pair_id]})),
            n_pairs=len(pair_ids),
            n_no_majority=sum(majorities[pair_id].outcome == "no-majority" for pair_id in pair_ids),
        )
        for (left, right), pair_ids in sorted(pairs.items())
    )


def _agreement(names: Sequence[str], votes: Sequence[Votes]) -> tuple[JudgeAgreement, ...]:
    groups: list[tuple[str, ...]] = list(combinations(names, 2))
    if len(names) > 2:
        groups.append(tuple(names))
    return tuple(_agreement_of(group, votes) for group in groups)


def _agreement_of(judges: tuple[str, ...], votes: Sequence[Votes]) -> JudgeAgreement:
    said = [{given.get(judge, FLIP) for judge in judges} for given in votes]
    n_all = sum(FLIP not in answers for answers in said)
    n_same = sum(FLIP not in answers and len(answers) == 1 for answers in said)
    return JudgeAgreement(
        judges=judges, n_pairs=n_all, n_same=n_same, rate=n_same / n_all if n_all else None
    )
