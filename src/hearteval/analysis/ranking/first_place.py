"""How high the first place is by being first: what is measured where all systems are equal.

The interval of one system holds its strength as often as it says; that of the system which came out
first does not, as it was chosen for being high. An interval that knows it was chosen (Andrews,
Kitagawa and McCloskey 2024) is left out on purpose; readers are told how often this happens.
"""

from typing import Final

import numpy as np

MEASURED_LEVEL: Final = 0.95
MEASURED: Final = (
    (2, 0.033, 0.034, 0.045),
    (3, 0.041, 0.067, 0.076),
    (4, 0.058, 0.078, 0.104),
    (5, 0.082, 0.114, 0.106),
    (6, 0.077, 0.109, 0.159),
    (8, 0.093, 0.155, 0.201),
    (10, 0.102, 0.180, 0.246),
    (12, 0.123, 0.199, 0.274),
    (15, 0.155, 0.244, 0.318),
    (18, 0.189, 0.261, 0.388),
    (25, 0.224, 0.299, 0.515),
    (35, 0.295, 0.422, 0.584),
    (50, 0.324, 0.532, 0.757),
)
"""Equal systems, and in what share of 1,000 studies the interval of the first lies above the
average: two-way with five and with ten people, item-sandwich (`benchmarks/RESULTS.md`)."""
FEW_PEOPLE: Final = 7
"""Degrees of freedom of a two-way interval, under which the figures of five people are nearer."""


def chance_above_average(
    n_systems: int, interval: str, df: float, level: float
) -> tuple[int, float] | None:
    """Return of how many equal systems, and how often, the interval of the first lies above 1500.

    Between the numbers that were measured it is interpolated; of more than the most it is that of
    the most. None for other intervals and levels, and for two systems, where it is as often as the
    level says.
    """
    columns = {"two-way": 1 if df < FEW_PEOPLE else 2, "item-sandwich": 3}
    if level != MEASURED_LEVEL or interval not in columns or n_systems <= MEASURED[0][0]:
        return None
    figures = np.array(MEASURED)
    n = min(n_systems, MEASURED[-1][0])
    return n, float(np.interp(n, figures[:, 0], figures[:, columns[interval]]))
