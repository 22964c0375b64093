"""Measure how often shares of two equal systems are called apart, and what their intervals cover.

    PYTHONPATH=src python benchmarks/shares_null.py best|settling|coverage STUDIES

Votes are drawn here: a dialogue, a person and the judgment itself each move a normal leaning to B;
near zero it is a tie, and what is shown first gains. Truth is the share over all of these.
"""

import math
import sys
from dataclasses import dataclass, fields
from functools import cache
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from hearteval.analysis.columns import JudgmentColumns, Names, PackedMarks
from hearteval.analysis.ranking.shares import Share, Shares, measure_shares

Rng = np.random.Generator
TIE, ITEM_SD, POSITION = 0.3, 0.7, 0.6


@dataclass(frozen=True)
class Design:
    """Judges judge both orders, a share kept; three of the people one order of a share of them."""

    name: str
    judges: int = 1
    kept: float = 1.0
    people: int = 0
    by_people: float = 1.0
    person_sd: float = 0.0


DESIGNS = (
    Design("1 judge"),
    Design("1 judge, half lost", kept=0.5),
    Design("3 judges, half lost", judges=3, kept=0.5),
    *(Design(f"{n} people, SD {sd}", 0, 1, n, 1.0, sd) for n in (6, 15) for sd in (0.0, 0.4)),
    Design("8 people on half, 1 judge", 1, 1, 8, 0.5, 0.4),
)
SETTLED = (
    *DESIGNS[:3],
    *(Design(f"{n} people, SD {sd}", 0, 1, n, 1, sd) for n in (6, 15, 40) for sd in (0.0, 0.1)),
)


@cache
def leaning(share: float, person_sd: float) -> float:
    """Return the mean leaning at which B is preferred in a share, both orders counted alike."""
    sd = math.sqrt(1 + ITEM_SD**2 + person_sd**2)
    sides = np.array([p + t for p in (-POSITION, POSITION) for t in (-TIE, TIE)])
    return float(brentq(lambda at: ndtr((at + sides) / sd).mean() - share, -5, 5, xtol=1e-14))


def draw(rng: Rng, design: Design, n: int, share: float, m: int = 2) -> JudgmentColumns:
    """Draw every pair of some systems, of which the last is preferred in a share to the others."""
    rows = []
    taste = rng.normal(0, design.person_sd, (max(design.people, 1), m))
    item_of = rng.normal(0, ITEM_SD / math.sqrt(2), (n, m))
    loads = 1 / np.arange(1, design.people + 1)
    for a, b in combinations(range(m), 2):
        for judge, is_first in product(range(design.judges), (True, False)):
            kept = np.flatnonzero(rng.random(n) < design.kept)
            rows.append((kept, a, b, np.full(len(kept), judge), np.full(len(kept), is_first)))
        for k in np.flatnonzero(rng.random(n) < design.by_people) if design.people else ():
            who = rng.choice(design.people, 3, replace=False, p=loads / loads.sum())
            rows.append((np.full(3, k), a, b, 10 + who, rng.random(3) < 0.5))
    item = np.concatenate([r[0] for r in rows]).astype(np.int64)
    counts = [len(r[0]) for r in rows]
    first_sys, second_sys = (np.repeat([r[k] for r in rows], counts) for k in (1, 2))
    rater, b_first = (np.concatenate([r[k] for r in rows]) for k in (3, 4))
    is_person = rater >= 10
    person = np.where(is_person, rater - 10, 0)
    by_people, by_judges = (leaning(share, sd) for sd in (design.person_sd, 0.0))
    mean = np.where(second_sys == m - 1, np.where(is_person, by_people, by_judges), 0.0)
    side = np.where(b_first, 1, -1) * POSITION
    pull = item_of[item, second_sys] - item_of[item, first_sys]
    pull = pull + is_person * (taste[person, second_sys] - taste[person, first_sys]) / math.sqrt(2)
    x = mean + side + pull + rng.normal(size=len(item))
    b_won = np.where(np.abs(x) < TIE, 0.5, x > 0)
    systems = tuple(SimpleNamespace(name=f"s{k}") for k in range(m))
    names: Any = (range(n), systems, (), (SimpleNamespace(writer_id=None),))
    zero = np.zeros(len(item), dtype=np.int64)
    pair = np.unique((item * m + first_sys) * m + second_sys, return_inverse=True)[1]
    first, second = np.where(b_first, (second_sys, first_sys), (first_sys, second_sys))
    score, strength = np.where(b_first, b_won, 1 - b_won), np.ones(len(item))
    columns: Any = (
        item,
        pair,
        rater,
        is_person,
        first,
        second,
        zero,
        zero,
        zero,
        score,
        strength,
        PackedMarks({}),
    )
    keys = [each.name for each in fields(JudgmentColumns)][1:]
    return JudgmentColumns(names=Names(*names), **dict(zip(keys, columns, strict=True)))


def measured(rng: Rng, design: Design, n: int, share: float, m: int = 2) -> Shares:
    found = None
    while found is None:  # until anything was judged
        found = measure_shares(draw(rng, design, n, share, m), level=0.95)
    return found


def of_last(shares: Shares) -> Share:
    pair = shares.pairs[0]
    return pair if pair.system == "s1" else pair.of_other()


def covers(share: Share, truth: float) -> bool:
    return share.low is not None and share.high is not None and share.low <= truth <= share.high


def is_apart(share: Share) -> bool:
    return share.q is not None and share.q <= 0.05


def coverage(rng: Rng, n_studies: int) -> None:
    print("| who judges | dialogues | p <= .05 at .5 | covered at .5, .62, .8 |")
    for design in DESIGNS:
        for n in (4, 8, 12, 20, 60):
            kept, apart = [], []
            for s in (0.5, 0.62, 0.8):
                found = [of_last(measured(rng, design, n, s)) for _ in range(n_studies)]
                apart.append(np.mean([is_apart(one) for one in found]))
                kept.append(f"{np.mean([covers(one, s) for one in found]):.3f}")
            print(f"| {design.name} | {n} | {apart[0]:.3f} | {', '.join(kept)} |", flush=True)


def settling(rng: Rng, n_studies: int) -> None:
    print("| who judges | dialogues | says people | n: 10, 50, 90 % | apart at the median |")
    for design in SETTLED:
        for n in (20, 60):
            every = [measured(rng, design, n, 0.55) for _ in range(n_studies)]
            drawn = n / np.mean([one.pairs[0].n_items for one in every])  # of one that is judged
            said = [one.settling for one in every]
            numbers = [one.n_items for one in said if one is not None and one.n_items is not None]
            limited = np.mean([one is not None and one.n_items is None for one in said])
            ends = np.quantile(numbers, (0.1, 0.5, 0.9)).round()
            needed = round(ends[1] * drawn)
            late = [measured(rng, design, needed, 0.55) for _ in range(n_studies // 2)]
            power = np.mean([is_apart(of_last(one)) for one in late])
            print(f"| {design.name} | {n} | {limited:.3f} | {ends} | {power:.3f} |", flush=True)


def best_of_five(rng: Rng, n_studies: int) -> None:
    print("| 5 equal | dialogues | ours against the best | p <= .05 | q <= .05 | any pair |")
    for n in (12, 20, 60):
        rows = []
        for _ in range(n_studies):
            shares = measured(rng, DESIGNS[0], n, 0.5, 5)
            best = max(shares.systems[1:], key=lambda one: one.value).system
            pair = next(one for one in shares.pairs if {one.system, one.other} == {"s0", best})
            own = pair if pair.system == "s0" else pair.of_other()
            p = own.p is not None and own.p <= 0.05
            every = [is_apart(one) for one in shares.pairs]
            rows.append((own.value, p, is_apart(own), any(every)))
        print(f"| | {n} | {' | '.join(f'{x:.3f}' for x in np.mean(rows, axis=0))} |", flush=True)


PARTS = {"best": best_of_five, "settling": settling, "coverage": coverage}


if __name__ == "__main__":
    PARTS[sys.argv[1]](np.random.default_rng(1), int(sys.argv[2]))
