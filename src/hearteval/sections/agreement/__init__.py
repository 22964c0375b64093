"""How far raters agree: people and judges, each among themselves, and what axes weigh with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from hearteval.analysis.section import Basis, Chapter, Figure, Records, Section, rows_at
from hearteval.domain import flat_fields
from hearteval.report.page.links import item_page, pair_key
from hearteval.report.page.replies import Reading, Shown
from hearteval.report.plots.style import rows_height
from hearteval.report.table import Table
from hearteval.report.text import TOO_FEW
from hearteval.sections.agreement import weight_words, words
from hearteval.sections.agreement.judges import JudgesAgreement, measure_judges
from hearteval.sections.agreement.plot import agreement_cells, draw_agreement
from hearteval.sections.agreement.weights import AxisWeights, KindWeights, weigh_axes
from hearteval.sections.agreement.words import Heat, JudgeRow
from hearteval.sections.people import People
from hearteval.sections.people import words as of_people
from hearteval.sections.people.judges.agreement import AgreementPart
from hearteval.sections.people.judges.disagreements import Disagreement
from hearteval.sections.people.judges.study import PeopleAndJudges
from hearteval.sections.people.planned import with_q
from hearteval.sections.people.study import PeopleResults

N_READ = 4
"""Pairs on which people and judges are opposed, that the page names."""

TABLES: Mapping[str, tuple[str, str]] = {
    "agreement-of-judges": ("two or all judges, with intervals", "found.together"),
    "agreement-of-judges-by-axis": ("judges on each axis", "found.axes"),
    "judges-against-people": ("each judge and most people", "both.judges"),
    "clear-and-ambiguous": ("agreement on clear and on ambiguous pairs", "both.ambiguity.parts"),
    "agreement-differences": ("agreement, parts compared", "both.differences"),
    "agreement-by-axis": ("people and judges on each axis", "both.axes"),
    "agreement-by-number-of-judges": ("subsets of judges", "both.subsamples"),
    "one-person-against-others": ("judges in one person's place", "in_ones_place"),
    "agreement-by-item": ("how far people agree on each item", "both.consensus.items"),
    "agreement-by-thirds": ("judges where people part or agree", "both.consensus.thirds"),
    "opposed-traits": ("what judges choose against people", "both.disagreements.traits"),
    "opposed-pairs": (
        "pairs on which judges and people are opposed",
        "both.disagreements.examples",
    ),
    "axis-weights": ("what axes weigh in the choice", "each_weight"),
    "axis-weight-differences": ("people's weights less judges'", "weights.differences"),
    "agreement-of-people": ("people with each other, and with judges", "people.agreement"),
}
"""Name of the file -> what it holds, and where its records are."""


@dataclass(frozen=True, slots=True)
class Agreement(Section[JudgesAgreement | None]):
    """How far judges agree, and as far as people judged, people with them and with each other."""

    NAME: ClassVar = "agreement"
    TITLE: ClassVar = "How far judges agree"
    CHAPTER: ClassVar = Chapter.PEOPLE
    KEYS: ClassVar = ("judge_agreement", "axis_weights")
    TABLES: ClassVar = {name: what for name, (what, _) in TABLES.items()}
    FIGURES: ClassVar = (
        Figure(
            "agreement",
            "How often two give the same answer to a pair, percent; pale: perhaps no more than"
            " half.",
            lambda section: agreement_cells(section.both, section.found),
            draw_agreement,
            lambda found, _: rows_height(1.4 * len(found[0])),
        ),
    )
    TERMS: ClassVar = {
        "Fleiss' κ, Krippendorff's \N{GREEK SMALL LETTER ALPHA}": "How far raters agree beyond"
        " chance: 0 is what chance alone gives, 1 is always the same answer, below 0 they agree"
        " less than by chance."
    }
    CELL_WIDTH: ClassVar = words.CELL_WIDTH
    CELL_HEIGHT: ClassVar = words.CELL_HEIGHT
    TRAIT_NAMES: ClassVar = words.TRAIT_NAMES
    THIRD_NAMES: ClassVar = words.THIRD_NAMES
    agreement_rows = staticmethod(of_people.agreement_rows)
    difference_words = staticmethod(words.difference_words)
    tie_words = staticmethod(words.tie_words)
    rule_words = staticmethod(words.rule_words)
    subsample_words = staticmethod(words.subsample_words)
    opposed_words = staticmethod(words.opposed_words)
    opposed_reading = staticmethod(words.opposed_reading)
    trait_value = staticmethod(words.trait_value)
    trait_interval = staticmethod(words.trait_interval)
    of_pairs = staticmethod(words.of_pairs)
    estimate_words = staticmethod(words.estimate_words)
    weight_scale = staticmethod(weight_words.weight_scale)
    weight_text = staticmethod(weight_words.weight_text)

    weights: AxisWeights | None
    """What axes weigh in choices, by kind of rater; None where nobody marked them."""
    people: PeopleResults | None
    """What is found of people."""

    @property
    def results(self) -> Mapping[str, Any]:
        """Agreement of judges, and the weights."""
        return {"judge_agreement": self.found, "axis_weights": self.weights}

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Measure the agreement of judges; None where replies are rated, or nothing is found."""
        if basis.ratings is not None:
            return None
        judges = measure_judges(basis.pair_votes, level=basis.level, seed=basis.seed)
        weights = weigh_axes(basis.columns, level=basis.level)
        found = cls(judges, weights, basis.found(People))
        return found if judges or weights or found.whole else None

    @property
    def is_shown(self) -> bool:
        """Whether two judges judged, or a person."""
        return bool(self.found or self.whole)

    @property
    def terms(self) -> Mapping[str, str]:
        """Its words, where people judged."""
        return self.TERMS if self.whole else {}

    @property
    def whole(self) -> AgreementPart | None:
        """How far people agree, on all items."""
        return self.people.agreement[0] if self.people and self.people.agreement else None

    @property
    def both(self) -> PeopleAndJudges | None:
        """How people and judges agree, if both judged a pair."""
        return self.people.with_judges if self.people else None

    @property
    def level(self) -> float:
        """Nominal coverage of its intervals."""
        found = self.people or self.found
        assert found is not None
        return found.level

    @property
    def title(self) -> str:
        """Its name, by who judged."""
        if self.both:
            return "How far people and judges agree"
        return "How far people agree" if self.whole else self.TITLE

    def with_q(self, q: Mapping[str, float], *, level: float) -> Self:
        """Return it with the q of what people have planned."""
        return replace(self, people=with_q(self.people, q)) if self.people else self

    def records(self, table: str) -> Records:
        """Return a row for each judge, pair of them, axis, item, trait, person or part."""
        return rows_at(self, TABLES[table][1])

    @property
    def in_ones_place(self) -> Sequence[object]:
        """One person beside the others, and judges in that person's place."""
        ceiling = self.both.ceiling if self.both else None
        if ceiling is None:
            return ()
        person = {"judge": "one person", "n_votes": ceiling.n_votes, "same": ceiling.person}
        return [person, *ceiling.judges]

    @property
    def each_weight(self) -> Sequence[object]:
        """What each axis weighs, by kind of rater."""
        return [
            {"judged_by": kind.judged_by, **flat_fields(row), "interval_used": kind.interval_used}
            for kind in (self.weights.kinds if self.weights else ())
            for row in kind.weights
        ]

    def lines(self) -> Sequence[str]:
        """Return what a terminal says of agreement beyond the table of it."""
        if not self.is_shown:
            return ()
        lines = list(self.answer())
        if self.both is not None:
            lines += [
                words.subsample_words(self.both.subsamples),
                words.difference_words(self.both, self.level),
                words.opposed_words(self.both),
            ]
        lines.append(self.weight_words())
        return list(filter(None, lines))

    def shown_tables(self) -> Sequence[Table]:
        """Return agreement of people and of majorities, on all items and by subset."""
        table = of_people.agreement_table(self.people) if self.people else None
        return [table] if table else []

    def answer(self) -> tuple[str, ...]:
        """Say first how often judges choose as people do, beside how often people agree."""
        both = self.both
        said = []
        if self.whole:
            by_clarity = words.by_clarity(both.ambiguity) if both else ""
            said.append(words.people_words(self.whole, by_clarity))
        if both:
            said.append(words.place_words(both))
        of_judges = (
            words.best_words(both.judges) if both else "",
            words.judges_words(self.found) if self.found else "",
        )
        said.append(" ".join(filter(None, of_judges)))
        return tuple(filter(None, said)) or (f"There are {TOO_FEW} to say.",)

    def line(self) -> str:
        """Say the first of it."""
        return self.answer()[0]

    def heat(self) -> Heat | None:
        """Return the picture of who agrees with whom."""
        return words.heat(self.both, self.whole, self.found)

    def judge_rows(self) -> list[JudgeRow]:
        """Return the judges, the one that agrees most often first, then their majority."""
        return words.judge_rows(self.both, self.whole)

    def axis_rows(self) -> list[weight_words.AxisRow]:
        """Return the axes on which anybody agrees, or which weigh anything."""
        weights = self.weights
        by_both = {one.axis: one for one in (self.both.axes if self.both else ())}
        by_judges = {one.axis: one.found for one in (self.found.axes if self.found else ())}
        kinds = [{one.axis: one for one in kind.weights} for kind in self.weight_kinds()]
        is_both = weights is not None and len(kinds) > 1
        differs = {one.axis: one for one in (weights.differences if weights and is_both else ())}
        return [
            weight_words.AxisRow(
                axis=axis,
                name=name,
                people=by_both[axis].people if axis in by_both else None,
                judges=by_judges.get(axis),
                same=by_both.get(axis),
                weights=tuple(kind.get(axis) for kind in kinds),
                difference=differs.get(axis),
            )
            for axis, name in self.axis_names.items()
            if axis in by_both or axis in by_judges or any(axis in kind for kind in kinds)
        ]

    def weight_kinds(self) -> Sequence[KindWeights]:
        """Return the kinds of raters whose weights rest on enough items."""
        return weight_words.weight_kinds(self.weights)

    def weight_words(self) -> str:
        """Say which axes weigh more with people than with judges."""
        return weight_words.weight_words(self.weights, self.axis_names)

    def weight_problems(self) -> str:
        """Say for which kind there are no weights, and why."""
        return weight_words.weight_problems(self.weights)

    def opposed(
        self, shown: Shown, there: Iterable[Reading]
    ) -> tuple[list[tuple[Disagreement, str]], bool]:
        """Return pairs on which people and judges are opposed, where each is to be read, and if so.

        Those that can be read here come first.
        """
        opposed = self.both.disagreements if self.both else None
        at = [(one, _where(shown, there, one)) for one in (opposed.examples if opposed else ())]
        named = sorted(at, key=lambda each: not each[1].startswith("#"))[:N_READ]
        return named, shown.is_public or all(address for _, address in named)


def _where(shown: Shown, there: Iterable[Reading], one: Disagreement) -> str:
    """Return where a pair is to be read: on this page, with its verdicts, else in the folder."""
    if shown.is_public:
        return ""
    ends = {one.judges_choice, one.peoples_choice}
    if any(each.item.id == one.item_id and ends == {*each.systems} for each in there):
        return f"#{pair_key(*ends)}"
    return "" if shown.folder is None else f"{shown.folder}{item_page(one.item_id)}"
