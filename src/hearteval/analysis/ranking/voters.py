"""Whose votes the headline ranking is by: people's, judges', or both (docs/decisions/0042).

People's, where five of them judged every system and their votes alone rank all; else both; judges'
where no person voted. A study may say so itself; then what its votes do not determine is told, and
no other votes stand in. Where the headline is anchored, what stands beside it is by the default.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hearteval.analysis.judgments import Judgments
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
    rows: Judgments,
    systems: Sequence[System],
    people: Collection[str],
    asked: Voters | None,
) -> tuple[Headline, Judgments]:
    """Choose whose votes the headline is by, and return these votes.

    Args:
        rows: Judgments of these systems.
        systems: Systems of the study that can be ranked.
        people: Ids of human raters.
        asked: What the study file asks for; None for the default.
    """
    by_people = rows.by(people)
    n = len(by_people)
    by = _default(rows, by_people, systems) if asked in (None, "anchored") else asked
    used = rows
    if by == "people":
        used = by_people
    elif by == "judges":
        used = rows.select(~rows.rater.is_in(people)) if n else rows
    raters = set(used.rater.present)
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


def _default(rows: Judgments, by_people: Judgments, systems: Sequence[System]) -> Voters:
    if not by_people:
        return "judges"
    is_enough = len(by_people) == len(rows) or _do_people_rank(rows, by_people, systems)
    return "people" if is_enough else "both"


def _do_people_rank(rows: Judgments, by_people: Judgments, systems: Sequence[System]) -> bool:
    """Return whether five people or more judged every system, and their votes compare all."""
    met = {*rows.first_system.present, *rows.second_system.present}
    field = sorted(met.intersection(system.id for system in systems))
    n_raters = [len(by_people.select(by_people.names({id_})).rater.present) for id_ in field]
    if not field or min(n_raters) < MIN_RATERS:
        return False
    comparisons = to_comparisons(by_people, use_strength=False, system_ids=field)
    enough, kept = keep_compared(comparisons, min_items=MIN_ITEMS)
    return len(kept) == len(field) and len(strong_components(win_matrix(enough))) == 1
