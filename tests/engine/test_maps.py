"""Long computations are the same to the last bit wherever they are done; Ray keeps to itself."""

import os
import signal
import struct
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec

import numpy as np
import pytest
from own_processes import children_of, listening

from hearteval.config.engine import Engine
from hearteval.engine import is_here
from hearteval.engine.local import map_ahead
from hearteval.errors import NotIdentifiedError, SettingsError
from hearteval.stats import MAP, Map
from hearteval.stats.bradley_terry import bootstrap
from hearteval.stats.bradley_terry.fit import fit_bradley_terry, fit_win_matrix
from hearteval.stats.comparisons import Comparisons
from hearteval.stats.planner import components
from hearteval.stats.planner.anchoring import Judging, expect_widths
from hearteval.study.engine import open_engine

ENGINES = {"three processes": Engine(workers=3), "ray": Engine(kind="ray", workers=2)}


def votes() -> Comparisons:
    rng = np.random.default_rng(5)
    n = 900
    left = rng.integers(0, 6, n)
    right = (left + rng.integers(1, 6, n)) % 6
    return Comparisons(
        left=left,
        right=right,
        score=(rng.random(n) < 0.5 + 0.05 * (left - right)).astype(float),
        weight=np.ones(n),
        count=np.ones(n, dtype=np.int64),
        item=rng.integers(0, 40, n),
        rater=rng.integers(0, 12, n),
        n_systems=6,
    )


def computed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what is computed in several tasks: refits, what votes leave open, drawn studies."""
    monkeypatch.setattr(bootstrap, "BLOCK_CELLS", 4_000)
    monkeypatch.setattr(components, "_BLOCK_NUMBERS", 30_000)
    given = votes()
    drawn = bootstrap.bootstrap_items(
        given, fit_bradley_terry(given), n_resamples=500, rng=np.random.default_rng(1)
    )
    measured = components.measure_components(given, rng=np.random.default_rng(2))
    widths = expect_widths(
        0.2, 20, Judging(0.7, 0.1, 0.8, 0.05), 8, level=0.95, rng=np.random.default_rng(3)
    )
    numbers = [[one.item, one.rater, one.rest] for one in measured.draws]
    return [drawn.theta.tobytes(), np.array(numbers).tobytes(), struct.pack("dd", *widths)]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Map]:
    if request.param == "ray" and find_spec("ray") is None:  # not imported: that reads the settings
        pytest.skip("needs the extra ray")
    with closing(open_engine(ENGINES[request.param])) as opened:
        yield opened


@pytest.mark.engine
def test_no_bit_hangs_on_who_works(engine: Map, monkeypatch: pytest.MonkeyPatch) -> None:
    here = computed(monkeypatch)

    before = MAP.set(engine)
    there = computed(monkeypatch)
    MAP.reset(before)

    assert there == here


@pytest.mark.engine
def test_an_error_of_a_task_is_raised_as_if_it_had_been_done_here(engine: Map) -> None:
    wins = np.array([[0.0, 2.0], [0.0, 0.0]])

    with pytest.raises(NotIdentifiedError) as caught:
        list(engine(fit_win_matrix, [wins, wins]))

    assert type(caught.value) is NotIdentifiedError
    assert sorted(caught.value.components) == [(0,), (1,)]


@pytest.mark.engine
def test_ray_listens_on_this_machine_only_and_leaves_signals_alone(engine: Map) -> None:
    if type(engine).__name__ != "RayMap":
        pytest.skip("about Ray")
    assert [*engine(abs, [-1, -2])] == [1, 2]

    found = {host for pid in children_of(os.getpid()) for host in listening(pid)}

    assert found == {"127.0.0.1"}
    handler = signal.getsignal(signal.SIGTERM)
    assert not str(getattr(handler, "__module__", "")).startswith("ray")


def test_no_more_tasks_are_taken_than_are_under_way() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for k in range(50):
            taken.append(k)
            yield k

    found = map_ahead(lambda: lambda k: lambda: k * k, abs, tasks(), n_ahead=4)
    first = [next(found) for _ in range(3)]

    assert first == [0, 1, 4]
    assert len(taken) <= 3 + 4
    assert [*found] == [k * k for k in range(3, 50)]


def test_a_single_task_is_worth_no_worker() -> None:
    def prepare() -> None:
        raise AssertionError("no worker is needed")

    assert [*map_ahead(prepare, abs, [-3], n_ahead=2)] == [3]  # type: ignore[arg-type]
    assert [*map_ahead(prepare, abs, [], n_ahead=2)] == []  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["10.0.0.5:6379", "head.lab:6379", "[2001:db8::1]:6379"])
def test_a_cluster_beyond_this_machine_needs_a_token(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")

    with pytest.raises(SettingsError, match="RAY_AUTH_MODE=token"):
        open_engine(Engine(kind="ray", address=address))


@pytest.mark.parametrize("address", ["127.0.0.1:6379", "localhost:6379", "[::1]:6379"])
def test_this_machine_is_here(address: str) -> None:
    assert is_here(address)


def test_the_local_engine_has_no_address() -> None:
    with pytest.raises(SettingsError, match="--engine ray"):
        open_engine(Engine(address="127.0.0.1:6379"))
