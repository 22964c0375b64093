"""Models against people, in words and as rows: for the terminal and the page.

A point is a percentage point of the model's score, its wins and half the ties. Where the interval
holds no difference, none is claimed.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hearteval.analysis.estimates import Contrast
from hearteval.analysis.ranking.warnings import given_writers
from hearteval.report.table import Column, Table, tabulate
from hearteval.report.text import (
    NO_VALUE,
    TOO_FEW,
    bare_percent,
    count,
    interval,
    level_percent,
    listed,
    percent,
    plural,
    points,
    probability,
    whole,
    whole_percent,
)
from hearteval.sections.people.models.best_human import BestHuman, HumanStanding
from hearteval.sections.people.models.leads import LeadContrast
from hearteval.sections.people.models.meetings import MIN_ITEMS
from hearteval.sections.people.models.shares import (
    AgainstModels,
    OutcomeShare,
    StratumAgainstModels,
)
from hearteval.sections.people.study import PeopleResults

WRITERS = {"crowd": "crowd workers", "peer": "peers", "clinician": "clinicians"}
FAMILIES = {
    "profile": "Escalation of adversarial items",
    "emotion": "Emotion",
    "problem": "Problem",
    "family": "Maker of the model",
    "model": "Model",
}
MAX_Q = 0.05
MAX_OF_FAMILY = 24
"""Most rows of a page's table for each family; the file has all."""
HIGHER, LOWER = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"
EACH_MODEL = "each model: head to head, and in the file"


class Shares(NamedTuple):
    """A bar of whose reply is preferred."""

    judged_by: str
    of: str
    """Which items or replies, in words; empty for all."""
    n_judgments: int
    n_items: int
    against: AgainstModels | None
    """None where the items are too few."""


def bars(found: PeopleResults) -> list[Shares]:
    """Return by kind of rater the shares on all items, by subset, and by group of writers."""
    of_writers = [
        Shares(
            one.judged_by,
            f"on replies by {WRITERS.get(one.writers, one.writers)}" if one.writers else "",
            one.n_judgments,
            one.n_items,
            one if one.n_items >= MIN_ITEMS or not one.writers else None,
        )
        for one in found.against_models
    ]
    of_subsets = [
        Shares(one.judged_by, f"on {one.value} items", one.n_judgments, one.n_items, one.against)
        for one in sorted(found.against_models_by, key=lambda one: one.value, reverse=True)
        if one.by == "subset"
    ]
    n_overall = sum(not one.writers for one in found.against_models)
    return [*of_writers[:n_overall], *of_subsets, *of_writers[n_overall:]]


def interval_words(one: AgainstModels) -> str:
    """Say by whom a share is, what its interval is, and whose completions it holds for."""
    words = f"{one.judged_by} {one.interval_used}"
    return ", ".join(filter(None, (words, given_writers(one.n_writers))))


def group_words(found: PeopleResults) -> str:
    """Say which groups of writers are so few that their shares hold for these alone."""
    few = {
        f"{WRITERS.get(one.writers, one.writers)} {one.n_writers}": None
        for one in found.against_models
        if one.writers and given_writers(one.n_writers)
    }
    return f"Conditional on these writers: {listed(list(few))}." if few else ""


def mix_words(found: PeopleResults) -> str:
    """Say of which models the shares by people and by judges are; empty without both."""
    rows = [one for one in found.against_models if not one.writers]
    if len(rows) < 2:
        return ""
    if rows[0].weighs != "models":
        return (
            f"People and judges judged no model in common on {MIN_ITEMS} items, so their shares are"
            " of different models and are not to be compared."
        )
    return f"Every model counts the same by people and by judges.{_left_out(rows[0].left_out)}"


def _left_out(models: Sequence[str]) -> str:
    if not models:
        return ""
    was = "is" if len(models) == 1 else "are"
    return f" {listed(models)} {was} left out: not judged by both on {MIN_ITEMS} items."


def overall_words(found: PeopleResults) -> str:
    """Say whose reply people and judges prefer."""
    words = [
        f"{at.judged_by} prefer the model's reply in {percent(at.model.rate)}, the person's in"
        f" {percent(at.person.rate)}"
        + (f", and call {percent(at.tie.rate)} a tie" if at.tie.rate else "")
        + _parity_words(at, found.level)
        for at in found.against_models
        if at.writers is None and at.n_items >= MIN_ITEMS
    ]
    if not words:
        return ""
    is_mixed = any(one.weighs == "models" for one in found.against_models)
    apart = "" if is_mixed else mix_words(found)
    return f"Where a model's reply meets a person's, {'; '.join(words)}. {apart}".rstrip()


def _parity_words(at: AgainstModels, level: float) -> str:
    """Say whether models and people are told apart at all, by the q of that contrast."""
    is_open = at.q is not None and at.q > 1 - level
    return " (the data leave open whose they prefer)" if is_open else ""


def lead_words(found: PeopleResults) -> list[str]:
    """Say whether models lead less on adversarial items, and whether people and judges differ."""
    return [_lead_words(one, found.level) for one in found.leads]


def _lead_words(lead: LeadContrast, level: float) -> str:
    if lead.score is None:
        n = min(lead.n_regular, lead.n_adversarial) if lead.n_adversarial else lead.n_regular
        what = {
            "people": "People: whether models fare otherwise on adversarial items",
            "judges": "Judges: whether models fare otherwise on adversarial items",
            "people-judges": "Whether people and judges differ in that",
            "all-items": "Whether people and judges differ",
        }
        if n >= MIN_ITEMS:
            return (
                f"{what[lead.name]} cannot be said: they judged no model in common on"
                f" {MIN_ITEMS} items."
            )
        return f"{what[lead.name]} cannot be said from {plural(n, 'item')}."
    test = _tested(lead.score, lead.q, level, given_writers(lead.n_writers))
    test += f".{_left_out(lead.left_out)}"
    by, size = lead.score.value, f"{bare_percent(abs(lead.score.value))} points"
    both = f"on the {plural(lead.n_regular + lead.n_adversarial, 'item')} that both judged,"
    if lead.name == "all-items":
        more = "more" if by > 0 else "less"
        return f"{both.capitalize()} people give models {size} {more} than judges do {test}"
    if lead.name == "people-judges":
        return f"Between people and judges that change differs by {size} {both[:-1]} {test}"
    return (
        f"On adversarial items {lead.name} give models {size} {'less' if by > 0 else 'more'} than"
        f" on regular ones {test}"
    )


def _tested(score: Contrast, q: float | None, level: float, given: str) -> str:
    """Write the interval of a difference without its sign, as the words tell its side, p and q.

    Only q, over all planned contrasts of the study, says whether there is a difference. `given`
    says what it is conditional on.
    """
    if score.low is None or score.high is None or score.p is None:
        return "(no interval)"
    ends = (score.low, score.high) if score.value > 0 else (-score.high, -score.low)
    p = probability("p", score.p)
    low, high = (points(end).removeprefix("+") for end in ends)
    tests = p if q is None else f"{p}, {probability('q', q)}"
    is_open = q is None or q > 1 - level
    said = ": the data leave open whether they differ" if is_open else ""
    where = ", ".join(filter(None, (f"interval {low} to {high}", tests, given)))
    return f"({level_percent(level)} {where}){said}"


def every_axis_words(found: PeopleResults) -> str:
    """Say how often one side wins on every axis; empty where no judgment marks all of them."""
    words = [
        f"of {count(one.every_axis.n_judgments)} judgments by {one.judged_by} that mark every axis,"
        f" the model wins on all of them in {_share(one.every_axis.model)}, the person in"
        f" {_share(one.every_axis.person)}"
        for one in found.against_models
        if one.every_axis and not one.writers
    ]
    said = "; ".join(words)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _share(share: OutcomeShare) -> str:
    return f"{percent(share.rate)} {interval(share.low, share.high, write=bare_percent)}"


def best_words(found: PeopleResults) -> list[str]:
    """Say how the best of people's replies fares, and how it would look by the same votes."""
    return [_best_words(one, found.level) for one in found.best_human]


def _best_words(best: BestHuman, level: float) -> str:
    if best.best_human is None or best.same_votes is None or best.optimism is None:
        return f"The best of people's replies, by {best.judged_by}, is not known: {best.problem}"
    if best.n_items < MIN_ITEMS:
        return f"The best of people's replies, by {best.judged_by}: {TOO_FEW}."
    place = ""
    if best.strength is not None:
        place = f", Elo {whole(best.strength.elo)}, place {best.strength.rank} of {best.n_systems}"
    refused = ""
    if best.n_refused:
        refused = (
            f" Left out: {plural(best.n_refused, 'item')} on which no two people's replies met the"
            f" same reply of a model before two {best.judged_by} each."
        )
    score, given = best.best_human.score, given_writers(best.n_writers)
    return (
        f"The best of people's replies to each item, chosen by half of the {best.judged_by} and"
        f" rated by the other half, scores {percent(score.value)}"
        f" {interval(score.low, score.high, write=bare_percent)} against models{place}"
        f"{f', {given}' if given else ''}."
        f" {_gain_words(best, level)}Chosen and rated by the same votes it would look like"
        f" {percent(best.same_votes.score.value)};"
        f" {points(best.optimism.value).removeprefix('+')} points of that"
        f"{_ends(best.optimism, level)} are luck taken for merit.{refused}"
    )


def _gain_words(best: BestHuman, level: float) -> str:
    """Say what choosing is worth, beside all replies; empty where that is not known."""
    by = best.gain
    if by is None:
        return ""
    size = points(abs(by.value)).removeprefix("+")
    said = f"That is {size} points {'more' if by.value > 0 else 'less'} than all replies score"
    if by.low is None or by.high is None:
        return f"{said}. "
    is_open = "" if by.low > 0 or by.high < 0 else ", which leaves open whether choosing helps"
    low, high = points(by.low), points(by.high)
    return f"{said} ({level_percent(level)} interval {low} to {high}){is_open}. "


def _ends(by: Contrast, level: float) -> str:
    if by.low is None or by.high is None:
        return ""
    low, high = (points(end).removeprefix("+") for end in (by.low, by.high))
    return f" ({level_percent(level)} interval {low} to {high})"


def best_rows(found: PeopleResults) -> dict[str, list[tuple[HumanStanding, BestHuman]]]:
    """Return the ways as each kind of rater has them; none where none has votes or items enough."""
    known = [one for one in found.best_human if one.best_human and one.n_items >= MIN_ITEMS]
    ways = {
        "Best reply, chosen by half": "best_human",
        "Best reply, chosen by all but one": "all_but_one",
        "Best reply, rated by the same votes": "same_votes",
        "All replies": "pooled_human",
    }
    return {
        words: [(getattr(one, name), one) for one in known] for words, name in ways.items() if known
    }


class Stratum(NamedTuple):
    """One value of a family, as each kind of rater has it."""

    value: str
    n_items: int
    by: tuple[StratumAgainstModels | None, ...]
    """In the order of `kinds_of`; None where that kind has too few items of it."""


class Family(NamedTuple):
    """The strata of one family."""

    title: str
    rows: tuple[Stratum, ...]
    """The model's highest score first, by people where they judged."""
    note: str
    """Which are left out; empty where none is."""


def kinds_of(found: PeopleResults) -> list[str]:
    """Return the kinds of rater of whom strata are known."""
    return list(dict.fromkeys(one.judged_by for one in found.against_models_by))


def families(found: PeopleResults) -> list[Family]:
    """Return the families of strata in which something is shown."""
    kinds = kinds_of(found)
    made: list[Family] = []
    has_makers = any(one.by == "family" for one in found.against_models_by)
    for by, title in FAMILIES.items():
        if by == "model" and has_makers:
            made[-1] = made[-1]._replace(note=EACH_MODEL)
            continue
        rows = [one for one in found.against_models_by if one.by == by]
        at = {(one.value, one.judged_by): one for one in rows if one.against}
        strata = [
            Stratum(
                value,
                max(one.n_items for one in rows if one.value == value),
                tuple(at.get((value, kind)) for kind in kinds),
            )
            for value in dict.fromkeys(one.value for one in rows)
        ]
        shown = sorted((one for one in strata if any(one.by)), key=_score, reverse=True)
        few = [f"{one.value} ({one.n_items})" for one in strata if not any(one.by)]
        notes = [f"{TOO_FEW}: {listed(few)}"] if few else []
        if len(shown) > MAX_OF_FAMILY:
            notes.append(f"{len(shown) - MAX_OF_FAMILY} more in the file")
        if shown:
            made.append(Family(title, tuple(shown[:MAX_OF_FAMILY]), "; ".join(notes)))
    return made


def _score(stratum: Stratum) -> float:
    first = next(one for one in stratum.by if one is not None)
    assert first.against is not None
    return first.against.score.rate


def mark(one: StratumAgainstModels) -> str:
    """Mark a score that is higher or lower than on the others of its family, all tests counted."""
    gap = one.from_others
    if gap is None or gap.q is None or gap.q > MAX_Q:
        return ""
    return HIGHER if gap.score.value > 0 else LOWER


def best_table(found: PeopleResults) -> Table | None:
    """Return the ways of taking people's replies for a terminal; None where nothing is known."""
    rows = best_rows(found)
    if not rows:
        return None

    def of(place: int) -> Callable[[str], str]:
        return lambda way: _standing(rows[way][place][0])

    kinds = [one.judged_by for _, one in next(iter(rows.values()))]
    return tabulate(
        [*rows],
        [(Column("people's replies", "text"), str), *((k, of(n)) for n, k in enumerate(kinds))],
        caption="Against models: score of people in percent, ties half, and Elo",
        notes=best_words(found),
    )


def _standing(at: HumanStanding) -> str:
    ends = interval(at.score.low, at.score.high, write=whole_percent)
    return f"{whole_percent(at.score.value)} {ends} {whole(at.elo) if at.elo else NO_VALUE:>5}"
