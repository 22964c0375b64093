"""Measure how often nominal 95 % intervals of agreement cover, by percentiles and by Fisher's z.

    python benchmarks/agreement_coverage.py [--replicates 80] [--seed 1]
        [--only units|raters] [--units 6 …]

Nominal: each rater keeps a unit's true category with chance sqrt(kappa) and else draws one from the
shares, so kappa, alpha and the shares are known. Ordinal: normal scores, correlated between raters
and with a small bias for each, cut into five categories. Interval: the same scores in tenths.
What has to be covered is each measure's own large-sample value, from 400,000 units of the same
design, by the same raters. In the table of raters they are drawn anew for each table, with biases,
and what has to be covered is the value for all raters there could be.
"""

import argparse
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import (
    bootstrap_units,
    estimate,
    fisher_interval,
    percentile_interval,
)
from hearteval.stats.agreement.icc import icc_a1, icc_c1
from hearteval.stats.agreement.kappas import (
    cohen_kappa,
    cohen_kappa_weighted,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
)
from hearteval.stats.agreement.krippendorff import krippendorff_alpha
from hearteval.stats.agreement.table import (
    Coefficient,
    Level,
    RatingTable,
    count_support,
    lay_out,
    merge_equal_units,
)
from hearteval.stats.comparisons import FloatArray

LEVEL, N_RESAMPLES, N_LARGE = 0.95, 400, 400_000
UNITS, RATERS, KAPPAS = (6, 10, 20, 50, 200), (2, 3, 6), (0.2, 0.5, 0.8)
SHARES = {
    "1 in 20": (0.95, 0.05),
    "1 in 5": (0.8, 0.2),
    "half": (0.5, 0.5),
    "5, one rare": (0.3, 0.3, 0.2, 0.17, 0.03),
    "5 even": (0.2,) * 5,
    "5 skewed": (0.6, 0.2, 0.1, 0.06, 0.04),
}
BIAS, RATER_SD = 0.3, 0.5
MIN_UNITS_BY_SUPPORT = 20
BINS = (0, 5, 10, 15, 20, 30, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Which ratings are drawn: level, name of the category shares, raters and their agreement."""

    level: Level
    shares: str
    n_raters: int
    kappa: float
    has_new_raters: bool = False

    def draw(self, n_units: int, rng: np.random.Generator) -> FloatArray:
        """Draw ratings as (units, raters)."""
        size = (n_units, self.n_raters)
        keep, slip = np.sqrt(self.kappa), np.sqrt(1 - self.kappa)
        if self.level == "nominal" and not self.has_new_raters:
            shares = SHARES[self.shares]
            truth = rng.choice(len(shares), size=(n_units, 1), p=shares)
            drawn = rng.choice(len(shares), size=size, p=shares)
            return np.where(rng.random(size) < keep, truth, drawn).astype(np.float64)
        score = keep * rng.normal(size=(n_units, 1)) + slip * rng.normal(size=size)
        if self.has_new_raters:
            # A large table has new raters for every unit: it is of all raters there could be.
            n_rows = n_units if n_units == N_LARGE else 1
            score = score + rng.normal(0, RATER_SD, (n_rows, self.n_raters))
        else:
            score = score + BIAS * np.linspace(-1, 1, self.n_raters)
        if self.level == "interval":
            return np.asarray(np.round(score, 1))
        cuts = ndtri(np.cumsum(SHARES[self.shares])[:-1])
        return np.asarray(np.searchsorted(cuts, score), dtype=np.float64)


def main() -> None:
    arguments = _parse_arguments()
    started = time.process_time()
    if arguments.only != "raters":
        _print_units(arguments)
    if arguments.only != "units":
        _print_raters(arguments)
    print(f"{time.process_time() - started:.0f} s of CPU time")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--replicates", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--units", type=int, nargs="+", default=UNITS)
    parser.add_argument("--only", choices=("units", "raters"))
    return parser.parse_args()


def _designs() -> Iterator[Design]:
    for shares, n_raters, kappa in itertools.product(SHARES, RATERS, KAPPAS):
        level: Level = "ordinal" if shares in ("5 even", "5 skewed") else "nominal"
        yield Design(level=level, shares=shares, n_raters=n_raters, kappa=kappa)
    for n_raters, kappa in itertools.product(RATERS, KAPPAS):
        yield Design(level="interval", shares="tenths", n_raters=n_raters, kappa=kappa)


def _measures(design: Design) -> dict[str, Callable[[RatingTable], Coefficient]]:
    alpha = partial(krippendorff_alpha, level=design.level)
    if design.level == "nominal":
        kappa = {"kappa": cohen_kappa if design.n_raters == 2 else fleiss_kappa}
        return {"agreement": percent_agreement, **kappa, "alpha": alpha, "ac1": gwet_ac1}
    weighted = {"weighted kappa": lambda table: cohen_kappa_weighted(table, table.values)}
    return {
        **(weighted if design.n_raters == 2 else {}),
        "alpha": alpha,
        **({"ac2": partial(gwet_ac2, level=design.level)} if design.level == "ordinal" else {}),
        "icc_c1": icc_c1,
        "icc_a1": icc_a1,
    }


def _table(cells: FloatArray) -> RatingTable:
    n_units, n_raters = cells.shape
    unit, rater = np.repeat(np.arange(n_units), n_raters), np.tile(np.arange(n_raters), n_units)
    return merge_equal_units(lay_out(unit, rater, cells.ravel()))


Found = tuple[str, tuple[bool, bool] | None, int, int]
"""Measure, whether percentiles and Fisher's z cover (None without an interval), and the units that
disagree and that hold another category than the commonest."""


def _cover(
    design: Design, n_units: int, truth: dict[str, float], rng: np.random.Generator
) -> Iterator[Found]:
    table = _table(design.draw(n_units, rng))
    support = count_support(table)
    built: dict[str, Coefficient] = {}
    for name, build in _measures(design).items():
        try:
            built[name] = build(table)
            estimate(built[name], table)
        except NotIdentifiedError:
            built.pop(name, None)
            yield name, None, *support
    if not built:
        return
    samples = bootstrap_units(list(built.values()), table, n_resamples=N_RESAMPLES, rng=rng)
    for (name, coefficient), of_name in zip(built.items(), samples, strict=True):
        value = estimate(coefficient, table)
        lowest = 0.0 if name == "agreement" else -1.0
        try:
            intervals = (
                percentile_interval(of_name, level=LEVEL),
                fisher_interval(value, of_name, n_units=n_units, level=LEVEL, lowest=lowest),
            )
        except NotIdentifiedError:
            yield name, None, *support
        else:
            first, second = (low <= truth[name] <= high for low, high in intervals)
            yield name, (first, second), *support


def _find_truth(design: Design, rng: np.random.Generator) -> dict[str, float]:
    table = _table(design.draw(N_LARGE, rng))
    return {name: estimate(build(table), table) for name, build in _measures(design).items()}


def _cell(found: Sequence[Found]) -> str:
    covered = np.array([covers for _, covers, _, _ in found if covers is not None])
    share = 1 - len(covered) / max(1, len(found))
    if share > 0.9 or not len(covered):
        return "none"
    missing = f" ({100 * share:.0f})" if share >= 0.005 else ""
    means = covered.astype(np.float64).mean(axis=0)
    return " → ".join(f"{mean:.3f}".lstrip("0") for mean in means) + missing


def _print_units(arguments: argparse.Namespace) -> None:
    """Average over raters and their agreement; then by how much disagreement is in the table."""
    by_design: dict[tuple[str, str, int], list[Found]] = defaultdict(list)
    for k, design in enumerate(_designs()):
        truth = _find_truth(design, np.random.default_rng([arguments.seed, k]))
        for n_units in arguments.units:
            rng = np.random.default_rng([arguments.seed, k, n_units])
            for _ in range(arguments.replicates):
                for found in _cover(design, n_units, truth, rng):
                    of = f"{design.level}, {design.shares}"
                    by_design[of, found[0], n_units].append(found)
    print("| ratings | measure |", " | ".join(f"{n} units" for n in arguments.units), "|")
    print("| --- " * (2 + len(arguments.units)) + "|")
    for of, name in dict.fromkeys((of, name) for of, name, _ in by_design):
        cells = [_cell(by_design[of, name, n]) for n in arguments.units]
        print(f"| {of} | {name} | {' | '.join(cells)} |")
    print()
    _print_support(
        [of_design for of_design in by_design.items() if of_design[0][2] >= MIN_UNITS_BY_SUPPORT]
    )


def _print_support(by_design: Sequence[tuple[tuple[str, str, int], list[Found]]]) -> None:
    """The same by what is in the table, over designs of the same number of categories."""
    for place, what in ((2, "units that disagree"), (3, "units with another category")):
        print(f"| {what} | " + " | ".join(_bin_names()) + " |")
        print("| --- " * len(BINS) + "|")
        by_kind: dict[tuple[str, str], list[Found]] = defaultdict(list)
        for (of, name, _), found in by_design:
            kind = "two categories" if "1 in" in of or "half" in of else of
            if not of.startswith("interval"):
                by_kind[kind, name] += found
        for (kind, name), every in by_kind.items():
            cases = [found[2] if place == 2 else found[3] for found in every]
            bins = np.digitize(cases, BINS) - 1
            held = [[f for f, b in zip(every, bins, strict=True) if b == k] for k in _numbers()]
            cells = [_cell(found) + f" of {len(found)}" for found in held]
            print(f"| {kind}, {name} | {' | '.join(cells)} |")
        print()


def _numbers() -> range:
    return range(len(BINS) - 1)


def _bin_names() -> list[str]:
    ends = [f"{low} to {high - 1}" for low, high in itertools.pairwise(BINS[:-1])]
    return [*ends, f"{BINS[-2]} or more"]


def _print_raters(arguments: argparse.Namespace) -> None:
    """What intervals over units cover where raters are a sample too."""
    print("| raters drawn anew, 100 units | measure | 3 | 4 | 6 | 10 | 20 |")
    print("| --- " * 7 + "|")
    kinds: tuple[tuple[Level, str], ...] = (("nominal", "half"), ("interval", "tenths"))
    for level, shares in kinds:
        cells: dict[str, list[str]] = defaultdict(list)
        for n_raters in (3, 4, 6, 10, 20):
            rng = np.random.default_rng([arguments.seed, n_raters])
            options = {"level": level, "shares": shares, "kappa": 0.5, "has_new_raters": True}
            truth = _find_truth(Design(n_raters=3, **options), rng)  # type: ignore[arg-type]
            design = Design(n_raters=n_raters, **options)  # type: ignore[arg-type]
            every = [
                found
                for _ in range(arguments.replicates)
                for found in _cover(design, 100, truth, rng)
            ]
            # The biases of raters who rate one unit each cannot be told from slips.
            for name in [name for name in truth if name != "icc_c1"]:
                cells[name].append(_cell([found for found in every if found[0] == name]))
        for name, row in cells.items():
            print(f"| {level}, {shares} | {name} | {' | '.join(row)} |")
    print()


if __name__ == "__main__":
    main()
