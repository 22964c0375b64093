"""What is missing and why: causes in the provider's own words, and whether a study has failed.

A reply that a system lacks by design (`original` on an item without a reference) is no failure.
What running again would change is said of every cause, so that nobody pays twice for one refusal.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from hearteval.domain import Attempt
from hearteval.domain.reasons import NOT_ASKED, WRONG_ADDRESS, Outlook, outlook_of

FAIL_ON_MISSING = 0.05
"""Of one system's or judge's replies: the largest share that may be missing."""
NUMBERED = re.compile(r"[^\s,;:()'\"]*\d[^\s,;:()'\"]*")
"""A word with a digit in it (a count, the id of a request): it differs from call to call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why some replies are missing."""

    reason: str
    """The short fixed word of their last attempts; ``not-asked`` where there was none."""
    words: str | None
    """What the provider said of one of them, without secrets and dialogue; None if nothing. Words
    that differ only in their numbers are one cause."""
    n: int
    outlook: Outlook


class Tried(Protocol):
    """What is known of the last failed call for something, as of an `Attempt`."""

    @property
    def reason(self) -> str:
        """The fixed word."""

    @property
    def detail(self) -> str | None:
        """The provider's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A system, judge or labeler that gave nothing, or lacks more than the study allows."""

    kind: Literal["system", "judge", "labeler"]
    name: str
    n_wanted: int
    """Completions, judgments, ratings or labelled texts that were to come; the ranked ones, each
    first time."""
    n_missing: int
    causes: tuple[Cause, ...]

    @property
    def is_total(self) -> bool:
        """Whether there is no result at all."""
        return self.n_missing == self.n_wanted

    @property
    def main_cause(self) -> Cause | None:
        """Return the most frequent cause; None where nothing was asked."""
        return next((cause for cause in self.causes if cause.reason != NOT_ASKED), None)

    @property
    def is_address(self) -> bool:
        """Whether all that was asked failed as with a wrong address: running again mends none."""
        reasons = {cause.reason for cause in self.causes} - {NOT_ASKED}
        return self.is_total and bool(reasons) and reasons <= WRONG_ADDRESS

    def why(self, unasked: str) -> str:
        """Say its main cause, in the provider's words where it had any; without one `unasked`."""
        main = self.main_cause
        why = unasked if main is None else main.reason
        return f"{why}: {main.words}" if main is not None and main.words else why


def last_attempts(
    attempts: Sequence[Attempt], of: Callable[[Attempt], Hashable]
) -> Mapping[Hashable, Attempt]:
    """Return the last failed call for something, by what it was for."""
    return {of(attempt): attempt for attempt in sorted(attempts, key=lambda one: one.attempt)}


def count_missing(
    absent: Sequence[Hashable], last: Mapping[Hashable, Attempt], *, untried: str = NOT_ASKED
) -> dict[str, int]:
    """Count what is missing by the reason of its last attempt, without one as `untried`."""
    reasons = (last[key].reason if key in last else untried for key in absent)
    return dict(sorted(Counter(reasons).items()))


def find_causes(
    absent: Sequence[Any], last: Mapping[Any, Tried], *, untried: str = NOT_ASKED
) -> tuple[Cause, ...]:
    """Group what is missing by its cause, the most frequent first; as `count_missing`."""
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for key in absent:
        found = last.get(key)
        reason, words = (found.reason, found.detail or "") if found else (untried, "")
        groups[reason, NUMBERED.sub("#", words)].append(words)
    causes = (
        Cause(reason=reason, words=min(said) or None, n=len(said), outlook=outlook_of(reason))
        for (reason, _), said in groups.items()
    )
    return tuple(sorted(causes, key=lambda cause: (-cause.n, cause.reason, cause.words or "")))


def merge_causes(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return causes without the words of providers, those of one reason together."""
    merged: dict[str, Cause] = {}
    for cause in causes:
        n = cause.n + (merged[cause.reason].n if cause.reason in merged else 0)
        merged[cause.reason] = replace(cause, words=None, n=n)
    return tuple(sorted(merged.values(), key=lambda cause: (-cause.n, cause.reason)))


def find_failure(
    kind: Literal["system", "judge", "labeler"],
    name: str,
    n_wanted: int,
    causes: Sequence[Cause],
    *,
    fail_on_missing: float,
) -> Failure | None:
    """Return the failure of a system or judge of which so many replies were wanted, or None.

    `fail_on_missing` is the largest share that may be missing; with nothing at all it does not
    matter. What is missing by design was never wanted, and of whom nothing else was has not failed.
    """
    real = tuple(cause for cause in causes if cause.outlook != "by-design")
    n_missing = sum(cause.n for cause in real)
    n_possible = n_wanted - sum(cause.n for cause in causes) + n_missing
    is_fine = n_missing < n_possible and n_missing / n_possible <= fail_on_missing
    if is_fine or (n_wanted and not n_possible):
        return None
    return Failure(kind=kind, name=name, n_wanted=n_possible, n_missing=n_missing, causes=real)
