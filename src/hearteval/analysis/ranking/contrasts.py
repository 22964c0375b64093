"""Every system against one of them, and who is tied with whom.

Both are read off the differences of a ranking, so their intervals and tests are those of its
interval method, t or normal (see `hearteval.stats.bradley_terry.differences`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hearteval.analysis.ranking.rank import Difference
from hearteval.errors import SettingsError, first_few
from hearteval.stats.bradley_terry.fit import ELO_MEAN
from hearteval.stats.means import false_discovery_q

MAX_NAMED = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One system against the anchor.

    Attributes:
        elo: 1500 + its difference from the anchor, which stands at 1500.
        low: Lower end of its interval; None where the comparisons do not determine one.
        difference: Elo above the anchor.
        p: Two-sided p-value of no difference.
        q: The same adjusted over the contrasts with this anchor (Benjamini and Hochberg 1995).
        p_family: As in the differences of all systems; above 1 - level it is open which is better.
    """

    system: str
    elo: float
    low: float | None
    high: float | None
    difference: float
    p: float
    q: float
    p_family: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """Every other system against one that is held fixed, best first.

    Attributes:
        elo: Where the anchor stands.
    """

    system: str
    elo: float
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TiedWith:
    """The systems against which it is open which is better, best first."""

    system: str
    tied_with: tuple[str, ...]


def anchor_at(anchor: str, systems: Sequence[str], differences: Iterable[Difference]) -> Anchored:
    """Return the contrasts of all systems, best first, with one of them.

    Raises:
        SettingsError: The anchor is none of them.
    """
    if anchor not in systems:
        raise SettingsError(
            f"the anchor {anchor!r} is none of the systems: {first_few(systems, MAX_NAMED)}",
            ids=[anchor],
        )
    rows = {}
    for row in differences:
        if row.system == anchor:
            rows[row.other] = (-row.elo, _minus(row.high), _minus(row.low), row.p_family, row.p)
        elif row.other == anchor:
            rows[row.system] = (row.elo, row.low, row.high, row.p_family, row.p)
    found = [(system, *rows[system]) for system in systems if system != anchor]
    q = false_discovery_q([row[-1] for row in found]).tolist()
    return Anchored(
        system=anchor,
        elo=ELO_MEAN,
        contrasts=tuple(
            Contrast(
                system=system,
                elo=ELO_MEAN + elo,
                low=None if low is None else ELO_MEAN + low,
                high=None if high is None else ELO_MEAN + high,
                difference=elo,
                p=p,
                q=adjusted,
                p_family=p_family,
            )
            for (system, elo, low, high, p_family, p), adjusted in zip(found, q, strict=True)
        ),
    )


def find_ties(
    systems: Sequence[str], differences: Iterable[Difference], *, level: float
) -> tuple[TiedWith, ...]:
    """Say for each system, best first, against which others it is open which is better.

    It is `Difference.is_open`. Being tied is no proof of being equal, and A may be tied with B and
    B with C without A being tied with C.
    """
    tied: dict[str, set[str]] = {system: set() for system in systems}
    for row in differences:
        if row.is_open(level):
            tied[row.system].add(row.other)
            tied[row.other].add(row.system)
    return tuple(
        TiedWith(
            system=system, tied_with=tuple(other for other in systems if other in tied[system])
        )
        for system in systems
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
