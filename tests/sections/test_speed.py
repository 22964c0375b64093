"""Speed beside Elo: the paper's seven latencies, families, the Pareto front, the voice budget."""

import csv
import math
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from judged_study import STUDY_ID
from people_study import SYSTEMS, simulated_study
from scipy.stats import false_discovery_control, pearsonr

from hearteval.analysis.study import analyze_study
from hearteval.domain import LatencyProbe
from hearteval.sections.traits import Traits
from hearteval.sections.traits.speed import SpeedResults, correlate_speed, voice_budget
from hearteval.stats.comparisons import FloatArray

SHARED = Path(__file__).resolve().parents[3] / "shared" / "paper"
LATENCIES = {  # paper/latency.csv (HEART 4.6), with the Elo of paper/leaderboard.csv
    "GPT-5": ("gpt", 700, 1611.8),
    "GPT-o3": ("gpt", 13_800, 1587.5),
    "Gemini 2.5 Pro": ("gemini", 14_900, 1477.7),
    "Claude 4.5 Sonnet": ("claude", 2_100, 1540.9),
    "Claude 3.7 Sonnet": ("claude", 600, 1531.8),
    "Claude 4 Opus": ("claude", 1_300, 1504.0),
    "Polaris 4.0": ("polaris", 400, 1604.0),
}
THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}


def of_paper() -> tuple[list[str], FloatArray, FloatArray]:
    families, ms, elo = zip(*LATENCIES.values(), strict=True)
    return list(families), np.log(ms), np.array(elo)


def test_the_papers_seven_latencies_fall_with_elo() -> None:
    families, times, elos = of_paper()
    over = correlate_speed(times, elos, families, level=0.95)[0]
    assert over.spearman is not None
    assert over.spearman.r == pytest.approx(-0.50)
    assert (over.n, over.n_families) == (7, 4)


@pytest.mark.skipif(not SHARED.exists(), reason="the paper's tables lie outside the repository")
def test_the_latencies_are_typed_as_they_stand() -> None:
    with (SHARED / "latency.csv").open(encoding="utf-8") as file:
        times = {row["system"]: int(row["median_ttft_ms"]) for row in csv.DictReader(file)}
    with (SHARED / "leaderboard.csv").open(encoding="utf-8") as file:
        elos = {row["system"]: float(row["elo"]) for row in csv.DictReader(file)}
    assert {name: ms for name, (_, ms, _) in LATENCIES.items()} == times
    assert {name: elo for name, (_, _, elo) in LATENCIES.items()} == {n: elos[n] for n in times}


def test_few_families_have_no_correlation() -> None:
    families, times, elos = of_paper()
    over = {one.over: one for one in correlate_speed(times, elos, families, level=0.95)}
    assert over["families"].problem == "fewer than 5 of them"
    assert over["systems within families"].spearman is None  # 5 systems of 2 families leave 4


def test_within_families_the_family_is_taken_off() -> None:
    rng = np.random.default_rng(2)
    families = [name for name in "abcd" for _ in range(4)]
    shift = np.repeat([0.0, 3.0, 6.0, 9.0], 4)
    inside = rng.standard_normal(16)
    times, elos = inside + shift, 20 * inside - 100 * shift + rng.standard_normal(16)
    over = {one.over: one for one in correlate_speed(times, elos, families, level=0.95)}
    assert over["systems"].pearson is not None
    assert over["systems"].pearson.r < -0.8
    within = over["systems within families"].pearson
    centred = [x - np.repeat(x.reshape(4, 4).mean(axis=1), 4) for x in (times, elos)]
    assert within is not None
    assert within.r == pytest.approx(float(pearsonr(*centred).statistic))
    # Four means instead of one: 11 degrees of freedom, and z with 13 - 3.
    reach = 1.959963984540054 / math.sqrt(10)
    assert within.low == pytest.approx(math.tanh(math.atanh(within.r) - reach))


def test_the_tests_of_speed_are_one_family() -> None:
    rng = np.random.default_rng(4)
    times, elos = rng.standard_normal((2, 16))
    found = correlate_speed(times, elos, [name for name in "abcdefgh" for _ in "12"], level=0.95)
    tests = [one for row in found for one in (row.spearman, row.pearson) if one]
    assert len(tests) == 6
    q = false_discovery_control([one.p for one in tests])
    assert [one.q for one in tests] == pytest.approx(q.tolist())


def probe(number: int, system: int, ms: float | None, concurrency: int = 1) -> LatencyProbe:
    return LatencyProbe(
        study_id=STUDY_ID,
        system_id=SYSTEMS[system].id,
        item_id=f"{number:032x}",
        first_token_ms=ms,
        total_ms=2_000.0,
        concurrency=concurrency,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def timed(
    probes: list[LatencyProbe], covariates: dict[str, dict[str, float]] | None = None
) -> SpeedResults | None:
    data = simulated_study(THETA, THETA, n_items=8)
    data = replace(data, latency=probes, covariates=covariates or {})
    traits = analyze_study(data, sections=[Traits]).sections[Traits]
    return None if traits is None else traits.found


def test_the_pass_with_the_fewest_calls_at_once_counts() -> None:
    probes = [probe(k, s, ms) for s, times in enumerate([(400, 600, 900), (200,), (700,)])
              for k, ms in enumerate(times)]  # fmt: skip
    slow = [probe(9, system, 5_000.0, concurrency=8) for system in range(3)]
    found = timed([*slow, *probes])
    assert found is not None
    assert (found.source, found.concurrency, found.left_out) == ("measured", 1, ("People",))
    assert [(one.system, one.first_token_ms) for one in found.systems] == [
        ("ember", 200.0),
        ("beacon", 600.0),
        ("harbour", 700.0),
    ]
    assert found.mean_ms == pytest.approx((200 * 600 * 700) ** (1 / 3))
    # harbour is slower and worse than beacon; ember is worst and quickest.
    assert [one.is_on_front for one in found.systems] == [True, True, False]
    assert [one.is_within_band for one in found.systems] == [True, False, False]


def test_a_table_stands_in_where_nothing_was_measured() -> None:
    found = timed([], {"first_token_ms": {"beacon": 500.0, "People": 900.0}, "size": {"ember": 1}})
    assert found is not None
    assert (found.source, found.concurrency) == ("table", None)
    assert [one.system for one in found.systems] == ["beacon", "People"]
    assert found.systems[0].is_within_band


def test_without_times_nothing_is_said() -> None:
    assert timed([]) is None
    assert timed([probe(1, 0, None), probe(1, 1, 100.0)]) is None


@pytest.mark.parametrize(
    ("ms", "verdict"),
    [(500.0, "fits"), (501.0, "may fit"), (750.0, "may fit"), (751.0, "too slow")],
)
def test_all_fits_into_a_second_or_not(ms: float, verdict: str) -> None:
    found = voice_budget(ms)
    assert found.verdict == verdict
    assert (found.low_ms, found.high_ms, found.left_ms) == (ms + 250, ms + 500, 500)


def test_assumptions_can_be_others() -> None:
    found = voice_budget(600, recognition_ms=(50, 100), synthesis_ms=(50, 100), whole_ms=800)
    assert (found.high_ms, found.left_ms, found.verdict) == (800, 600, "fits")
