"""Rules over people's answers in words: what each saw of a person, and who is left out."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from hearteval.analysis.quality.rules import TOO_FEW, Finding
from hearteval.domain.quality import QualityRules, Rule
from hearteval.report.text import NO_BREAK_SPACE, count, decimal, listed, percent, plural
from hearteval.sections.quality.measure import BY_HAND, CarefulAnswers

NO_REJECTION: Final = (
    "Being left out of the numbers is no rejection: whoever took part is paid, and nothing of what"
    " they said is deleted."
)
SEEN_NOT_DONE: Final = (
    "A rule says what was seen of answers, not what anybody did: honest people are found too."
)
LATE: Final = "these rules were set when people had answered already"
"""Part of why somebody was left out, where that is so."""
MAX_NAMED = 3
MANY: Final = 0.2
"""Share of people who are left out from which on there is a warning."""


class RuleWords(NamedTuple):
    """One rule in a table."""

    rule: str
    applies: str
    """From when."""
    n_said: int
    """People of whom it says something."""
    n_found: int


def _bounds(rules: QualityRules) -> Mapping[Rule, str]:
    p = f"p < {rules.p:g}"
    return {
        "checks": f"{_round(rules.failed_checks)} or more of the checks failed, and two",
        "times": f"{_round(rules.hurried)} or more of the answers faster than"
        f" {rules.words_per_minute} words a minute",
        "unusual-times": f"median time {rules.unusual_times:g} robust SD from the others', {p}",
        "straight-line": f"{rules.straight_line} equal answers in a row or more, {p}",
        "repeated-reasons": f"{_round(rules.repeated_reasons)} or more of the reasons not new",
        "position": f"more than {_round(rules.position_share)} of the choices on one side, {p}",
        "agreement": f"surely less than {_round(rules.agreement)} of what most others' carry",
        "infit": f"infit surely above {rules.infit:g}",
        "repeats": f"surely fewer than {_round(rules.same_again)} answered alike again, {p}",
        "triads": f"surely more than {_round(rules.circles)} circles, {p}",
    }


def _round(share: float) -> str:
    """Write a bound as the study file has it."""
    return f"{100 * share:g}{NO_BREAK_SPACE}%"


def rule_rows(found: CarefulAnswers) -> list[RuleWords]:
    """Return every rule with how many people it finds, of how many."""
    bounds = _bounds(found.rules)
    every = [one for person in found.people for one in person.findings]
    said = Counter(one.rule for one in every if one.value is not None)
    seen = Counter(one.rule for one in every if one.is_found)
    return [RuleWords(rule, words, said[rule], seen[rule]) for rule, words in bounds.items()]


def _of(what: str) -> Callable[[Finding, float], str]:
    return lambda one, share: f"{count(round(share * one.n))} of {count(one.n)} {what}"


_SEEN: Final[Mapping[str, Callable[[Finding, float], str]]] = {
    "checks": _of("checks failed"),
    "times": _of("answers came faster than they can be read"),
    "unusual-times": lambda _, z: (
        f"the median time is {decimal(abs(z))} robust SD {'above' if z > 0 else 'below'} the"
        " others'"
    ),
    "straight-line": lambda _, run: f"{round(run)} equal answers in a row",
    "repeated-reasons": _of("reasons were given before"),
    "position": _of("choices are on one side"),
    "agreement": lambda one, share: (
        f"the answers carry {percent(share)} of what most others' carry"
        f" ({_percents(one.low)} to {_percents(one.high)})"
        + (", so they say the opposite" if (one.high or 0) < 0 else "")
    ),
    "infit": lambda one, value: (
        f"infit {value:.2f} ({one.low or 0:.2f} to {one.high or 0:.2f}), most others' being 1"
    ),
    "repeats": _of("repeated pairs were answered alike"),
    "triads": _of("triads are circles"),
}


def _percents(share: float | None) -> str:
    return percent(share or 0.0)


def finding_words(one: Finding) -> str:
    """Say what a rule saw of a person; why it says nothing, where it does not."""
    if one.value is None:
        return f"{one.reason} ({count(one.n)})" if one.reason == TOO_FEW else one.reason
    return _SEEN[one.rule](one, one.value)


def found_words(found: CarefulAnswers, *, is_public: bool = False) -> str:
    """Say of whom a rule saw something, and that it may be of honest people."""
    said = [one for one in found.people if any(f.value is not None for f in one.findings)]
    named = [one for one in said if one.found]
    if not said:
        return "No rule over people's answers says anything yet: there are too few."
    of = plural(len(said), "person", "people")
    if not named:
        return f"Of {of}, no rule finds anything in anybody's answers."
    names = [] if is_public else [one.person for one in named[:MAX_NAMED]]
    if len(named) > len(names):
        left = len(named) - len(names)
        names.append(f"{left} more" if names else plural(left, "person", "people"))
    rules = Counter(rule for one in named for rule in one.found)
    by = listed([f"{rule} ({n})" for rule, n in rules.most_common()])
    return f"Of {of}, rules find {listed(names)}: {by}. {SEEN_NOT_DONE}"


def excluded_words(found: CarefulAnswers, *, is_public: bool = False) -> str:
    """Say who is left out of every number, by what, and whether the order differs with them."""
    n = len(found.excluded)
    if not n:
        return "Nobody is left out of any number."
    rules = Counter(rule for one in found.excluded for rule in one.rules)
    by = listed([f"{rule} ({n_by})" for rule, n_by in rules.most_common()])
    names = [one.person for one in found.excluded[:MAX_NAMED]]
    names += [f"{n - MAX_NAMED} more"] if n > MAX_NAMED else []
    who = plural(n, "person", "people") + ("" if is_public else f" ({listed(names)})")
    n_answers = sum(one.n_answers for one in found.excluded)
    verb = "is" if n == 1 else "are"
    said = (
        f"{who} {verb} left out of every number, with {plural(n_answers, 'answer')}: {by}."
        f" {order_words(found)} {NO_REJECTION}"
    )
    by_rule = [one for one in found.excluded if BY_HAND not in one.rules]
    if by_rule:
        is_late = any(LATE in one.why for one in by_rule)
        said += (
            f" {LATE.capitalize()}." if is_late else " The rules were set before anybody answered."
        )
    return said


def order_words(found: CarefulAnswers) -> str:
    """Say whether the order of systems differs with everybody."""
    if found.is_other_order is None:
        return "There are no two rankings to set side by side."
    if not found.is_other_order:
        return "With them the order of the systems is the same."
    moved = [one.system for one in found.ranking if one.rank != one.rank_with]
    names = listed(moved) if len(moved) <= MAX_NAMED else plural(len(moved), "system")
    return f"With them the order of the systems is another: {names} would stand elsewhere."
