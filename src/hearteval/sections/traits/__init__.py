"""Speed and other traits of systems, beside how they do (HEART 4.6, 4.7, 9.7)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from hearteval.analysis.section import Basis, Figure, Records, Section
from hearteval.report.plots.style import square_height
from hearteval.sections.traits import page
from hearteval.sections.traits.covariates import CovariateResults, correlate_covariates
from hearteval.sections.traits.speed import SpeedResults, compare_speed


@dataclass(frozen=True, slots=True)
class Traits(Section[SpeedResults | None]):
    """Time to first text, and the columns of a joined table, beside Elo."""

    NAME: ClassVar = "traits"
    TITLE: ClassVar = "Speed and other traits"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("speed", "covariates")
    TABLES: ClassVar = {
        "covariates": "a joined table beside Elo and the share won",
        "residuals": "systems above and below the line",
        "speed": "time to first text beside Elo",
        "speed-correlations": "how speed and Elo go together",
    }
    FIGURES: ClassVar = (
        Figure(
            "speed",
            "Elo against the time to first text; dashed: no other system is as quick and as good;"
            " shaded: within 500 ms.",
            lambda section: section.found,
            page.draw_speed,
            square_height,
        ),
    )
    OUTCOMES: ClassVar = page.OUTCOMES
    picture = staticmethod(page.picture)
    correlation_words = staticmethod(page.correlation_words)
    unmatched_words = staticmethod(page.unmatched_words)
    milliseconds = staticmethod(page.milliseconds)
    correlation = staticmethod(page.correlation)
    beside_words = staticmethod(page.beside_words)

    covariates: CovariateResults | None
    """None without a joined table."""

    @property
    def results(self) -> Mapping[str, Any]:
        """Both, by name."""
        return {"speed": self.found, "covariates": self.covariates}

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Set speed and a joined table beside the ranking; None without it, or without both."""
        data, board, level = basis.data, basis.board, basis.level
        if board is None:
            return None
        speed = compare_speed(data.latency, data.ranked, data.covariates, board, level=level)
        joined = correlate_covariates(data.covariates, board, level=level)
        return None if speed is None and joined is None else cls(speed, joined)

    def line(self) -> str:
        """Say how speed and quality go together, or that other traits stand beside Elo."""
        if self.found:
            return page.answer(self.found)
        return "Columns of a joined table, beside Elo and the share won."

    def records(self, table: str) -> Records:
        """Return a row for each system, test, or distance of a system from the line."""
        speed, rows = self.found, self.covariates.rows if self.covariates else ()
        if table == "residuals":
            return [
                {"covariate": row.covariate, "against": row.outcome, **asdict(one)}
                for row in rows
                for one in row.residuals
            ]
        if table == "covariates":
            return rows
        if speed is None:
            return ()
        return speed.systems if table == "speed" else speed.correlations
