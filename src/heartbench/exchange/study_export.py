"""What of a study is written for other tools, and how often each completion won, lost and tied."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heartbench.domain import (
    Assignment,
    Attempt,
    Choice,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Study,
    System,
)

Tallies = Mapping[str, Mapping[str, "Tally"]]
"""By completion id and rater id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyExport:
    """What of a study becomes logs.

    Attributes:
        study: The study's version.
        systems: Its ranked systems.
        items: Its items.
        completions: What they wrote.
        attempts: Failed calls; the last one says why a completion is missing.
        raters: Its raters.
        pairs: Planned pairs.
        assignments: Planned assignments; repeats and checks are left out, as in a ranking.
        judgments: What the raters said.
        prompts: What this version sends about an item, as (role, content), by item id.
        prompt_hash: Hash of that prompt.
    """

    study: Study
    systems: Sequence[System]
    items: Sequence[Item]
    completions: Sequence[Completion]
    attempts: Sequence[Attempt]
    raters: Sequence[Rater]
    pairs: Sequence[Pair]
    assignments: Sequence[Assignment]
    judgments: Sequence[Judgment]
    prompts: Mapping[str, Sequence[tuple[str, str]]]
    prompt_hash: str


@dataclass(slots=True)
class Tally:
    """How often something won, lost and tied."""

    wins: int = 0
    losses: int = 0
    ties: int = 0

    @property
    def n(self) -> int:
        """Judgments."""
        return self.wins + self.losses + self.ties

    @property
    def win_rate(self) -> float:
        """Share won, a tie half a win; there must be a judgment."""
        return (self.wins + self.ties / 2) / self.n

    def add(self, choice: Choice, *, is_first: bool) -> None:
        """Count a judgment from one side."""
        if choice == "tie":
            self.ties += 1
        elif (choice == "first") == is_first:
            self.wins += 1
        else:
            self.losses += 1


def sum_tallies(tallies: Iterable[Tally]) -> Tally:
    """Return all of them together."""
    total = Tally()
    for tally in tallies:
        total.wins += tally.wins
        total.losses += tally.losses
        total.ties += tally.ties
    return total


def tally_judgments(export: StudyExport) -> Tallies:
    """Count judgments by completion and by rater, for both sides of each.

    Repeats and attention checks are left out, as in a ranking, and so are judgments of raters and
    completions that are not exported.
    """
    mates = {pair.id: pair.completion_ids for pair in export.pairs}
    raters = {rater.id for rater in export.raters}
    known = {completion.id for completion in export.completions}
    counted = {
        a.id: a
        for a in export.assignments
        if a.repeat == 0
        and a.check is None
        and a.rater_id in raters
        and known.issuperset(mates.get(a.pair_id, ("",)))
    }
    tallies: defaultdict[str, defaultdict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    for judgment in export.judgments:
        assignment = counted.get(judgment.assignment_id)
        if assignment is not None:
            for completion_id in mates[assignment.pair_id]:
                is_first = completion_id == assignment.first_completion_id
                tallies[completion_id][assignment.rater_id].add(judgment.choice, is_first=is_first)
    return tallies
