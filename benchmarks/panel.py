"""A panel of 60 in which some answer without reading: who is found, who is wrongly, what it does.

Written by somebody else than the rules (`hearteval.analysis.quality`). Careful people differ as
people do: most alike, and of each ten one sees a third of the difference (*unsteady*), one skims at
twice the usual pace, one hardly ever decides, one has another taste. Of the others, kinds in turn:
*fast* (1,200 to 2,400 words a minute, sees hardly anything), *position* (nine of ten times what
stands first), *straight* (one answer, now and then another), *random* (any answer, at an ordinary
pace), *contrary* (reads with care and says the opposite).

    python benchmarks/panel.py [--studies 100]
"""

import argparse
from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from hearteval.analysis.quality.rules import PanelAnswers, apply_rules
from hearteval.domain.quality import Counted
from hearteval.stats.bradley_terry.fit import add_prior, fit_win_matrix
from hearteval.stats.careless.habits import exact_share
from hearteval.stats.comparisons import FloatArray, IntArray

N_SYSTEMS, N_ITEMS, EACH, LEVEL = 8, 120, 5, 0.95
CARELESS = ("fast", "position", "straight", "random", "contrary")
EXCLUDES = ("checks", "times")
"""Of a study file that says nothing else."""
FAILS = {
    "usual": (0.05, 0.03),
    "unsteady": (0.15, 0.05),
    "skims": (0.08, 0.08),
    "undecided": (0.10, 0.03),
    "other taste": (0.12, 0.03),
    "fast": (0.45, 0.60),
    "position": (0.50, 0.60),
    "straight": (0.50, 0.75),
    "random": (0.60, 0.80),
    "contrary": (0.95, 0.05),
}
"""How often a gold pair and an attention check are failed; guesses, as nobody has counted."""


class Panel(NamedTuple):
    """What was drawn, and who answered how."""

    answers: PanelAnswers
    kinds: list[str]
    truth: FloatArray
    """Strength of each system to people who are alike."""


def kinds_of(n: int, n_careless: int, rng: np.random.Generator, *, only: str = "") -> list[str]:
    """Say how each person answers; of `only` one kind where that is said."""
    careless = [only or CARELESS[k % len(CARELESS)] for k in range(n_careless)]
    rest = ["unsteady", "skims", "undecided", "other taste", *["usual"] * 6]
    start = rng.integers(len(rest))
    honest = [rest[(start + k) % len(rest)] for k in range(n - n_careless)]
    return [*careless, *honest]


def draw(kinds: list[str], load: int, rng: np.random.Generator) -> Panel:
    """Draw the answers of a panel, each of whom compares so many pairs, five people a pair."""
    n = len(kinds)
    truth = rng.normal(0, 0.7, N_SYSTEMS)
    quality = truth + rng.normal(0, 0.8, (N_ITEMS, N_SYSTEMS))
    words = rng.lognormal(np.log(45), 0.4, (N_ITEMS, N_SYSTEMS))
    context = rng.lognormal(np.log(90), 0.5, N_ITEMS)
    n_pairs = n * load // EACH
    item = rng.integers(N_ITEMS, size=n_pairs)
    systems = np.array([rng.choice(N_SYSTEMS, 2, replace=False) for _ in range(n_pairs)])
    systems.sort(axis=1)
    who = assign(n, n_pairs, load, rng)
    rows: list[tuple[float, ...]] = []
    for k, kind in enumerate(kinds):
        taste = rng.normal(0, 0.4, N_SYSTEMS)
        if kind == "other taste":
            taste = taste + rng.permutation(truth) - 0.7 * truth
        pace = max(rng.normal(238, 51), 110) * {"skims": 2.0}.get(kind, 1.0)
        if kind == "fast":
            pace = rng.uniform(1_200, 2_400)
        threshold = rng.lognormal(np.log(0.4), 0.4) * {"undecided": 4.0}.get(kind, 1.0)
        leaning, habit = rng.normal(0, 0.15), int(rng.choice([-4, -2, 2, 4]))
        of_kind = {"unsteady": 1 / 3, "skims": 0.8, "fast": 0.15, "contrary": -1.0}
        clarity = of_kind.get(kind, 1.0) * rng.lognormal(0, 0.2)
        seen: set[int] = set()
        for pair in rng.permutation(who[k]):
            i, (a, b) = item[pair], systems[pair]
            side = 1 if rng.random() < 0.5 else -1
            gap = quality[i, a] - quality[i, b] + taste[a] - taste[b]
            felt = side * clarity * gap + leaning + rng.logistic()
            answer = spoken(kind, felt, threshold, habit, rng)
            new = words[i, a] + words[i, b] + (context[i] if int(i) not in seen else 0)
            seen.add(int(i))
            seconds = 60 * new / (pace * rng.lognormal(0, 0.3)) + rng.lognormal(np.log(4), 0.6)
            if kind == "fast":
                seconds = 60 * new / pace + rng.lognormal(np.log(1), 0.3)
            elif rng.random() < 0.05:
                seconds += rng.uniform(60, 900)  # the telephone
            same = {"fast": 0.6, "straight": 0.8}.get(kind, 0.08)
            reason = int(rng.integers(3)) if rng.random() < same else 10 + len(rows)
            score = 0.5 if answer == 0 else float((answer * side) > 0)
            rows.append((k, pair, i, a, b, score, answer, seconds, round(new), reason))
    table = np.array(rows)
    return Panel(
        PanelAnswers(
            names=[f"{k}" for k in range(n)],
            person=table[:, 0].astype(int),
            pair=table[:, 1].astype(int),
            item=table[:, 2].astype(int),
            systems=table[:, 3:5].astype(int),
            score=table[:, 5],
            answer=table[:, 6].astype(int),
            seconds=table[:, 7],
            words=table[:, 8].astype(int),
            reason=table[:, 9].astype(int),
            checks={k: failed(kind, load, rng) for k, kind in enumerate(kinds)},
        ),
        kinds,
        truth,
    )


def assign(n: int, n_pairs: int, load: int, rng: np.random.Generator) -> list[IntArray]:
    """Give each person so many pairs and each pair to five people, nobody twice."""
    left = np.full(n, load)
    given: list[list[int]] = [[] for _ in range(n)]
    for pair in rng.permutation(n_pairs):
        # The five with most left to do, drawn where several have as much.
        for k in np.lexsort((rng.random(n), -left))[:EACH]:
            left[k] -= 1
            given[k].append(int(pair))
    return [np.array(own) for own in given]


def spoken(kind: str, felt: float, threshold: float, habit: int, rng: np.random.Generator) -> int:
    """Return an answer, above 0 for what stands first."""
    if kind == "random":
        return int(rng.choice([-4, -2, 0, 2, 4]))
    if kind == "straight":
        return habit if rng.random() < 0.95 else int(rng.choice([-4, -2, 0, 2, 4]))
    if kind == "position" and rng.random() < 0.8:
        return int(rng.choice([2, 4]))
    if abs(felt) < threshold:
        return 0
    return int(np.sign(felt)) * (4 if abs(felt) > threshold + 1.5 else 2)


def failed(kind: str, load: int, rng: np.random.Generator) -> Counted:
    """Return how many checks somebody failed: two in twenty answers, kinds in turn."""
    n = max(2, load // 10)
    chances = np.array([FAILS[kind][k % 2] for k in range(n)])
    return Counted(int((rng.random(n) < chances).sum()), n)


def order_of(answers: PanelAnswers, left_out: set[str]) -> FloatArray:
    """Return the strengths of the systems by the answers of the others."""
    out = np.array([name in left_out for name in answers.names])[answers.person]
    wins = np.zeros((N_SYSTEMS, N_SYSTEMS))
    (a, b), score = answers.systems[~out].T, answers.score[~out]
    np.add.at(wins, (a, b), score)
    np.add.at(wins, (b, a), 1 - score)
    return np.asarray(fit_win_matrix(add_prior(wins, 0.1)).theta)


def spearman(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's rho; values are distinct."""
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def said(n_of: int, n: int) -> str:
    """Return a share in percent with its exact interval."""
    if not n:
        return "none"
    share = exact_share(n_of, n, level=LEVEL)
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def run_panels(n: int, shares: tuple[float, ...], load: int, studies: int) -> None:
    """Print who is found in panels of n, and what leaving them out does to the ranking."""
    print(f"\n## {n} people, {load} comparisons each, {studies} panels a line\n")
    print("| careless | kind | people | excluded by the defaults, % | flagged by any rule, % |")
    print("| --- | --- | --- | --- | --- |")
    ranked = []
    for share in shares:
        n_careless = round(share * n)
        people: Counter[str] = Counter()
        excluded, flagged = Counter[str](), Counter[str]()
        rules: defaultdict[str, Counter[str]] = defaultdict(Counter)
        rho: defaultdict[str, list[float]] = defaultdict(list)
        for seed in range(studies):
            rng = np.random.default_rng([seed, n_careless, load])
            panel = draw(kinds_of(n, n_careless, rng), load, rng)
            by: defaultdict[str, set[str]] = defaultdict(set)
            for one in apply_rules(panel.answers, level=LEVEL):
                if one.is_found:
                    by[one.person].add(one.rule)
            out = {name for name, found in by.items() if found & {*EXCLUDES}}
            known = {str(k) for k, kind in enumerate(panel.kinds) if kind in CARELESS}
            for k, kind in enumerate(panel.kinds):
                people[kind] += 1
                excluded[kind] += str(k) in out
                flagged[kind] += str(k) in by
                rules[kind].update(by.get(str(k), ()))
            for name, left_out in (
                ("all", set()),
                ("defaults", out),
                ("flagged", {*by}),
                ("known", known),
            ):
                rho[name].append(spearman(order_of(panel.answers, left_out), panel.truth))
        for kind in FAILS:
            if people[kind]:
                most = ", ".join(f"{rule} {times}" for rule, times in rules[kind].most_common(4))
                n_of = people[kind]
                cells = f"{n_of} | {said(excluded[kind], n_of)} | {said(flagged[kind], n_of)}"
                print(f"| {share:.0%} | {kind} | {cells} ({most}) |", flush=True)
        honest = [kind for kind in people if kind not in CARELESS]
        total = sum(people[kind] for kind in honest)
        print(
            f"| {share:.0%} | **honest** | {total}"
            f" | {said(sum(excluded[kind] for kind in honest), total)}"
            f" | {said(sum(flagged[kind] for kind in honest), total)} |"
        )
        ranked.append((share, {name: float(np.mean(values)) for name, values in rho.items()}))
    print(
        "\n| careless | rho with the truth: all | excluded out | flagged out | known careless out |"
    )
    print("| --- | --- | --- | --- | --- |")
    for share, by_name in ranked:
        print(f"| {share:.0%} | " + " | ".join(f"{value:.3f}" for value in by_name.values()) + " |")


def run_small(n_random: int, n_unsteady: int, studies: int) -> None:
    """Print how often agreement, and any rule, names whom in panels of 15."""
    told = [kind for kind, n in (("random", n_random), ("unsteady", n_unsteady)) if n] + ["usual"]
    print(f"\n## 15 people, {n_random} at random, {n_unsteady} unsteady; {studies} panels a line\n")
    of_kinds = " | ".join(f"{kind}: by agreement, % | by any rule, %" for kind in told)
    print(f"| answers each | {of_kinds} |\n|" + " --- |" * (1 + 2 * len(told)))
    n_usual = 15 - n_random - n_unsteady
    kinds = [*["random"] * n_random, *["unsteady"] * n_unsteady, *["usual"] * n_usual]
    for load in (25, 50, 100, 200):
        named = Counter[tuple[str, bool]]()
        for seed in range(studies):
            panel = draw(kinds, load, np.random.default_rng([seed, load]))
            found = [one for one in apply_rules(panel.answers, level=LEVEL) if one.is_found]
            named.update((kinds[k], True) for k in {int(one.person) for one in found})
            named.update((kinds[int(o.person)], False) for o in found if o.rule == "agreement")
        cells = [
            said(named[kind, is_any], studies * kinds.count(kind))
            for kind in told
            for is_any in (False, True)
        ]
        print(f"| {load} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    studies = parser.parse_args().studies
    for n_random, n_unsteady in ((6, 0), (0, 3), (6, 3)):
        run_small(n_random, n_unsteady, studies)
    for load in (20, 60):
        run_panels(60, (0.0, 1 / 60, 0.10, 0.25, 0.40), load, studies)


if __name__ == "__main__":
    main()
