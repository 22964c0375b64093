"""People beside judges and models: rankings by kind of rater, whose replies are preferred."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.analysis.section import Basis, Chapter, Figure, Records, Section
from hearteval.domain import flat_fields
from hearteval.domain.study import Voters
from hearteval.notices import Notice
from hearteval.report.leaderboard import RANK_DIFFERS
from hearteval.report.plots.style import rows_height
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import NO_VALUE, count
from hearteval.sections.people import words
from hearteval.sections.people.judges.agreement import warn_of_chance
from hearteval.sections.people.models import words as against
from hearteval.sections.people.planned import planned_tests, with_q
from hearteval.sections.people.plot import draw_against_models, outcomes
from hearteval.sections.people.rankings import warn_of_difference
from hearteval.sections.people.study import PeopleResults, analyze_people


class Beside(NamedTuple):
    """One system as people, judges and both rank it."""

    system: str
    by: tuple[EloEstimate | None, ...]
    """In the order of `boards`; None where a kind does not rank it."""
    differs: bool
    """Whether people and judges give it different ranks."""


@dataclass(frozen=True, slots=True)
class People(Section[PeopleResults]):
    """People beside judges, and models beside people."""

    NAME: ClassVar = "people"
    TITLE: ClassVar = "People"
    CHAPTER: ClassVar = Chapter.PEOPLE
    IS_OPEN: ClassVar = True
    KEYS: ClassVar = ("people",)
    TABLES: ClassVar = {
        "by-people-and-by-judges": "the ranking by each kind of rater",
        "ranks-by-people-and-by-judges": "places by each kind of rater",
        "models-against-people": "whose reply is preferred",
        "models-against-people-by": "the same by subset, emotion, problem, profile and model",
        "models-lead": "subsets and kinds of rater compared",
        "best-human": "the best of people's replies",
        "by-groups-of-people": "the ranking by groups of people",
    }
    FIGURES: ClassVar = (
        Figure(
            "models-against-people",
            "Whose reply is preferred where a model's meets a person's.",
            lambda section: section.found if section.found.against_models else None,
            draw_against_models,
            lambda found, _: rows_height(1.6 * len(outcomes(found))),
        ),
    )
    HEADINGS: ClassVar = words.HEADINGS
    HIGHER: ClassVar = against.HIGHER
    LOWER: ClassVar = against.LOWER
    source_words = staticmethod(words.source_words)
    margin = staticmethod(words.margin)
    group_tables = staticmethod(words.group_tables)
    too_few_words = staticmethod(words.too_few_words)
    bars = staticmethod(against.bars)
    interval_words = staticmethod(against.interval_words)
    group_words = staticmethod(against.group_words)
    mix_words = staticmethod(against.mix_words)
    lead_words = staticmethod(against.lead_words)
    every_axis_words = staticmethod(against.every_axis_words)
    best_words = staticmethod(against.best_words)
    best_rows = staticmethod(against.best_rows)
    kinds_of = staticmethod(against.kinds_of)
    families = staticmethod(against.families)
    mark = staticmethod(against.mark)

    board: Leaderboard | None
    """The ranking at the top."""
    voters: Voters
    """Whose votes that is by."""
    protocols: Mapping[str, str]
    """How each kind of rater was asked."""

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Set people beside judges and models; None where replies are rated, or without people."""
        if basis.ratings is not None:
            return None
        assert basis.data.provenance is not None
        found = analyze_people(
            basis.rows,
            basis.columns,
            basis.pair_votes,
            basis.data,
            level=basis.level,
            seed=basis.seed,
            rule=basis.ambiguity,
        )
        protocols = basis.data.provenance.protocols
        return None if found is None else cls(found, basis.board, basis.voters.by, protocols)

    def records(self, table: str) -> Records:
        """Return a row for each system by kind of rater or group, or for what models are beside."""
        found = self.found
        if table == "by-people-and-by-judges":
            return [
                {
                    "judged_by": one.judged_by,
                    "system": row.system,
                    "kind": row.kind,
                    **flat_fields(row.weighted),
                    "interval_used": one.leaderboard.interval_used,
                    "n_comparisons": row.n_comparisons,
                }
                for one in found.rankings
                if one.leaderboard
                for row in one.leaderboard.rows
            ]
        if table == "by-groups-of-people":
            return [
                {
                    "question": group.question,
                    "answer": group.answer or "other answers",
                    "n_people": group.n_people,
                    "n_judgments": group.n_judgments,
                    "system": row.system,
                    **flat_fields(row.weighted),
                    "interval_used": group.ranking.leaderboard.interval_used,
                }
                for group in (found.groups.groups if found.groups else ())
                if group.ranking.leaderboard
                for row in group.ranking.leaderboard.rows
            ]
        return {
            "ranks-by-people-and-by-judges": found.differences,
            "models-against-people": found.against_models,
            "models-against-people-by": found.against_models_by,
            "models-lead": found.leads,
            "best-human": found.best_human,
        }[table]

    def tests(self) -> Mapping[str, float | None]:
        """Return the p of models against people, and of agreement of both by subset."""
        return planned_tests(self.found)

    def with_q(self, q: Mapping[str, float], *, level: float) -> Self:
        """Return it with the q of these."""
        return type(self)(with_q(self.found, q), self.board, self.voters, self.protocols)

    def notices(self) -> Sequence[Notice]:
        """Say where people agree by chance, or place systems apart from judges."""
        found = self.found
        return (
            *warn_of_chance(found.agreement, level=found.level),
            *warn_of_difference(found.differences, self.voters),
        )

    def brief(self) -> tuple[str, ...]:
        """Say in plain words what people say beside judges, and how models fare against people."""
        found = self.found
        said = [against.overall_words(found), words.ranking_words(found)]
        said += words.agreement_words(found.agreement[0]) if found.agreement else ()
        return tuple(filter(None, said))

    def shown_tables(self) -> Sequence[Table]:
        """Return the rankings side by side, and models against people."""
        tables = (self.ranking_table(), self.against_table(), against.best_table(self.found))
        return [table for table in tables if table]

    def boards(self) -> dict[str, Leaderboard]:
        """Return the rankings by people, by judges and by both; empty unless both kinds judged.

        That by both is there where it is the headline.
        """
        if not self.found.rankings:
            return {}
        boards = {one.judged_by: one.leaderboard for one in self.found.rankings}
        if self.board is not None and self.board.judged_by == "both":
            boards |= {"both": self.board}
        return {by: board for by, board in boards.items() if board is not None}

    def beside(self) -> list[Beside]:
        """Set the systems side by side, in the order of the headline, or the last that there is."""
        boards = self.boards()
        strengths = {
            by: {row.system: row.weighted for row in board.rows} for by, board in boards.items()
        }
        top = [self.board] if self.board else []
        shown = [*top, *reversed(boards.values())]
        order = dict.fromkeys(row.system for board in shown for row in board.rows)
        differs = {one.system for one in self.found.differences if one.by_people != one.by_judges}
        return [
            Beside(name, tuple(each.get(name) for each in strengths.values()), name in differs)
            for name in order
        ]

    def ranking_table(self) -> Table | None:
        """Return rank and Elo by people, by judges and by both; None unless both kinds judged."""
        boards = self.boards()
        if not boards:
            return None
        rows = self.beside()

        def of(place: int) -> Callable[[Beside], str]:
            return lambda row: words.strength_words(row.by[place])

        return tabulate(
            rows,
            [
                (Column("system", "name"), lambda row: row.system),
                *((words.HEADINGS[by].lower(), of(place)) for place, by in enumerate(boards)),
                ("", lambda row: RANK_DIFFERS if row.differs else ""),
            ],
            notes=[
                "place, Elo and half its interval; each Elo is about the mean of its own ranking.",
                f"{RANK_DIFFERS} the places by people and by judges differ."
                if any(row.differs for row in rows)
                else "",
            ],
        )

    def against_table(self) -> Table | None:
        """Return how models fare against people, by kind of rater, subset and group of writers."""
        found = self.found
        if not found.against_models:
            return None

        def outcome(name: str) -> Callable[[against.Shares], str]:
            return lambda row: words.outcome_words(getattr(row.against, name, None))

        return tabulate(
            against.bars(found),
            [
                (
                    Column("judged by", "text"),
                    lambda row: ", ".join(filter(None, (row.judged_by, row.of))),
                ),
                ("model", outcome("model")),
                (
                    "tie",
                    lambda row: outcome("tie")(row) if self.may_tie(row.judged_by) else NO_VALUE,
                ),
                ("person", outcome("person")),
                ("n", lambda row: count(row.n_judgments)),
            ],
            caption="Models against people: whose reply is preferred, in percent of judgments",
            notes=[
                against.mix_words(found),
                against.group_words(found),
                *against.lead_words(found),
                against.every_axis_words(found),
            ],
        )

    def may_tie(self, judged_by: str) -> bool:
        """Return whether raters of this kind can call a tie."""
        kind = "human" if judged_by == "people" else "llm"
        return self.protocols.get(kind) != "forced-strength"
