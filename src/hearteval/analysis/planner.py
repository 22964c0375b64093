"""What a planned study could tell, and the cheapest designs that would tell enough.

Components of variance come from a pilot's votes, or are assumed; then their source is named.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.analysis.ranking.anchored import JUDGES, anchor_judgments
from hearteval.analysis.ranking.comparisons import people_among, to_comparisons
from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.errors import NotIdentifiedError
from hearteval.notices import Notice
from hearteval.stats.bradley_terry.anchored import MIN_SYSTEMS
from hearteval.stats.bradley_terry.fit import ELO_PER_THETA
from hearteval.stats.comparisons import select_comparisons
from hearteval.stats.planner.anchoring import Judging, expect_widths
from hearteval.stats.planner.components import measure_components
from hearteval.stats.planner.design import (
    Components,
    Design,
    Outlook,
    difference_parts,
    look_ahead,
)

Kind = Literal["people", "judges"]
LEVEL: Final = 0.95
POOL: Final = 15
"""People who judge where nobody says how many: the paper's pool (HEART 9.6)."""
CROWDS: Final = (MIN_RATERS, 8, 15, 30, 60, 120, 240, 480)
VOTES: Final = (1, 2, 3, 5)
"""Of a pair."""
TIMES: Final = (0.25, 0.5, 1, 2, 4, 8)
"""Dialogues of designs, as many times those of the study file."""
MOST_DESIGNS: Final = 8
N_STEPS: Final = 12
"""Of pairs of an item, in a picture."""
JUDGING_ASSUMED: Final = (0.69, 0.087, 0.77)
"""Spread of 20 systems by people, what GPT-4 misses (15 Elo; 10 to 24), people's difference for one
of 1 by it, log odds: `benchmarks/anchored.py` on all votes of Chatzi and others (2024)."""
JUDGING_SOURCE: Final = "GPT-4 with 20 models (Chatzi and others 2024)"
SHARES: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the comparisons, that people judge where judges judge all."""

PEOPLE_ASSUMED: Final = Components(item=0.015, rater=0.022, rest=0.063, slope=0.226)
"""Of 124 crowd workers in 8,931 comparisons of 59 models on 13 questions (Ustalov, LLMFAO 2023)."""
JUDGES_ASSUMED: Final = Components(item=0.09, rater=0.0, rest=0.07)
"""Two judges that agree in .859, as published (HEART 4.4): a covariance of (2 · .859 - 1)/4 = .18,
all of it taken to be of two completions."""
SOURCES: Final = {
    "people": (
        "8,931 comparisons of 59 models on general questions by 124 crowd workers (LLMFAO, Ustalov"
        " 2023)"
    ),
    "judges": "judges that agree in 85.9 % of comparisons, as in the paper (HEART 4.4)",
}
"""What is assumed, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a plan reckons with.

    Attributes:
        source: Where it is from, in words.
        pilot: The study whose votes it was measured on; None where it is assumed.
        draws: Components as the pilot leaves them open; empty where they are assumed.
        n_writers: People who wrote in the pilot; 0 where how they differ is not known.
        unevenness: Of how much its raters did, as a `Design` has it.
    """

    source: str
    components: Components
    pilot: str | None = None
    draws: tuple[Components, ...] = ()
    n_votes: int = 0
    n_items: int = 0
    n_raters: int = 0
    n_writers: int = 0
    unevenness: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a study costs, beyond what it has."""

    minutes_a_vote: float = 0.0
    """Of one person."""
    minutes_an_item: float = 0.0
    """Of people who write, all together."""
    pay_per_hour: float | None = None
    usd_an_item: float = 0.0
    """Of models that answer."""
    usd_a_pair: float = 0.0
    """Of all judges that compare it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A design, what it would tell, and what it costs.

    Attributes:
        n_raters: People who judge; the judges, where judges do.
        pairs_per_item: On average.
        half_width: Of the 95 % interval of a difference of two systems, expected, as a share.
        power: Chance that such a study tells the difference asked about from none.
        assurance: The same on average over what the pilot leaves open; None without a pilot.
        person_hours: None where people are asked nothing; pay, where no rate is given either.
        cost: Pay and dollars of models, added as they are.
    """

    n_raters: int
    n_items: int
    pairs_per_item: float
    votes_per_pair: int
    n_votes: int
    half_width: float
    half_width_elo: float
    power: float
    assurance: float | None
    person_hours: float | None
    pay: float | None
    usd: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a plan.

    Attributes:
        gap: The difference, as a share: .05 is one system preferred in 55 %.
        half_width: Asked for in place of power, as a share.
        max_hours: Person-hours; max_usd, pay and dollars together.
    """

    gap: float = 0.05
    power: float = 0.8
    half_width: float | None = None
    max_hours: float | None = None
    max_usd: float | None = None

    def is_met(self, found: Outlook) -> bool:
        """Return whether a design tells enough."""
        if self.half_width is not None:
            return found.half_width <= self.half_width
        return found.power >= self.power


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchoring:
    """What people's votes tell of a system's place where judges judge all comparisons.

    Attributes:
        n_votes: Of people, on a random share of the comparisons.
        half_width_elo: Expected, of a system's place by people's votes and judges' together.
        people_alone_elo: The same by these votes of people alone.
    """

    share: float
    n_votes: int
    half_width_elo: float
    people_alone_elo: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study could tell, as it is planned and as it might be.

    Attributes:
        by: Whose votes it is about.
        gap: As in `Question`; power and half_width likewise, one of them None.
        against_people: What the study would tell of a model and the people who write, as many as
            wrote in the pilot; None where nobody writes, or it is not known how they differ.
        has_writers: Whether people write.
        designs: The cheapest first where they tell enough (`is_reached`), else what tells most.
        curves: The study's own dialogues and one vote a pair, by people and pairs of an item.
        anchored: By share of people; empty where people and judges do not both judge six systems
            of one kind.
        anchored_source: Of how far judges miss.
    """

    study: str
    by: Kind
    gap: float
    power: float | None
    half_width: float | None
    max_hours: float | None
    max_usd: float | None
    level: float
    basis: Basis
    planned: Planned
    against_people: Outlook | None
    has_writers: bool
    is_reached: bool
    designs: tuple[Planned, ...]
    curves: tuple[Planned, ...]
    anchored: tuple[Anchoring, ...]
    anchored_source: str | None
    warnings: tuple[Notice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a study file describes.

    Attributes:
        design: Of those whose votes the plan is about; pairs of an item at most one of two systems.
        pairs_per_item: All that they judge, replies of several people to one item included.
        n_judges: Judges; judges_per_pair, those that are not kept from it. 0 where none judges.
        n_models: Systems that no people write for.
    """

    study: str
    by: Kind
    design: Design
    pairs_per_item: float
    n_judges: int
    judges_per_pair: int
    n_models: int
    costs: Costs

    @property
    def is_by_both(self) -> bool:
        """Whether judges judge beside people."""
        return self.by == "people" and self.judges_per_pair > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a plan rests on: of whose votes it is about, of judges, of judges beside people.

    Attributes:
        judging: Spread, tau and slope, log odds.
        judging_source: Where these are from: a study, or what is published.
    """

    basis: Basis
    judges: Basis
    judging: tuple[float, float, float]
    judging_source: str
    warnings: tuple[Notice, ...] = ()


def assume_all(by: Kind) -> Known:
    """Return what is assumed without a pilot, with its sources."""
    return Known(
        basis=assume(by),
        judges=assume("judges"),
        judging=JUDGING_ASSUMED,
        judging_source=JUDGING_SOURCE,
    )


def measure_all(data: StudyData, by: Kind, study: str) -> Known:
    """Measure on a pilot's votes what they tell, and assume the rest.

    Raises:
        NotIdentifiedError: They do not tell the components of those the plan is about.
    """
    known = replace(assume_all(by), basis=measure_basis(data, by, study))
    if by == "judges":
        return known
    members = data.of_members()
    rows = members.judgments.among({s.id for s in data.ranked})
    found = anchor_judgments(rows, members, level=LEVEL, assume_random=False)
    if found is None or found.tau_elo is None:
        return known
    elos = [row.elo for row in found.systems if row.elo is not None]
    tau, spread = found.tau_elo / ELO_PER_THETA, float(np.std(elos, ddof=1)) / ELO_PER_THETA
    return replace(
        known,
        judging=(spread, tau, found.slopes[JUDGES]),
        judging_source=study,
    )


def make_plan(draft: Draft, known: Known, question: Question) -> Plan:
    """Say what a study could tell as planned, and which designs would tell enough."""
    n_given = draft.n_judges
    draft = replace(draft, design=replace(draft.design, unevenness=known.basis.unevenness))
    asked = known.basis, draft.costs, question
    planned = price_design(draft.design, n_given, *asked, pairs_per_item=draft.pairs_per_item)
    n_writers = known.basis.n_writers
    of_people = replace(draft.design, n_writers=n_writers)
    against = look_ahead(known.basis.components, of_people, gap=question.gap)
    has_writers = draft.design.n_systems > draft.n_models
    is_reached, designs = find_designs(draft.design, n_given, *asked)
    anchored = _anchor(draft, known) if draft.is_by_both and draft.n_models >= MIN_SYSTEMS else ()
    return Plan(
        study=draft.study,
        by=draft.by,
        gap=question.gap,
        power=question.power if question.half_width is None else None,
        half_width=question.half_width,
        max_hours=question.max_hours,
        max_usd=question.max_usd,
        level=LEVEL,
        basis=known.basis,
        planned=planned,
        against_people=against if has_writers and n_writers else None,
        has_writers=has_writers,
        is_reached=is_reached,
        designs=designs,
        curves=tuple(
            price_design(one, n_given, replace(known.basis, draws=()), *asked[1:])
            for one in _around(draft.design)
        ),
        anchored=anchored,
        anchored_source=known.judging_source if anchored else None,
        warnings=known.warnings,
    )


def _anchor(draft: Draft, known: Known) -> tuple[Anchoring, ...]:
    """Say for several shares of the comparisons what people add to judges, who judge them all."""
    whole = replace(draft.design, n_raters=0, n_votes=draft.judges_per_pair)
    spread, tau, slope = known.judging
    judging = Judging(spread, tau, slope, _strength_se(known.judges.components, whole))
    found = []
    for share in SHARES:
        n = draft.design.n_items * draft.design.n_pairs * share
        n_items = max(2, min(draft.design.n_items, math.floor(n)))
        some = replace(draft.design, n_items=n_items, n_pairs=max(1.0, n / n_items))
        if some.total < some.n_raters:
            continue
        widths = expect_widths(
            _strength_se(known.basis.components, some),
            min(some.n_items, some.n_raters) - 1,
            judging,
            draft.n_models,
            level=LEVEL,
            rng=np.random.default_rng(0),
        )
        anchored, alone = (float(ELO_PER_THETA * width) for width in widths)
        found.append(
            Anchoring(
                share=share,
                n_votes=round(some.total),
                half_width_elo=anchored,
                people_alone_elo=alone,
            )
        )
    return tuple(found)


def _strength_se(components: Components, design: Design) -> float:
    """Return the standard error of one strength, log odds, before their mean is taken out."""
    return math.sqrt(difference_parts(components, design).total / 2) / components.slope


def measure_basis(data: StudyData, kind: Kind, study: str) -> Basis:
    """Measure components of variance on the votes of a study's people, or of its judges.

    Raises:
        NotIdentifiedError: They do not tell them.
    """
    people = people_among(data.raters)
    raters = people if kind == "people" else [judge.id for judge in data.judges]
    systems = sorted(data.ranked, key=lambda system: system.name)
    votes = to_comparisons(
        data.of_members().judgments,
        use_strength=False,
        system_ids=[system.id for system in systems],
        rater_ids=raters,
        writers=data.writers,
    )
    votes = select_comparisons(votes, votes.rater >= 0)
    n_raters = len(np.unique(votes.rater))
    if n_raters < (2 if kind == "people" else 1):
        raise NotIdentifiedError(
            f"{study} holds votes of {n_raters} {kind}, which do not tell how they differ"
        )
    found = measure_components(
        votes,
        written=np.array([system.kind == "human" for system in systems]),
        rng=np.random.default_rng(0),
    )
    return Basis(
        source=f"the votes of {kind} in {study}",
        components=found.components,
        pilot=study,
        draws=found.draws,
        n_votes=found.n_votes,
        n_items=found.n_items,
        n_raters=found.n_raters,
        n_writers=found.n_writers,
        unevenness=found.unevenness,
    )


def assume(kind: Kind) -> Basis:
    """Return what is assumed without a pilot, with its source."""
    components = PEOPLE_ASSUMED if kind == "people" else JUDGES_ASSUMED
    return Basis(source=SOURCES[kind], components=components)


def price_design(
    design: Design,
    n_given: int,
    basis: Basis,
    costs: Costs,
    question: Question,
    *,
    pairs_per_item: float | None = None,
) -> Planned:
    """Say what a design would tell, and what it costs; `n_given` are the judges, if they judge.

    Where people write several replies to an item it has more pairs than the design knows of.
    """
    pairs = pairs_per_item or design.n_pairs
    n_votes = design.n_items * pairs * design.n_votes
    found = look_ahead(basis.components, design, gap=question.gap)
    likely = [look_ahead(one, design, gap=question.gap).power for one in basis.draws]
    is_people = design.n_raters > 0
    minutes = design.n_items * costs.minutes_an_item
    minutes += n_votes * costs.minutes_a_vote if is_people else 0.0
    hours = minutes / 60 if minutes else None
    pay = None if hours is None or costs.pay_per_hour is None else hours * costs.pay_per_hour
    usd = design.n_items * (costs.usd_an_item + pairs * costs.usd_a_pair)
    return Planned(
        n_raters=design.n_raters or n_given,
        n_items=design.n_items,
        pairs_per_item=pairs,
        votes_per_pair=design.n_votes,
        n_votes=round(n_votes),
        half_width=found.half_width,
        half_width_elo=found.half_width_elo,
        power=found.power,
        assurance=float(np.mean(likely)) if likely else None,
        person_hours=hours,
        pay=pay,
        usd=usd,
        cost=usd + (pay or 0.0),
    )


def find_designs(
    planned: Design, n_given: int, basis: Basis, costs: Costs, question: Question
) -> tuple[bool, tuple[Planned, ...]]:
    """Find the cheapest designs that tell enough, within the limits; else those that tell most.

    Each has its own people, dialogues and votes of a pair, and as few comparisons as it takes. One
    is left out where another needs no more people, no more dialogues, and no more money or hours.

    Args:
        planned: What the study file describes.
        n_given: Its judges, where judges judge.
        basis: Components of variance.
        costs: What things cost.
        question: What is asked.

    Returns:
        Whether they tell enough, and the designs, the cheapest first.
    """
    ends = [
        _least(design, most, basis.components, question)
        for design in _designs(planned)
        if (most := _affordable(design, costs, question)) is not None
    ]
    is_met = any(question.is_met(found) for _, found in ends)
    kept = [one for one in ends if question.is_met(one[1])] if is_met else ends
    priced = [price_design(design, n_given, basis, costs, question) for design, _ in kept]

    def burden(one: Planned) -> float:
        is_unpaid = one.person_hours is not None and one.pay is None
        return one.person_hours or 0.0 if is_unpaid else one.cost or float(one.n_votes)

    priced.sort(key=lambda one: (burden(one), one.n_items) if is_met else (-one.power, burden(one)))
    best: list[Planned] = []
    for one in priced:
        if not any(o.n_raters <= one.n_raters and o.n_items <= one.n_items for o in best):
            best.append(one)
    return is_met, tuple(best[:MOST_DESIGNS])


def _designs(planned: Design) -> Iterator[Design]:
    """Yield designs around a planned one, each with all pairs of its items."""
    s = planned.n_systems
    sizes = sorted({max(2, round(planned.n_items * times)) for times in TIMES})
    crowds = sorted({*CROWDS, planned.n_raters}) if planned.n_raters else [0]
    votes = sorted({*VOTES, planned.n_votes}) if planned.n_raters else [planned.n_votes]
    for n_raters, n_items, n_votes in product(crowds, sizes, votes):
        if not n_raters or n_votes <= n_raters <= n_items * math.comb(s, 2) * n_votes:
            yield replace(
                planned,
                n_items=n_items,
                n_pairs=math.comb(s, 2),
                n_votes=n_votes,
                n_raters=n_raters,
            )


def _around(planned: Design) -> Iterator[Design]:
    """Yield designs of the same dialogues, with ever more pairs of each."""
    most = math.comb(planned.n_systems, 2)
    for n_raters in CROWDS if planned.n_raters else [0]:
        for share in np.linspace(0, 1, N_STEPS).tolist():
            some = replace(
                planned,
                n_pairs=1 + share * (most - 1),
                n_votes=1 if planned.n_raters else planned.n_votes,
                n_raters=n_raters,
            )
            if some.total >= n_raters:
                yield some


def _affordable(design: Design, costs: Costs, question: Question) -> int | None:
    """Return how many comparisons the limits allow, at most all; None where not one an item."""
    most = design.n_items * design.n_pairs
    an_hour = design.n_votes * costs.minutes_a_vote / 60 if design.n_raters else 0.0
    before = design.n_items * costs.minutes_an_item / 60
    rate = costs.pay_per_hour or 0.0
    usd = design.n_items * costs.usd_an_item + before * rate
    for limit, spent, each in (
        (question.max_hours, before, an_hour),
        (question.max_usd, usd, costs.usd_a_pair + an_hour * rate),
    ):
        if limit is not None and spent > limit:
            return None
        if limit is not None and each:
            most = min(most, (limit - spent) / each)
    return (
        math.floor(most) if most >= max(design.n_items, design.n_raters / design.n_votes) else None
    )


def _least(
    design: Design, most: int, components: Components, question: Question
) -> tuple[Design, Outlook]:
    """Return a design with as few comparisons as tell enough, or with `most`."""

    def of(n: int) -> tuple[Design, Outlook]:
        some = replace(design, n_pairs=n / design.n_items)
        return some, look_ahead(components, some, gap=question.gap)

    low, high = max(design.n_items, -(-design.n_raters // design.n_votes)), most
    best = of(high)
    if not question.is_met(best[1]):
        return best
    while low < high:
        middle = (low + high) // 2
        tried = of(middle)
        if question.is_met(tried[1]):
            best, high = tried, middle
        else:
            low = middle + 1
    return best
