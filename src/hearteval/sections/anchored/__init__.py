"""Where people would place the systems, by their votes and what judges' votes add to them."""

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
from markupsafe import Markup

from hearteval.analysis.ranking.anchored import AnchoredRanking, rank_anchored
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.analysis.ranking.intervals import OVER_RATERS
from hearteval.analysis.ranking.warnings import JUDGMENTS
from hearteval.analysis.section import Basis, Chapter, Section
from hearteval.report.text import NO_VALUE, interval, listed, plural, whole, whole_percent
from hearteval.stats.comparisons import select_comparisons

JUDGES = "judges"
"""All judges as one, so that a system that a judge is kept from has judges' votes all the same."""
DOUBTFUL = 0.5
MAX_NAMED = 3


class Anchored(Section[AnchoredRanking]):
    """People's ranking anchored by judges'."""

    NAME: ClassVar = "anchored"
    TITLE: ClassVar = "What people would say with more votes"
    CHAPTER: ClassVar = Chapter.PEOPLE
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("anchored",)
    TABLES: ClassVar = {"anchored": "people's ranking, anchored by judges'"}
    PATHS: ClassVar = {"anchored": "found.systems"}
    whole = staticmethod(whole)
    interval = staticmethod(interval)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Anchor people's votes; None where people or judges did not vote."""
        raters = people_among(basis.data.raters)
        systems = sorted(basis.data.ranked, key=lambda system: system.name)
        votes = to_comparisons(
            basis.rows,
            use_strength=False,
            system_ids=[system.id for system in systems],
            rater_ids=raters,
            writers=basis.data.writers,
        )
        votes = replace(votes, weight=np.ones(len(votes)))
        is_person = votes.rater >= 0
        if is_person.all() or not is_person.any():
            return None
        return cls(
            rank_anchored(
                select_comparisons(votes, is_person),
                {JUDGES: select_comparisons(votes, ~is_person)},
                {system.name: system.kind for system in systems},
                wording=JUDGMENTS,
                level=basis.level,
            )
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
