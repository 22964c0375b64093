"""Agreement by pair of raters, by rater, by category and pooled, as tables."""

from collections.abc import Sequence

from hearteval.analysis.agreement.measures import AgreementMeasure, AgreementSettings
from hearteval.analysis.agreement.parts import (
    CategoryAgreement,
    PairAgreement,
    PooledAgreement,
    RaterAgreement,
)
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import (
    count,
    interval,
    level_percent,
    percent,
    plural,
    shortened_names,
    small,
)

MAX_NAME = 20
KAPPA, ALPHA = "\N{GREEK SMALL LETTER KAPPA}", "\N{GREEK SMALL LETTER ALPHA}"


def pairs_table(pairs: Sequence[PairAgreement], settings: AgreementSettings) -> Table:
    """Return every two raters; of numbers Cohen's kappa is the weighted one."""
    names = list(dict.fromkeys(name for row in pairs for name in (row.rater, row.other)))
    short = dict(zip(names, shortened_names(names, MAX_NAME), strict=True))
    is_nominal = settings.level == "nominal"

    def kappa(row: PairAgreement) -> AgreementMeasure:
        return row.cohen_kappa if is_nominal else row.cohen_kappa_weighted_value

    return tabulate(
        pairs,
        [
            (Column("pair of raters", "text"), lambda row: short[row.rater]),
            (Column("", "text"), lambda row: short[row.other]),
            ("units", lambda row: count(row.n_units)),
            ("same", lambda row: small(row.percent_agreement.value)),
            (f"Cohen's {KAPPA}", lambda row: small(kappa(row).value)),
            (Column(_level(settings), "text"), lambda row: _ends(kappa(row))),
        ],
        notes=[
            "same: the share of units to which both give the same value. Units: those that both"
            f" rated. {'' if is_nominal else 'Kappa is quadratic in values.'}".rstrip()
        ],
    )


def raters_table(raters: Sequence[RaterAgreement], settings: AgreementSettings) -> Table:
    """Return each rater beside the others."""
    return tabulate(
        raters,
        [
            (Column("rater", "name", max_width=40), lambda row: row.rater),
            ("values", lambda row: count(row.n_values)),
            ("units", lambda row: count(row.n_units)),
            ("same", lambda row: small(row.percent_agreement.value)),
            (Column(_level(settings), "text"), lambda row: _ends(row.percent_agreement)),
            (f"{ALPHA} without", lambda row: small(row.alpha_without)),
        ],
        notes=[
            f"same: the mean share of the others who give the same value. {ALPHA} without:"
            " Krippendorff's of all others; where it is higher, they agree better without."
        ],
    )


def categories_table(categories: Sequence[CategoryAgreement], settings: AgreementSettings) -> Table:
    """Return each category against all others."""
    return tabulate(
        categories,
        [
            (Column("value", "name", max_width=40), lambda row: row.value),
            ("given", lambda row: count(row.n_values)),
            ("share", lambda row: percent(row.share)),
            ("same", lambda row: small(row.specific_agreement.value)),
            (f"Fleiss' {KAPPA}", lambda row: small(row.fleiss_kappa.value)),
            (Column(_level(settings), "text"), lambda row: _ends(row.fleiss_kappa)),
        ],
        notes=[
            "same: how often another rater gives the value to a unit to which one gave it."
            f" {KAPPA}: of the value against all others."
        ],
    )


def pooled_table(pooled: PooledAgreement) -> Table:
    """Return what several tables say together."""
    measures = {
        "agreement of two raters": pooled.percent_agreement,
        f"Fleiss' {KAPPA}": pooled.fleiss_kappa,
    }
    return tabulate(
        measures.items(),
        [
            (Column("pooled", "text"), lambda row: row[0]),
            ("value", lambda row: small(row[1].value)),
            (Column("interval", "text"), lambda row: _ends(row[1])),
        ],
        notes=[
            f"Of {plural(pooled.n_tables, 'table')} that count the same, and"
            f" {plural(pooled.n_units, 'unit')}; a unit of several tables is drawn with all."
        ],
    )


def _ends(measure: AgreementMeasure) -> str:
    return interval(measure.low, measure.high, write=small)


def _level(settings: AgreementSettings) -> str:
    return f"{level_percent(settings.confidence)} interval"
