"""What the judges say together, as words and as rows for the page.

Shares are of the pairs that any judge answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heartbench.analysis.judge_majorities import JudgeAgreement, JudgeMajorities, SystemPairJudges
from heartbench.report.numbers import listed, percent, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class BehindRow:
    """How many pairs have so many judges, and so many votes when contradictions are taken out."""

    n: int
    n_pairs: int
    n_pairs_by_votes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelRow:
    """The pairs of systems that the same judges judged.

    Attributes:
        judges: These judges.
        n_pairs: Pairs of completions.
        n_no_majority: Of these without a majority.
        system_pairs: The pairs of systems.
    """

    judges: tuple[str, ...]
    n_pairs: int
    n_no_majority: int
    system_pairs: tuple[SystemPairJudges, ...]


def majority_words(majorities: JudgeMajorities) -> str:
    """Say how many judges stand behind each pair and how many pairs have no majority."""
    counts = majorities.counts
    behind = ", ".join(behind_words(majorities))
    return (
        f"Judges behind each pair: {behind}; no majority in "
        f"{percent(counts.n_no_majority / counts.n_pairs)} of {plural(counts.n_pairs, 'pair')}"
    )


def behind_words(majorities: JudgeMajorities) -> list[str]:
    """Say for each number of judges how many pairs have so many, the most judges first."""
    counts = majorities.counts
    if len(counts.n_pairs_by_raters) == 1:
        return [f"{counts.n_pairs_by_raters[0][0]} for all"]
    most_first = reversed(counts.n_pairs_by_raters)
    return [f"{n} for {percent(n_pairs / counts.n_pairs)}" for n, n_pairs in most_first]


def behind_rows(majorities: JudgeMajorities) -> list[BehindRow]:
    """Return a row for each number of judges, the most first; no votes at all come last."""
    judges = dict(majorities.counts.n_pairs_by_raters)
    votes = dict(majorities.counts.n_pairs_by_votes)
    return [
        BehindRow(n=n, n_pairs=judges.get(n, 0), n_pairs_by_votes=votes.get(n, 0))
        for n in sorted({*judges, *votes}, reverse=True)
    ]


def panel_rows(majorities: JudgeMajorities) -> list[PanelRow]:
    """Put the pairs of systems together that the same judges judged, the fewest judges first."""
    panels: dict[tuple[str, ...], list[SystemPairJudges]] = {}
    for pair in majorities.system_pairs:
        panels.setdefault(pair.judges, []).append(pair)
    return [
        PanelRow(
            judges=judges,
            n_pairs=sum(pair.n_pairs for pair in pairs),
            n_no_majority=sum(pair.n_no_majority for pair in pairs),
            system_pairs=tuple(pairs),
        )
        for judges, pairs in sorted(panels.items(), key=lambda panel: (len(panel[0]), panel[0]))
    ]


def agreement_of_two(majorities: JudgeMajorities) -> Mapping[tuple[str, str], JudgeAgreement]:
    """Return the agreement of every two judges, in both orders of their names."""
    two = [found for found in majorities.agreement if len(found.judges) == 2]
    return {
        ends: found
        for found in two
        for ends in ((found.judges[0], found.judges[1]), (found.judges[1], found.judges[0]))
    }


def agreement_of_all(majorities: JudgeMajorities) -> JudgeAgreement | None:
    """Return the agreement of all judges where there are three or more."""
    return next((found for found in majorities.agreement if len(found.judges) > 2), None)


def judges_words(judges: Sequence[str]) -> str:
    """Name the judges of a panel."""
    return f"{judges[0]} alone" if len(judges) == 1 else listed(judges)
