"""Whose votes the headline ranking is by: people's, judges', or both (docs/decisions/0042).

People's, where five of them judged every system and their votes alone rank all; else both; judges'
where no person voted. A study may say so itself; then what its votes do not determine is told, and
no other votes stand in. Where the headline is anchored, what stands beside it is by the default.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hearteval.analysis.data import JudgmentRow
from hearteval.analysis.ranking.comparisons import MIN_ITEMS, to_comparisons
from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.domain import System
from hearteval.domain.study import Voters
from hearteval.stats.bradley_terry.fit import strong_components
from hearteval.stats.comparisons import keep_compared, win_matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Whose votes the headline ranking is by, and how many stand behind it.

    Attributes:
        by: ``people``, ``judges`` or ``both``, where both voted; or ``anchored``.
        beside: Whose votes all is by that stands beside the Elo: the same, but where that is
            anchored.
        asked: What the study file asks for; None for the default.
        n_people: People whose votes count; n_judges, LLM judges.
        n_left_out: Judgments by the other kind, which count in its own ranking only.
    """

    by: Voters
    beside: Voters
    asked: Voters | None
    n_people: int
    n_judges: int
    n_judgments: int
    n_left_out: int


def choose_headline(
    rows: Sequence[JudgmentRow],
    systems: Sequence[System],
    people: Collection[str],
    asked: Voters | None,
) -> tuple[Headline, Sequence[JudgmentRow]]:
    """Choose whose votes the headline is by, and return these votes.

    Args:
        rows: Judgments of these systems.
        systems: Systems of the study that can be ranked.
        people: Ids of human raters.
        asked: What the study file asks for; None for the default.
    """
    by_people = [row for row in rows if row.rater_id in people]
    n = len(by_people)
    by = _default(rows, by_people, systems) if asked in (None, "anchored") else asked
    used: Sequence[JudgmentRow] = rows
    if by == "people":
        used = by_people
    elif by == "judges":
        used = [row for row in rows if row.rater_id not in people] if n else rows
    raters = {row.rater_id for row in used}
    n_people = len(raters.intersection(people))
    if by == "both" and 0 in (n_people, len(raters) - n_people):
        by = "people" if n_people else "judges"
    headline = Headline(
        by="anchored" if asked == "anchored" else by,
        beside=by,
        asked=asked,
        n_people=n_people,
        n_judges=len(raters) - n_people,
        n_judgments=len(used),
        n_left_out=len(rows) - len(used),
    )
    return headline, used


def _default(
    rows: Sequence[JudgmentRow], by_people: Sequence[JudgmentRow], systems: Sequence[System]
) -> Voters:
    if not by_people:
        return "judges"
    is_enough = len(by_people) == len(rows) or _do_people_rank(rows, by_people, systems)
    return "people" if is_enough else "both"


def _do_people_rank(
    rows: Sequence[JudgmentRow], by_people: Sequence[JudgmentRow], systems: Sequence[System]
) -> bool:
    """Return whether five people or more judged every system, and their votes compare all."""
    judged: dict[str, set[str]] = defaultdict(set)
    for row in by_people:
        judged[row.first_system_id].add(row.rater_id)
        judged[row.second_system_id].add(row.rater_id)
    met = {id_ for row in rows for id_ in (row.first_system_id, row.second_system_id)}
    field = sorted(met.intersection(system.id for system in systems))
    if not field or any(len(judged[id_]) < MIN_RATERS for id_ in field):
        return False
    comparisons = to_comparisons(by_people, use_strength=False, system_ids=field)
    enough, kept = keep_compared(comparisons, min_items=MIN_ITEMS)
    return len(kept) == len(field) and len(strong_components(win_matrix(enough))) == 1
