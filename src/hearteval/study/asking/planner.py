"""What a study that is not made yet could tell: its design, its costs, and a pilot's votes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from hearteval.analysis.planner import (
    POOL,
    Costs,
    Draft,
    Kind,
    Known,
    Plan,
    Question,
    assume_all,
    make_plan,
    measure_all,
)
from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.config import StudySettings, load_study
from hearteval.domain import Item
from hearteval.errors import NotIdentifiedError, SettingsError, StoreError
from hearteval.notices import SIMULATED_WORDS, Notice
from hearteval.notices import Kind as NoticeKind
from hearteval.report.text import plural
from hearteval.stats.planner.design import Design
from hearteval.store.engines import is_readable_as_is
from hearteval.study import Tell
from hearteval.study.asking.cost import estimate_spending, n_judgments
from hearteval.study.asking.people import pairs_shown, task_minutes
from hearteval.study.asking.words import NOTHING
from hearteval.study.grow import gather, study_systems
from hearteval.study.results import read_data
from hearteval.study.session import open_session, open_stored, utc_now


def plan_study(
    path: Path, question: Question, tell: Tell, *, pilot: Path | None, n_raters: int | None
) -> Plan:
    """Say what the study of a file could tell, by a pilot, its own votes so far, or assumptions.

    Args:
        path: The study file that is planned.
        question: What it is to tell.
        tell: Where to say what is done.
        pilot: Another study file, whose stored votes tell how items and people vary.
        n_raters: People in the pool; None for the pilot's own number, or the paper's.

    Raises:
        SettingsError: A file cannot be used, or the study is none of comparisons.
        StoreError: The pilot has stored nothing.
        NotIdentifiedError: Its votes do not tell how items and people vary.
    """
    settings = load_study(path)
    by = _voters(settings)
    known = _of_pilot(pilot, by, tell) if pilot else _of_own_votes(settings, by, tell)
    is_own = pilot is None or pilot.resolve() == path.resolve()
    n = n_raters or (known.basis.n_raters if is_own else 0) or POOL
    items = _items(settings, tell)
    return make_plan(draft_study(settings, items, max(n, MIN_RATERS)), known, question)


def outlook(settings: StudySettings, items: Sequence[Item]) -> Plan | None:
    """Say what a study could tell by what is assumed alone.

    None where too little is compared, or only by the cue judge, which nothing is assumed of, or
    where a board is continued, most of which is compared already.
    """
    if settings.pool is not None:
        return None
    by = _find_voters(settings)
    is_cue = by == "judges" and all(judge.is_cue for judge in settings.judging.judges)
    n_models = sum(one.kind not in {"stress", "human"} for one in study_systems(settings))
    shown = _shown(settings, items)
    is_enough = len(shown) > 1 and any(pairs_shown(settings, item) for item in shown)
    if by is None or is_cue or n_models < 2 or not is_enough:
        return None
    return make_plan(draft_study(settings, items), assume_all(by), Question())


def draft_study(settings: StudySettings, items: Sequence[Item], n_raters: int = POOL) -> Draft:
    """Return the design and the costs that a study file describes.

    Raises:
        SettingsError: It is none of comparisons of two systems, or a price is unknown.
    """
    by = _voters(settings)
    shown = _shown(settings, items)
    n_models = sum(one.kind not in {"stress", "human"} for one in study_systems(settings))
    people = settings.people
    n_written = people.writers_per_item if people else 0
    n_systems, n_items = n_models + (n_written > 0), len(shown)
    n_pairs = [pairs_shown(settings, item) for item in shown]
    if n_systems < 2 or n_items < 2 or not any(n_pairs):
        raise SettingsError(
            f"{settings.file}: to plan comparisons takes two systems and two items that both"
            f" answer, and here are {plural(n_systems, 'system')} and {plural(n_items, 'item')}"
        )
    pairs = fmean(n_pairs)
    plan = settings.judging.plan
    if plan.comparisons is not None:
        pairs = min(pairs, plan.comparisons / len(items))
    n_judged, judges_per_pair = len(items) * pairs, _judges_per_pair(settings, len(items), pairs)
    costs = _costs(settings, items, n_judged)
    n_votes = judges_per_pair
    if by == "people":
        assert people is not None, "nobody is asked"
        pairs, n_votes = pairs * people.overlap, people.raters_per_pair
        if people.sample is not None:
            pairs = min(pairs, people.sample / n_items)
    if pairs < 1:  # some dialogues are not judged at all
        n_items, pairs = max(2, math.floor(n_items * pairs)), 1.0
    n_asked = max(n_votes, min(n_raters, math.floor(n_items * pairs * n_votes)))
    return Draft(
        study=settings.name,
        by=by,
        design=Design(
            n_systems=n_systems,
            n_items=n_items,
            n_pairs=min(pairs, math.comb(n_systems, 2)),
            n_votes=n_votes,
            n_raters=n_asked if by == "people" else 0,
        ),
        pairs_per_item=pairs,
        n_judges=len(settings.judging.judges),
        judges_per_pair=judges_per_pair,
        n_models=n_models,
        costs=costs,
    )


def _voters(settings: StudySettings) -> Kind:
    by = _find_voters(settings)
    if by is None:
        raise SettingsError(
            f"{settings.file}: nobody compares two replies in this study, and a plan is about"
            " comparisons; ratings one by one are not planned",
            ids=("judging.protocol",),
        )
    return by


def _find_voters(settings: StudySettings) -> Kind | None:
    """Return whose votes a plan is about: people's, where they compare; None where nobody does."""
    people, judges = settings.people, settings.judging
    if people is not None and people.raters_per_pair and people.protocol != "rating":
        return "people"
    return "judges" if judges.judges and judges.protocol != "rating" else None


def _shown(settings: StudySettings, items: Sequence[Item]) -> list[Item]:
    people = settings.people
    return [item for item in items if people is None or item.is_within(people.edge)]


def _judges_per_pair(settings: StudySettings, n_items: int, pairs: float) -> int:
    """Return how many judges judge a pair, on average, those kept from their own family apart."""
    plan = replace(settings.judging.plan, stress_items=0, repeat_pairs=0, both_orders=False)
    alone = replace(settings, judging=replace(settings.judging, plan=plan))
    if not settings.judging.judges or settings.judging.protocol == "rating":
        return 0
    n = sum(n_judgments(alone, n_items).values())
    return max(1, round(n / (n_items * pairs)))


def _costs(settings: StudySettings, items: Sequence[Item], n_pairs: float) -> Costs:
    spending = estimate_spending(settings, items, when=utc_now())
    usd = {
        who: sum((one for name, one in spending.items() if name.startswith(who)), NOTHING).usd_low
        or 0.0
        for who in ("system", "judge")
    }
    minutes = [task_minutes(settings, item) for item in items]
    people = settings.people
    n_written = people.writers_per_item if people else 0
    return Costs(
        minutes_a_vote=fmean(one.judged for one in minutes),
        minutes_an_item=n_written * fmean(one.reply for one in minutes),
        pay_per_hour=people.pay_per_hour if people else None,
        usd_an_item=usd["system"] / len(items),
        usd_a_pair=usd["judge"] / n_pairs,
    )


def _items(settings: StudySettings, tell: Tell) -> Sequence[Item]:
    if not is_readable_as_is(settings.store):
        return gather(settings, tell).items
    with open_session(settings, tell, is_only_read=True) as session:
        return gather(settings, tell, session.store).items


def _of_pilot(pilot: Path, by: Kind, tell: Tell) -> Known:
    with open_stored(pilot, tell) as (session, study):
        known = measure_all(read_data(session, study).without_excluded(), by, study.name)
    if not study.is_simulated:
        return known
    return replace(known, warnings=(Notice(NoticeKind.SIMULATED, SIMULATED_WORDS),))


def _of_own_votes(settings: StudySettings, by: Kind, tell: Tell) -> Known:
    """Measure on the study's own votes where there are enough, else assume."""
    if not is_readable_as_is(settings.store):
        return assume_all(by)
    try:
        return _of_pilot(settings.file, by, tell)
    except (NotIdentifiedError, StoreError) as error:
        tell.detail(f"its own votes so far are no pilot: {error}")
        return assume_all(by)
