"""Speed against quality: time to first text beside Elo, and what a voice leaves for it (SPEC 11).

Times are on a log scale. Correlations are over these systems and exploratory; each family counts
as many times as it has systems, so they stand within families and between them too.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hearteval.analysis.coverage.latency import latency_by_system
from hearteval.analysis.estimates import EXPLORATORY
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.domain import LatencyProbe, System
from hearteval.sections.traits.covariates import MIN_SYSTEMS, Correlation, adjust, correlate
from hearteval.stats.comparisons import FloatArray, IntArray

VOICE_BAND_MS: Final = 500.0
"""First text this soon suits a voice (HEART 4.6)."""
RECOGNITION_MS: Final = (150.0, 300.0)
"""To notice that speech has ended and to recognise it, at best and at worst."""
SYNTHESIS_MS: Final = (100.0, 200.0)
WHOLE_MS: Final = 1_000.0
"""From the end of speech to the first sound."""
COLUMN: Final = "first_token_ms"
"""Column of a joined table that stands in where nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceBudget:
    """What stands between a person's last word and the first sound of an answer.

    Attributes:
        low_ms: All in all where the rest is quick.
        high_ms: Where it is slow.
        left_ms: What the slow rest leaves for the system.
        verdict: ``fits`` even where the rest is slow, ``may fit``, or ``too slow``.
    """

    low_ms: float
    high_ms: float
    left_ms: float
    verdict: str


def voice_budget(
    first_token_ms: float,
    *,
    recognition_ms: tuple[float, float] = RECOGNITION_MS,
    synthesis_ms: tuple[float, float] = SYNTHESIS_MS,
    whole_ms: float = WHOLE_MS,
) -> VoiceBudget:
    """Say whether a system is quick enough for a voice: does all fit into about a second?

    Assumes that recognition ends before the system is asked and that speech starts with its first
    text; a system that speaks from its first sentence only needs more.
    """
    low = recognition_ms[0] + first_token_ms + synthesis_ms[0]
    high = recognition_ms[1] + first_token_ms + synthesis_ms[1]
    verdict = "fits" if high <= whole_ms else "may fit" if low <= whole_ms else "too slow"
    left = whole_ms - recognition_ms[1] - synthesis_ms[1]
    return VoiceBudget(low_ms=low, high_ms=high, left_ms=left, verdict=verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSpeed:
    """One system's speed and quality.

    Attributes:
        first_token_ms: Median.
        is_on_front: No other system is both as quick and as good, and better in one.
        is_within_band: First text within 500 ms.
    """

    system: str
    family: str
    first_token_ms: float
    elo: float
    low: float | None
    high: float | None
    is_on_front: bool
    is_within_band: bool
    budget: VoiceBudget


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedCorrelation:
    """How the log of the time goes with Elo, over systems or families.

    Attributes:
        over: ``systems``, ``families`` (their means), or ``systems within families``.
        problem: Why there is no figure; else None.
    """

    over: str
    n: int
    n_families: int
    problem: str | None
    spearman: Correlation | None
    pearson: Correlation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedResults:
    """Speed beside quality.

    Attributes:
        source: ``measured`` by `heart latency`, or ``table``.
        concurrency: Most calls under way at once when measured; None of a table.
        systems: Quickest first.
        left_out: Ranked systems without a time.
        mean_ms: Geometric mean of the field's medians.
    """

    source: str
    concurrency: int | None
    systems: tuple[SystemSpeed, ...]
    left_out: tuple[str, ...]
    mean_ms: float
    correlations: tuple[SpeedCorrelation, ...]
    level: float
    status: str = EXPLORATORY


def compare_speed(
    probes: Sequence[LatencyProbe],
    systems: Sequence[System],
    table: Mapping[str, Mapping[str, float]],
    board: Leaderboard,
    *,
    level: float,
) -> SpeedResults | None:
    """Set median times to first text beside Elo; None where fewer than two systems have one.

    Of what was measured the pass with the fewest calls at once counts, as queues say nothing of a
    model. Where nothing was, the column ``first_token_ms`` of a joined table does.

    Args:
        probes: What `heart latency` measured.
        systems: The systems of the study.
        table: Columns joined to the systems, by name.
        board: The ranking.
        level: Nominal coverage.
    """
    concurrency = min((probe.concurrency for probe in probes), default=None)
    times = dict(table.get(COLUMN, {}))
    if concurrency is not None:
        rows = latency_by_system(probes, systems, concurrency=concurrency)
        times = {row.system: row.first_text.median for row in rows if row.first_text is not None}
    timed = [row for row in board.rows if times.get(row.system, 0.0) > 0]
    if len(timed) < 2:
        return None
    speeds = [_speed(row, times, timed) for row in timed]
    logs = np.array([math.log(one.first_token_ms) for one in speeds])
    elos, families = np.array([one.elo for one in speeds]), [one.family for one in speeds]
    return SpeedResults(
        source="table" if concurrency is None else "measured",
        concurrency=concurrency,
        systems=tuple(sorted(speeds, key=lambda one: (one.first_token_ms, one.system))),
        left_out=tuple(sorted({row.system for row in board.rows} - {r.system for r in timed})),
        mean_ms=math.exp(float(logs.mean())),
        correlations=correlate_speed(logs, elos, families, level=level),
        level=level,
    )


def _speed(
    row: LeaderboardRow, times: Mapping[str, float], field: Sequence[LeaderboardRow]
) -> SystemSpeed:
    own = times[row.system], -row.weighted.elo
    others = [(times[one.system], -one.weighted.elo) for one in field]
    return SystemSpeed(
        system=row.system,
        family=row.family,
        first_token_ms=own[0],
        elo=row.weighted.elo,
        low=row.weighted.low,
        high=row.weighted.high,
        is_on_front=not any(o != own and o[0] <= own[0] and o[1] <= own[1] for o in others),
        is_within_band=own[0] <= VOICE_BAND_MS,
        budget=voice_budget(own[0]),
    )


def correlate_speed(
    times: FloatArray, elos: FloatArray, families: Sequence[str], *, level: float
) -> tuple[SpeedCorrelation, ...]:
    """Return the correlations over systems, families and within families: one family of tests.

    Args:
        times: Log of the median time of each system.
        elos: Its Elo.
        families: Its family.
        level: Nominal coverage.
    """
    members = defaultdict(list)
    for k, family in enumerate(families):
        members[family].append(k)
    groups = [members[name] for name in sorted(members)]
    means = np.array([[times[own].mean(), elos[own].mean()] for own in groups])
    shared = [own for own in groups if len(own) > 1]
    group = np.repeat(np.arange(len(shared)), [len(own) for own in shared])
    within = np.array(
        [[times[k] - times[own].mean(), elos[k] - elos[own].mean()] for own in shared for k in own]
    ).reshape(-1, 2)
    found = (
        _over("systems", times, elos, len(groups), level=level),
        _over("families", means[:, 0], means[:, 1], len(groups), level=level),
        _over(
            "systems within families",
            within[:, 0],
            within[:, 1],
            len(shared),
            group=group,
            level=level,
        ),
    )
    tests = adjust([one for row in found for one in (row.spearman, row.pearson)])
    pairs = zip(found, tests[::2], tests[1::2], strict=True)
    return tuple(replace(row, spearman=one, pearson=other) for row, one, other in pairs)


def _over(
    over: str,
    x: FloatArray,
    y: FloatArray,
    n_families: int,
    *,
    group: IntArray | None = None,
    level: float,
) -> SpeedCorrelation:
    """Return a correlation; `group` is the family of each whose mean was taken off."""
    pearson, spearman = None, None
    problem = f"fewer than {MIN_SYSTEMS} of them"
    # Values that no mean of a family fixes, and one.
    if len(x) - (n_families - 1 if group is not None else 0) >= MIN_SYSTEMS:
        pearson, spearman = correlate(x, y, level=level, group=group)
        problem = "" if pearson is not None else "all are alike"
    return SpeedCorrelation(
        over=over,
        n=len(x),
        n_families=n_families,
        problem=problem or None,
        spearman=spearman,
        pearson=pearson,
    )
