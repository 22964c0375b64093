"""Which systems are clear of the mean on an axis: all cells of a table of axes are one family.

A cell is tested by the t of its interval. With five axes and eighteen systems five cells in ninety
would be clear by chance alone; so a cell is called clear, and coloured so, by its q (Benjamini and
Hochberg 1995). Of two systems one is as far above the mean as the other is below: the two cells are
one test, and said twice they get the q of it said once.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat

import numpy as np

from hearteval.analysis.ranking.axes import AxisTable
from hearteval.analysis.ranking.rank import Ranked
from hearteval.stats.means import q_where_tested
from hearteval.stats.special import stdtr


def adjust_axes(tables: Sequence[AxisTable]) -> tuple[AxisTable, ...]:
    """Return the tables with p and q of every cell that has an interval."""
    found = [_p_values(table.ranked) if table.ranked else {} for table in tables]
    p = [of.get(name) for table, of in zip(tables, found, strict=True) for name in table.standings]
    q = iter(zip(p, q_where_tested(p), strict=True))
    return tuple(
        table._replace(
            standings={
                name: replace(at, p=at_p, q=at_q)
                for (name, at), (at_p, at_q) in zip(table.standings.items(), q, strict=False)
            }
        )
        for table in tables
    )


def _p_values(ranked: Ranked) -> dict[str, float]:
    """Return the two-sided p that each system with an interval is at the mean of the axis."""
    df = np.diagonal(ranked.uncertainty.df) if np.ndim(ranked.uncertainty.df) else repeat(ranked.df)
    return {
        name: 2 * float(stdtr(own, -abs(at.theta) / at.se))
        for name, at, own in zip(ranked.names, ranked.estimates, df, strict=False)
        if at.se
    }
