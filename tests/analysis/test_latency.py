"""Medians and quartiles of times, by hand."""

from datetime import UTC, datetime

from hearteval.analysis.coverage.latency import Spread, SystemLatency, latency_by_system
from hearteval.domain import LatencyProbe, System
from hearteval.report.leaderboard import latency_table

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUICK, SLOW, WHOLE = (
    System(name=name, kind="model", family=name, settings={"model": name})
    for name in ("quick", "slow", "whole")
)


def probes_of(
    system: System, times: list[float | None], *, concurrency: int = 1
) -> list[LatencyProbe]:
    return [
        LatencyProbe(
            study_id="s",
            system_id=system.id,
            item_id=f"item {number % 2}",
            repeat=number,
            first_token_ms=time,
            total_ms=1000.0,
            concurrency=concurrency,
            created_at=NOW,
        )
        for number, time in enumerate(times)
    ]


PROBES = [
    *probes_of(SLOW, [500.0, 700.0]),
    *probes_of(QUICK, [400.0, 100.0, 300.0, 200.0, None]),
    *probes_of(WHOLE, [None, None, None]),
    *probes_of(QUICK, [9000.0], concurrency=8),
]


def rows() -> tuple[SystemLatency, ...]:
    return latency_by_system(PROBES, [SLOW, WHOLE, QUICK], concurrency=1)


def test_median_and_quartiles_are_linear_between_order_statistics() -> None:
    quick = rows()[0]
    # Of 100, 200, 300, 400: positions 0.75, 1.5 and 2.25 of 0 to 3.
    assert quick.first_text == Spread(n=4, median=250.0, low=175.0, high=325.0)
    assert quick.total == Spread(n=5, median=1000.0, low=1000.0, high=1000.0)
    assert (quick.n_calls, quick.n_items, quick.n_without_first_text) == (5, 2, 1)


def test_the_quickest_is_first_and_what_does_not_stream_is_last() -> None:
    assert [row.system for row in rows()] == ["quick", "slow", "whole"]
    assert rows()[2].first_text is None
    assert rows()[2].first_reasoning is None


def test_other_concurrencies_and_systems_never_measured_are_left_out() -> None:
    (crowded,) = latency_by_system(PROBES, [SLOW, WHOLE, QUICK], concurrency=8)
    assert (crowded.system, crowded.n_calls) == ("quick", 1)


def test_the_table_fits_a_terminal() -> None:
    name = "a name of great length " * 5
    long = System(name=name, kind="model", family="l", settings={"model": "l"})
    probes = [*PROBES, *probes_of(long, [123_456.7, 234_567.8])]
    text = latency_table(
        latency_by_system(probes, [SLOW, WHOLE, QUICK, long], concurrency=1)
    ).text()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[1].split()[:4] == ["quick", "250", "[175,", "325]"]
    assert lines[3].startswith("a name of great l\N{HORIZONTAL ELLIPSIS} ")
    assert "\N{EN DASH}" in lines[4]
