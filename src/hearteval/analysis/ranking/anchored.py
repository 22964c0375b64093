"""People's ranking, helped by judges' as far as judges have shown that they help.

For studies and vote files alike. The same without a judge stands beside every figure, so that
shrinkage does not pass for what judges bring. What cannot be told is missing, with its reason.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

import numpy as np

from hearteval.analysis.ranking.intervals import choose_interval, vary
from hearteval.analysis.ranking.votes import Votes
from hearteval.analysis.ranking.warnings import VOTES, Wording
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.anchored import Anchored, anchor
from hearteval.stats.bradley_terry.fit import ELO_MEAN, ELO_PER_THETA
from hearteval.stats.bradley_terry.measured import Measured, measure
from hearteval.stats.comparisons import Comparisons, FloatArray

NO_PLACE: Final = "no votes compare it with the others"
ONLY_PEOPLE: Final = "not every judge's votes place it: it stands on people's alone"
ONLY_JUDGES: Final = "people's votes do not compare it: it stands on what judges imply"
ONLY_ONE: Final = "the only one of its kind: judges add nothing, it stands on people's votes alone"


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
        return AnchoredRanking(
            slopes={}, kinds={}, systems=(), interval_used=used, level=level, reason=str(error)
        )
    tau, tau_low, tau_high = (float(ELO_PER_THETA * ends[0]) for ends in found.tau)
    offsets = _numbers(ELO_PER_THETA * found.offsets.estimate)
    rows = _rows(systems, measured, found, alone)
    return AnchoredRanking(
        tau_elo=tau,
        tau_low=tau_low,
        tau_high=tau_high,
        slopes=dict(zip(judges, found.slopes.estimate.tolist(), strict=True)),
        kinds=dict(zip_longest(kinds, offsets)),
        systems=tuple(sorted(rows, key=lambda row: (row.elo is None, -(row.elo or 0), row.system))),
        interval_used=used,
        level=level,
        reason=None,
    )


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
    systems: Mapping[str, str], measured: Measured, found: Anchored, alone: Anchored
) -> list[AnchoredSystem]:
    columns = [_numbers(ELO_MEAN + ELO_PER_THETA * ends) for ends in found.theta]
    columns += [_numbers(values) for values in (found.weight, found.doubt)]
    # Without people's votes of its own a system is there only as one of its kind.
    is_compared = measured.group >= 0
    columns += [
        _numbers(np.where(is_compared, ELO_MEAN + ELO_PER_THETA * ends, np.nan))
        for ends in alone.theta
    ]
    kinds = list(systems.values())
    is_placed = np.asarray(~np.isnan(measured.judges).any(axis=1))
    rows = []
    for i, (name, kind) in enumerate(systems.items()):
        elo, low, high, weight, doubt, elo_alone, low_alone, high_alone = (
            column[i] for column in columns
        )
        note = ""
        if elo is None:
            note = NO_PLACE
        elif not is_placed[i]:
            note = ONLY_PEOPLE
        elif not is_compared[i]:
            note = ONLY_JUDGES
        elif kinds.count(kind) == 1:
            note = ONLY_ONE
        rows.append(
            AnchoredSystem(
                system=name,
                kind=kind,
                elo=elo,
                low=low,
                high=high,
                weight_of_people=weight,
                doubt=None if note else doubt,
                elo_without_judges=elo_alone,
                low_without_judges=low_alone,
                high_without_judges=high_alone,
                note=note,
            )
        )
    return rows


def _numbers(values: FloatArray) -> list[float | None]:
    """Return plain numbers, None for those that are not known."""
    return [None if np.isnan(value) else value for value in values.tolist()]
