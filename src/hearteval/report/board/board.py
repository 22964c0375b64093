"""What a board shows beside a study's results: who competes, how it stood before, what was checked.

All of it comes from a release. What it does not say is not known, and is shown so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hearteval.analysis.ranking.anchored import open_places
from hearteval.analysis.ranking.axes.weighed import Reach, WeighedAxes
from hearteval.analysis.study import StudyResults
from hearteval.report.page.replies import Reading
from hearteval.report.text import ranks

UNKNOWN = "unknown"
MODEL, HUMAN = "model", "human"
BANDS = ((0.0, "free"), (1.0, "up to $1"), (5.0, "up to $5"), (20.0, "up to $20"))
"""Of what a million tokens of reply cost, in US dollars: the most of each band."""
ABOVE_ALL = "above $20"
WHO = {"human": "people", "original": "recorded replies", "baseline": "offline baselines"}
"""Kinds of systems as a filter names them; of models it says so."""


class Competitor(NamedTuple):
    """What is known of a system, its results apart."""

    system: str
    kind: str
    family: str
    page: str
    """File name of its page; that of its badge is `badge`."""
    badge: str
    has_open_weights: bool | None = None
    """None where nobody says so of a model, and where it is none."""
    price: tuple[float, float] | None = None
    """US dollars per million tokens of prompt and of reply; None where it is not known."""

    @property
    def who(self) -> str:
        """Its kind, as a filter names it."""
        return WHO.get(self.kind, "models")

    @property
    def maker(self) -> str:
        """Who made a model, as far as its family says it; empty for what is no model."""
        return self.family if self.kind == MODEL else ""

    @property
    def weights(self) -> str:
        """Whether a model's weights are open; empty for what is no model."""
        if self.kind != MODEL:
            return ""
        return {True: "open", False: "closed", None: UNKNOWN}[self.has_open_weights]

    @property
    def price_band(self) -> str:
        """What a model's replies cost, roughly; empty for what is no model."""
        if self.kind != MODEL:
            return ""
        if self.price is None:
            return UNKNOWN
        return next((words for most, words in BANDS if self.price[1] <= most), ABOVE_ALL)

    @property
    def facts(self) -> Iterator[tuple[str, str]]:
        """What its page says of it beside its results, each with a heading."""
        if self.kind == MODEL:
            yield "Model weights", self.weights
            yield (
                "Price",
                UNKNOWN
                if self.price is None
                else f"${self.price[0]:g} per million tokens read, ${self.price[1]:g} written",
            )


class Placed(NamedTuple):
    """Where a system stood in one release."""

    system: str
    best: int | None
    """The best place that is left open, and the worst; None where it has no place."""
    worst: int | None
    value: float | None
    """Elo; of scores, the mean z."""
    low: float | None
    high: float | None

    @property
    def places(self) -> str:
        """The places that are left open, in words."""
        return "" if self.best is None or self.worst is None else ranks(self.best, self.worst)


class Edition(NamedTuple):
    """One release of a board."""

    id: str
    version: int
    """Of the study."""
    heart_version: str
    made: str
    """Day, as ISO 8601."""
    previous: str | None
    placed: Mapping[str, Placed]
    n_files: int
    n_records: int
    n_tables: int
    n_otherwise: int
    """Files of results that this version of hearteval computes otherwise than the one that made it.
    """

    @property
    def short_id(self) -> str:
        """As much of the id as a page shows."""
        return self.id[:16]


class Judged(NamedTuple):
    """What is said of one judge of a board."""

    judge: str
    family: str
    words: str


class LeftOut(NamedTuple):
    """A comparison whose texts may not be passed on."""

    item_id: str
    source: str
    other: str
    outcome: str


class Fate(NamedTuple):
    """What a system won, or lost: dialogues to be read, and those that may not be passed on."""

    readings: Sequence[Reading]
    left_out: Sequence[LeftOut]


@dataclass(frozen=True, kw_only=True)
class Board:
    """One study on the site, by its newest release.

    Attributes:
        page: File name of its page; `report_page` that of the report behind it.
        competitors: By name, every system with a row.
        editions: The releases, the newest first.
        reaches: By system; empty where the axes cannot be weighed.
        judges: Who judged, people last.
        own_family: Whether a judge decides on systems of its own family.
        won: By system, what it won most clearly; `lost` what it lost.
        notice: Whose dialogues these are.
    """

    results: StudyResults
    page: str
    report_page: str
    competitors: Mapping[str, Competitor]
    editions: Sequence[Edition]
    weighed: WeighedAxes | None
    reaches: Mapping[str, Reach]
    judges: Sequence[Judged]
    own_family: bool
    won: Mapping[str, Fate]
    lost: Mapping[str, Fate]
    notice: str

    @property
    def name(self) -> str:
        """That of the study."""
        return self.results.provenance.study

    @property
    def edition(self) -> Edition:
        """The one that is shown."""
        return self.editions[0]

    @property
    def has_people(self) -> bool:
        """Whether people's replies stand among the systems."""
        return has_people(self.results)

    @property
    def choices(self) -> Mapping[str, tuple[str, Sequence[str]]]:
        """What a reader may choose systems by: a key, its heading, what occurs; where that differs.

        An order from cheap to dear, else of the alphabet; unknown is last.
        """
        dear = [words for _, words in BANDS]
        found = {
            "who": ("Who", "who"),
            "maker": ("Maker", "maker"),
            "weights": ("Model weights", "weights"),
            "price": ("Price of a million tokens written", "price_band"),
        }
        choices = {}
        for key, (heading, name) in found.items():
            values = {getattr(one, name) for one in self.competitors.values()} - {""}
            order = [*dear, ABOVE_ALL] if key == "price" else sorted(values - {UNKNOWN})
            there = [one for one in (*order, UNKNOWN) if one in values]
            if len(there) > 1:
                choices[key] = (heading, there)
        return choices

    def judged(self, name: str) -> Iterator[tuple[Judged, bool]]:
        """Return the judges, and whether each decided on a system."""
        family = self.competitors[name].family
        for judge in self.judges:
            yield judge, self.own_family or judge.family != family

    @property
    def without_people(self) -> str:
        """What stands first where nobody's replies are among the systems; else empty."""
        if self.has_people:
            return ""
        return (
            "No person\N{RIGHT SINGLE QUOTATION MARK}s replies are on this board, so it does not"
            " say how any system compares with people."
        )


def has_people(results: StudyResults) -> bool:
    """Say whether people's replies stand among the systems."""
    board, ratings = results.leaderboard, results.ratings
    kinds = [row.kind for row in board.rows] if board else []
    kinds += [row.kind for row in ratings.systems] if ratings else []
    return HUMAN in kinds


def placed(results: StudyResults) -> tuple[Placed, ...]:
    """Return where every system stands in what leads a study, the best first."""
    board, ratings = results.leaderboard, results.ratings
    if results.leading is not None:
        rows = results.leading.placed
        return tuple(
            Placed(row.system, at.rank_low, at.rank_high, row.elo, row.low, row.high)
            for row, at in zip(rows, open_places(rows), strict=True)
        )
    if board is not None:
        return tuple(
            Placed(row.system, at.rank_low, at.rank_high, at.elo, at.low, at.high)
            for row in board.rows
            for at in [row.weighted]
        )
    rated = ratings.systems if ratings else ()
    return tuple(
        Placed(row.system, None, None, at.z, at.z_low, at.z_high)
        for row in rated
        for at in [row.overall]
    )
