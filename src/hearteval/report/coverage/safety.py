"""What screens hold of what people read, in words: for the page, and for who watches a study."""

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels.safety import PEOPLE, Bound, SafetyResults, Screen, ScreenUse
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
BOUNDS: dict[Bound, str] = {
    "exact": "",
    "at-most": "at most ",
    "at-least": "at least ",
    "of-those-read": "of those read ",
}
MOST_NAMED = 3
FEWEST = 10
"""Texts of which a share is written."""
_NO_SAMPLE = ", no sample of all"


def screen_words(found: SafetyResults) -> list[str]:
    """Say what each screen holds and misses, a line each, and how far two of them agree."""
    lines = [_screen(one) for one in found.screens]
    in_part = {one.screen for one in found.screens if one.uses[0].sensitivity_is != "exact"}
    lines += [
        f"{row.one} and {row.other}, on {plural(row.n_completions, 'text')} that both read"
        f"{_NO_SAMPLE if row.other == PEOPLE and row.one in in_part else ''}: the same of"
        f" {percent(row.same)}, Cohen's κ {hundredths(row.kappa.value)}"
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
    if use.sensitivity is not None:
        share = _share(use.n_unfit, use.sensitivity, before=BOUNDS[use.sensitivity_is])
        said.append(
            f"Of {count(use.n_unfit)} that people would not show, it held"
            f" {count(use.n_caught)}{share}."
        )
    if use.specificity is not None:
        share = _share(use.n_fit, use.specificity, before=BOUNDS[use.specificity_is])
        said.append(
            f"Of {count(use.n_fit)} that they would show, it passed {count(use.n_let_pass)}{share}."
        )
    if not use.n_passed_read:
        said.append(
            f"People have read {count(use.n_held_read)} that it held, and would not show"
            f" {count(use.n_caught)} of them."
        )
    if use.missed:
        named = [f"{reason} ({n})" for reason, n in list(use.missed.items())[:MOST_NAMED]]
        said.append(f"It missed {listed(named)}.")
    if use.n_passed_read and use.n_held_read < use.n_held:
        said.append(f"People have read {count(use.n_held_read)} of {count(use.n_held)} it held.")
    if use.n_passed_read < use.n_passed:
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
