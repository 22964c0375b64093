"""Where the ranking differs: kinds of items, a small picture of each, and the tests in words."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.strata import (
    FEW_ITEMS,
    MIN_ITEMS,
    StratifiedFactor,
    StratifiedRanking,
    Stratum,
)
from hearteval.report.figures import Scale, round_ticks
from hearteval.report.text import (
    NO_BREAK_SPACE,
    NO_VALUE,
    hundredths,
    listed,
    pixels,
    plural,
    printable,
    shortened_names,
    whole,
)

ALPHA, LEAST_P = 0.05, 0.001
MOST_PANELS = 4
SHORT_NAME = 20
WIDTH, LEFT, TOP, ROW = 330, 142, 24, 18
"""Of one small picture, in pixels."""
FACTORS = {
    "subset": "regular or adversarial",
    "profile": "how the seeker escalates",
    "resistance": "how the seeker resists help",
    "cue": "spoken out or implied",
    "emotion": "emotion",
    "problem": "problem",
    "culture": "culture",
}


class Panel(NamedTuple):
    """One small picture: all systems on the items of one kind."""

    title: str
    note: str
    height: int
    names: tuple[tuple[str, str], ...]
    """Name and height of each line."""
    ticks: tuple[tuple[str, str], ...]
    """Text and place of each tick."""
    dots: str
    whiskers: str
    """Paths."""
    description: str


class TestRow(NamedTuple):
    """One factor and what the test says of it."""

    factor: str
    strata: str
    n_items: str
    p: str
    q: str
    reading: Markup


def shown_factors(found: StratifiedRanking) -> list[StratifiedFactor]:
    """Return the factors with two strata or more that are ranked."""
    return [one for one in found.factors if sum(_is_ranked(s) for s in one.strata) > 1]


def answer(found: StratifiedRanking) -> Markup:
    """Say in a sentence or two whether the ranking depends on the kind of item."""
    tested = [one for one in found.factors if one.test is not None]
    if not tested:
        return Markup(
            "<b>Not known.</b> No two kinds of items have items enough ({} each) to be compared."
        ).format(MIN_ITEMS)
    differs = [one for one in tested if one.test is not None and one.test.q <= ALPHA]
    ways = plural(len(tested), "way")
    if not differs:
        return Markup(
            "<b>No kind of item with a ranking of its own is shown.</b> Sorted in {} ({}), items"
            " rank the systems alike, as far as chance allows to tell. That is no proof that no"
            " kind differs."
        ).format(ways, listed([FACTORS[one.factor] for one in tested]))
    said = [
        Markup("{} ({}; most: {}, {}{}Elo)").format(
            FACTORS[one.factor],
            _q_words(one.test.q),
            *(one.test.most_different, whole(one.test.most_different_elo), NO_BREAK_SPACE),
        )
        for one in differs
        if one.test is not None
    ]
    return Markup("<b>The ranking depends on the kind of item:</b> {}.").format(
        Markup("; ").join(said)
    )


def test_rows(found: StratifiedRanking) -> list[TestRow]:
    """Return a line for every factor: its strata, and whether the ranking differs between them."""
    rows = []
    for one in found.factors:
        test = one.test
        large = [s for s in one.strata if s.n_items >= MIN_ITEMS]
        counts = [f"{s.name}{NO_BREAK_SPACE}({s.n_items})" for s in large]
        if n_small := len(one.strata) - len(large):
            counts.append(f"{plural(n_small, 'kind')} with fewer than {MIN_ITEMS}")
        reading = Markup("no test: {}").format(one.no_test)
        if test is not None and test.q <= ALPHA:
            reading = Markup('<b class="unsure">differs</b>, most for {} (by {} Elo)').format(
                test.most_different, whole(test.most_different_elo)
            )
        elif test is not None:
            reading = Markup("no difference shown")
        rows.append(
            TestRow(
                factor=FACTORS[one.factor],
                strata=", ".join(counts),
                n_items=str(test.n_items) if test else NO_VALUE,
                p=_p(test.p) if test else NO_VALUE,
                q=_p(test.q) if test else NO_VALUE,
                reading=reading,
            )
        )
    return rows


def methods_words(found: StratifiedRanking) -> str:
    """Say how the tests were made."""
    ways = {one.test.method for one in found.factors if one.test is not None}
    said = []
    if "permutation of items" in ways:
        said.append("items sorted anew at random 999 times, these raters given")
    if "two-way" in ways:
        said.append("a two-way test, for other items and other people")
    return f"Test: {' or '.join(said)}; q over all factors." if said else ""


def panels(found: StratifiedRanking, board: Leaderboard) -> tuple[str, list[Panel]]:
    """Return the factor that is drawn, in words, and a small picture of each of its strata.

    The one whose ranking differs most, where a test says so, else the first; up to four strata.
    """
    factors = shown_factors(found)
    if not factors:
        return "", []
    differing = [one for one in factors if one.test is not None and one.test.q <= ALPHA]
    factor = min(differing, key=lambda one: one.test.q if one.test else 1.0, default=factors[0])
    strata = [one for one in factor.strata if _is_ranked(one)][:MOST_PANELS]
    order = [row.system for row in board.rows]
    shown = [e for one in strata for at in one.standings for e in (at.low, at.elo, at.high)]
    known = [e for e in shown if e is not None]
    low, high = min(known), max(*known, min(known) + 1)
    scale = Scale(
        low=low,
        high=high,
        start=LEFT + 8,
        end=WIDTH - 8,
        ticks=round_ticks(low, high, n_most=3),
    )
    return FACTORS[factor.factor], [_panel(one, order, scale) for one in strata]


def _is_ranked(stratum: Stratum) -> bool:
    return any(one.elo is not None for one in stratum.standings)


def _panel(stratum: Stratum, order: Sequence[str], scale: Scale) -> Panel:
    at = {one.system: one for one in stratum.standings if one.elo is not None}
    dots, whiskers = [], []
    for k, name in enumerate(order):
        if name not in at:
            continue
        y, one = TOP + ROW * k + ROW // 2, at[name]
        assert one.elo is not None
        dots.append(f"M{scale.place(one.elo):.0f} {y}h0")
        if one.low is not None and one.high is not None:
            whiskers.append(f"M{scale.place(one.low):.0f} {y}H{scale.place(one.high):.0f}")
    wide = f"; fewer than {FEW_ITEMS}, so wide and rough" if stratum.is_wide else ""
    leaders = listed([one.system for one in at.values() if one.rank == 1])
    return Panel(
        title=stratum.name,
        note=f"{plural(stratum.n_items, 'item')}{wide}",
        height=TOP + ROW * len(order) + 4,
        names=tuple(
            (printable(short), str(TOP + ROW * k + ROW // 2 + 4))
            for k, short in enumerate(shortened_names(order, SHORT_NAME))
        ),
        ticks=tuple((whole(tick), pixels(scale.place(tick))) for tick in scale.ticks),
        dots="".join(dots),
        whiskers="".join(whiskers),
        description=f"Elo on {plural(stratum.n_items, 'item')}; {leaders} first",
    )


def _q_words(value: float) -> str:
    sign = "" if value < LEAST_P else f"={NO_BREAK_SPACE}"
    return f"q{NO_BREAK_SPACE}{sign}{_p(value)}"


def _p(value: float) -> str:
    return (
        f"<{NO_BREAK_SPACE}.001"
        if value < LEAST_P
        else hundredths(value)
        if value >= 0.1
        else f"{value:.3f}"
    )
