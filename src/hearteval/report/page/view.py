"""What the page's own templates ask for: all that the page shows of a study but its sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.rank import PairFit
from hearteval.analysis.section import Chapter, Chip, Section
from hearteval.analysis.study import StudyResults
from hearteval.domain import Axis
from hearteval.notices import ADVICE, Kind, Notice
from hearteval.report import figures, leaderboard
from hearteval.report.answers import headline
from hearteval.report.answers.answer import Answer
from hearteval.report.coverage import people, safety
from hearteval.report.coverage.missing import CoverageTotals, coverage_totals, missing_replies
from hearteval.report.coverage.spending import costs_table, models_table, spending_words
from hearteval.report.page import first_screen, methods
from hearteval.report.page.chips import chips, coverage_words
from hearteval.report.page.replies import Shown
from hearteval.report.table import Column, Table, counted, tabulate
from hearteval.report.tables import all_tables
from hearteval.report.text import bare_percent, count, listed, plural, probability, reasons

MISFIT_P = 0.05
NO_PEOPLE = "No person judged or wrote for this study."
BASELINE_TERMS: Mapping[str, str] = {
    "shuffled": "An offline baseline: the recorded reply to another dialogue, drawn at random.",
    "retrieval": "An offline baseline: the recorded reply to the dialogue of most similar words.",
    "reflective": "An offline baseline: it says the last words back and asks an open question.",
    "generic": "An offline baseline: one of a dozen kind sentences that fit any trouble.",
    "advice": "An offline baseline: stock advice by the label of the problem, the dialogue unread.",
}
"""What the systems without a model are that come with hearteval, for the glossary."""
NO_JUDGES = "No model judged here."


class Part(NamedTuple):
    """A part of a chapter: open, or folded behind its line."""

    name: str
    title: str
    line: str
    template: str
    """Of this package, or empty for that of `section`."""
    section: Section[Any] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it is not folded."""
        return self.section is not None and self.section.IS_OPEN


@dataclass(frozen=True)
class View:
    """A study as its page shows it."""

    results: StudyResults
    shown: Shown
    has_replies: bool

    @cached_property
    def said(self) -> Answer:
        """The answer, and what stands under it."""
        return headline.sentence(self.results)

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """All that limits it, but that it is simulated: that stands above everything."""
        found = headline.results_notices(self.results)
        return tuple(one for one in found if one.kind is not Kind.SIMULATED)

    @property
    def news(self) -> tuple[Notice, ...]:
        """Those of the first screen."""
        return headline.news(self.notices, self.said)

    @property
    def warnings(self) -> Iterator[tuple[str, list[tuple[Notice, str]]]]:
        """The rest of them in two groups, each with what to do about it."""
        for title, is_serious in (
            ("Read these before you believe the order", True),
            ("Good to know", False),
        ):
            group = [
                (one, ADVICE[one.kind]) for one in self.notices if one.kind.is_serious == is_serious
            ]
            if group:
                yield title, group

    @property
    def standings(self) -> first_screen.Standings | None:
        """The ranked intervals."""
        return first_screen.standings(self.results)

    @property
    def is_bare(self) -> bool:
        """Whether there are win rates without a ranking."""
        rates = self.results.win_rates
        return self.results.ratings is None and any(one.n_comparisons for one in rates)

    @property
    def win_rates(self) -> Table:
        """Win rates of every system, which need no ranking."""
        return leaderboard.win_rate_table(self.results.win_rates, self.results.axis_names)

    @property
    def done_words(self) -> str:
        """Say what was done; nothing of what is simulated, or was not judged."""
        coverage = self.results.coverage
        raters = [one for one in coverage.judges if one.n_judged]
        if self.results.provenance.simulated or not raters:
            return ""
        n_people = sum(one.kind == "human" for one in raters)
        n_baselines = sum(one.is_baseline for one in raters)
        n_models = len(raters) - n_people - n_baselines
        who = [plural(n_people, "person", "people")] * bool(n_people)
        who += [plural(n_models, "model")] * bool(n_models)
        who += ["an offline counter of words"] * bool(n_baselines)
        how = "scored each reply" if self.results.ratings else "compared replies two at a time"
        n_items = plural(sum(coverage.n_items.values()), "dialogue")
        return (
            f"{plural(len(coverage.systems), 'system')} replied to {n_items};"
            f" {listed(who)} {how}, without knowing whose they are."
        )

    @property
    def votes_words(self) -> str:
        """Whose votes these are."""
        return headline.votes_words(self.results)

    @property
    def first_words(self) -> str:
        """That the first may be high for being first."""
        return headline.first_words(self.results)

    @property
    def marked_words(self) -> str:
        """Who marked the axes."""
        board = self.results.leaderboard
        return "" if board is None else leaderboard.marked_words(board)

    @property
    def chips(self) -> tuple[Chip, ...]:
        """News under the answer."""
        return chips(self.results, headline.results_notices(self.results))

    @property
    def limits(self) -> tuple[tuple[str, str], ...]:
        """What the numbers are not."""
        return methods.limits(self.results)

    @property
    def sections(self) -> list[Section[Any]]:
        """The sections that the page shows."""
        return [one for one in self.results.found_sections if one.is_shown]

    @property
    def board(self) -> Leaderboard | None:
        """The ranking, where more than two systems make it a question how each meets the others."""
        board = self.results.leaderboard
        return board if board is not None and len(board.rows) > 2 else None

    @property
    def chapters(self) -> Iterator[tuple[Chapter, str, list[Part]]]:
        """Each chapter that has anything to say, what stands first in it, and its parts."""
        shown = self.sections
        for chapter in Chapter:
            parts = [
                Part(one.NAME, one.title, one.line(), "", one)
                for one in shown
                if chapter is one.CHAPTER
            ]
            lacks = ""
            if chapter is Chapter.METHODS:
                parts += self._methods()
            elif chapter is Chapter.PEOPLE and not any(part.is_open for part in parts):
                lacks = NO_PEOPLE
            if parts or lacks:
                yield chapter, lacks, parts

    def _methods(self) -> Iterator[Part]:
        made = self.results.provenance
        what = "scores stand" if self.results.ratings else "ranking stands"
        if self.board:
            title = "Does one number per system fit?"
            yield Part("fit", title, self.fit_line, "fit.html.j2")
        line = coverage_words(self.results)
        yield Part("coverage", f"Coverage: what the {what} on", f"{line}.", "coverage.html.j2")
        line = f"{made.study}, version {made.version}: settings, models, costs, and table files."
        yield Part("made", "How it was made", line, "made.html.j2")
        line = "A paragraph made from the settings of this study."
        yield Part("methods", "Methods, ready to cite", line, "methods.html.j2")
        line = "The words of this page, in plain language."
        yield Part("glossary", "Glossary", line, "glossary.html.j2")

    @property
    def fit_line(self) -> str:
        """Say whether one number per system fits the direct comparisons."""
        assert self.results.leaderboard is not None
        fit = self.results.leaderboard.fit
        test = fit.lack_of_fit
        if test is None or test.p is None:
            why = f" Not tested: {test.reason}." if test and test.reason else ""
            return f"Gaps of {bare_percent(fit.rms_gap)} points.{why}"
        said = (
            "How often a system wins depends on whom it meets, by more than chance explains"
            if test.p < MISFIT_P
            else "Chance alone can explain how far the direct comparisons are from one number per"
            " system"
        )
        gaps = f"gaps of {bare_percent(fit.rms_gap)} points"
        if fit.expected_rms_gap is not None:
            gaps += f", {bare_percent(fit.expected_rms_gap)} by chance alone"
        return f"{said}: {gaps}; {probability('p', test.p)}."

    @property
    def scatter(self) -> figures.Scatter | None:
        """Observed against predicted wins."""
        board = self.results.leaderboard
        return figures.fit_scatter(board.fit) if board and board.fit.pairs else None

    @property
    def fitted_pairs(self) -> tuple[tuple[PairFit, PairFit], ...]:
        """Every pair of systems, in both fits."""
        board = self.results.leaderboard
        return figures.pairs_in_both_fits(board) if board else ()

    @staticmethod
    def describe_pair(pair: PairFit) -> str:
        """Say of a dot what it is."""
        return figures.describe_pair(pair)

    @property
    def is_many(self) -> bool:
        """Whether there are too many systems to list every pair."""
        board = self.results.leaderboard
        return board is not None and len(board.rows) > figures.MANY

    @property
    def totals(self) -> CoverageTotals:
        """What was planned, made and missing."""
        return coverage_totals(self.results.coverage)

    @property
    def people_lines(self) -> list[str]:
        """What there is of people."""
        found = self.results.coverage.people
        return people.coverage_lines(found) if found else []

    @property
    def pace_words(self) -> str:
        """How long they took."""
        return people.pace_words(self.results.pace)

    @property
    def screen_words(self) -> list[str]:
        """What they are kept from reading."""
        return safety.screen_words(self.results.safety) if self.results.safety else []

    @property
    def missing(self) -> list[str]:
        """Why replies are missing."""
        return missing_replies(self.results)

    @property
    def completions(self) -> Table:
        """How many completions of each system there are, and why not more."""
        return tabulate(
            self.results.coverage.systems,
            [
                (Column("System", "name", is_sortable=True), lambda row: row.system),
                (Column("Items", is_sortable=True), lambda row: counted(row.n_items)),
                (Column("Replies", is_sortable=True), lambda row: counted(row.n_completions)),
                (Column("Missing", "text"), lambda row: reasons(row.missing)),
            ],
        )

    @property
    def funnel(self) -> Table:
        """How many candidates each rule of the selection let through."""
        return tabulate(
            self.results.funnel or (),
            [
                (Column("Rule", "name"), lambda step: step["rule"]),
                ("In", lambda step: count(step["n_in"])),
                ("Out", lambda step: count(step["n_out"])),
                ("Left behind", lambda step: count(step["n_in"] - step["n_out"])),
            ],
        )

    @property
    def spent(self) -> tuple[tuple[str, str, Table], ...]:
        """Which models were asked, and what they cost: label, caption, table."""
        spending = self.results.spending
        return (
            ("Models", spending_words(spending), models_table(spending)),
            ("Costs", "Cost by model and step", costs_table(spending)),
        )

    @property
    def files(self) -> Mapping[str, Table]:
        """Every table file."""
        return all_tables(self.results)

    @property
    def paragraph(self) -> str:
        """How it was made, to cite."""
        return methods.paragraph(self.results)

    @property
    def own_axis_names(self) -> Mapping[Axis, str]:
        """What a rubric of the study's own calls the axes."""
        return methods.own_axis_names(self.results)

    @property
    def terms(self) -> Sequence[tuple[str, str]]:
        """Names of baselines and words of the sections, for the glossary."""
        names = {row.system for row in self.results.coverage.systems if row.kind == "baseline"}
        own = [(name, words) for name, words in BASELINE_TERMS.items() if name in names]
        return [*own, *(term for one in self.sections for term in one.terms.items())]
