"""Measures of agreement as a table; what the judges say together, as words and as rows of the page.

Shares of what judges say together are of the pairs that any judge answered.
"""

from collections.abc import Sequence
from typing import Final

from hearteval.analysis.agreement.ratings import Agreement, AgreementMeasure
from hearteval.analysis.judges.majorities import JudgeAgreement, JudgeMajorities, SystemPairJudges
from hearteval.report.table import Column, Display, Table, tabulate
from hearteval.report.text import (
    count,
    counts_words,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    small,
)

MEASURES: Final = {
    "percent_agreement": "agreement of two raters",
    "cohen_kappa": "Cohen's \N{GREEK SMALL LETTER KAPPA}",
    "cohen_kappa_weighted_value": "Cohen's \N{GREEK SMALL LETTER KAPPA}, quadratic in values",
    "cohen_kappa_weighted_index": "Cohen's \N{GREEK SMALL LETTER KAPPA}, quadratic in ranks",
    "fleiss_kappa": "Fleiss' \N{GREEK SMALL LETTER KAPPA}",
    "krippendorff_alpha": "Krippendorff's \N{GREEK SMALL LETTER ALPHA}",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "icc_c1": "ICC(C,1)",
    "icc_a1": "ICC(A,1)",
    "icc_1": "ICC(1)",
    "icc_ck": "ICC(C,k)",
    "icc_ak": "ICC(A,k)",
    "cronbach_alpha": "Cronbach's \N{GREEK SMALL LETTER ALPHA}",
}
"""Every measure, with the name a reader knows it by."""


def agreement_display(agreement: Agreement) -> Display:
    """Return what the ratings say, what makes it doubtful, and every measure with its interval."""
    warnings = (f"Warning: {warning}" for warning in agreement.warnings)
    return Display(((*agreement_words(agreement), *warnings), agreement_table(agreement)))


def agreement_words(agreement: Agreement) -> tuple[str, ...]:
    """Say what agreement and alpha mean for a reader, without a verdict such as "substantial"."""
    same, alpha = agreement.percent_agreement.value, agreement.krippendorff_alpha
    if same is None:
        return ()
    said = f"Two raters give the same unit the same value in {percent(same)} of cases."
    if alpha.value is None:
        return (said,)
    is_nominal = agreement.settings.level == "nominal"
    distance = "They" if is_nominal else "Counting how far their values are apart, they"
    name = MEASURES["krippendorff_alpha"]
    if alpha.value > 0:
        chance = f"disagree {percent(1 - alpha.value)} as much as chance alone would"
    else:
        chance = "disagree no less than chance alone would"
    if alpha.low is not None and alpha.high is not None:
        level = level_percent(agreement.settings.confidence)
        between = f", {level} interval {small(alpha.low)} to {small(alpha.high)}"
    else:
        between = ", no interval"
    return (
        f"{said} {distance} {chance} ({name} {small(alpha.value)}{between}). Whether that is enough"
        " depends on what the ratings are for.",
    )


def agreement_table(agreement: Agreement) -> Table:
    """Return every measure with its interval; those that do not apply say why."""
    measures: list[tuple[str, AgreementMeasure]] = [
        (name, getattr(agreement, field)) for field, name in MEASURES.items()
    ]
    return tabulate(
        measures,
        [
            (Column("measure", "text"), lambda row: row[0]),
            ("value", lambda row: small(row[1].value)),
            (
                Column(f"{level_percent(agreement.settings.confidence)} interval", "text"),
                lambda row: interval(row[1].low, row[1].high, write=small),
            ),
        ],
        caption=_counts_words(agreement),
        notes=[*agreement.notes, *_reasons(measures)],
    )


def _reasons(measures: Sequence[tuple[str, AgreementMeasure]]) -> list[str]:
    """Say why measures or intervals are missing, each reason once."""
    names: dict[str, list[str]] = {}
    for name, found in measures:
        if found.reason is not None:
            names.setdefault(found.reason, []).append(name)
    return [f"{', '.join(of)}: {reason}." for reason, of in names.items()]


def _counts_words(agreement: Agreement) -> str:
    words = counts_words(unit=agreement.n_units, rater=agreement.n_raters, value=agreement.n_values)
    left_out = [f"{reason} {count(n)}" for reason, n in agreement.excluded.items() if n]
    excluded = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"{words} at {agreement.settings.level} level{excluded}"


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


def behind_rows(majorities: JudgeMajorities) -> list[tuple[int, int, int]]:
    """Return how many pairs have so many judges, and so many votes of judges, the most first.

    A judge that contradicts itself has no vote; no votes at all come last.
    """
    judges = dict(majorities.counts.n_pairs_by_raters)
    votes = dict(majorities.counts.n_pairs_by_votes)
    return [(n, judges.get(n, 0), votes.get(n, 0)) for n in sorted({*judges, *votes}, reverse=True)]


def panels_of(majorities: JudgeMajorities) -> list[tuple[tuple[str, ...], list[SystemPairJudges]]]:
    """Return the pairs of systems that the same judges judged, the fewest judges first."""
    panels: dict[tuple[str, ...], list[SystemPairJudges]] = {}
    for pair in majorities.system_pairs:
        panels.setdefault(pair.judges, []).append(pair)
    return sorted(panels.items(), key=lambda panel: (len(panel[0]), panel[0]))


def agreement_of_all(majorities: JudgeMajorities) -> JudgeAgreement | None:
    """Return the agreement of all judges where there are three or more."""
    return next((found for found in majorities.agreement if len(found.judges) > 2), None)


def judges_words(judges: Sequence[str]) -> str:
    """Name the judges of a panel."""
    return f"{judges[0]} alone" if len(judges) == 1 else listed(judges)
