"""What the researcher's page draws: answers over time, and where the present pace leads.

Only shapes, in a box that the browser stretches to its place: what they say stands beside them in
words and in a table, which keep their size on a phone.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from hearteval.study.people.watch.work import TimeLeft, Times

WIDTH, HEIGHT, TOP = 600, 150, 8
N_POINTS = 80
MOST_AHEAD = 2.0
"""Of what is ahead, as many times the time that has passed are drawn."""
MOST_ROWS = 30


class Chart(NamedTuple):
    """The shapes, as points of an SVG of `WIDTH` and `HEIGHT`."""

    line: str
    """What was answered."""
    area: str
    """Below it."""
    ahead: str
    """Where the pace leads; empty where that is not known."""
    fan: str
    """Between its bounds."""
    now: float
    began: date
    days: Sequence[tuple[date, int, int]]
    """Of the last days on which anything was answered: how many, and how many in all by then."""


def draw_progress(
    times: Sequence[datetime], *, n_wanted: int, left: TimeLeft | None, now: datetime
) -> Chart | None:
    """Return the shapes for when answers came, in order; None for none."""
    if not times or now <= times[0]:
        return None
    past = (now - times[0]) / timedelta(days=1)
    farthest = 0.0 if left is None else left.high or MOST_AHEAD * left.days
    future = min(farthest, MOST_AHEAD * past)
    most = max(n_wanted, len(times))

    def at(day: float, n: float) -> str:
        x, y = WIDTH * day / (past + future), HEIGHT - (HEIGHT - TOP) * n / most
        return f"{x:.1f},{y:.1f}"

    steps = [past * k / N_POINTS for k in range(N_POINTS + 1)]
    done = [at(day, bisect_right(times, times[0] + timedelta(days=day))) for day in steps]
    ahead = fan = ""
    if left is not None:
        here, rest = at(past, len(times)), n_wanted - len(times)

        def end(days: float | None) -> str:
            if days is None:
                return at(past + future, len(times))
            drawn = min(days, future)
            return at(past + drawn, len(times) + rest * drawn / days)

        ahead = f"{here} {end(left.days)}"
        # Its upper edge goes on along the top, so that both end where the drawing does.
        late = end(left.high)
        corner = at(past + (future if left.high is None else min(left.high, future)), n_wanted)
        fan = f"{here} {end(left.low)} {corner} {late}"
    return Chart(
        line=" ".join(done),
        area=f"{at(0, 0)} {' '.join(done)} {at(past, 0)}",
        ahead=ahead,
        fan=fan,
        now=WIDTH * past / (past + future),
        began=times[0].date(),
        days=_days(times),
    )


def draw_times(times: Times) -> tuple[str, float | None]:
    """Return a bar for each answer's seconds, as an SVG path, and how high the usual time is."""
    most = 4 * max(times.median, times.usual or 0.0) or 1.0
    step = WIDTH / len(times.seconds)

    def height(seconds: float) -> float:
        return HEIGHT - (HEIGHT - TOP) * min(seconds, most) / most

    bars = [
        f"M{step * (k + 0.5):.1f},{HEIGHT}V{height(seconds):.1f}"
        for k, seconds in enumerate(times.seconds)
    ]
    return "".join(bars), None if times.usual is None else height(times.usual)


def _days(times: Sequence[datetime]) -> list[tuple[date, int, int]]:
    found, n = [], 0
    for day, more in sorted(Counter(time.date() for time in times).items()):
        n += more
        found.append((day, more, n))
    return found[-MOST_ROWS:]
