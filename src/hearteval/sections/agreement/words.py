"""How far people and judges agree, in words and as rows of the page: its section "agreement"."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hearteval.analysis.agreement.measures import AgreementMeasure
from hearteval.analysis.estimates import Estimate
from hearteval.report.text import (
    FEWEST_ITEMS,
    NO_VALUE,
    TOO_FEW,
    bare_percent,
    count,
    hundredths,
    interval,
    listed,
    percent,
    plural,
    points,
    probability,
    shortened,
    signed,
    signed_hundredths,
)
from hearteval.sections.agreement.judges import JudgesAgreement
from hearteval.sections.people.judges.agreement import (
    AMBIGUOUS,
    CLEAR,
    AgreementPart,
    MajoritiesAgreement,
    PeopleAgreement,
)
from hearteval.sections.people.judges.ambiguity import AgreementDifference, Ambiguity
from hearteval.sections.people.judges.disagreements import Disagreement, TraitOfChoice
from hearteval.sections.people.judges.each import (
    MAJORITY,
    InPlace,
    JudgeAgainstPeople,
    Subsample,
)
from hearteval.sections.people.judges.study import PeopleAndJudges
from hearteval.sections.people.words import majorities_words

if TYPE_CHECKING:
    from hearteval.domain.study import AmbiguityRule

MOST_PEOPLE, MOST_JUDGES = "most people", "most judges"
CELL_WIDTH, CELL_HEIGHT, LABEL_HEIGHT, MAX_LABEL = 92, 44, 22, 15
TRAIT_NAMES = {
    "words": "words",
    "formatting": "formatting marks",
    "warm phrases": "generic warm phrases",
    "likeness": "likeness to the system's other replies",
}
THIRD_NAMES = {
    "contested": "the third on which people agree least",
    "between": "the third in between",
    "consensus": "the third on which they agree most",
}


JudgeRow = tuple[str, JudgeAgainstPeople | MajoritiesAgreement, InPlace | None]
"""One judge, or their majority: the name, beside people, in one person's place."""


class HeatCell(NamedTuple):
    """One cell of the picture: who agrees with whom, and where it stands."""

    x: float
    y: float
    kind: str
    """Class of the colour: above or below a coin's half."""
    depth: float
    """Of the colour, 0 to 1."""
    value: str
    ends: str
    words: str


class Heat(NamedTuple):
    """Agreement of everyone with everyone, as a triangle."""

    columns: tuple[tuple[float, str], ...]
    """Where each stands, and the name."""
    rows: tuple[tuple[float, str], ...]
    cells: tuple[HeatCell, ...]
    width: float
    height: float
    left: float
    words: str


def people_words(whole: AgreementPart, by_clarity: str) -> str:
    """Compare the judges' majority with the people's, and people with each other."""
    both = whole.majorities
    judges = _known(both.same, both.n_items) if both else None
    people = _known(whole.people.same, whole.people.n_items) if whole.people else None
    words = []
    if both is not None and judges is not None:
        words.append(majorities_words(both, by_clarity))
    if people is not None:
        words.append(f"Two people who judge a pair agree in {percent(people)}.")
    return " ".join(words)


def by_clarity(found: Ambiguity | None) -> str:
    """Say how often majorities are one on clear and on ambiguous pairs; empty without both."""
    parts = {part.subset: part.majorities for part in (found.parts if found else ())}
    shares = {name: _known(at.same, at.n_items) for name, at in parts.items() if at is not None}
    clear, ambiguous = shares.get(CLEAR), shares.get(AMBIGUOUS)
    if clear is None or ambiguous is None:
        return ""
    return f": in {percent(clear)} of clear and {percent(ambiguous)} of ambiguous ones"


def place_words(found: PeopleAndJudges) -> str:
    """Say how often one person says what most others say, and a judge in that person's place."""
    ceiling = found.ceiling
    if ceiling is None or not ceiling.judges or ceiling.n_items < FEWEST_ITEMS:
        return ""
    first = ceiling.judges[0]
    who = "the judges' majority" if first.judge == MAJORITY else first.judge
    return (
        f"One person says what most of the others say in {percent(ceiling.person.value)}; in that"
        f" person's place {who} does so in {percent(first.same.value)}."
    )


def best_words(judges: Sequence[JudgeAgainstPeople]) -> str:
    """Say which judges agree with people most and least often."""
    known = [one for one in judges if _known(one.same, one.n_items) is not None]
    if len(known) < 2:
        return ""
    best, least = known[0], known[-1]
    ends = best.same.low, least.same.high
    is_open = None in ends or ends[0] <= ends[1]  # type: ignore[operator]
    said = (
        f"Of the judges {best.judge} agrees with people most often, in"
        f" {percent(best.same.value or 0)}, and {least.judge} least, in"
        f" {percent(least.same.value or 0)}"
    )
    return f"{said}; their intervals overlap." if is_open else f"{said}."


def judges_words(found: JudgesAgreement) -> str:
    """Say how often all judges give one answer."""
    every = found.together[-1]
    same = _known(every.same, every.n_items)
    if same is None:
        return ""
    who = "Both judges" if len(every.judges) == 2 else f"All {len(every.judges)} judges"
    kappa = found.overall.fleiss_kappa if found.overall else None
    beyond = ""
    if kappa is not None and kappa.value is not None:
        beyond = f"; Fleiss' κ among judges is {hundredths(kappa.value)}"
        if kappa.low is not None:
            beyond += f" {interval(kappa.low, kappa.high, write=hundredths)}"
    ends = every.same
    between = "" if ends.low is None else f" {interval(ends.low, ends.high, write=bare_percent)}"
    pairs = plural(every.n_pairs, "pair")
    return f"{who} give one answer in {percent(same)}{between} of {pairs}{beyond}."


def _known(found: AgreementMeasure | None, n_items: int) -> float | None:
    """Return a figure that rests on enough items to be shown."""
    return found.value if found is not None and n_items >= FEWEST_ITEMS else None


def heat(
    both: PeopleAndJudges | None, whole: AgreementPart | None, judges: JudgesAgreement | None
) -> Heat | None:
    """Return the picture: most people, then the judges, the best first; None under two."""
    against = {one.judge: (one.same, one.n_items) for one in (both.judges if both else ())}
    together = judges.together if judges else ()
    two = {one.judges: (one.same, one.n_items) for one in together if len(one.judges) == 2}
    names = list(dict.fromkeys([*against, *(name for pair in two for name in pair)]))
    known: dict[tuple[str, str], tuple[AgreementMeasure, int]] = {
        (name, MOST_PEOPLE): at for name, at in against.items()
    }
    known |= {ends: at for pair, at in two.items() for ends in (pair, pair[::-1])}
    across = [*([MOST_PEOPLE] if against else []), *names]
    down = list(across[1:])
    if both and whole and whole.majorities and len(names) > 1:
        known[MOST_JUDGES, MOST_PEOPLE] = (whole.majorities.same, whole.majorities.n_items)
        down.append(MOST_JUDGES)
    across = across[:-1] if len(across) > 1 else across
    if not down or not known:
        return None
    left = 7.2 * max(len(shortened(name, MAX_LABEL)) for name in down) + 10
    cells = [
        _cell(left, x, y, (name, other), known[name, other])
        for y, name in enumerate(down)
        for x, other in enumerate(across)
        if (name, other) in known and (name == MOST_JUDGES or x < across_place(across, name))
    ]
    return Heat(
        columns=tuple(
            (left + (k + 0.5) * CELL_WIDTH, shortened(name, 13)) for k, name in enumerate(across)
        ),
        rows=tuple(
            (LABEL_HEIGHT + (k + 0.5) * CELL_HEIGHT, shortened(name, MAX_LABEL))
            for k, name in enumerate(down)
        ),
        cells=tuple(cells),
        width=left + len(across) * CELL_WIDTH,
        height=LABEL_HEIGHT + len(down) * CELL_HEIGHT,
        left=left,
        words="; ".join(cell.words for cell in cells),
    )


def judge_rows(both: PeopleAndJudges | None, whole: AgreementPart | None) -> list[JudgeRow]:
    """Return the judges, the one that agrees most often first, then their majority."""
    if both is None or whole is None:
        return []
    places = {one.judge: one for one in (both.ceiling.judges if both.ceiling else ())}
    rows: list[JudgeRow] = [(one.judge, one, places.get(one.judge)) for one in both.judges]
    if whole.majorities is not None and len(rows) > 1:
        rows.append((MOST_JUDGES, whole.majorities, places.get(MAJORITY)))
    return rows


def across_place(across: Sequence[str], name: str) -> int:
    """Return where a name stands among the columns; after the last where it has none."""
    return across.index(name) if name in across else len(across)


def _cell(
    left: float, x: int, y: int, ends: tuple[str, str], known: tuple[AgreementMeasure, int]
) -> HeatCell:
    at, n_items = known
    value = _known(at, n_items)
    words = f"{ends[0]} and {ends[1]}: "
    place = left + x * CELL_WIDTH, LABEL_HEIGHT + y * CELL_HEIGHT
    if value is None:
        return HeatCell(*place, "raw", 0, NO_VALUE, TOO_FEW, words + TOO_FEW)
    between = interval(at.low, at.high, write=bare_percent)
    ends_shown = "no interval" if at.low is None else between
    return HeatCell(
        *place,
        "raw" if value >= 0.5 else "held",
        round(min(abs(value - 0.5) * 2, 1), 2),
        bare_percent(value),
        ends_shown,
        f"{words}{percent(value)} {'' if at.low is None else between}".strip(),
    )


def tie_words(people: PeopleAgreement | None) -> str:
    """Say how raw agreement and kappa go together under ties; nothing where there are none."""
    chance = people.chance if people and people.n_items >= FEWEST_ITEMS else None
    if chance is None or not chance.ties:
        return ""
    return (
        f"Two people agree in {percent(chance.same)}; with {percent(chance.ties)} ties among their"
        f" answers chance alone would make {percent(chance.by_chance)}, hence κ"
        f" {hundredths(chance.kappa)}. Without ties the same agreement would be κ"
        f" {hundredths(chance.kappa_without_ties)}."
    )


def difference_words(found: PeopleAndJudges, level: float) -> str:
    """Say how agreement differs between subsets, and between clear and ambiguous pairs."""
    said = [
        f"{one.one} less {one.other} {points(one.difference.value)} points"
        f" {interval(one.difference.low, one.difference.high, write=points)}"
        f"{_agreement_test(one, level)}"
        for one in found.differences
        if one.difference.value is not None and one.difference.low is not None
    ]
    return f"Agreement of majorities, compared: {'; '.join(said)}." if said else ""


def _agreement_test(one: AgreementDifference, level: float) -> str:
    """Say what the q of a difference leaves open; clear pairs are told by agreement itself."""
    if one.q is None:
        return " (in part by how they are told apart)" if one.one == CLEAR else ""
    is_open = "" if one.q <= 1 - level else ", which leaves open whether they differ"
    return f" ({probability('q', one.q)}{is_open})"


def rule_words(found: Ambiguity) -> str:
    """Say which pairs are ambiguous, and how many."""
    rule: AmbiguityRule = found.rule
    apart = plural(rule.split_axes, "axis", "axes")
    neither = f"; {plural(found.n_neither, 'pair')} cannot be told" if found.n_neither else ""
    return (
        f"Ambiguous: less than {100 * rule.consensus:.4g} % of people's votes stand on one side,"
        f" and {apart} or more of the judges' go to another side than most:"
        f" {count(found.n_ambiguous)} of {plural(found.n_pairs, 'pair')}{neither}."
    )


def subsample_words(found: Sequence[Subsample]) -> str:
    """Say how agreement with people grows with the number of judges; nothing with one judge."""
    if len(found) < 2:
        return ""
    said = [
        f"{percent(one.mean)}"
        + (
            f" ({bare_percent(one.lowest)} to {bare_percent(one.highest)})"
            if one.n_subsets > 1
            else ""
        )
        + f" with {one.n_judges}"
        for one in found
    ]
    return f"By how many judges decide, their majority agrees with people in {listed(said)}."


def opposed_words(found: PeopleAndJudges) -> str:
    """Say on how many pairs most people and most judges are opposed, and how choices differ."""
    opposed = found.disagreements
    if opposed is None:
        return ""
    said = (
        f"Of {plural(opposed.n_pairs, 'pair')} on which most people and most judges choose a reply,"
        f" they choose opposite ones on {count(opposed.n_opposed)}"
    )
    known = [one for one in opposed.traits if one.q is not None and one.q <= 0.05]
    if opposed.n_items < FEWEST_ITEMS:
        return f"{said}: {TOO_FEW} to say how these differ."
    if not known:
        return f"{said}; in none of four traits do their choices differ beyond chance."
    more = [
        f"{'more' if one.difference.value > 0 else 'less'}"
        f" {TRAIT_NAMES[one.trait]} ({trait_value(one, one.difference.value, is_difference=True)})"
        for one in known
    ]
    return f"{said}. There the judges' choice has {listed(more)} than the people's."


def trait_value(row: TraitOfChoice, value: float, *, is_difference: bool = False) -> str:
    """Write a figure of a trait."""
    if is_difference:
        return signed_hundredths(value) if row.trait != "words" else signed(value, 1)
    return f"{value:.1f}" if row.trait == "words" else hundredths(value)


def trait_interval(row: TraitOfChoice) -> str:
    """Write the interval of a difference."""
    at = row.difference
    if at.low is None or at.high is None:
        return "no interval"
    ends = (trait_value(row, end, is_difference=True) for end in (at.low, at.high))
    return f"[{', '.join(ends)}]"


def opposed_reading(one: Disagreement) -> str:
    """Say who chose what on a pair, and how the two replies differ."""
    differs = [
        f"{plural(abs(round(n)), what)} {'more' if n > 0 else 'fewer'}"
        for n, what in ((one.words, "word"), (one.warm_phrases, "warm phrase"))
        if n
    ]
    more = f"; the judges' choice has {listed(differs)}" if differs else ""
    return (
        f"{one.n_judges_for} of {one.n_judges} judges choose {one.judges_choice},"
        f" {one.n_people_for} of {one.n_people} people {one.peoples_choice}{more}."
    )


def of_pairs(n_pairs: int, n_pairs_both: int) -> str:
    """Write how many pairs a share is of, of how many that both judged."""
    return f"{count(n_pairs)} of {count(n_pairs_both)}"


def estimate_words(at: Estimate) -> str:
    """Write the interval of a share."""
    return "no interval" if at.low is None else interval(at.low, at.high, write=bare_percent)
