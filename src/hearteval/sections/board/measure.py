"""A board that was continued: which rows were measured when, and whether its judges drifted.

A judge has drifted where it changes more of its old verdicts now than it changed when it was asked
again while the board was made. Both are counted on the same pair in the same order; what is
compared are two counts (Fisher's exact test, one-sided: only more change than its own tells).
"""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.judges import means_by_id
from hearteval.analysis.judgments import Judgments
from hearteval.stats.means import mean_interval

DRIFTED = 0.05
"""Of p, below which a judge is said to have drifted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """When a system's verdicts came: those of the board among themselves, and of newcomers.

    Attributes:
        first: Day of the first of them, as ISO 8601; None where there is none yet.
    """

    system: str
    is_new: bool
    n_judgments: int
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """How many verdicts were others when the same was asked again; a share over items."""

    n_pairs: int
    n_changed: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDrift:
    """What a judge says now of old pairs.

    Attributes:
        now: Of its old verdicts, asked again for this study; None where nobody asked.
        then: The same while the board was made; None where it was not asked again then.
        p_value: That it changes no more now than then; None where one of them is.
    """

    judge: str
    now: Changed | None
    then: Changed | None
    p_value: float | None

    @property
    def has_drifted(self) -> bool:
        """Whether it surely changes more now."""
        return self.p_value is not None and self.p_value < DRIFTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A released board, continued."""

    release: str
    rows: tuple[MeasuredRow, ...]
    judges: tuple[JudgeDrift, ...]
    """Those that are models asked here."""


def measure_board(data: StudyData, *, level: float) -> Board | None:
    """Say of a continued board what was measured when, and of its judges how far they changed."""
    board = data.board
    if board is None:
        return None
    rows = []
    for system in sorted(data.ranked, key=lambda one: (one.id not in board.pool, one.name)):
        n, first, last = board.measured.get(system.id, (0, None, None))
        rows.append(
            MeasuredRow(
                system=system.name,
                is_new=system.id not in board.pool,
                n_judgments=n,
                first=first,
                last=last,
            )
        )
    old = data.judgments.among(board.pool)
    judges = []
    for judge in (one for one in data.judges if one.family != "cue" and not one.is_imported):
        own = old.by({judge.id})
        now = _changed(own, board.again.by({judge.id}), level)
        then = _changed(own, own.select(own.repeat > 0), level)
        judges.append(JudgeDrift(judge=judge.name, now=now, then=then, p_value=_p(now, then)))
    return Board(release=board.release, rows=tuple(rows), judges=tuple(judges))


def _changed(rows: Judgments, again: Judgments, level: float) -> Changed | None:
    first = {(r.pair_id, r.first_completion_id): r.choice for r in rows if not r.repeat}
    said = [
        (row.item_id, float(row.choice != first[key]))
        for row in again
        if (key := (row.pair_id, row.first_completion_id)) in first
    ]
    if not said:
        return None
    shares = np.array(list(means_by_id(said).values()))
    low, high = mean_interval(shares, level=level)
    n_changed = round(sum(value for _, value in said))
    return Changed(
        n_pairs=len(said), n_changed=n_changed, share=float(shares.mean()), low=low, high=high
    )


def _p(now: Changed | None, then: Changed | None) -> float | None:
    if now is None or then is None:
        return None
    from scipy.stats import fisher_exact  # noqa: PLC0415, TID251 - longer to import than all others

    table = np.array([[one.n_changed, one.n_pairs - one.n_changed] for one in (now, then)])
    return float(fisher_exact(table, alternative="greater").pvalue)
