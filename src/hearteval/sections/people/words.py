"""People beside judges and models, in words and as tables: for the terminal and the page.

Words come first and say what the numbers mean; a share is of judgments or of pairs, as it says.
"""

from collections.abc import Callable
from typing import NamedTuple

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.protocol import load_protocol
from hearteval.report.leaderboard import interval_words
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import (
    NO_VALUE,
    count,
    hundredths,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    whole,
    whole_percent,
)
from hearteval.sections.people.groups import PeopleGroups
from hearteval.sections.people.judges.agreement import (
    AMBIGUOUS,
    CLEAR,
    AgreementPart,
    MajoritiesAgreement,
)
from hearteval.sections.people.models.meetings import MIN_ITEMS
from hearteval.sections.people.models.shares import OutcomeShare
from hearteval.sections.people.study import PeopleResults

HEADINGS = {"people": "People", "judges": "Judges", "both": "Both"}
PART_NAMES = {None: "all items", CLEAR: "clear pairs", AMBIGUOUS: "ambiguous pairs"}
MAX_NAMED = 3


def ranking_words(found: PeopleResults) -> str:
    """Say whether people alone and judges alone rank alike, or why there is no such ranking."""
    if not found.differences:
        return " ".join(
            f"By {one.judged_by} alone there is no ranking: {one.problem}."
            for one in found.rankings
            if one.problem
        )
    n = sum(one.by_people != one.by_judges for one in found.differences)
    if not n:
        return "People alone and judges alone give every system the same place."
    said = (
        f"People alone and judges alone give {count(n)} of"
        f" {plural(len(found.differences), 'system')} different places"
    )
    apart = [one.system for one in found.differences if one.is_apart]
    if not apart:
        return f"{said}, none beyond what the intervals leave open."
    names = listed(apart) if len(apart) <= MAX_NAMED else plural(len(apart), "system")
    return f"{said}: {names} beyond what the intervals leave open."


def agreement_words(part: AgreementPart) -> list[str]:
    """Say how far two people agree, and most judges with most people; of few items nothing."""
    words = []
    people, both = part.people, part.majorities
    if people is not None and people.same.value is not None and people.n_items >= MIN_ITEMS:
        said = f"Two people who judge a pair agree in {percent(people.same.value)} of cases"
        alpha = people.krippendorff_alpha.value
        if alpha is not None and alpha > 0:
            by_chance = 1 - (1 - people.same.value) / (1 - alpha) if alpha < 1 else None
            said += (
                "" if by_chance is None else f"; by chance alone it would be {percent(by_chance)}"
            )
        elif alpha is not None:
            said += ", no more than chance alone would"
        words.append(f"{said}.")
    if both is not None and both.same.value is not None and both.n_items >= MIN_ITEMS:
        words.append(majorities_words(both))
    return words


def majorities_words(both: MajoritiesAgreement, by_clarity: str = "") -> str:
    """Say how often two majorities are one, of how many pairs, beside chance and beside no answer.

    Args:
        both: With a figure of `same`.
        by_clarity: What it is on clear and on ambiguous pairs.
    """
    is_all = both.n_pairs == both.n_pairs_both
    where = "" if is_all else " on which both have a majority"
    said = (
        f"Most judges choose what most people choose in {percent(both.same.value or 0)} of"
        f" {plural(both.n_pairs, 'pair')}{where}"
    )
    said += "" if both.by_chance is None else f" (by chance alone {percent(both.by_chance)})"
    if is_all or both.same_of_all.value is None:
        return f"{said}{by_clarity}."
    return (
        f"{said}{by_clarity}. With no majority counted as disagreement it is"
        f" {percent(both.same_of_all.value)} of all {plural(both.n_pairs_both, 'pair')} that both"
        " judged."
    )


class GroupTable(NamedTuple):
    """How the groups of one question rank the systems."""

    question: str
    columns: tuple[tuple[str, int, int], ...]
    """Words of each answer, how many people gave it, and how often they judged."""
    rows: tuple[tuple[str, tuple[EloEstimate | None, ...]], ...]
    """Each system with its strength by each group; None where a group does not rank it."""


def group_tables(found: PeopleGroups) -> list[GroupTable]:
    """Return a table for each question that enough people were asked."""
    tables = []
    for question in dict.fromkeys(group.question for group in found.groups):
        groups = [group for group in found.groups if group.question == question]
        boards = [group.ranking.leaderboard for group in groups]
        strengths = [
            {row.system: row.weighted for row in board.rows} if board else {} for board in boards
        ]
        systems = dict.fromkeys(name for each in strengths for name in each)
        tables.append(
            GroupTable(
                question=_question_words(question),
                columns=tuple(
                    (_answer_words(question, group.answer), group.n_people, group.n_judgments)
                    for group in groups
                ),
                rows=tuple((name, tuple(each.get(name) for each in strengths)) for name in systems),
            )
        )
    return tables


def too_few_words(found: PeopleGroups) -> str:
    """Name the questions of which nothing is said; empty where there are none."""
    if not found.too_few:
        return ""
    asked = listed([f"\u201c{_question_words(name)}\u201d" for name in found.too_few])
    return f"Fewer than {found.smallest_group} people judged, so nothing is said of {asked}."


def _question_words(question: str) -> str:
    return str(load_protocol("people_background")["questions"][question]["question"])


def _answer_words(question: str, answer: str | None) -> str:
    options = load_protocol("people_background")["questions"][question]["options"]
    words = {option["value"]: option["label"] for option in options}
    words |= {"not-said": "not said"}
    return "other answers" if answer is None else words.get(answer, answer)


def source_words(by: str, board: Leaderboard) -> str:
    """Say who voted, how often, and how the intervals of that ranking are made."""
    n_judges = board.n_raters - board.n_people
    people = [plural(board.n_people, "person", "people")] if board.n_people else []
    who = listed([*people, *([plural(n_judges, "judge")] if n_judges else [])])
    conditions = interval_words(board).partition(f"{level_percent(board.level)}, ")[2]
    interval_used = ", ".join(filter(None, (board.interval_used, conditions)))
    return f"{HEADINGS[by]}: {plural(board.n_judgments, 'judgment')} by {who}, {interval_used}"


def margin(strength: EloEstimate) -> str:
    """Write half the interval with its sign; nothing without one."""
    if strength.low is None or strength.high is None:
        return ""
    return f"\N{PLUS-MINUS SIGN}{whole((strength.high - strength.low) / 2)}"


def strength_words(strength: EloEstimate | None) -> str:
    """Write rank, Elo and half its interval."""
    if strength is None:
        return NO_VALUE
    return f"{strength.rank} {whole(strength.elo):>5} {margin(strength):>4}"


def agreement_rows(found: PeopleResults) -> list[tuple[str, AgreementPart]]:
    """Return agreement on all items, then by subset, then on clear and on ambiguous pairs."""
    clarity = found.with_judges.ambiguity if found.with_judges else None
    parts = (*found.agreement, *(clarity.parts if clarity else ()))
    return [(PART_NAMES.get(part.subset, part.subset or ""), part) for part in parts]


def agreement_table(found: PeopleResults) -> Table | None:
    """Return agreement of people and of majorities, on all items and by subset."""
    if not found.agreement:
        return None

    def of(kind: str, name: str, write: Callable[[float], str]) -> Callable[..., str]:
        return lambda row: _measure_words(getattr(getattr(row[1], kind), name, None), write)

    return tabulate(
        agreement_rows(found),
        [
            (Column("items", "text"), lambda row: row[0].removesuffix(" pairs")),
            ("two people", of("people", "same", whole_percent)),
            ("Fleiss' \N{GREEK SMALL LETTER KAPPA}", of("people", "fleiss_kappa", hundredths)),
            ("\N{GREEK SMALL LETTER ALPHA}", of("people", "krippendorff_alpha", hundredths)),
            ("majorities", of("majorities", "same", whole_percent)),
        ],
        notes=[
            "two people: percent of equal answers to a pair. majorities: percent of the pairs with"
            " a majority of both kinds in which most people and most judges choose the same."
            " Intervals are over items."
        ],
    )


def _measure_words(found: AgreementMeasure | None, write: Callable[[float], str]) -> str:
    if found is None or found.value is None:
        return NO_VALUE
    if found.low is None:
        return write(found.value)
    return f"{write(found.value)} {interval(found.low, found.high, write=write)}"


def outcome_words(share: OutcomeShare | None) -> str:
    """Write a share with its interval."""
    if share is None:
        return NO_VALUE
    return f"{whole_percent(share.rate)} {interval(share.low, share.high, write=whole_percent)}"
