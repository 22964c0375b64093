"""Measure how often a gate passes a candidate at the margin, and whether its power is as it says.

    PYTHONPATH=src python benchmarks/gate.py STUDIES

Judgments are drawn here, not by the package: in an item the candidate's merit on the six tests is
normal with a standard deviation in log odds, part of it shared by the tests; two judges give a
verdict in both orders, moved by what stands first. Truth is the share over all of these: it is put
at the margin or at one half by solving for the mean merit. Every study goes through the looks that
`heart gate` takes.
"""

import sys
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.gate import (
    EQUIVALENT,
    OUTCOMES,
    WORSE,
    GateRule,
    Moments,
    judge_gate,
    look_sizes,
    moments,
    outcome_of,
    take_looks,
)

N_TESTS, SHARED, POSITION = 6, 0.5, 0.4
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
BATCH = 250
FULL = np.ones(N_TESTS)


class Design(NamedTuple):
    """How many items, how much they differ, how many judges, how large a margin, how many looks."""

    n_items: int
    item_sd: float
    n_judges: int = 2
    margin: float = 0.05
    n_looks: int = 5

    @property
    def rule(self) -> GateRule:
        """What the gate is asked."""
        return GateRule(margin=self.margin, n_looks=self.n_looks)


DESIGNS = (
    *(Design(n, sd) for n, sd in product((30, 280, 600), (0.3, 0.9))),
    Design(30, 0.9, n_judges=1),
    Design(30, 0.9, margin=0.15),
    Design(280, 0.9, margin=0.1),
    Design(280, 0.9, n_looks=1),
)
POWERFUL = (
    Design(280, 0.9),
    Design(280, 0.9, n_looks=1),
    Design(280, 0.3),
    Design(600, 0.9),
    Design(60, 0.9, margin=0.12, n_looks=1),
    Design(30, 0.9, margin=0.15),
)
N_TOLD = 100
"""Studies whose own words are compared with what happens."""


def merit(share: float, item_sd: float) -> float:
    """Return the mean merit, in log odds, at which the candidate wins a share of all judgments."""
    sides = np.array([-POSITION, POSITION])

    def won(at: float) -> float:
        chance = expit(at + item_sd * NODES[:, None] + sides).mean(axis=1)
        return float(WEIGHTS @ chance / WEIGHTS.sum())

    return float(brentq(lambda at: won(at) - share, -5, 5))


def draw(
    design: Design, shares: FloatArray, n_studies: int, rng: np.random.Generator
) -> FloatArray:
    """Return the scores of some studies, (studies, items, tests)."""
    mean = np.array([merit(share, design.item_sd) for share in shares])
    shape = (n_studies, design.n_items, N_TESTS)
    shared = rng.normal(size=(*shape[:2], 1))
    of_item = np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * rng.normal(size=shape)
    won = np.zeros(shape)
    for side in (-POSITION, POSITION):
        chance = expit(mean + design.item_sd * of_item + side)
        won += rng.binomial(design.n_judges, chance)
    return won / (2 * design.n_judges) - 0.5


def by_look(scores: FloatArray, design: Design) -> list[Moments]:
    """Return the moments that each look sees."""
    return [moments(scores[:, :n]) for n in look_sizes(design.n_items, design.n_looks)]


def take(
    design: Design, shares: FloatArray, n_studies: int, seed: int
) -> tuple[IntArray, IntArray]:
    """Return verdicts and looks of so many studies."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n_studies // BATCH):
        looks = by_look(draw(design, shares, BATCH, rng), design)
        parts.append(take_looks(looks, FULL, design.rule))
    verdicts, looks_taken = zip(*parts, strict=True)
    return np.concatenate(verdicts), np.concatenate(looks_taken)


def passed(verdicts: IntArray) -> float:
    """Return the share of gates that pass."""
    return float(np.mean(outcome_of(verdicts) == OUTCOMES.index("passed")))


def say(design: Design) -> str:
    """Write a design as the first cells of a row."""
    n, sd, judges, margin, looks = design
    return f"| {n} | {sd} | {judges} | {100 * margin:.0f} | {looks} "


def at_the_margin(n_studies: int) -> None:
    """Put one test at the margin, the others so high that they always pass."""
    print("| items | item SD | judges | margin | looks | passes |")
    print("| --- " * 6 + "|")
    for design in DESIGNS:
        shares = np.array([0.5 - design.margin, *[0.93] * (N_TESTS - 1)])
        verdicts, _ = take(design, shares, n_studies, seed=1)
        print(f"{say(design)}| {passed(verdicts):.3f} |", flush=True)


def without_a_difference(n_studies: int) -> None:
    """Compare what a study says of itself with what then happens, both equally good."""
    print(
        "\n| items | item SD | judges | margin | looks | overall equivalent, said | passes, said |"
        " fails, said | sees its smallest effect | mean look |"
    )
    print("| --- " * 10 + "|")
    for design in POWERFUL:
        even, rng = np.full(N_TESTS, 0.5), np.random.default_rng(4)
        verdicts, looks = take(design, even, n_studies, seed=3)
        told = [
            judge_gate(
                one,
                FULL.tolist(),
                design.rule,
                look=design.n_looks,
                n_planned=design.n_items,
                rng=rng,
            )
            for one in draw(design, even, N_TOLD, rng)
        ]
        happens = (
            float(np.mean(verdicts[:, 0] == EQUIVALENT)),
            passed(verdicts),
            float(np.mean((verdicts == WORSE).any(axis=1))),
        )
        said = np.array([(one.power, one.power_to_pass, one.false_alarms) for one in told])
        cells = [
            f"{rate:.3f}, {mean:.3f} ± {sd:.3f}"
            for rate, mean, sd in zip(happens, said.mean(axis=0), said.std(axis=0), strict=True)
        ]
        effect = float(np.mean([one.smallest_effect for one in told]))
        seen, _ = take(design, even - effect * (np.arange(N_TESTS) == 0), n_studies, seed=5)
        cells.append(f"{100 * effect:.1f} points: {np.mean(seen[:, 0] == WORSE):.3f}")
        print(f"{say(design)}| {' | '.join(cells)} | {looks.mean():.2f} |", flush=True)


if __name__ == "__main__":
    at_the_margin(int(sys.argv[1]))
    without_a_difference(int(sys.argv[1]))
