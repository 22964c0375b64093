"""Rules over people's answers, and what each finds of each person: `apply_rules`.

They say what was seen of answers, never what anybody did or meant, and leave nobody out of
anything: that is a record which a person makes (`hearteval.study.people.exclusions`). Rules that
test do so over people, a family each (Benjamini and Hochberg 1995), so that in many honest people
few are found; the others set a figure beside a bound that the study file fixed before anybody
answered. Of whom there is too little a rule says nothing.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from hearteval.domain.quality import DEFAULT_RULES, Counted, QualityRules, Rule
from hearteval.stats.careless.carried import Carried, CarriedBounds, measure_carried
from hearteval.stats.careless.habits import (
    chance_of_a_distance,
    chance_of_a_run,
    chance_of_a_side,
    chance_of_so_few,
    chance_of_so_many,
    exact_share,
    longest_run,
    robust_distance,
)
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import q_where_tested

FEWEST_FAILED: Final = 2
FEWEST_OTHERS: Final = 4
"""People, beside the one, whose median is a reference."""


TOO_FEW: Final = "too few answers"
TOO_FEW_OTHERS: Final = "too few others to be set beside"
NO_REFERENCE: Final = "too few others who agree with each other"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PanelAnswers:
    """What people answered, a row each, those of one person in the order of time."""

    names: Sequence[str]
    """Of the people, by number."""
    person: IntArray
    pair: IntArray
    item: IntArray
    systems: IntArray
    """Of both sides of the pair, in an order that is the same for everybody; (rows, 2)."""
    score: FloatArray
    """Of the first of these: 1, 0.5 for a tie, 0."""
    answer: IntArray
    """As it was given: the strength, above 0 for what was shown first, below for the other; 0 for a
    tie."""
    seconds: FloatArray
    """NaN where nobody measured."""
    words: IntArray
    """To be read that were new to the person; 0 for none, or where it is not known."""
    reason: IntArray
    """Number of the words that were given as a reason, normalised; -1 for none."""
    checks: Mapping[int, Counted] = field(default_factory=dict)
    """Failed, of those answered, by person."""
    repeats: Mapping[int, Counted] = field(default_factory=dict)
    """Answered alike again, of those answered again."""
    triads: Mapping[int, Counted] = field(default_factory=dict)
    """Circles, of triads without a tie."""
    is_rated: bool = False
    """Whether replies were rated one by one, so that there are no sides and no pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one rule says of one person."""

    person: str
    rule: Rule
    n: int
    """Answers, checks, triads that it stands on."""
    value: float | None
    """What it measures; None where it says nothing."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """None where the rule sets a figure beside a bound."""
    q: float | None = None
    """Adjusted over people."""
    is_found: bool = False
    reason: str = ""
    """Why it says nothing."""


def apply_rules(
    answers: PanelAnswers, rules: QualityRules = DEFAULT_RULES, *, level: float = 0.95
) -> tuple[Finding, ...]:
    """Return what every rule says of everybody, by person and then in the order of the rules."""
    found = _Applied(answers, rules, level)
    by_rule = (
        found.checks(),
        found.times(),
        found.unusual_times(),
        found.straight_lines(),
        found.repeated_reasons(),
        found.positions(),
        *found.beside_others(),
        found.counted("repeats", answers.repeats, chance_of_so_few, rules.same_again),
        found.counted("triads", answers.triads, chance_of_so_many, rules.circles),
    )
    return tuple(finding for of_person in zip(*by_rule, strict=True) for finding in of_person)


def found_of(findings: Sequence[Finding]) -> dict[str, tuple[Finding, ...]]:
    """Return what was found, by person; of most people that is nothing."""
    found: dict[str, tuple[Finding, ...]] = {}
    for one in findings:
        if one.is_found:
            found[one.person] = (*found.get(one.person, ()), one)
    return found


@dataclass(frozen=True, slots=True)
class _Applied:
    """Each rule, applied to everybody."""

    answers: PanelAnswers
    rules: QualityRules
    level: float

    @property
    def people(self) -> Iterator[tuple[str, IntArray]]:
        """Each person with the rows of their answers."""
        return (
            (name, np.flatnonzero(self.answers.person == k))
            for k, name in enumerate(self.answers.names)
        )

    def checks(self) -> list[Finding]:
        found = []
        for k, name in enumerate(self.answers.names):
            counted = self.answers.checks.get(k, Counted(0, 0))
            one = self._share(name, "checks", counted, self.rules.failed_checks)
            is_enough = counted.n_of >= FEWEST_FAILED
            found.append(replace(one, is_found=one.is_found and is_enough))
        return found

    def times(self) -> list[Finding]:
        seconds, words = self.answers.seconds, self.answers.words
        is_timed = ~np.isnan(seconds) & (words > 0)
        is_hurried = 60 * words > self.rules.words_per_minute * np.where(is_timed, seconds, np.inf)
        return [
            self._share(
                name,
                "times",
                Counted(int(is_hurried[rows].sum()), int(is_timed[rows].sum())),
                self.rules.hurried,
            )
            for name, rows in self.people
        ]

    def repeated_reasons(self) -> list[Finding]:
        found = []
        for name, rows in self.people:
            given = self.answers.reason[rows]
            given = given[given >= 0]
            n_before = len(given) - len(np.unique(given))
            counted = Counted(n_before, len(given))
            found.append(
                self._share(name, "repeated-reasons", counted, self.rules.repeated_reasons)
            )
        return found

    def unusual_times(self) -> list[Finding]:
        medians: dict[str, tuple[float, int]] = {}
        for name, rows in self.people:
            seconds = self.answers.seconds[rows]
            seconds = seconds[seconds > 0]
            if len(seconds) >= self.rules.fewest_answers:
                medians[name] = float(np.median(np.log(seconds))), len(seconds)
        found = []
        for name, rows in self.people:
            n = int((self.answers.seconds[rows] > 0).sum())
            others = np.array([value for one, (value, _) in medians.items() if one != name])
            z = None
            if name in medians and len(others) >= FEWEST_OTHERS:
                z = robust_distance(medians[name][0], others)
            found.append(
                Finding(
                    person=name,
                    rule="unusual-times",
                    n=n,
                    value=z,
                    p=None if z is None else chance_of_a_distance(z, len(others)),
                    is_found=z is not None and abs(z) > self.rules.unusual_times,
                    reason=TOO_FEW_OTHERS if z is None and name in medians else _few(z),
                )
            )
        return self._tested(found)

    def straight_lines(self) -> list[Finding]:
        found = []
        for name, rows in self.people:
            given = self._choices(rows)
            is_enough = len(given) >= self.rules.fewest_answers
            run = longest_run(given)
            found.append(
                Finding(
                    person=name,
                    rule="straight-line",
                    n=len(given),
                    value=float(run) if is_enough else None,
                    p=chance_of_a_run(given) if is_enough else None,
                    is_found=is_enough and run >= self.rules.straight_line,
                    reason="" if is_enough else TOO_FEW,
                )
            )
        return self._tested(found)

    def positions(self) -> list[Finding]:
        found = []
        for name, rows in self.people:
            given = self._choices(rows)
            n, n_first = int((given != 0).sum()), int((given > 0).sum())
            one = self._share(
                name, "position", Counted(max(n_first, n - n_first), n), self.rules.position_share
            )
            is_more = one.value is not None and one.value > self.rules.position_share
            p = None if one.value is None else chance_of_a_side(n_first, n)
            found.append(replace(one, p=p, is_found=is_more))
        return self._tested(found)

    def counted(
        self,
        rule: Rule,
        of: Mapping[int, Counted],
        chance: Callable[[int, int, float], float],
        bound: float,
    ) -> list[Finding]:
        """Test the share of each person against a bound, to one side."""
        found = []
        for k, name in enumerate(self.answers.names):
            one = self._share(name, rule, of.get(k, Counted(0, 0)), bound)
            p = None if one.value is None else chance(*of[k], bound)
            found.append(replace(one, p=p, is_found=True))
        return self._tested(found)

    def beside_others(self) -> tuple[list[Finding], list[Finding]]:
        """Return agreement and infit."""
        measured = [] if self.answers.is_rated else self._carried()
        known = {one.rater: one for one in measured}
        agreement, infit = [], []
        for k, (name, rows) in enumerate(self.people):
            one = known.get(k)
            if one is None or math.isnan(one.share.value):
                reason = TOO_FEW if measured and one is None else NO_REFERENCE
                nothing = Finding(
                    person=name, rule="agreement", n=len(rows), value=None, reason=reason
                )
                agreement.append(nothing)
                infit.append(replace(nothing, rule="infit"))
                continue
            share = Finding(
                person=name,
                rule="agreement",
                n=one.n_pairs,
                value=one.share.value,
                low=one.share.low,
                high=one.share.high,
                p=one.p,
                q=one.q,
                is_found=one.is_little,
            )
            agreement.append(share)
            value, low, high = one.infit
            is_more = low > self.rules.infit
            of_infit = replace(share, rule="infit", value=value, low=low, high=high, p=None, q=None)
            infit.append(replace(of_infit, is_found=is_more))
        return agreement, infit

    def _carried(self) -> list[Carried]:
        a = self.answers
        pairs, first, pair = np.unique(a.pair, return_index=True, return_inverse=True)
        score = np.full((len(pairs), len(a.names)), np.nan)
        score[pair, a.person] = a.score
        bounds = CarriedBounds(least=self.rules.agreement)
        return measure_carried(
            score, a.item[first], a.systems[first], level=self.level, bounds=bounds
        )

    def _choices(self, rows: IntArray) -> IntArray:
        return self.answers.answer[[] if self.answers.is_rated else rows]

    def _share(self, name: str, rule: Rule, counted: Counted, bound: float) -> Finding:
        """Return a share, found where it reaches a bound; nothing of too few."""
        n_of, n = counted
        fewest = self.rules.fewest_checks if rule == "checks" else self.rules.fewest_answers
        if n < fewest:
            return Finding(person=name, rule=rule, n=n, value=None, reason=TOO_FEW)
        value, low, high = exact_share(n_of, n, level=self.level)
        return Finding(
            person=name, rule=rule, n=n, value=value, low=low, high=high, is_found=value >= bound
        )

    def _tested(self, findings: Sequence[Finding]) -> list[Finding]:
        """Adjust tests over people; what they do not tell apart from chance is not found."""
        adjusted = q_where_tested([one.p for one in findings])
        return [
            replace(one, q=q, is_found=one.is_found and q is not None and q < self.rules.p)
            for one, q in zip(findings, adjusted, strict=True)
        ]


def _few(value: float | None) -> str:
    return TOO_FEW if value is None else ""
