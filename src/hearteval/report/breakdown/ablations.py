"""Would another method rank otherwise? One table of methods, one of weights of the axes."""

from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.ranking.ablations import AblatedRanking, AxisWeights, OtherRanking
from hearteval.report.text import listed, percent, plural, ranks, small

METHODS = {
    "ties dropped": ("Ties dropped", "comparisons without a winner are left out"),
    "ties modelled": ("Ties modelled", "Davidson: a tie has a chance of its own"),
    "rank centrality": ("Rank Centrality", "a walk from loser to winner; shares count"),
    "every judgment once": ("Every judgment once", "strength is not used"),
    "share won": ("Share of comparisons won", "whom a system met is not used"),
    "elo in sequence": ("Elo in sequence", "as in chess, mean of 100 random orders"),
}


class MethodRow(NamedTuple):
    """One method beside the headline."""

    name: str
    what: str
    problem: str
    spearman: str
    kendall: str
    change: str
    leaders: str


def answer(found: AblatedRanking) -> Markup:
    """Say in a sentence or two whether another method would change the ranking."""
    first = [name for name, elo in zip(found.systems, found.headline, strict=True)]
    known = [one for one in found.others if one.problem is None]
    if not known:
        return Markup("<b>Not known:</b> no other method determines a ranking here.")
    leader = first[0]
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
    return Markup("<b>The leader stays:</b> {} leads by every method. {}").format(leader, largest)


def method_rows(found: AblatedRanking) -> list[MethodRow]:
    """Return a line for each method."""
    return [
        MethodRow(
            *METHODS[one.method],
            problem=one.problem or "",
            spearman=_correlation(one.spearman),
            kendall=_correlation(one.kendall),
            change=_change(one),
            leaders=listed(one.leaders),
        )
        for one in found.others
    ]


def weights_answer(found: AxisWeights) -> Markup:
    """Say how far the leader depends on what the axes weigh."""
    leads = max(found.systems, key=lambda row: row.leads)
    others = [row.system for row in found.systems if row.leads > 0 and row is not leads]
    if not others:
        return Markup(
            "Whatever the {} axes weigh, {} leads: in each of {} random weightings."
        ).format(len(found.axes), leads.system, f"{found.n_weightings:,}")
    named = listed(others) if len(others) < 4 else plural(len(others), "other system")
    return Markup(
        "Weigh the {} axes otherwise, and {} leads in {} of {} random weightings; {} in others."
    ).format(len(found.axes), leads.system, percent(leads.leads), f"{found.n_weightings:,}", named)


def place_words(best: int, worst: int) -> str:
    """Write a range of places."""
    return ranks(best, worst)


def _correlation(value: float | None) -> str:
    return small(value)


def _change(one: OtherRanking) -> str:
    if not one.largest_change:
        return "none"
    return f"{plural(one.largest_change, 'place')}: {one.most_moved}"
