"""Measures of agreement as text for terminals and as a table for notebooks."""

from html import escape
from typing import Final

from heartbench.analysis.agreement import Agreement, AgreementMeasure
from heartbench.report.numbers import MINUS, NO_VALUE, count, plural
from heartbench.report.text import aligned, html_text, wrapped

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
}
"""Every measure, with the name a reader knows it by."""


def agreement_lines(agreement: Agreement) -> str:
    """Write the measures as aligned text; those that do not apply say why below."""
    rows = [["measure", "value", "95 % interval"]]
    notes = []
    for field, name in MEASURES.items():
        measure: AgreementMeasure = getattr(agreement, field)
        rows.append([name, _number(measure.value), _interval(measure)])
        if measure.reason:
            notes.append(f"{name}: {measure.reason}.")
    notes += [f"Warning: {warning}" for warning in agreement.warnings]
    parts = [wrapped(_counts_words(agreement)), aligned(rows, left=(0, 2))]
    if notes:
        parts.append("\n".join(wrapped(note) for note in notes))
    return "\n\n".join(parts)


def agreement_html(agreement: Agreement) -> str:
    """Write the measures as an HTML table, for a notebook."""
    rows = []
    for field, name in MEASURES.items():
        measure: AgreementMeasure = getattr(agreement, field)
        cells = (name, _number(measure.value), _interval(measure), measure.reason or "")
        rows.append("<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in cells) + "</tr>")
    heads = ("measure", "value", "95 % interval", "")
    return (
        f"<table><caption>{escape(_counts_words(agreement))}</caption>"
        f"<thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
        + "".join(f"<p>{html_text(f'Warning: {text}')}</p>" for text in agreement.warnings)
    )


def _counts_words(agreement: Agreement) -> str:
    words = [
        plural(agreement.n_units, "unit"),
        plural(agreement.n_raters, "rater"),
        plural(agreement.n_values, "value"),
    ]
    left_out = [f"{reason} {count(n)}" for reason, n in agreement.excluded.items() if n]
    excluded = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"{', '.join(words)} at {agreement.settings.level} level{excluded}"


def _number(value: float | None) -> str:
    return NO_VALUE if value is None else f"{value:.3f}".replace("-", MINUS)


def _interval(measure: AgreementMeasure) -> str:
    if measure.low is None or measure.high is None:
        return NO_VALUE
    return f"[{_number(measure.low)}, {_number(measure.high)}]"
