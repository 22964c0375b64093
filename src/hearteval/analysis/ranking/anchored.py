"""People's ranking, helped by judges' as far as judges have shown that they help.

For studies and vote files alike. The same without a judge stands beside every figure, so that
shrinkage does not pass for what judges bring. What cannot be told is missing, with its reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.judgments import Judgments
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.analysis.ranking.intervals import choose_interval, vary
from hearteval.analysis.ranking.votes import Votes
from hearteval.analysis.ranking.warnings import JUDGMENTS, VOTES, Wording
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.anchored import Anchored, Spread, anchor
from hearteval.stats.bradley_terry.fit import ELO_MEAN, ELO_PER_THETA
from hearteval.stats.bradley_terry.measured import Measured, measure
from hearteval.stats.comparisons import Comparisons, FloatArray, select_comparisons, with_columns
from hearteval.stats.special import ndtri

JUDGES: Final = "judges"
"""A study's judges as one, so that a system that a judge is kept from has judges' votes all the
same."""
NOT_DRAWN: Final = (
    "people's votes were imported, and nothing says how their pairs were chosen; if that was at"
    " random from those that judges judged, set [analysis] assume_random = true"
)
NO_PLACE: Final = "no votes compare it with the others"
ONLY_PEOPLE: Final = "not every judge's votes place it: it stands on people's alone"
ONLY_JUDGES: Final = "people's votes do not compare it: it stands on what judges imply"
ONLY_ONE: Final = "the only one of its kind: judges add nothing, it stands on people's votes alone"


class Places(NamedTuple):
    """The best and the worst place of a system that stay open."""

    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredSystem:
    """One system as people would place it.

    Attributes:
        elo: None where neither people's nor judges' votes place it beside the others; so the rest.
        weight_of_people: How far its place follows people's votes on it: 0 not at all, 1 alone.
        doubt: Chance that judges misjudge it, .1 before people voted; None where only one of the
            two says anything of it.
        elo_without_judges: By people's votes and shrinkage alone; None where they do not place it.
        note: What it stands on, where that is not both; else empty.
        rank_low: The best place that intervals leave open, as in `open_places`; None without one.
        elo_people: By people's votes alone, every one counting once; None where they do not place
            it beside all others that they compare.
        elo_judges: By judges' alone, the mean of several; None where not each places it.
    """

    system: str
    kind: str
    elo: float | None
    low: float | None
    high: float | None
    weight_of_people: float | None
    doubt: float | None
    elo_without_judges: float | None
    low_without_judges: float | None
    high_without_judges: float | None
    note: str
    rank_low: int | None = None
    rank_high: int | None = None
    elo_people: float | None = None
    low_people: float | None = None
    high_people: float | None = None
    elo_judges: float | None = None
    low_judges: float | None = None
    high_judges: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredRanking:
    """People's ranking, anchored by judges'.

    Attributes:
        tau_elo: How far judges miss, SD between systems; None where there is a `reason`.
        slopes: By judge: below 1 where they see larger differences than people do.
        kinds: Elo that people give a kind beyond what judges say, against the kind with the most
            systems; None where votes do not tell.
        systems: The best first, then those without a place.
        interval_used: Of people's votes, as in their own ranking.
        reason: Why there is no such ranking; else None.
        share_drawn: Share of the pairs that judges judged which people were to judge, drawn at
            random: the chance of each. None for votes of a file.
    """

    tau_elo: float | None = None
    tau_low: float | None = None
    tau_high: float | None = None
    slopes: Mapping[str, float]
    kinds: Mapping[str, float | None]
    systems: tuple[AnchoredSystem, ...]
    interval_used: str
    level: float
    reason: str | None
    share_drawn: float | None = None

    @property
    def placed(self) -> tuple[AnchoredSystem, ...]:
        """The systems with a place."""
        return tuple(row for row in self.systems if row.elo is not None)


def rank_anchored(
    people: Comparisons,
    judges: Mapping[str, Comparisons],
    systems: Mapping[str, str],
    *,
    wording: Wording,
    level: float,
) -> AnchoredRanking:
    """Rank systems by people's votes and, as far as they help, by judges'.

    Args:
        people: Their votes; a rater below 0 is not named.
        judges: The votes of each judge, or of several as one, items numbered as people's are.
        systems: Kind of each system by its name, in the order of their indices.
        wording: The words for votes.
        level: Nominal coverage.
    """
    used, _ = choose_interval(people, wording=wording)
    kinds = sorted(set(systems.values()))
    kind = np.array([kinds.index(one) for one in systems.values()])
    try:
        measured = measure(
            people,
            list(judges.values()),
            vary=lambda influence_of, votes: vary(influence_of, votes, used),
            level=level,
        )
        found = anchor(measured, kind, level=level)
        alone = anchor(measured.without_judges(), kind, level=level)
    except NotIdentifiedError as error:
        return _without(str(error), used=used, level=level)
    tau, tau_low, tau_high = (float(ELO_PER_THETA * ends[0]) for ends in found.tau)
    offsets = _numbers(ELO_PER_THETA * found.offsets.estimate)
    rows = _rows(systems, measured, found, alone, level=level)
    return AnchoredRanking(
        tau_elo=tau,
        tau_low=tau_low,
        tau_high=tau_high,
        slopes=dict(zip(judges, found.slopes.estimate.tolist(), strict=True)),
        kinds=dict(zip_longest(kinds, offsets)),
        systems=_placed(rows),
        interval_used=used,
        level=level,
        reason=None,
    )


def _without(reason: str, *, used: str, level: float) -> AnchoredRanking:
    return AnchoredRanking(
        slopes={}, kinds={}, systems=(), interval_used=used, level=level, reason=reason
    )


def anchor_judgments(
    rows: Judgments, data: StudyData, *, level: float, assume_random: bool
) -> AnchoredRanking | None:
    """Rank a study's systems by people's judgments and all judges' as one's.

    Nothing is anchored where pairs that people judged are neither those that the study drew for
    them nor all that judges judged, unless somebody says that they were drawn at random.

    Returns:
        None where people or judges did not vote.
    """
    raters = people_among(data.raters)
    is_by_person = rows.rater.is_in(raters)
    of_judges, of_people = (set(rows.pair[kind].present) for kind in (~is_by_person, is_by_person))
    if not of_judges or not of_people:
        return None
    systems = sorted(data.ranked, key=lambda system: system.name)
    is_drawn = of_people <= set(data.pairs_of_people)
    if not (is_drawn or assume_random or of_judges <= of_people):
        return _without(NOT_DRAWN, used="", level=level)
    votes = to_comparisons(
        rows,
        use_strength=False,
        system_ids=[system.id for system in systems],
        rater_ids=raters,
        writers=data.writers,
    )
    votes = with_columns(votes, weight=np.ones(len(votes)))
    is_person = votes.rater >= 0
    found = rank_anchored(
        select_comparisons(votes, is_person),
        {JUDGES: select_comparisons(votes, ~is_person)},
        {system.name: system.kind for system in systems},
        wording=JUDGMENTS,
        level=level,
    )
    drawn = of_judges.intersection(data.pairs_of_people if is_drawn else of_people)
    return replace(found, share_drawn=len(drawn) / len(of_judges))


def anchor_votes(
    people: Votes, judges: Mapping[str, Votes], *, human: Collection[str], level: float
) -> AnchoredRanking:
    """Rank systems by people's votes and each judge's, which name items alike.

    Args:
        people: Their votes.
        judges: Votes by judge; raters are not told apart.
        human: Systems that are people; the others are models.
        level: Nominal coverage.
    """
    read = (people, *judges.values())
    systems = sorted({name for votes in read for name in votes.systems})
    items = {name: k for k, name in enumerate(sorted({i for votes in read for i in votes.items}))}

    def alike(votes: Votes) -> Comparisons:
        """Return the comparisons, each once, systems and items numbered alike for all."""
        system = np.array([systems.index(name) for name in votes.systems])
        item = np.array([items[name] for name in votes.items])
        given = votes.sampled
        return replace(
            given,
            left=system[given.left],
            right=system[given.right],
            weight=np.ones(len(given)),
            item=item[given.item],
            n_systems=len(systems),
        )

    return rank_anchored(
        alike(people),
        {name: alike(votes) for name, votes in judges.items()},
        {name: "human" if name in human else "model" for name in systems},
        wording=VOTES,
        level=level,
    )


def _rows(
    systems: Mapping[str, str],
    measured: Measured,
    found: Anchored,
    alone: Anchored,
    *,
    level: float,
) -> list[AnchoredSystem]:
    # Without people's votes of its own a system is there only as one of its kind.
    is_compared = measured.group >= 0
    spreads = {
        "": found.theta,
        "_without_judges": Spread(*(np.where(is_compared, at, np.nan) for at in alone.theta)),
        "_people": _by_people(measured, level),
        "_judges": _by_judges(measured, level),
    }
    columns = {
        f"{end}{by}": _numbers(ELO_MEAN + ELO_PER_THETA * values)
        for by, spread in spreads.items()
        for end, values in zip(("elo", "low", "high"), spread, strict=True)
    }
    columns |= {"weight_of_people": _numbers(found.weight), "doubt": _numbers(found.doubt)}
    kinds = list(systems.values())
    is_placed = np.asarray(~np.isnan(measured.judges).any(axis=1))
    rows = []
    for i, (name, kind) in enumerate(systems.items()):
        values: dict[str, Any] = {column: numbers[i] for column, numbers in columns.items()}
        note = ""
        if values["elo"] is None:
            note = NO_PLACE
        elif not is_placed[i]:
            note = ONLY_PEOPLE
        elif not is_compared[i]:
            note = ONLY_JUDGES
        elif kinds.count(kind) == 1:
            note = ONLY_ONE
        if note:
            values["doubt"] = None
        rows.append(AnchoredSystem(system=name, kind=kind, note=note, **values))
    return rows


def _placed(rows: Sequence[AnchoredSystem]) -> tuple[AnchoredSystem, ...]:
    """Return the best first, each with the places that it may have, then those without any."""
    ordered = sorted(rows, key=lambda row: (row.elo is None, -(row.elo or 0), row.system))
    placed = [row for row in ordered if row.elo is not None]
    ranked = [
        replace(row, **places._asdict())
        for row, places in zip(placed, open_places(placed), strict=True)
    ]
    return (*ranked, *ordered[len(placed) :])


def open_places(rows: Sequence[AnchoredSystem]) -> list[Places]:
    """Return the best and the worst place of each: above it are those whose intervals lie above.

    Over all pairs at once two are put into a wrong order in at most about one study of twenty, as
    with the other rankings (measured; see docs/reference/anchored.md).
    """
    low, high = (np.array([getattr(row, end) for row in rows]) for end in ("low", "high"))
    above = low[None, :] > high[:, None]
    best, worst = 1 + above.sum(axis=1), len(rows) - above.sum(axis=0)
    return list(map(Places, best.tolist(), worst.tolist()))


def _by_people(measured: Measured, level: float) -> Spread:
    """Return people's strengths; none where they fall into groups, which have no common scale."""
    n = len(measured.people)
    is_one = measured.group == (0 if measured.group.max() == 0 else None)
    theta = np.where(is_one, measured.people, np.nan)
    return _spread(theta, np.diag(measured.errors)[:n], level)


def _by_judges(measured: Measured, level: float) -> Spread:
    """Return the mean of judges' strengths."""
    n, n_judges = measured.judges.shape
    blocks = measured.errors.reshape(1 + n_judges, n, 1 + n_judges, n)[1:, :, 1:, :]
    variance = np.einsum("jiki->i", blocks) / n_judges**2
    return _spread(measured.judges.mean(axis=1), variance, level)


def _spread(theta: FloatArray, variance: FloatArray, level: float) -> Spread:
    reach = ndtri((1 + level) / 2) * np.sqrt(np.maximum(variance, 0.0))
    return Spread(theta, theta - reach, theta + reach)


def _numbers(values: FloatArray) -> list[float | None]:
    """Return plain numbers, None for those that are not known."""
    return [None if np.isnan(value) else value for value in values.tolist()]
