"""Where the ranking differs: kinds of items, a small picture of each, and the tests in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from markupsafe import Markup

from hearteval.analysis.section import Basis, Figure, Records, Section
from hearteval.domain import flat_fields
from hearteval.report.figures import MEAN_ELO, Scale, round_ticks
from hearteval.report.plots.style import (
    COLOURS,
    PAGE_INCHES,
    SHORT_NAME,
    draw_forest,
    names_of,
    rows_height,
)
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
from hearteval.sections.strata.measure import (
    FEW_ITEMS,
    MIN_ITEMS,
    StratifiedFactor,
    StratifiedRanking,
    Stratum,
    stratify_ranking,
)

ALPHA, LEAST_P = 0.05, 0.001
MOST_PANELS = 4
NAME_ON_PAGE = 20
MOST_ACROSS = 4
STRATUM_NAME = 22
MOST_STRATA = 4
"""Of one factor in one picture; more are told by the table."""
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


def kinds_words(one: StratifiedFactor) -> str:
    """Name the strata of a factor with their items."""
    large = [s for s in one.strata if s.n_items >= MIN_ITEMS]
    counts = [f"{s.name}{NO_BREAK_SPACE}({s.n_items})" for s in large]
    if n_small := len(one.strata) - len(large):
        counts.append(f"{plural(n_small, 'kind')} with fewer than {MIN_ITEMS}")
    return ", ".join(counts)


def reading(one: StratifiedFactor) -> Markup:
    """Say whether the ranking differs between the strata of a factor."""
    if one.test is None:
        return Markup("no test: {}").format(one.no_test)
    if one.test.q > ALPHA:
        return Markup("no difference shown")
    return Markup('<b class="unsure">differs</b>, most for {} (by {} Elo)').format(
        one.test.most_different, whole(one.test.most_different_elo)
    )


def methods_words(found: StratifiedRanking) -> str:
    """Say how the tests were made."""
    ways = {one.test.method for one in found.factors if one.test is not None}
    said = []
    if "permutation of items" in ways:
        said.append("items sorted anew at random 999 times, these raters given")
    if "two-way" in ways:
        said.append("a two-way test, for other items and other people")
    return f"Test: {' or '.join(said)}; q over all factors." if said else ""


def panels(found: StratifiedRanking, order: Sequence[str]) -> tuple[str, list[Panel]]:
    """Return the factor that is drawn, in words, and a small picture of each of its strata.

    The one whose ranking differs most, where a test says so, else the first; up to four strata.
    """
    factors = shown_factors(found)
    if not factors:
        return "", []
    differing = [one for one in factors if one.test is not None and one.test.q <= ALPHA]
    factor = min(differing, key=lambda one: one.test.q if one.test else 1.0, default=factors[0])
    strata = [one for one in factor.strata if _is_ranked(one)][:MOST_PANELS]
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
            for k, short in enumerate(shortened_names(order, NAME_ON_PAGE))
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
    if value < LEAST_P:
        return f"<{NO_BREAK_SPACE}.001"
    return hundredths(value) if value >= 0.1 else f"{value:.3f}"


def drawn_factors(strata: StratifiedRanking) -> list[StratifiedFactor]:
    """Return the factors of which a picture is made: with two to four strata that are ranked."""
    return [
        factor
        for factor in strata.factors
        if 2 <= sum(bool(one.standings) for one in factor.strata) <= MOST_STRATA
    ]


def _across(width: float) -> int:
    return MOST_ACROSS if width >= PAGE_INCHES else 2


def _height(section: "Strata", width: float) -> float:
    n_down = -(-len(drawn_factors(section.found)) // _across(width))
    return n_down * rows_height(4 + 1.4 * len(section.order))


def draw_strata(section: "Strata", figure: Any) -> None:
    """Draw each system's Elo on every kind of item, with intervals."""
    factors, names = drawn_factors(section.found), section.order
    n_across = _across(figure.get_figwidth())
    n_down = math.ceil(len(factors) / n_across)
    n_across = min(n_across, len(factors))
    drawn = figure.subplots(n_down, n_across, sharey=True, squeeze=False)
    for axes in drawn.ravel()[len(factors) :]:
        axes.set_visible(False)
    for axes, factor in zip(drawn.ravel(), factors, strict=False):
        ranked = [one for one in factor.strata if one.standings]
        labels = names_of([one.name for one in ranked], STRATUM_NAME)
        shown = {}
        for label, stratum in zip(labels, ranked, strict=True):
            at = {one.system: one for one in stratum.standings if one.elo is not None}
            shown[f"{label} ({stratum.n_items})"] = [
                (at[name].elo, at[name].low, at[name].high) if name in at else None
                for name in names
            ]
        shorter, apart = names_of(names, SHORT_NAME), 0.8 / len(ranked)
        draw_forest(axes, shorter, shown, centre=MEAN_ELO, apart=apart, colours=COLOURS)
        axes.set_title(factor.factor)
        axes.set_xlabel("Elo")
        axes.locator_params(axis="x", nbins=3)
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4.5, handletextpad=0.2
        )


@dataclass(frozen=True, slots=True)
class Strata(Section[StratifiedRanking]):
    """The ranking on every kind of item, and whether it differs between them."""

    NAME: ClassVar = "kinds"
    TITLE: ClassVar = "Where it differs"
    IS_EXPLORATORY: ClassVar = True
    KEYS: ClassVar = ("strata",)
    TABLES: ClassVar = {
        "strata": "the ranking on every kind of item",
        "strata-tests": "whether it differs between kinds of items",
    }
    FIGURES: ClassVar = (
        Figure(
            "kinds-of-item",
            "Elo on each kind of item, with intervals; in brackets how many items.",
            lambda section: section if drawn_factors(section.found) else None,
            draw_strata,
            _height,
        ),
    )
    FACTORS: ClassVar = FACTORS
    NO_VALUE: ClassVar = NO_VALUE
    panels = staticmethod(panels)
    methods_words = staticmethod(methods_words)
    kinds_words = staticmethod(kinds_words)
    reading = staticmethod(reading)
    p_words = staticmethod(_p)

    order: Sequence[str]
    """The systems as they are ranked."""

    @classmethod
    def find(cls, basis: Basis) -> Self | None:
        """Break the ranking down; None without one."""
        board, cells = basis.board, basis.cells
        if board is None or cells is None:
            return None
        found = stratify_ranking(cells, board, level=basis.level, seed=basis.seed)
        return cls(found, [row.system for row in board.rows])

    def line(self) -> Markup:
        """Say in a sentence or two whether the ranking depends on the kind of item."""
        return answer(self.found)

    @property
    def is_shown(self) -> bool:
        """Whether there are items of two kinds."""
        return bool(self.found.factors)

    def records(self, table: str) -> Records:
        """Return a row for each system on each kind of item, or for each factor."""
        factors = self.found.factors
        if table == "strata-tests":
            return [
                {"factor": one.factor, "no_test": one.no_test}
                | (flat_fields(one.test) if one.test else {})
                for one in factors
            ]
        return [
            {"factor": factor.factor, "stratum": at.name, "n_items_of_stratum": at.n_items}
            | {"interval_used": at.interval_used, "problem": at.problem}
            | (flat_fields(one) if one else {})
            for factor in factors
            for at in factor.strata
            for one in at.standings or (None,)
        ]
