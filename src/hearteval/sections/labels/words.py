"""What the replies do, on the page: who labelled, who does what more often, and a heat map."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from hearteval.analysis.estimates import Estimate
from hearteval.analysis.labels import RATIONALES, Labelled, SourceKind
from hearteval.analysis.labels.agreement import SourceAgreement
from hearteval.analysis.labels.people import PEOPLES_WORD
from hearteval.report.figures import heat_step
from hearteval.report.page.first_screen import shade
from hearteval.report.text import (
    FEWEST_ITEMS,
    NO_VALUE,
    TOO_FEW,
    count,
    fine_interval,
    hundredths,
    interval,
    listed,
    percent,
    plural,
    whole_percent,
)
from hearteval.sections.labels.differences import MODELS, RateDifference
from hearteval.sections.labels.examples import largest_differences
from hearteval.sections.labels.use import LabelResults, LabelSource, LabelUse

MANY_SYSTEMS = 8
"""More of them are shown by family."""
MANY_COLUMNS = 6
"""More of them have no interval in their cells; the colour still says what is open."""
FOUND = 0.05
"""The q of a difference that is named."""
MOST_NAMED = 3
PUBLISHED = {
    ("strategies", "4"): "The paper reports 0.86 for its classifier, from 0.78 to 0.93.",
}
"""Of labelers against people (HEART 9.10), by taxonomy and the version that means what it does."""
KINDS: Mapping[SourceKind, str] = {
    "person": "what two of them said alike or a third decided",
    "model": "a model",
    "baseline": "the offline baseline, which looks for words and measures nothing",
}
GROUPS = {"people": "People", "original": "Original replies", "baseline": "Baselines"}

Found = Labelled[Any]


class Cell(NamedTuple):
    """How often one group does one thing."""

    text: str
    interval: str
    """Empty where there are many columns."""
    shade: str


def headline_source(found: LabelResults) -> LabelSource:
    """Return the labeler whose figures are shown: no baseline if it can be, who labelled most."""
    return max(
        found.sources,
        key=lambda source: (source.kind != "baseline", source.n_completions),
    )


def shown_uses(source: LabelSource) -> tuple[LabelUse, ...]:
    """Return the columns of the heat map: systems where they are few, else families."""
    return source.systems if len(source.systems) <= MANY_SYSTEMS else source.families


def group_name(use: LabelUse) -> str:
    """Return what a column is called."""
    return use.group if use.kind == "system" else GROUPS.get(use.group, use.group)


def named_differences(source: LabelSource) -> list[RateDifference]:
    """Return the differences of which there are replies to read, the largest first."""
    return largest_differences(source.differences)


def who_words(source: LabelSource) -> Markup:
    """Say who labelled how much."""
    left = source.n_wanted - source.n_completions
    lacking = f"; {plural(left, 'reply', 'replies')} without labels left out" if left else ""
    n = plural(source.n_completions, "reply", "replies")
    return Markup("Labelled by <b>{}</b> ({}): {}{}.").format(
        source.labeler, KINDS[source.kind], n, lacking
    )


def answer(source: LabelSource) -> Markup:
    """Say in plain words who does what more often."""
    baseline = (
        Markup("<b>Only words were looked for, so this says nothing about what replies do.</b> ")
        if source.kind == "baseline"
        else Markup()
    )
    to_people = [row for row in source.differences if row.comparison == "models-people"]
    if to_people:
        return baseline + _models_and_people(to_people)
    return baseline + _widest(source)


def _models_and_people(rows: Sequence[RateDifference]) -> Markup:
    n_items = max(row.n_items for row in rows)
    if n_items < FEWEST_ITEMS:
        return Markup("Models and people share {}: too few to say whether they differ.").format(
            plural(n_items, "item")
        )
    found = sorted(
        (row for row in rows if row.q is not None and row.q <= FOUND),
        key=lambda row: (-abs(row.difference), row.category),
    )
    if not found:
        return Markup("<b>No difference between models and people shows</b> in what replies do.")
    parts = []
    for who, sign in (("People", -1), (MODELS.capitalize(), 1)):
        more = [row for row in found if row.difference * sign > 0]
        named = [
            f"{row.name} (by {100 * abs(row.difference):.0f} points)" for row in more[:MOST_NAMED]
        ]
        rest = len(more) - len(named)
        if named:
            others = f", and {plural(rest, 'other')}" if rest else ""
            parts.append(
                Markup("<b>{} more often use</b> {}{}.").format(who, listed(named), others)
            )
    return Markup(" ").join(parts)


def _widest(source: LabelSource) -> Markup:
    """Say in what the groups that are shown differ most, where tests find that they differ."""
    differing = {row.category for row in source.differences if row.q is not None and row.q <= FOUND}
    uses = [use for use in shown_uses(source) if use.n_items >= FEWEST_ITEMS]
    if len(uses) < 2:
        return Markup("Too few items were labelled to compare what replies do.")
    spans = []
    for k, rate in enumerate(uses[0].rates):
        ordered = sorted(uses, key=lambda use: (use.rates[k].rate, use.group))
        low, high = ordered[0], ordered[-1]
        spans.append((high.rates[k].rate - low.rates[k].rate, rate, k, low, high))
    spans = [span for span in spans if span[1].category in differing]
    if not spans:
        return Markup("<b>No difference between systems shows</b> in what their replies do.")
    _, rate, k, low, high = max(spans, key=lambda span: (span[0], span[1].category))
    return Markup(
        "<b>Systems differ most in {}</b>: {} of the replies of {} hold it, {} of those of {}."
    ).format(
        rate.name,
        percent(high.rates[k].rate),
        group_name(high),
        percent(low.rates[k].rate),
        group_name(low),
    )


def heat_rows(source: LabelSource) -> list[tuple[str, list[Cell]]]:
    """Return the heat map, the most frequent category first."""
    uses = shown_uses(source)
    is_wide = len(uses) > MANY_COLUMNS
    order = sorted(
        range(len(uses[0].rates)),
        key=lambda k: (-source.averages[uses[0].rates[k].category], k),
    )
    return [
        (
            uses[0].rates[k].name,
            [
                _cell(use, k, source.averages[use.rates[k].category], is_wide=is_wide)
                for use in uses
            ],
        )
        for k in order
    ]


def _cell(use: LabelUse, k: int, average: float, *, is_wide: bool) -> Cell:
    at = use.rates[k]
    if use.n_items < FEWEST_ITEMS:
        return Cell(NO_VALUE, "" if is_wide else TOO_FEW, "few")
    shown = shade(heat_step(0.5 + at.rate - average), at.low, at.high, middle=average, is_few=False)
    ends = ""
    if not is_wide and at.low is not None and at.high is not None:
        ends = f"{whole_percent(at.low)} to {whole_percent(at.high)}"
    return Cell(whole_percent(at.rate), ends, shown)


def variety_rows(source: LabelSource) -> list[tuple[str, list[str]]]:
    """Return what stands below the heat map: how varied each group's replies are."""
    uses, n = shown_uses(source), len(source.averages)
    return [
        ("In a reply, on average", [hundredths(use.distinct.value) for use in uses]),
        ("Used at least once", [f"{use.n_covered} of {n}" for use in uses]),
        (
            "SD of the rates, points",
            [NO_VALUE if use.spread is None else f"{100 * use.spread.value:.0f}" for use in uses],
        ),
        ("Replies", [count(use.n_completions) for use in uses]),
    ]


def texts(found: Found) -> tuple[str, str]:
    """Return what one of the labelled texts is called, and several."""
    return ("reason", "reasons") if found.taxonomy == RATIONALES else ("reply", "replies")


def labeler_notes(found: Found) -> list[Markup]:
    """Say how far labelers agree with people, and with each other."""
    notes = []
    if said := people_words(found):
        notes.append(_note("What people say.", said))
        right = against_people_words(found)
        if right:
            right[0] += f" {PUBLISHED.get((found.taxonomy, found.version), '')}"
        too_few = Markup("Too few {} are settled to hold labelers against them.")
        notes += [_note("How right is the labeler?", line) for line in right] or [
            too_few.format(texts(found)[1])
        ]
    return [*notes, *(_note("Do labelers agree?", line) for line in agreement_words(found))]


def _note(asked: str, said: str) -> Markup:
    return Markup("<b>{}</b> {}").format(asked, said)


def agreement_words(found: Found) -> list[str]:
    """Say how far each two labelers agree; what people have settled has words of its own."""
    said = []
    for row in found.agreement:
        if row.category != "all" or row.f1 is None or _is_peoples(found, row):
            continue
        kappa = "" if row.kappa is None else f", Cohen's κ {_with_ends(row.kappa)}"
        said.append(
            f"{row.one} and {row.other}, on {plural(row.n_completions, *texts(found))}: F1"
            f" {_with_ends(row.f1)}{kappa}, {'both ' if kappa else ''}the mean over the categories."
        )
    return said


def people_words(found: Found) -> str:
    """Say what people have labelled and how far two of them agree; empty where none has."""
    people = found.people
    if people is None:
        return ""
    n = plural(people.n_labelled, *texts(found))
    who = plural(people.n_people, "person", "people")
    each = ", two people each" if people.per_text > 1 else ""
    differ = ""
    if people.n_settled or people.n_open:
        left = f"; {people.n_open} are still open and left out" if people.n_open else ""
        differ = f" Where two differed, in {people.n_settled}, a third decided{left}."
    agreed = ""
    kappa = people.agreement[0].kappa if people.agreement else None
    if kappa is not None and people.agreement[0].n_items >= FEWEST_ITEMS:
        agreed = (
            f" Two people agree with Fleiss' κ {_with_ends(kappa)}, the mean over the categories."
        )
    return f"{who} labelled {n}{each}.{differ}{agreed}"


def against_people_words(found: Found) -> list[str]:
    """Say how right each labeler is, held against what people have settled."""
    baselines = {source.labeler for source in found.sources if source.kind == "baseline"}
    lines = []
    for row in found.agreement:
        if row.category != "all" or not _is_peoples(found, row) or row.n_items < FEWEST_ITEMS:
            continue
        if row.f1 is None or row.precision is None or row.recall is None:
            continue
        own = [
            (one.f1.value, one.name)
            for one in found.agreement
            if (one.one, one.other) == (row.one, row.other)
            and one.category != "all"
            and one.f1 is not None
        ]
        (low, weakest), (high, strongest) = min(own), max(own)
        what = f" ({KINDS['baseline']})" if row.other in baselines else ""
        n_all = len(found.categories)
        of_some = (
            f" over {row.n_categories} of the {n_all} categories"
            if row.n_categories < n_all
            else ""
        )
        lines.append(
            f"{row.other}{what}, on {plural(row.n_completions, *texts(found))}: macro-F1"
            f" {_with_ends(row.f1)}{of_some}, from {hundredths(low)} ({weakest}) to"
            f" {hundredths(high)} ({strongest}); precision {_with_ends(row.precision)}, recall"
            f" {_with_ends(row.recall)}."
        )
    return lines


def _is_peoples(found: Found, row: SourceAgreement) -> bool:
    return found.people is not None and row.one == PEOPLES_WORD.name


def _with_ends(one: Estimate) -> str:
    return f"{hundredths(one.value)} {fine_interval(one.low, one.high)}".strip()


def uncertain_words(source: LabelSource) -> str:
    """Say how often the labeler could not tell; empty where it always could."""
    n = sum(rate.n_uncertain for use in source.systems for rate in use.rates)
    of = source.n_completions * len(source.averages)
    if not n:
        return ""
    return f"In {percent(n / of)} of the cases it could not tell, which counts as not there."


def wins_words(source: LabelSource) -> list[str]:
    """Say what goes with winning, by people and by judges; a line for each that compared."""
    lines = []
    for wins in source.wins:
        if not wins.categories:
            continue
        found = sorted(
            (row for row in wins.categories if row.q is not None and row.q <= FOUND),
            key=lambda row: (-abs(row.win_rate - 0.5), row.category),
        )
        named = [
            f"{row.name} ({percent(row.win_rate)}"
            f" {interval(row.low, row.high, write=whole_percent)})"
            for row in found[:MOST_NAMED]
        ]
        rest = len(found) - len(named)
        others = f", and {plural(rest, 'other')}" if rest else ""
        said = f"{listed(named)}{others}" if named else "no effect shows"
        who = f"{wins.judged_by.capitalize()}, {plural(wins.n_comparisons, 'comparison')}"
        lines.append(f"{who}: {said}.")
    return lines


def opposed_words(source: LabelSource) -> str:
    """Say what judges choose against people; empty where no pair is opposed."""
    if not source.opposed:
        return ""
    names = {rate.category: rate.name for use in source.systems for rate in use.rates}
    n = plural(max(row.n_pairs for row in source.opposed), "pair")
    found = [row for row in source.opposed if row.q is not None and row.q <= FOUND]
    parts = []
    for who, sign in (("judges", 1), ("people", -1)):
        more = sorted(
            (row for row in found if row.difference.value * sign > 0),
            key=lambda row: (-abs(row.difference.value), row.trait),
        )
        named = [
            f"{names[row.trait]} ({percent(row.judges_choice)} of the judges' choices,"
            f" {percent(row.peoples_choice)} of the people's)"
            for row in more[:MOST_NAMED]
        ]
        if named:
            parts.append(f"what {who} chose more often held {listed(named)}")
    said = "; ".join(parts) if parts else "no difference shows"
    return f"On {n} most judges chose against most people: {said}."
