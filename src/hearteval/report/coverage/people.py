"""How many people judged and wrote, who rated, and how long people took, in words."""

from collections.abc import Mapping, Sequence

from hearteval.analysis.coverage.pace import PeoplePace
from hearteval.analysis.coverage.study import Coverage, PeopleCoverage
from hearteval.report.text import (
    count,
    listed,
    plural,
)

EDGE_WORDS: Mapping[str, str] = {
    "risk": "with a risk",
    "medical": "with a medical question",
    "abuse": "with abuse",
    "minor": "with a minor",
}
"""Why people are not shown an item."""


def raters_words(coverage: Coverage, by: str = "both") -> str:
    """Name the judges and count the people: who a person is stands nowhere.

    `by` leaves out those who are not among the voters of a ranking.
    """
    n_people = sum(rater.kind == "human" and rater.n_judged > 0 for rater in coverage.judges)
    people = [plural(n_people, "person", "people")] if n_people and by != "judges" else []
    judges = [j.rater for j in coverage.judges if j.kind != "human"] if by != "people" else []
    return listed([*people, *judges])


def coverage_lines(people: PeopleCoverage) -> list[str]:
    """Say how many people judged how much, and who wrote."""
    lines = []
    if people.n_items_not_shown:
        by_edge = listed([f"{n} {EDGE_WORDS[edge]}" for edge, n in people.not_shown.items()])
        lines.append(
            f"{plural(people.n_items_not_shown, 'item')} no person is shown ({by_edge}; one may"
            " have several). Judges have them; people and judges are compared on the others."
        )
    if people.n_judgments:
        behind = _behind(people.n_pairs_by_people, "pair")
        lines.append(
            f"{plural(people.n_raters, 'person', 'people')} gave"
            f" {plural(people.n_judgments, 'judgment')} of"
            f" {plural(people.n_pairs, 'pair')}: {behind}."
        )
    if people.wanted_per_pair is not None:
        lines.append(
            f"{count(people.n_pairs_full)} of {plural(people.n_pairs_planned, 'pair')} have the"
            f" {plural(people.wanted_per_pair, 'judgment')} by people that the study wants."
        )
    for one in people.writers:
        behind = _behind(one.n_items_by_completions, "item")
        lines.append(
            f"{one.system}: {plural(one.n_completions, 'reply', 'replies')} by"
            f" {plural(one.n_writers, 'writer')}: {behind}."
        )
    return lines


def pace_words(found: PeoplePace | None) -> str:
    """Say how long people took, and how often that is too short to read; empty without a time."""
    if found is None:
        return ""
    every = found.everybody
    said = (
        f"The median of {plural(every.n_timed, 'judgment')} by people that were timed, of"
        f" {count(every.n_judgments)}, is {every.median_seconds or 0:.3g} seconds."
    )
    if not every.n_new:
        return said
    return (
        f"{said} {count(every.n_too_fast)} of {count(every.n_new)} with a reply that was new to the"
        f" person came faster than it can be read, at {found.words_per_minute} words a minute."
    )


def _behind(sizes: Sequence[tuple[int, int]], what: str) -> str:
    """Say how many there are for each pair or item, the most first."""
    if len(sizes) == 1:
        return f"{sizes[0][0]} for each {what}"
    return listed([f"{n} for {plural(of, what)}" for n, of in reversed(sizes)])
