"""The numbers that the paper prints: what follows from others of them, and does it agree?

Votes were not published, so most numbers cannot be computed again. What can is computed from other
printed numbers alone (SPEC section 14 says what the project does where they contradict each other).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

import numpy as np

from hearteval.analysis.ranking.checks.published import SelfCheck, check_published
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.protocol import load_protocol
from hearteval.stats.rankers import pearson_r, spearman_rho

TOLERANCE = 0.01
NOT_COMPUTED = (
    "win rates by axis and overall (Figure 4): they need the votes",
    "agreement of people with models, 78.7 % and 61.3 % (4.4): it needs the votes",
    "how often strategies are used (4.8): it needs the labels",
    "results on adversarial dialogues (4.9): they need the votes",
)
"""What no stranger can compute again, and what it would take."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One printed number beside what other printed numbers make it."""

    what: str
    where: str
    """Section, figure or table of the paper."""
    printed: float
    found: float
    places: int
    """Decimals in which both are shown, and have to agree."""
    words: str
    """What it was computed from, and what a difference may mean."""

    @property
    def agrees(self) -> bool:
        """Whether they differ by no more than two roundings."""
        return bool(abs(self.printed - self.found) <= 10**-self.places * (1 + 1e-9))


@dataclass(frozen=True, slots=True)
class PaperCheck:
    """Every claim that can be computed again, and the leaderboard against itself."""

    source: str
    claims: tuple[Claim, ...]
    leaderboard: SelfCheck
    not_computed: tuple[str, ...] = NOT_COMPUTED


def published_rows() -> Mapping[str, tuple[float, float]]:
    """Return Elo and win rate, as a share, of the 18 rows of Figure 4, by system."""
    rows = load_protocol("published")["leaderboard"]
    return {row["system"]: (row["elo"], row["win_rate"] / 100) for row in rows}


def check_paper() -> PaperCheck:
    """Compute again whatever of the paper's numbers follows from others that it prints."""
    said = load_protocol("published")
    rows = published_rows()
    board = check_published(
        {name: elo for name, (elo, _) in rows.items()},
        {name: share for name, (_, share) in rows.items()},
        tolerance=TOLERANCE,
    )
    text = said["text"]
    ties = text["ties"] / 100
    chance = ties**2 + 2 * ((1 - ties) / 2) ** 2
    raw = text["agreement_human"] / 100
    index = [(rows[row["system"]][0], row["index"]) for row in said["index"]]
    times = [(rows[row["system"]][0], np.log(row["ms"])) for row in said["latency"]]
    pairs = text["cross_model"]
    mean = float(np.mean(pairs))
    return PaperCheck(
        said["source"],
        (
            Claim(
                "Fleiss' kappa of people",
                "4.2",
                text["fleiss_kappa"],
                (raw - chance) / (1 - chance),
                2,
                f"from {text['agreement_human']} % agreement (4.4) with {text['ties']} % ties (4.5)"
                " and both sides equally often; without ties it would be .59",
            ),
            Claim(
                "models, people and ties together, %",
                "4.5",
                100.0,
                text["model_chosen"] + text["human_chosen"] + text["ties"],
                1,
                "the three printed shares added up",
            ),
            Claim(
                "agreement of two models, mean, %",
                "4.4",
                text["cross_model_mean"],
                mean,
                1,
                "the mean of the three printed pairs",
            ),
            Claim(
                "agreement of all three models, %",
                "4.4",
                text["cross_model_three"],
                (3 * mean - 100) / 2,
                1,
                "what three pairs make it where there are two choices and no ties",
            ),
            Claim(
                "comparisons",
                "4.2",
                text["n_comparisons"],
                text["n_items"] * comb(len(rows), 2) * text["n_raters"],
                0,
                f"{text['n_items']} dialogues times {comb(len(rows), 2)} pairs of {len(rows)} rows"
                f" times {text['n_raters']} raters, as 4.2 says; 300 times 28 pairs times 5, or 280"
                " times 10 times 15, would give what is printed",
            ),
            Claim(
                "mean win rate, %",
                "Figure 4",
                50.0,
                100 * board.mean_win_rate,
                0,
                "one half, where every comparison is between two rows of the table",
            ),
            Claim(
                "r of Elo and the intelligence index",
                "4.7, Table 1",
                text["elo_index_r"],
                pearson_r(*np.array(index, dtype=np.float64).T) or np.nan,
                2,
                f"from the {len(index)} rows of Table 1 (Pearson)",
            ),
            Claim(
                "rho of Elo and time to first token",
                "4.6",
                text["elo_latency_rho"],
                spearman_rho(*np.array(times, dtype=np.float64).T) or np.nan,
                2,
                f"from the {len(times)} times that the text states (Spearman); the paper means all"
                " its systems over families, whose times it does not print",
            ),
        ),
        board,
    )


@dataclass(frozen=True, slots=True)
class BesidePaper:
    """One system as the paper prints it and as a study finds it."""

    system: str
    paper_elo: float
    paper_win_rate: float
    """Share, as are the others."""
    elo: float
    low: float | None
    high: float | None
    win_rate: float


def beside_paper(board: Leaderboard) -> tuple[BesidePaper, ...]:
    """Return the systems of a study that bear a name of the paper's table, in its order.

    A name is all that is compared: the dialogues, the raters and the day are others.
    """
    own = {row.system.casefold(): row for row in board.rows}
    return tuple(
        BesidePaper(
            name,
            elo,
            share,
            row.weighted.elo,
            row.weighted.low,
            row.weighted.high,
            row.win_rate,
        )
        for name, (elo, share) in published_rows().items()
        if (row := own.get(name.casefold())) is not None
    )
