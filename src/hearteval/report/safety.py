"""What screens hold of what people read, in words: for the page, and for who watches a study."""

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.safety import SafetyResults, Screen, ScreenUse
from hearteval.report.text import (
    count,
    fine_interval,
    hundredths,
    interval,
    listed,
    percent,
    plural,
    whole_percent,
)

KINDS = {"rules": "words and forms, not meaning", "model": "a model"}
MOST_NAMED = 3
FEWEST = 10
"""Texts of which a share is written."""


def screen_words(found: SafetyResults) -> list[str]:
    """Say what each screen holds and misses, a line each, and how far two of them agree."""
    lines = [_screen(one) for one in found.screens]
    lines += [
        f"{row.one} and {row.other}, on {plural(row.n_completions, 'text')} that both read: the"
        f" same of {percent(row.same)}, Cohen's κ {hundredths(row.kappa.value)}"
        f" {fine_interval(row.kappa.low, row.kappa.high)}."
        for row in found.agreement
        if row.kappa is not None and row.n_completions >= FEWEST
    ]
    return lines


def _screen(one: Screen) -> str:
    use = one.uses[0]
    shown = f"{one.screen} ({KINDS[one.kind]}): held {count(use.n_held)} of"
    return f"{shown} {plural(use.n_read, 'text')}. {_against_people(use)}"


def _against_people(use: ScreenUse) -> str:
    if not use.n_unfit and not use.n_fit:
        return "No person has read any of them, so what it misses is not known."
    said = []
    if use.n_unfit and use.sensitivity is not None:
        most = "at most " if use.is_at_most else ""
        share = _share(use.n_unfit, use.sensitivity, before=most)
        said.append(
            f"Of {count(use.n_unfit)} that people would not show, it held"
            f" {count(use.n_caught)}{share}."
        )
    if use.n_fit and use.specificity is not None:
        share = _share(use.n_fit, use.specificity)
        said.append(
            f"Of {count(use.n_fit)} that they would show, it passed {count(use.n_let_pass)}{share}."
        )
    if use.missed:
        named = [f"{reason} ({n})" for reason, n in list(use.missed.items())[:MOST_NAMED]]
        said.append(f"It missed {listed(named)}.")
    if use.is_at_most:
        said.append(
            f"People have read {count(use.n_passed_read)} of {count(use.n_passed)} that it passed:"
            " what else it misses is not known."
        )
    return " ".join(said)


def _share(n: int, at: Estimate, *, before: str = "") -> str:
    """Write a share of enough texts; of fewer the counts say all."""
    if n < FEWEST:
        return ""
    return f": {before}{percent(at.value)} {interval(at.low, at.high, write=whole_percent)}"
