"""Have a study's systems complete, or its judges judge, once what it costs was agreed to."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from hearteval.analysis.coverage.missing import Cause, Failure, find_failure
from hearteval.analysis.coverage.study import find_failures
from hearteval.domain import Item, Study
from hearteval.report.coverage.missing import failure_words
from hearteval.steps import Step
from hearteval.study.asking.cost import (
    Done,
    confirm_spending,
    estimate_spending,
    people_words,
    plan_again,
    plan_what_is_done,
    what_is_done,
)
from hearteval.study.asking.others import tell_what_was_found
from hearteval.study.asking.steps import (
    complete_step,
    complete_without_models,
    cover_completions,
    judge_step,
)
from hearteval.study.asking.words import Spending, in_all, spending_lines
from hearteval.study.session import Session

logger = logging.getLogger(__name__)


def complete_study(session: Session, study: Study) -> tuple[dict[str, Any], tuple[Failure, ...]]:
    """Have every system answer every item it has not answered; return counts and failures."""
    free = complete_without_models(session, study)
    _confirm(session, study, what_is_done(session.store, study), of="systems")
    counts = complete_step(session, study, free)
    allowed = session.settings.fail_on_missing
    return counts, log_failures(
        session, find_failures(cover_completions(session, study), fail_on_missing=allowed)
    )


def judge_study(session: Session, study: Study, *, again: bool = False) -> dict[str, Any]:
    """Plan pairs, or ratings, and have the judges answer what they have not.

    Returns the counts.

    With `again` they are asked about every ranked pair once more.
    """
    done = plan_what_is_done(session, study, judges_only=True)
    more, done = plan_again(session, study, done) if again else ((), done)
    _confirm(session, study, done, of="judges")
    if more:
        session.store.add(more)
    return judge_step(session, study, done.plan)


def find_stop(*steps: Mapping[str, Any] | None) -> str | None:
    """Return why asking ended at the limit on spending, from the counts of steps, or None."""
    return next((step["stopped"] for step in steps if step and step.get("stopped")), None)


def _confirm(
    session: Session, study: Study, done: Done, *, of: Literal["systems", "judges"]
) -> None:
    items = list(session.store.iter(Item, study))
    spending = estimate_spending(session.settings, items, done, when=session.now(), of=of)
    more = ""
    if of == "judges":
        more = people_words(session.settings, items, when=session.now(), used=done.used)
    if more and in_all(spending).n_calls:
        session.tell.note(more)
    agree_to(session, spending, more)


def agree_to(session: Session, spending: Spending, more: str = "") -> None:
    """Say what is to come, and `more` of it, and have it agreed to, where it asks anybody.

    Raises:
        SettingsError: Nobody agreed to what it costs.
    """
    tell_what_was_found(session)
    tell = session.tell.note if in_all(spending).n_calls else session.tell.detail
    tell(f"plan:\n{spending_lines(session.settings, spending)}")
    confirm_spending(session, in_all(spending), more)


def find_failed(
    session: Session,
    step: Step[Any],
    names: Mapping[str, str],
    causes: Mapping[str, Sequence[Cause]],
    n_wanted: Mapping[str, int],
) -> tuple[Failure, ...]:
    """Return those, by id and name, of whom more is missing than the study allows; log them."""
    allowed = session.settings.fail_on_missing
    found = (
        find_failure(step.who, name, n_wanted[id_], causes[id_], fail_on_missing=allowed)
        for id_, name in names.items()
        if causes.get(id_)
    )
    return log_failures(session, tuple(failure for failure in found if failure is not None))


def log_failures(session: Session, failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
    """Write failures into the log of the run, and return them."""
    if failures:
        allowed = session.settings.fail_on_missing
        logger.info("incomplete: %s", failure_words(failures, fail_on_missing=allowed))
    return failures
