"""How the replies are worded: templates, varied words, words for feelings (HEART 4.2)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import ClassVar, Self

import numpy as np
from markupsafe import Markup

from hearteval.analysis.section import Basis, Records, Section
from hearteval.report.figures import z_step
from hearteval.report.page.first_screen import shade
from hearteval.report.text import (
    FEWEST_ITEMS,
    NO_VALUE,
    decimal,
    listed,
    whole_percent,
)
from hearteval.sections.wording.measure import (
    EMOTION_WORDS_DRAWN,
    MEASURES,
    OPENING,
    PHRASE,
    REPLIES_DRAWN,
    WORDS_DRAWN,
    Measure,
    SystemWording,
    WordingDifference,
    WordingResults,
    measure_wording,
)

FEWEST_TO_NAME = 30
"""Over fewer a difference is not named: its test finds too many (`benchmarks/RESULTS.md`)."""
FOUND = 0.05
HEADINGS: Mapping[Measure, str] = {
    "recurring-phrases": f"{PHRASE}-word phrases that recur, %",
    "recurring-openings": "Openings that recur, %",
    "different-words": f"Different of {WORDS_DRAWN} words",
    "different-emotion-words": f"Different of {EMOTION_WORDS_DRAWN} feeling words",
    "emotion-words": "Feeling words in 100",
}
"""By measure, in the order of the columns."""
SHARES = {"recurring-phrases", "recurring-openings"}
MORE: Mapping[Measure, tuple[str, str]] = {
    "recurring-phrases": ("repeat more phrases", "repeat fewer phrases"),
    "recurring-openings": ("open alike more often", "open alike less often"),
    "different-words": ("use more different words", "use fewer different words"),
    "different-emotion-words": (
        "have more different words for feelings",
        "have fewer different words for feelings",
    ),
    "emotion-words": ("name feelings more often", "name feelings less often"),
}


class Wording(Section[WordingResults]):
    """How the replies of systems are worded, and models' beside people's."""

    NAME: ClassVar = "wording"
    TITLE: ClassVar = "How the replies are worded"
    IS_EXPLORATORY: ClassVar = True
    TABLES: ClassVar = {
        "wording": "how replies are worded",
        "wording-differences": "how models are worded less how people are",
    }
    TERMS: ClassVar = {
        "HD-D": f"How many of {WORDS_DRAWN} words drawn at random from all of a"
        " system\N{RIGHT SINGLE QUOTATION MARK}s are different."
    }
    KEYS: ClassVar = ("wording",)
    HEADINGS: ClassVar = tuple(HEADINGS.values())

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Measure the wording; None without a reply."""
        found = measure_wording(basis.data, level=basis.level)
        return None if found is None else cls(found)

    def records(self, table: str) -> Records:
        """Return a row for each figure of a system, or for each difference."""
        if table == "wording-differences":
            return self.found.differences
        return [
            {
                "system": one.system,
                "kind": one.kind,
                "family": one.family,
                "n_completions": one.n_completions,
                "n_items": one.n_items,
                "n_words": one.n_words,
                "measure": measure,
                **asdict(at),
            }
            for one in self.found.systems
            for measure, at in one.measures.items()
        ]

    def line(self) -> Markup:
        """Say in plain words how models differ from people."""
        rows = [row for row in self.found.differences if row.comparison == "models-people"]
        if not rows:
            return _widest(self.found)
        if rows[0].n_items < FEWEST_TO_NAME:
            return Markup(
                "Models and people share {} items: too few to say whether they differ."
            ).format(rows[0].n_items)
        named = [row for row in rows if row.q is not None and row.q <= FOUND]
        if not named:
            return Markup("<b>No difference between models and people shows</b> in these counts.")
        said = [
            f"{MORE[row.measure][row.difference < 0]} ({_both(row)})"
            for measure in HEADINGS
            for row in named
            if row.measure == measure
        ]
        return Markup("<b>Beside people, models {}.</b> What is named has q ≤ .05.").format(
            listed(said)
        )

    def explained(self) -> str:
        """Say what the columns count."""
        return (
            f"Recur: in one of {REPLIES_DRAWN} of the system's replies to other dialogues, drawn at"
            f" random; an opening is the first {OPENING} words. Different: among {WORDS_DRAWN} of"
            f" its words (HD-D), or {EMOTION_WORDS_DRAWN} of its words for feelings, drawn at"
            " random: so neither longer nor more replies count for more. Words for feelings are"
            " those of a list of ours, in English."
        )

    def rows(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return each system with its figures and their shades within a column, people first."""
        order = {"human": 0, "original": 1, "model": 2}
        found = self.found
        systems = sorted(found.systems, key=lambda one: (order.get(one.kind, 3), one.system))
        means = {measure: _mean_and_sd(found, measure) for measure in MEASURES}
        return [
            (one.system, [_cell(one, measure, *means[measure]) for measure in HEADINGS])
            for one in systems
        ]


def _widest(found: WordingResults) -> Markup:
    """Say who repeats itself most, where models and people do not meet."""
    figures = [
        (one.measures["recurring-phrases"], one.system)
        for one in found.systems
        if "recurring-phrases" in one.measures and one.n_items >= FEWEST_ITEMS
    ]
    if len(figures) < 2:
        return Markup("There is too little text to compare systems.")
    figures.sort(key=lambda one: (one[0].value, one[1]))
    (least, lowest), (most, highest) = figures[0], figures[-1]
    shares = whole_percent(most.value), whole_percent(least.value)
    if least.high is None or most.low is None or least.high >= most.low:
        return Markup(
            "<b>No difference between systems shows in how much they repeat themselves</b>: of the"
            " phrases of {} {} % recur, of those of {} {} %, and their intervals meet."
        ).format(highest, shares[0], lowest, shares[1])
    return Markup(
        "<b>{} repeats itself more than {}</b>. {} % of its phrases recur, {} % of those of the"
        " other; these are the most and the least of all systems."
    ).format(highest, lowest, *shares)


def _both(row: WordingDifference) -> str:
    return f"{_written(row.measure, row.models)} against {_written(row.measure, row.people)}"


def _written(measure: Measure, value: float) -> str:
    return whole_percent(value) if measure in SHARES else decimal(value)


def _mean_and_sd(found: WordingResults, measure: Measure) -> tuple[float, float]:
    values = [one.measures[measure].value for one in found.systems if measure in one.measures]
    return (float(np.mean(values)), float(np.std(values))) if values else (0.0, 0.0)


def _cell(one: SystemWording, measure: Measure, mean: float, sd: float) -> tuple[str, str]:
    at = one.measures.get(measure)
    if at is None or one.n_items < FEWEST_ITEMS:
        return NO_VALUE, "few"
    step = z_step((at.value - mean) / (2 * sd) if sd else 0.0)
    shown = shade(step, at.low, at.high, middle=mean, is_few=False)
    return _written(measure, at.value), shown if at.low is not None else "h20"
