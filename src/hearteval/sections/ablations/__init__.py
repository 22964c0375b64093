"""Would another method rank otherwise? One table of methods, one of weights of the axes."""

from typing import ClassVar, Self

from markupsafe import Markup

from hearteval.analysis.section import Basis, Chapter, Records, Section
from hearteval.report.text import listed, percent, plural, ranks, small
from hearteval.sections.ablations.measure import (
    AblatedRanking,
    AxisWeights,
    OtherRanking,
    ablate_ranking,
)

METHODS = {
    "ties dropped": ("Ties dropped", "comparisons without a winner are left out"),
    "ties modelled": ("Ties modelled", "Davidson: a tie has a chance of its own"),
    "rank centrality": ("Rank Centrality", "a walk from loser to winner; shares count"),
    "every judgment once": ("Every judgment once", "strength is not used"),
    "share won": ("Share of comparisons won", "whom a system met is not used"),
    "elo in sequence": ("Elo in sequence", "as in chess, mean of 100 random orders"),
}


class Ablations(Section[AblatedRanking]):
    """What other methods make of the same comparisons."""

    NAME: ClassVar = "otherwise"
    TITLE: ClassVar = "Would another method rank otherwise?"
    CHAPTER: ClassVar = Chapter.METHODS
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("ablations",)
    TABLES: ClassVar = {
        "other-methods": "the ranking by other methods",
        "other-methods-in-short": "how far it moves",
        "weights-of-axes": "places over all weights of the axes",
    }
    METHODS: ClassVar = METHODS
    places = staticmethod(ranks)
    correlation = staticmethod(small)

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Rank otherwise; None without a ranking, and where two systems need none."""
        if basis.board is None or basis.cells is None or len(basis.board.rows) == 2:
            return None
        return cls(ablate_ranking(basis.cells, basis.counted, basis.board, seed=basis.seed))

    def records(self, table: str) -> Records:
        """Return a row for each system by each method, for each method, or for each system."""
        found = self.found
        if table == "weights-of-axes":
            return found.axis_weights.systems if found.axis_weights else ()
        if table == "other-methods-in-short":
            return found.others
        return [
            {
                "system": name,
                "headline": found.headline[k],
                "method": one.method,
                "unit": one.unit,
                "value": one.values[k],
                "place": one.places[k],
            }
            for one in found.others
            if not one.problem
            for k, name in enumerate(found.systems)
        ]

    def line(self) -> Markup:
        """Say in a sentence or two whether another method would change the ranking."""
        found = self.found
        known = [one for one in found.others if one.problem is None]
        if not known:
            return Markup("<b>Not known:</b> no other method determines a ranking here.")
        leader = found.systems[0]
        other = [one for one in known if leader not in one.leaders]
        moved = max(known, key=lambda one: one.largest_change or 0)
        if not moved.largest_change:
            return Markup("<b>No.</b> {} give every system the same place as the headline.").format(
                plural(len(known), "other method")
            )
        largest = Markup("The largest change is {}, of {} ({}).").format(
            plural(moved.largest_change, "place"), moved.most_moved, METHODS[moved.method][0]
        )
        if other:
            names = "; ".join(METHODS[one.method][0] for one in other)
            return Markup(
                "<b>In part: by {} of {} another system leads than {}</b> ({}). {} Places that the"
                " intervals leave open change easily."
            ).format(len(other), plural(len(known), "method"), leader, names, largest)
        said = Markup("<b>The leader stays:</b> {} leads by every method. {}")
        return said.format(leader, largest)

    @staticmethod
    def weights_answer(found: AxisWeights) -> Markup:
        """Say how far the leader depends on what the axes weigh."""
        leads = max(found.systems, key=lambda row: row.leads)
        others = [row.system for row in found.systems if row.leads > 0 and row is not leads]
        n = f"{found.n_weightings:,}"
        if not others:
            return Markup(
                "Whatever the {} axes weigh, {} leads: in each of {} random weightings."
            ).format(len(found.axes), leads.system, n)
        named = listed(others) if len(others) < 4 else plural(len(others), "other system")
        return Markup(
            "Weigh the {} axes otherwise, and {} leads in {} of {} random weightings; {} in others."
        ).format(len(found.axes), leads.system, percent(leads.leads), n, named)

    @staticmethod
    def change(one: OtherRanking) -> str:
        """Write the largest change of place."""
        if not one.largest_change:
            return "none"
        return f"{plural(one.largest_change, 'place')}: {one.most_moved}"
