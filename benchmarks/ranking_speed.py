"""Time and memory of a ranking, beside what others need for the same, in one run.

Every row is measured in a process of its own with one BLAS thread: the least CPU seconds of several
repeats, rounds taken in turn, and the peak memory of the process. Peers do the part that both do:
the same votes, the same model, the same tolerance where they have one. Prints Markdown.

    python benchmarks/ranking_speed.py --rows 100000000 --folder DIR
"""

import argparse
import ctypes
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

N_RESAMPLES = 1_000
MAX_GROUPS = 2_048
SEED = 7
OURS = ("hearteval.api", "pyarrow.parquet", "scipy.stats")
Timed = tuple[float, float, str]


def invent(n_votes: int, n_systems: int, n_items: int) -> dict[str, np.ndarray[Any, Any]]:
    """Invent votes of known strengths, one in six a tie."""
    rng = np.random.default_rng(SEED)
    theta = rng.normal(0, 0.5, n_systems).astype(np.float32)
    left = rng.integers(0, n_systems, n_votes, dtype=np.int32)
    right = (left + rng.integers(1, n_systems, n_votes, dtype=np.int32)) % n_systems
    chance = 1 / (1 + np.exp(theta[right] - theta[left]))
    twice = 2 * (rng.random(n_votes, dtype=np.float32) < chance).astype(np.int32)
    twice[rng.random(n_votes, dtype=np.float32) < 1 / 6] = 1
    item = rng.integers(0, n_items, n_votes, dtype=np.int32)
    return {"left": left, "right": right.astype(np.int32), "twice": twice, "item": item}


def comparisons_of(votes: dict[str, np.ndarray[Any, Any]], n_systems: int) -> Any:
    """Count votes as `he.rank` does."""
    from hearteval.stats.comparisons import Comparisons
    from hearteval.stats.tally import Tally

    tally = Tally(4)
    tally.add(votes["left"], votes["right"], votes["twice"], votes["item"])
    (left, right, twice, item), count = tally.rows()
    return Comparisons(
        left=left,
        right=right,
        score=twice / 2,
        weight=np.ones(len(left)),
        count=count,
        item=item,
        rater=np.zeros_like(item),
        n_systems=n_systems,
    )


def refit(votes: dict[str, np.ndarray[Any, Any]], n_systems: int) -> str:
    """Count, fit and bootstrap with hearteval."""
    from hearteval.stats.bradley_terry.bootstrap import bootstrap_items
    from hearteval.stats.bradley_terry.fit import fit_bradley_terry

    comparisons = comparisons_of(votes, n_systems)
    fit = fit_bradley_terry(comparisons)
    drawn = bootstrap_items(
        comparisons, fit, n_resamples=N_RESAMPLES, rng=np.random.default_rng(SEED)
    )
    return f"SD of the first theta {drawn.theta[:, 0].std():.5f}"


def refit_in_c(votes: dict[str, np.ndarray[Any, Any]], n_systems: int, library: str) -> str:
    """Do the same in the C loop."""
    out = np.empty((N_RESAMPLES, n_systems))
    pointers = [
        votes[name].ctypes.data_as(ctypes.c_void_p) for name in ("left", "right", "item", "twice")
    ]
    steps = ctypes.CDLL(library).bootstrap(
        *pointers,
        ctypes.c_int64(len(votes["left"])),
        n_systems,
        int(votes["item"].max()) + 1,
        N_RESAMPLES,
        ctypes.c_uint64(SEED),
        out.ctypes.data_as(ctypes.c_void_p),
    )
    if steps < 0:
        raise RuntimeError("the C loop did not converge")
    theta = out - out.mean(axis=1, keepdims=True)
    return f"SD of the first theta {theta[:, 0].std():.5f}"


def refit_in_evalica(votes: dict[str, np.ndarray[Any, Any]], n_systems: int) -> str:
    """Refit with evalica's Rust core, fed with points by pair that numpy resampled."""
    from evalica import Winner, _brzo

    from hearteval.stats.bradley_terry.bootstrap import draw_items

    n = n_systems
    pairs = votes["left"].astype(np.int64) * n + votes["right"]
    turned = votes["right"].astype(np.int64) * n + votes["left"]
    n_items = int(votes["item"].max()) + 1
    table = np.bincount(
        np.concatenate((pairs, turned)) * n_items + np.tile(votes["item"], 2),
        weights=np.concatenate((votes["twice"], 2 - votes["twice"])) / 2,
        minlength=n * n * n_items,
    ).reshape(n * n, n_items)
    draws = draw_items(n_items, N_RESAMPLES, np.random.default_rng(SEED))
    points = (table.astype(np.float32) @ draws).T.astype(np.float64)
    played = np.flatnonzero(table.sum(axis=1))
    left, right = (played // n).tolist(), (played % n).tolist()
    winners = [Winner.X] * len(played)
    theta = np.empty((N_RESAMPLES, n))
    for k in range(N_RESAMPLES):
        scores, _ = _brzo.bradley_terry(
            xs=left,
            ys=right,
            winners=winners,
            weights=points[k, played].tolist(),
            total=n,
            win_weight=1.0,
            tie_weight=0.5,
            tolerance=1e-6,
            limit=100,
        )
        theta[k] = np.log(scores)
    theta -= theta.mean(axis=1, keepdims=True)
    return f"SD of the first theta {theta[:, 0].std():.5f}"


def refit_in_choix(votes: dict[str, np.ndarray[Any, Any]], n_systems: int) -> str:
    """Refit 20 times with choix's matrix solver; its time is scaled to the other rows' number."""
    import choix

    rng = np.random.default_rng(SEED)
    n_items = int(votes["item"].max()) + 1
    for _ in range(N_RESAMPLES // 50):
        drawn = np.bincount(rng.integers(0, n_items, n_items), minlength=n_items)[votes["item"]]
        wins = np.zeros((n_systems, n_systems))
        np.add.at(wins, (votes["left"], votes["right"]), drawn * votes["twice"] / 2)
        np.add.at(wins, (votes["right"], votes["left"]), drawn * (2 - votes["twice"]) / 2)
        choix.ilsr_pairwise_dense(wins)
    return "20 refits, time x 50"


def sandwich(votes: dict[str, np.ndarray[Any, Any]], n_systems: int) -> str:
    """Fit and give the sandwich over items."""
    from hearteval.stats.bradley_terry.clustered_variance import vary_over_items
    from hearteval.stats.bradley_terry.fit import fit_bradley_terry
    from hearteval.stats.bradley_terry.intervals import influence_on_strengths

    comparisons = comparisons_of(votes, n_systems)
    fit = fit_bradley_terry(comparisons)
    variance = vary_over_items(influence_on_strengths(comparisons, fit), comparisons.item)
    return f"SE of the first theta {variance.of_parameters()[0] ** 0.5:.5f}"


def rank_file(path: Path, *, cluster: str | None) -> str:
    """Rank a Parquet file, from disk to ratings."""
    import hearteval as he

    ranking = he.rank(path, left="left", right="right", winner="winner", cluster=cluster)
    return f"{ranking.fit.n_votes:,} votes, {ranking.systems[0].elo:.4f} Elo first"


def count_in_duckdb(path: Path, *, cluster: str | None) -> str:
    """Count the votes of each pair and outcome, of each item too if one is named."""
    import duckdb

    by = f'"left", "right", winner{", " + cluster if cluster else ""}'
    connection = duckdb.connect(config={"threads": 1})
    query = f"SELECT count(*), sum(n) FROM (SELECT {by}, count(*) n FROM '{path}' GROUP BY {by})"
    groups, votes = connection.execute(query).fetchall()[0]
    return f"{votes:,} votes in {groups:,} groups"


def write_parquet(path: Path, n_rows: int) -> None:
    """Write votes of 18 systems on 300 items, a few million rows at a time."""
    import pyarrow.parquet as pq

    writer, written = None, 0
    while written < n_rows:
        n = min(5_000_000, n_rows - written)
        votes = invent(n, 18, 300)
        table = _as_table(votes, 300)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
        written += n
    assert writer is not None
    writer.close()


def _measure(work: Callable[[], str], n_repeats: int, pipe: Any, libraries: Sequence[str]) -> None:
    from threadpoolctl import threadpool_limits

    for library in libraries:  # importing is not part of what is compared
        import_module(library)
    with threadpool_limits(1):
        least, said = float("inf"), ""
        for _ in range(n_repeats):
            start = time.process_time()
            said = work()
            least = min(least, time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send((least, peak, said))


def measure(work: Callable[[], str], n_repeats: int, libraries: Sequence[str] = ()) -> Timed:
    """Run in a fresh process; return CPU seconds, peak MiB and what it says.

    Args:
        work: What is measured.
        n_repeats: How often; the least time counts.
        libraries: What is imported before.
    """
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=_measure, args=(work, n_repeats, there, libraries)
    )
    process.start()
    there.close()
    timed: Timed = here.recv()
    process.join()
    return timed


def build_c(folder: Path) -> str:
    """Compile the C loop."""
    library = folder / "bootstrap_loop.so"
    source = Path(__file__).with_name("bootstrap_loop.c")
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    return str(library)


def main() -> None:
    """Measure and print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000, help="votes in the Parquet file")
    parser.add_argument("--folder", type=Path, help="where that file is kept [a temporary one]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        library = build_c(Path(temporary))
        for title, rows in (
            ("42,000 votes, 18 systems, 300 items, 1,000 refits", paper_scale(library)),
            ("10 million votes, 18 systems, 1,000 refits", ten_million()),
            ("many systems", many_systems(library)),
            (f"{arguments.rows:,} votes from Parquet", from_parquet(folder, arguments.rows)),
        ):
            print(f"\n| {title} | CPU s | to the first | peak MiB | result |")
            print("| --- | --- | --- | --- | --- |")
            first = rows[0][1][0]
            for name, (seconds, peak, said) in rows:
                print(f"| {name} | {seconds:.4f} | {seconds / first:.2f} | {peak:,.0f} | {said} |")
            sys.stdout.flush()


def paper_scale(library: str) -> list[tuple[str, Timed]]:
    """Measure at the paper's size."""
    votes = invent(42_000, 18, 300)
    slow = measure(lambda: refit_in_choix(votes, 18), 1)
    return [
        ("hearteval", measure(lambda: refit(votes, 18), 15)),
        ("C loop", measure(lambda: refit_in_c(votes, 18, library), 15)),
        (
            "evalica's core, fed with our aggregates",
            measure(lambda: refit_in_evalica(votes, 18), 5),
        ),
        ("choix", (slow[0] * 50, slow[1], slow[2])),
    ]


def ten_million() -> list[tuple[str, Timed]]:
    """Measure ten million votes: as arrays, and as a table with more items than are kept apart."""
    few = invent(10_000_000, 18, 300)
    rows = [("hearteval, arrays, 300 items", measure(partial(refit, few, 18), 2, OURS))]
    many = invent(10_000_000, 18, 100_000)
    table = _as_table(many, 100_000)
    groups = np.random.default_rng(SEED).permutation(100_000).astype(np.int32) % MAX_GROUPS
    many["item"] = groups[many["item"]]
    title = f"hearteval, arrays, 100,000 items in {MAX_GROUPS:,} groups"
    rows.append((title, measure(partial(refit, many, 18), 2, OURS)))
    rows.append(
        ("he.rank, Arrow table, 100,000 items", measure(partial(rank_table, table), 1, OURS))
    )
    return rows


def show_ranking(table: Any) -> str:
    """Rank a table in memory, and write the ranking as text and as what JSON holds."""
    import hearteval as he

    ranking = he.rank(table, cluster="item")
    return f"{len(str(ranking)):,} characters, {len(ranking.to_dict()['matrix']):,} pairs"


def _as_table(votes: dict[str, np.ndarray[Any, Any]], n_items: int, n_systems: int = 18) -> Any:
    import pyarrow as pa

    names = pa.array([f"system-{i:02d}" for i in range(n_systems)])
    items = pa.array([f"item-{i:06d}" for i in range(n_items)])
    words = pa.array(["right", "tie", "left"])
    columns = {"left": names, "right": names, "twice": words, "item": items}
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array(votes[column]), of)
        for column, of in columns.items()
    ]
    return pa.table(dict(zip(("left", "right", "winner", "item"), arrays, strict=True)))


def rank_table(table: Any) -> str:
    """Rank a table in memory, with a bootstrap of items."""
    import hearteval as he

    ranking = he.rank(table, cluster="item", interval="item-bootstrap", resamples=N_RESAMPLES)
    return f"{ranking.settings.n_items:,} items"


def many_systems(library: str) -> list[tuple[str, Timed]]:
    """Measure 200 systems refitted and 1,000 systems with the sandwich."""
    some, most = invent(42_000, 200, 300), invent(1_000_000, 1_000, 300)
    return [
        ("hearteval, 200 systems, 1,000 refits", measure(lambda: refit(some, 200), 2)),
        ("C loop, the same", measure(lambda: refit_in_c(some, 200, library), 1)),
        ("hearteval, 1,000 systems, sandwich", measure(lambda: sandwich(most, 1_000), 2)),
        *(
            (f"he.rank and its table, {n:,} systems, {40 * n:,} votes", measure(work, 1, OURS))
            for n in (1_500, 3_000)
            for work in (partial(show_ranking, _as_table(invent(40 * n, n, 300), 300, n)),)
        ),
    ]


def from_parquet(folder: Path, n_rows: int) -> list[tuple[str, Timed]]:
    """Measure a file on disk, without and with items."""
    path = folder / f"votes-{n_rows}.parquet"
    if not path.exists():
        write_parquet(path, n_rows)
    rows = []
    for cluster, words in ((None, "pairs"), ("item", "pairs by item")):
        ours = measure(partial(rank_file, path, cluster=cluster), 1, OURS)
        peer = measure(partial(count_in_duckdb, path, cluster=cluster), 1, ("duckdb",))
        rows.append((f"DuckDB counts {words}", peer))
        rows.append((f"hearteval ranks from {words}", ours))
    return rows


if __name__ == "__main__":
    main()
