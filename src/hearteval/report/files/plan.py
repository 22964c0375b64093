"""A plan in words: what a study could tell, what it rests on, and the cheapest designs."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from hearteval.analysis.planner import TIMES, Anchoring, Plan, Planned
from hearteval.report.table import Column, Display, Table, tabulate
from hearteval.report.text import (
    NO_BREAK_SPACE,
    NO_VALUE,
    count,
    level_percent,
    listed,
    plural,
    whole,
    whole_percent,
)

PLUS_MINUS: Final = "\N{PLUS-MINUS SIGN}"
MOST_SEEN: Final = 0.99
UNEVEN: Final = 1.1
"""Unevenness of loads from which it is said."""
EVERYTHING: Final = 0.5
"""Half-width that holds all differences that there can be."""


class _Row(NamedTuple):
    name: str
    design: Planned


def plan_display(plan: Plan) -> Display:
    """Say what a study could tell, what would tell more, and what people add to judges."""
    parts: list[Table | tuple[str, ...]] = [_answer(plan), _table(plan)]
    if plan.anchored:
        parts += [(_anchored_words(plan),), _anchored_table(plan.anchored)]
    return Display(tuple(parts))


def outlook_words(plan: Plan) -> str:
    """Say in two sentences what a planned study could tell, and what that rests on."""
    return f"{_seen_words(plan)} {_basis_words(plan)}"


def _answer(plan: Plan) -> tuple[str, ...]:
    return (f"{_seen_words(plan)} {_width_words(plan)}", _advice(plan), _basis_words(plan))


def _seen_words(plan: Plan) -> str:
    one = plan.planned
    who = "judge" if plan.by == "judges" else "person"
    raters = plural(one.n_raters, who, "people" if who == "person" else None)
    return (
        f"With {plural(one.n_items, 'dialogue')}, {raters} and {plural(one.n_votes, 'vote')} a"
        f" difference of {_points(plan.gap)} points (one of two systems preferred in"
        f" {_points(0.5 + plan.gap)}{NO_BREAK_SPACE}%) would be seen in {_seen(one.power)} of 100"
        " such studies."
    )


def _width_words(plan: Plan) -> str:
    one = plan.planned
    if one.half_width >= EVERYTHING:
        return "Its interval would leave everything open."
    said = (
        f"The {level_percent(plan.level)} interval of a difference would reach"
        f" {PLUS_MINUS}{_points(one.half_width)} points ({PLUS_MINUS}{whole(one.half_width_elo)}"
        " Elo)."
    )
    if one.assurance is not None and _seen(one.assurance) != _seen(one.power):
        said += (
            " Counting in what the pilot's votes leave open, the difference would be seen in"
            f" {_seen(one.assurance)} of 100."
        )
    return f"{said}{_writers_words(plan)}"


def _writers_words(plan: Plan) -> str:
    """Say how a difference between a model and people who write is another one."""
    if plan.against_people is not None:
        return (
            " Between a model and people who write,"
            f" {plural(plan.basis.n_writers, 'person', 'people')} as in the pilot, it would be seen"
            f" in {_seen(plan.against_people.power)}."
        )
    if plan.has_writers:
        return (
            " Between a model and people who write it would be seen less often: how they differ is"
            " not known without a pilot."
        )
    return ""


def _advice(plan: Plan) -> str:
    """Say which design would tell enough."""
    wanted = (
        f"for {PLUS_MINUS}{_points(plan.half_width)} points"
        if plan.half_width is not None
        else f"to be seen in {whole_percent(plan.power or 0)} of 100"
    )
    limits = listed(
        [
            *([] if plan.max_hours is None else [f"{plan.max_hours:g} person-hours"]),
            *([] if plan.max_usd is None else [f"${plan.max_usd:,.0f}"]),
        ]
    )
    within = f" within {limits}" if limits else ""
    if not plan.designs:
        return f"No design is possible{within}."
    if plan.is_reached:
        few = min(plan.designs, key=lambda one: one.n_raters)
        best = plan.designs[0]
        said = f"{wanted}{within} takes {_design_words(plan, few)}."
        if best.n_raters > few.n_raters:
            said += f" The cheapest is {_design_words(plan, best)}."
        return said[0].upper() + said[1:]
    most = max(plan.designs, key=lambda one: one.power)
    reached = (
        f"{PLUS_MINUS}{_points(most.half_width)} points"
        if plan.half_width is not None
        else f"{_seen(most.power)} of 100"
    )
    return (
        f"No design tried{within} is enough {wanted}; the best, {_design_words(plan, most)},"
        f" comes to {reached}. {_way_out(plan, is_limited=bool(limits))}"
    )


def _way_out(plan: Plan, *, is_limited: bool) -> str:
    """Say what to change where no design is enough."""
    asked = (
        "a larger difference (--gap)"
        if plan.half_width is None
        else "a wider interval (--half-width)"
    )
    if is_limited:
        return f"Raise the limit, or ask for {asked}."
    return (
        f"More than {max(TIMES)} times the dialogues of the study file were not tried: give it more"
        f" items, or ask for {asked}."
    )


def _design_words(plan: Plan, one: Planned) -> str:
    people = [plural(one.n_raters, "person", "people")] if plan.by == "people" else []
    return listed([*people, plural(one.n_items, "dialogue"), plural(one.n_votes, "vote")])


def _table(plan: Plan) -> Table:
    rows = [_Row("as planned", plan.planned), *(_Row("", one) for one in plan.designs)]
    is_people = plan.by == "people"
    has_hours = any(row.design.person_hours for row in rows)
    columns = [
        (Column("", "text"), lambda row: row.name),
        *([(Column("people"), lambda row: count(row.design.n_raters))] if is_people else []),
        (Column("dialogues"), lambda row: count(row.design.n_items)),
        (Column("pairs"), lambda row: f"{row.design.pairs_per_item:.3g}"),
        (Column("by"), lambda row: count(row.design.votes_per_pair)),
        (Column("votes"), lambda row: count(row.design.n_votes)),
        (Column(f"{PLUS_MINUS} points"), lambda row: _points(row.design.half_width)),
        (Column(f"{PLUS_MINUS} Elo", can_go=True), lambda row: whole(row.design.half_width_elo)),
        (Column("seen"), lambda row: _seen(row.design.power)),
        *([(Column("hours"), lambda row: _hours(row.design))] if has_hours else []),
        *([(Column("cost"), lambda row: _cost(row.design))] if _has_cost(rows) else []),
    ]
    return tabulate(rows, columns, caption=_caption(plan), notes=[_notes(plan, rows)])


def _caption(plan: Plan) -> str:
    return (
        "Designs that would do, the cheapest first"
        if plan.is_reached
        else "What the study would tell, and designs that would tell most"
    )


def _notes(plan: Plan, rows: Sequence[_Row]) -> str:
    said = (
        f"Seen: of 100 such studies, those that tell {_points(plan.gap)} points from no difference."
        f" Pairs: of each dialogue. By: {plan.by} who judge each pair."
    )
    if any(row.design.person_hours for row in rows):
        said += " Hours: of people in all."
    if _has_cost(rows):
        paid = any(row.design.pay is not None for row in rows)
        said += f" Cost: models in dollars{', and pay' if paid else ', without pay'}."
    return said


def _has_cost(rows: Sequence[_Row]) -> bool:
    return any(row.design.cost for row in rows)


def _anchored_words(plan: Plan) -> str:
    """Say how many of the comparisons people should do where judges do them all."""
    whole_of_them = plan.anchored[-1]
    enough = next(
        (o for o in plan.anchored if o.half_width_elo <= whole_of_them.people_alone_elo),
        whole_of_them,
    )
    if enough is whole_of_them:
        return (
            "Judges who judge all comparisons too would narrow the place of a system from"
            f" {PLUS_MINUS}{whole(enough.people_alone_elo)} to {PLUS_MINUS}"
            f"{whole(enough.half_width_elo)} Elo. Judges are taken to miss as in"
            f" {plan.anchored_source}."
        )
    return (
        f"If judges judge all comparisons, people need to judge {whole_percent(enough.share)}"
        f"{NO_BREAK_SPACE}% of them, drawn at random ({plural(enough.n_votes, 'vote')}), to place a"
        f" system within {PLUS_MINUS}{whole(enough.half_width_elo)} Elo; people alone judging all"
        f" come to {PLUS_MINUS}{whole(whole_of_them.people_alone_elo)}. Judges are taken to"
        f" miss as in {plan.anchored_source}."
    )


def _anchored_table(rows: Sequence[Anchoring]) -> Table:
    return tabulate(
        rows,
        [
            ("people judge", lambda one: f"{whole_percent(one.share)}{NO_BREAK_SPACE}%"),
            ("votes", lambda one: count(one.n_votes)),
            (f"with judges, {PLUS_MINUS} Elo", lambda one: whole(one.half_width_elo)),
            (f"alone, {PLUS_MINUS} Elo", lambda one: whole(one.people_alone_elo)),
        ],
        caption='How surely a system is placed (headline = "anchored")',
    )


def _basis_words(plan: Plan) -> str:
    """Say what the figures rest on."""
    basis = plan.basis
    if basis.pilot is None:
        return (
            f"Not measured here: dialogues and {plan.by} are taken to vary as in {basis.source}."
            " `heart plan --pilot PILOT.toml` measures it on the votes of a study you have."
        )
    raters = ("person", "people") if plan.by == "people" else ("judge", "judges")
    counts = [plural(basis.n_items, "dialogue"), plural(basis.n_raters, *raters)]
    return (
        f"How dialogues and {plan.by} vary was measured on {plural(basis.n_votes, 'vote')} in"
        f" {basis.pilot}: {listed(counts)}.{_loads_words(plan)}"
    )


def _loads_words(plan: Plan) -> str:
    """Say how far people count for fewer, because some did far more than others."""
    basis = plan.basis
    if plan.by == "judges" or basis.unevenness < UNEVEN:
        return ""
    n_even = round(basis.n_raters / basis.unevenness)
    return (
        f" Some of them gave many more votes than others, so that they count as {n_even}; so are"
        " those who are planned."
    )


def _points(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.3g}"


def _seen(power: float) -> str:
    """Write a chance as a count of 100, never all of them."""
    return whole_percent(min(power, MOST_SEEN))


def _hours(one: Planned) -> str:
    return NO_VALUE if one.person_hours is None else count(round(one.person_hours))


def _cost(one: Planned) -> str:
    return f"{one.cost:,.0f}" if one.cost >= 10 else f"{one.cost:.2f}"
