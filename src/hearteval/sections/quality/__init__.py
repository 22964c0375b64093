"""How carefully people answered, by rules over their answers; who is left out, and what it does."""

from collections.abc import Sequence
from typing import ClassVar, Self

from markupsafe import Markup

from hearteval.analysis.section import Basis, Chapter, Records, Section
from hearteval.analysis.study import analyze_study
from hearteval.domain import flat_fields
from hearteval.notices import Kind, Notice
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import NO_VALUE, count, interval, listed, whole, whole_percent
from hearteval.sections.people import People
from hearteval.sections.quality import words
from hearteval.sections.quality.measure import CarefulAnswers, Computed, measure_quality


class Quality(Section[CarefulAnswers]):
    """Rules over people's answers, and who is left out by them."""

    NAME: ClassVar = "quality"
    TITLE: ClassVar = "How carefully people answered"
    CHAPTER: ClassVar = Chapter.PEOPLE
    KEYS: ClassVar = ("quality",)
    TABLES: ClassVar = {
        "each-person": "what rules see of each person's answers",
        "left-out": "people who are left out of every number",
        "with-everybody": "the ranking without and with them",
        "models-against-people-with-everybody": "whose reply is preferred without and with them",
    }
    PATHS: ClassVar = {
        "left-out": "found.excluded",
        "with-everybody": "found.ranking",
        "models-against-people-with-everybody": "found.against_models",
    }
    whole = staticmethod(whole)
    interval = staticmethod(interval)
    finding_words = staticmethod(words.finding_words)
    listed = staticmethod(listed)
    NO_REJECTION: ClassVar = words.NO_REJECTION

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Apply the rules to everybody; None where no person has answered."""

        def with_everybody() -> Computed:
            found = analyze_study(
                basis.everybody.with_everybody(),
                level=basis.level,
                ambiguity=basis.ambiguity,
                headline=basis.voters.asked,
                assume_random=basis.assume_random,
                sections=(People,),
            )
            people = found.found(People)
            return Computed(
                board=found.leaderboard, against=people.against_models if people else ()
            )

        people = basis.found(People)
        without = Computed(board=basis.board, against=people.against_models if people else ())
        found = measure_quality(basis.everybody, without, with_everybody, level=basis.level)
        return None if found is None else cls(found)

    def records(self, table: str) -> Records:
        """Return a row for each person and rule, or for who is left out, or each system."""
        if table != "each-person":
            return super().records(table)
        return [
            {
                "person": one.person,
                "is_excluded": one.is_excluded,
                "n_answers": one.n_answers,
                **{k: v for k, v in flat_fields(finding).items() if k != "person"},
            }
            for one in self.found.people
            for finding in one.findings
        ]

    def notices(self) -> Sequence[Notice]:
        """Warn where many are left out, or where the order depends on it."""
        found = self.found
        share = len(found.excluded) / max(1, len(found.people))
        if not found.excluded or not (share >= words.MANY or found.is_other_order):
            return ()
        text = (
            f"{len(found.excluded)} of {len(found.people)} people are left out of every number."
            f" {words.order_words(found)}"
        )
        return [Notice(Kind.LEFT_OUT, text)]

    def excluded_words(self, *, is_public: bool = False) -> str:
        """Say who is left out, and what it does to the order."""
        return words.excluded_words(self.found, is_public=is_public)

    def found_words(self, *, is_public: bool = False) -> str:
        """Say of whom rules saw something."""
        return words.found_words(self.found, is_public=is_public)

    def line(self) -> str:
        """Say who is left out and how many people rules find, by nobody's name."""
        n = len(self.found.excluded)
        n_found = sum(bool(one.found) for one in self.found.people)
        of = len(self.found.people)
        out = f"<b>{n} of {of} people left out.</b>" if n else "<b>Nobody is left out.</b>"
        rules = f" Rules over answers find {n_found} of {of}."
        order = f" {words.order_words(self.found)}" if n else ""
        return Markup("{}{}{}").format(Markup(out), rules, order)  # noqa: S704 - numbers alone

    def brief(self) -> Sequence[str]:
        """Say the same in a terminal, where anybody is left out."""
        return [self.excluded_words()] if self.found.excluded else []

    def lines(self) -> Sequence[str]:
        """Say of whom rules saw something."""
        return [self.found_words()]

    @property
    def rule_rows(self) -> list[words.RuleWords]:
        """Every rule with how many people it finds, of how many."""
        return words.rule_rows(self.found)

    def shown_tables(self) -> Sequence[Table]:
        """Return the ranking without and with those who are left out."""
        if not self.found.ranking:
            return ()
        return [
            tabulate(
                self.found.ranking,
                [
                    (Column("system", "name"), lambda row: row.system),
                    ("rank", lambda row: _number(row.rank)),
                    ("Elo", lambda row: whole(row.elo)),
                    ("rank with", lambda row: _number(row.rank_with)),
                    ("Elo with", lambda row: whole(row.elo_with)),
                ],
                notes=["with: with everybody, those who are left out too"],
            )
        ]

    @staticmethod
    def share(value: float | None) -> str:
        """Write a share in percent."""
        return NO_VALUE if value is None else whole_percent(value)

    @staticmethod
    def number(value: int | None) -> str:
        """Write a rank, or that there is none."""
        return _number(value)


def _number(value: int | None) -> str:
    return NO_VALUE if value is None else count(value)
