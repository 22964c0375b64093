"""How many studies without any effect assert a planned contrast: by p, and by the study's q.

    PYTHONPATH=tests python benchmarks/null_findings.py --studies 400

Each study is drawn anew from one world in which nothing is planted (`planted_studies.NOTHING`):
models and people alike, regular and adversarial items alike, people and judges of one mind, no
judge with a side, a liking for length or for its own family. By p: a contrast is asserted where its
own p is at most .05. By q: Benjamini and Hochberg over all planned contrasts of the study.
Also the cells of a table of axes that are called clear of the mean.
"""

import argparse
from collections import Counter

from planted_studies import NOTHING, analyzed, planted

ALPHA = 0.05


def main() -> None:
    """Print the share of studies by rule, and of each contrast."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", type=int, default=NOTHING.systems)
    asked = parser.parse_args()
    nobody_differs = {
        "theta": [0.0] * asked.systems,
        "systems": asked.systems,
        "axis_sd": 0.0,  # no system is better on one axis than on another
    }
    world, _ = planted(NOTHING.model_copy(update=nobody_differs))
    by_p, by_q, tested, n_any = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for k in range(asked.studies):
        results = analyzed(world, asked.seed + k)
        for one in results.planned:
            tested[one.name] += 1
            by_p[one.name] += one.p <= ALPHA
            by_q[one.name] += one.is_asserted
        n_any["by p"] += any(one.p <= ALPHA for one in results.planned)
        n_any["by q"] += any(one.is_asserted for one in results.planned)
        board = results.leaderboard
        cells = [at for row in (board.rows if board else ()) for at in row.axes.values()]
        n_any["an axis cell, by p"] += any(at.p is not None and at.p <= ALPHA for at in cells)
        n_any["an axis cell, by q"] += any(at.q is not None and at.q <= ALPHA for at in cells)
    print(f"{asked.studies} studies, {asked.systems} models")
    for rule, n in n_any.items():
        print(f"any asserted, {rule}: {n} ({n / asked.studies:.3f})")
    for name, n in tested.items():
        print(f"{name}: by p {by_p[name] / n:.3f}, by q {by_q[name] / n:.3f} of {n}")


if __name__ == "__main__":
    main()
