"""Measures of agreement as a table."""

from collections.abc import Sequence
from typing import Final

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.agreement.ratings import Agreement
from hearteval.report.table import Column, Display, Table, tabulate
from hearteval.report.text import (
    count,
    counts_words,
    interval,
    level_percent,
    percent,
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
