"""Differences of a ranking as tables: against one system, of every two, and who is tied."""

from collections.abc import Sequence

from hearteval.analysis.ranking.anchored import AnchoredRanking, AnchoredSystem
from hearteval.analysis.ranking.contrasts import Anchored, TiedWith
from hearteval.analysis.ranking.rank import Difference
from hearteval.report.figures import MEAN_ELO
from hearteval.report.table import Bar, Column, Table, tabulate
from hearteval.report.text import (
    MINE,
    NO_VALUE,
    interval,
    level_percent,
    ranks,
    shortened_names,
    signed,
    small,
    whole,
    whole_percent,
)

MAX_TEXT = 20
"""Columns of a name where two stand in a line."""
SMALLEST_Q = 0.001
Q_WORDS = "q: the p-value adjusted over all {of} (Benjamini and Hochberg)."


def anchor_table(anchored: Anchored, *, level: float) -> Table:
    """Return every system against the one held fixed, with its interval drawn."""
    return tabulate(
        anchored.contrasts,
        [
            (Column(f"against {anchored.system}", "name", max_width=40), lambda row: row.system),
            ("Elo", lambda row: whole(row.elo)),
            (
                Column(f"{level_percent(level)} interval", can_go=True),
                lambda row: interval(row.low, row.high),
            ),
            (
                Column("", "bar", centre=MEAN_ELO),
                lambda row: Bar(row.low, row.elo, row.high, signed(row.difference)),
            ),
            ("by Elo", lambda row: signed(row.difference)),
            ("q", lambda row: _q_words(row.q)),
        ],
        notes=[
            f"{anchored.system} is held at {whole(anchored.elo)}; intervals are of differences"
            f" from it. {Q_WORDS.format(of='of these contrasts')}"
        ],
    )


def differences_table(differences: Sequence[Difference], *, level: float) -> Table:
    """Return how far each system is from each that is ranked below it, and whether it is open."""
    names = list(dict.fromkeys(name for row in differences for name in (row.system, row.other)))
    short = dict(zip(names, shortened_names(names, MAX_TEXT), strict=True))
    return tabulate(
        differences,
        [
            (Column("system", "text"), lambda row: short[row.system]),
            (Column("is", "text"), lambda row: "open" if row.is_open(level) else "above"),
            (Column("other", "text"), lambda row: short[row.other]),
            ("by Elo", lambda row: signed(row.elo)),
            (
                f"{level_percent(level)} interval",
                lambda row: interval(row.low, row.high, write=_signed),
            ),
            ("q", lambda row: _q_words(row.q)),
        ],
        notes=[
            f"above: for certain, {over_all_words(level)}; open: which of the two is better is not"
            f" settled. {Q_WORDS.format(of='differences')}"
        ],
    )


def ties_table(ties: Sequence[TiedWith], *, level: float) -> Table:
    """Return with which others each system is tied, by their places in the table."""
    places = {row.system: place for place, row in enumerate(ties, start=1)}
    return tabulate(
        ties,
        [
            ("", lambda row: str(places[row.system])),
            (Column("system", "name", max_width=40), lambda row: row.system),
            (
                Column("tied with", "text"),
                lambda row: ", ".join(str(places[name]) for name in row.tied_with) or NO_VALUE,
            ),
        ],
        notes=[
            "Tied: which of the two is better is open, over all pairs at once"
            f" ({level_percent(level)}). That is no proof that two systems are equal."
        ],
    )


def anchored_words(found: AnchoredRanking) -> tuple[str, ...]:
    """Say why people's ranking could not be anchored; nothing where it was."""
    return () if found.reason is None else (f"Anchored by judges: not known, as {found.reason}.",)


def anchored_table(found: AnchoredRanking, *said: str, mine: str | None = None) -> Table:
    """Return people's ranking anchored by judges', and the same without a judge.

    `said` stands first below it; the row of one's own system is marked.
    """
    slopes = "; ".join(
        f"100 Elo by {judge} are {100 * slope:.0f} by people"
        for judge, slope in found.slopes.items()
    )
    notes = [f"{row.system}: {row.note}." for row in found.systems if row.note]
    heading = f"{level_percent(found.level)} interval"
    return tabulate(
        found.systems,
        [
            (Column("place", "text"), _places),
            (
                Column("anchored by judges", "name", max_width=40),
                lambda row: f"{MINE * (row.system == mine)}{row.system}",
            ),
            ("Elo", lambda row: whole(row.elo)),
            (Column(heading), lambda row: interval(row.low, row.high)),
            (Column("", "bar", centre=MEAN_ELO), _anchored_bar),
            ("no judge", lambda row: whole(row.elo_without_judges)),
            (
                Column("interval", can_go=True),
                lambda row: interval(row.low_without_judges, row.high_without_judges),
            ),
            (
                Column("people", can_go=True),
                lambda row: (
                    NO_VALUE
                    if row.weight_of_people is None
                    else whole_percent(row.weight_of_people)
                ),
            ),
        ],
        notes=[
            *said,
            f"{slopes}. Judges miss people's place of a system by about {whole(found.tau_elo)} Elo"
            f" {interval(found.tau_low, found.tau_high)}. Intervals hold on average over systems,"
            " if the comparisons that people made were drawn at random.",
            "place: intervals that do not meet tell systems apart. no judge: the same model without"
            " judges' votes. people: percent of the place that follows people's votes on the"
            " system.",
            *notes,
        ],
    )


def _places(row: AnchoredSystem) -> str:
    if row.rank_low is None or row.rank_high is None:
        return NO_VALUE
    return ranks(row.rank_low, row.rank_high)


def _anchored_bar(row: AnchoredSystem) -> Bar | str:
    if row.elo is None:
        return ""
    return Bar(row.low, row.elo, row.high, f"Elo {whole(row.elo)} {interval(row.low, row.high)}")


def over_all_words(level: float) -> str:
    """Say what is certain of many differences at once."""
    return f"in all pairs at once ({level_percent(level)})"


def _q_words(q: float) -> str:
    return f"<{SMALLEST_Q:g}" if q < SMALLEST_Q else small(q)


def _signed(value: float | None) -> str:
    return NO_VALUE if value is None else signed(value)
