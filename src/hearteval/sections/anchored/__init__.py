"""Where people would place the systems, by their votes and what judges' votes add to them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Self

from markupsafe import Markup

from hearteval.analysis.ranking.anchored import JUDGES, AnchoredRanking
from hearteval.analysis.ranking.intervals import OVER_RATERS
from hearteval.analysis.section import Basis, Chapter, Figure, Section
from hearteval.report.figures import MEAN_ELO, Scale, scale_around
from hearteval.report.plots.style import rows_height
from hearteval.report.text import NO_VALUE, interval, listed, percent, plural, whole, whole_percent
from hearteval.sections.anchored.plot import SERIES, draw_anchored

DOUBTFUL = 0.5
MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Anchored(Section[AnchoredRanking]):
    """People's ranking anchored by judges'.

    Attributes:
        is_asked: Whether the study file asks for it as its headline.
    """

    NAME: ClassVar = "anchored"
    TITLE: ClassVar = "What people would say with more votes"
    CHAPTER: ClassVar = Chapter.PEOPLE
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("anchored",)
    TABLES: ClassVar = {"anchored": "people's ranking, anchored by judges'"}
    PATHS: ClassVar = {"anchored": "found.systems"}
    FIGURES: ClassVar = (
        Figure(
            "anchored",
            "Elo of every system by people alone, by judges alone, and by people's votes helped by"
            " judges'; every judgment once, dotted: 1500, the mean.",
            lambda section: section.found if section.found.systems else None,
            draw_anchored,
            lambda found, _width: rows_height(1.5 * len(found.systems)),
        ),
    )
    is_asked: bool = field(default=False, kw_only=True)
    whole = staticmethod(whole)
    interval = staticmethod(interval)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Take what the study has; None where people or judges did not vote, or where they rate."""
        found = basis.anchored
        if found is None or basis.ratings is not None:
            return None
        return cls(found, is_asked=basis.voters.asked == "anchored")

    @property
    def is_exploratory(self) -> bool:
        """Whether the page calls it so: not where it is the headline that the study names."""
        return not self.is_asked

    @property
    def scale(self) -> Scale:
        """One scale for all that the picture shows."""
        ends = (
            getattr(row, f"{end}{by}")
            for row in self.found.systems
            for by in SERIES.values()
            for end in ("low", "elo", "high")
        )
        return scale_around(MEAN_ELO, ends)

    def drawn_words(self) -> str:
        """Say what share of the judges' pairs people were to judge, where that is known."""
        share = self.found.share_drawn
        if share is None or share == 1:
            return ""
        return f", here {percent(share)} of those that judges judged"

    def of_system(self, name: str) -> Iterator[tuple[str, str]]:
        """Say where people would place a system, and where they would without judges."""
        for row in self.found.systems:
            if row.system == name and row.elo is not None:
                ends = interval(row.low, row.high)
                alone = interval(row.low_without_judges, row.high_without_judges)
                yield (
                    "Anchored by judges",
                    f"Elo {whole(row.elo)} {ends}; without judges"
                    f" {whole(row.elo_without_judges)} {alone}",
                )

    @staticmethod
    def share(value: float | None) -> str:
        """Write a share in percent, or a dash where there is none."""
        return NO_VALUE if value is None else whole_percent(value)

    def line(self) -> Markup:
        """Say who leads, how far judges miss, and whom they misjudge."""
        found = self.found
        if found.reason is not None:
            return Markup("<b>Not known:</b> {}.").format(found.reason)
        said = Markup(
            "<b>{}</b> by people{r}s votes, helped by judges{r} as far as these can be relied on:"
            " judges miss where people place a system by about {} Elo."
        ).format(self._first(), whole(found.tau_elo), r="\N{RIGHT SINGLE QUOTATION MARK}")
        doubted = [row.system for row in found.systems if (row.doubt or 0) > DOUBTFUL]
        if not doubted:
            return said
        return said + Markup(" They seem to misjudge {}.").format(listed(doubted))

    def _first(self) -> str:
        """Say who comes first, where no other interval reaches its own; else who may be above."""
        best, *others = self.found.systems
        near = [row.system for row in others if (row.high or 0) >= (best.low or 0)]
        if not near:
            return f"{best.system} comes first"
        named = listed(near) if len(near) <= MAX_NAMED else plural(len(near), "other system")
        return f"{best.system} is highest, but {named} may be above it"

    def parameters(self) -> str:
        """Say how judges see systems beside people."""
        found = self.found
        slope = found.slopes[JUDGES]
        of_kinds = [f"{kind} {elo:+.0f}" for kind, elo in found.kinds.items() if elo]
        kinds = ", ".join(of_kinds)
        moved = f" People place kinds otherwise than judges, in Elo: {kinds}." if kinds else ""
        given = (
            ""
            if found.interval_used in OVER_RATERS
            else " Too few people voted to allow for others, who may place systems otherwise."
        )
        return (
            f"Where judges see 100 Elo between two systems, people see {100 * slope:.0f}. Beyond"
            f" that judges miss by {interval(found.tau_low, found.tau_high)} Elo.{moved}{given}"
        )
