"""Many rankings or agreements at a glance: a line for each value of a column."""

from collections.abc import Mapping

from hearteval.analysis.agreement.ratings import Agreement
from hearteval.analysis.ranking.votes import VoteRanking
from hearteval.report.files.ranking import MAX_NAME, dropped_words
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import count, interval, plural, ranks, shortened, small, whole

MAX_FIRST = 24


def rankings_overview(
    by: str, rankings: Mapping[str, VoteRanking], n_dropped: Mapping[str, int]
) -> Table:
    """Return a line for each ranking: its votes, and the system ranked first."""
    return tabulate(
        rankings.items(),
        [
            (Column(by, "name", max_width=MAX_NAME), lambda row: row[0]),
            ("votes", lambda row: count(row[1].fit.n_votes)),
            ("systems", lambda row: count(len(row[1].systems))),
            (
                Column("first", "text"),
                lambda row: shortened(row[1].systems[0].system, MAX_FIRST),
            ),
            ("Elo", lambda row: whole(row[1].systems[0].elo)),
            (
                Column("interval", can_go=True),
                lambda row: interval(row[1].systems[0].low, row[1].systems[0].high),
            ),
            (
                Column("place", "text"),
                lambda row: ranks(row[1].systems[0].rank_low, row[1].systems[0].rank_high),
            ),
        ],
        caption=f"{plural(len(rankings), 'ranking')} by {by}",
        notes=["place: the places that stay open for it.", dropped_words(n_dropped)],
    )


def agreements_overview(
    by: str, agreements: Mapping[str, Agreement], n_dropped: Mapping[str, int]
) -> Table:
    """Return a line for each table of ratings: its size, plain agreement and alpha."""
    return tabulate(
        agreements.items(),
        [
            (Column(by, "name", max_width=MAX_NAME), lambda row: row[0]),
            ("units", lambda row: count(row[1].n_units)),
            ("raters", lambda row: count(row[1].n_raters)),
            ("values", lambda row: count(row[1].n_values)),
            ("agreement", lambda row: small(row[1].percent_agreement.value)),
            ("\N{GREEK SMALL LETTER ALPHA}", lambda row: small(row[1].krippendorff_alpha.value)),
            (
                Column("interval", "text"),
                lambda row: interval(
                    row[1].krippendorff_alpha.low, row[1].krippendorff_alpha.high, write=small
                ),
            ),
        ],
        caption=f"{plural(len(agreements), 'table')} of ratings by {by}",
        notes=[
            "agreement: the share of equal pairs of ratings. \N{GREEK SMALL LETTER ALPHA}:"
            " Krippendorff's, with its interval.",
            dropped_words(n_dropped),
        ],
    )
