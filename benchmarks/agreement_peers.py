"""ICCs and Cronbach's alpha against pingouin, and one run with `by` against a run for each group.

    python benchmarks/agreement_peers.py [--tables 200]

It needs pingouin, which is no dependency of any extra.
"""

import argparse
import time
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

import hearteval as he

N_GROUPS, N_VOTES = 50, 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    arguments = parser.parse_args()
    compare_with_pingouin(arguments.tables)
    compare_with_many_runs()


def compare_with_pingouin(n_tables: int) -> None:
    pingouin: Any = import_module("pingouin")
    rng = np.random.default_rng(5)
    largest = dict.fromkeys(("icc", "alpha", "ends of its interval, which pingouin rounds"), 0.0)
    for _ in range(n_tables):
        n, k = int(rng.integers(6, 40)), int(rng.integers(2, 7))
        ability = 1.2 * rng.normal(size=(n, 1))
        noise = rng.normal(size=(n, k)) * rng.uniform(0.3, 1.5) + 0.4 * rng.normal(size=k)
        wide = pd.DataFrame(np.clip(np.round(3 + ability + noise), 1, 6)).rename(columns=str)
        long = wide.reset_index().melt(id_vars="index")
        found = he.agree(wide, wide=True, level="interval", resamples=100)
        peer = pingouin.intraclass_corr(
            long, targets="index", raters="variable", ratings="value"
        ).set_index("Type")["ICC"]
        for name, ours in {
            "ICC(1,1)": found.icc_1,
            "ICC(A,1)": found.icc_a1,
            "ICC(C,1)": found.icc_c1,
            "ICC(A,k)": found.icc_ak,
            "ICC(C,k)": found.icc_ck,
        }.items():
            if ours.value is not None:
                largest["icc"] = max(largest["icc"], abs(ours.value - peer[name]))
        gaps = wide.mask(rng.random(wide.shape) < 0.1).dropna(how="all")
        alpha = he.agree(gaps, wide=True, level="interval", resamples=100).cronbach_alpha
        value, ends = pingouin.cronbach_alpha(gaps, nan_policy="pairwise")
        if alpha.value is None or alpha.low is None or alpha.high is None:
            continue
        largest["alpha"] = max(largest["alpha"], abs(alpha.value - value))
        apart = max(abs(alpha.low - ends[0]), abs(alpha.high - ends[1]))
        last = list(largest)[-1]
        largest[last] = max(largest[last], apart)
    print(f"pingouin {pingouin.__version__}, {n_tables} tables, largest difference:", largest)


def compare_with_many_runs() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"s{k:02}" for k in range(18)])
    left = rng.integers(0, 18, N_VOTES)
    votes = pd.DataFrame({"left": names[left]})
    votes["right"] = names[(left + rng.integers(1, 18, N_VOTES)) % 18]
    votes["winner"] = rng.choice(["left", "right", "tie"], N_VOTES)
    votes["item"] = rng.integers(0, 280, N_VOTES)
    votes["group"] = rng.integers(0, N_GROUPS, N_VOTES)
    start = time.process_time()
    together = he.rank(votes, cluster="item", by="group")
    once = time.process_time() - start
    start = time.process_time()
    apart = {str(group): he.rank(some, cluster="item") for group, some in votes.groupby("group")}
    each = time.process_time() - start
    assert all(together[name].to_dict() == apart[name].to_dict() for name in apart)
    print(
        f"by, {N_VOTES:,} votes in {N_GROUPS} groups: {once / each:.2f} of the CPU of one run each"
    )


if __name__ == "__main__":
    main()
