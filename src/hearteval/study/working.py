"""`heart work`: answer what is open of a study that others plan; any number do so together.

Nothing is gathered, planned or analysed. Models with batch jobs, audits of judges and rewrites are
left to the verbs that begin them.
"""

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hearteval.analysis.coverage.missing import Cause, Failure, find_failure
from hearteval.config import ModelSettings, load_study
from hearteval.domain import Assignment, Completion, Item, Rater, Study, System
from hearteval.domain.reasons import outlook_of
from hearteval.judgments.plan.run import plan_ratings, ratings_to_ask
from hearteval.labels.taxonomy import TAXONOMIES, Taxonomy, load_taxonomy
from hearteval.models.prices import Estimate, price_per_million
from hearteval.steps import Step
from hearteval.steps.completions import CompletionStep
from hearteval.steps.judgments import PairStep, RatingStep, given_up_judgments
from hearteval.steps.labels import LabelStep
from hearteval.steps.working import Part, Worked, work_off
from hearteval.store.base import Store
from hearteval.study import Quiet
from hearteval.study.asking.cost import (
    estimate_judgments,
    estimate_labels,
    estimate_spending,
    what_is_done,
)
from hearteval.study.asking.models import Asking, paid_models, tariff_of
from hearteval.study.asking.others import free_what_is_left
from hearteval.study.asking.running import ask_models, warn_of_unheld_schemas
from hearteval.study.asking.verbs import agree_to, log_failures
from hearteval.study.asking.words import in_all
from hearteval.study.grow import judge_models, system_models
from hearteval.study.labels import labeler_models
from hearteval.study.session import POLL_SECONDS, Session, is_rated, open_to_work, stored_study

LATER = "what is planned while it waits is asked too, up to budget.max_usd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """A kind of question, and of whom something of it is open."""

    name: str
    step: Step[Any]
    models: Mapping[str, ModelSettings]
    """By the id of the system or rater."""
    n_open: Mapping[str, int]
    taxonomy: Taxonomy | None = None
    """Of labels."""


def work(
    session: Session,
    study: Study,
    *,
    most: int | None = None,
    wait_seconds: float = 0.0,
    who: str | None = None,
) -> tuple[dict[str, Any], tuple[Failure, ...]]:
    """Claim what is open of a study, ask, store, until nothing is; return counts and failures.

    Args:
        session: Of the study file.
        study: Its stored version.
        most: Questions to ask; None for all.
        wait_seconds: For so long it waits for new questions once nothing is open.
        who: Whose answers, as `Step.who`; None for everybody's.

    Raises:
        SettingsError: A key or a price is missing, nobody agreed to what it costs, or another
            version of the study was stored meanwhile.
        StoppedError: A signal came; what came until then is kept.
    """
    worked = Worked(most=most)
    stamp, found = _stamp(session.store), _find_open_of(session, study, who)
    _agree(session, study, found, most, is_waiting=wait_seconds > 0)
    seen = {one.name: one for one in found}
    while True:
        stopped = _ask(session, study, found, worked)
        if stopped or worked.is_full or not _has_more_come(session, stamp, wait_seconds):
            break
        study = stored_study(session)
        stamp, found = _stamp(session.store), _find_open_of(session, study, who)
        seen |= {one.name: one for one in found}
    counts = {name: _counts(name, worked) for name in seen}
    return {**counts, "stopped": stopped}, _failures(session, seen, worked)


class _Agreed(Quiet):
    """Says nothing, and agrees to what was agreed to before."""

    def confirm(self, words: str, *, study: str) -> None:
        """Agree."""


def work_beside(study_file: Path, who: str) -> None:
    """Answer what is open of these, as a worker of a run that has had its cost agreed to."""
    settings = load_study(study_file)
    with open_to_work(settings, _Agreed()) as (session, study):
        work(session, study, who=who)


def _find_open_of(session: Session, study: Study, who: str | None) -> list[Open]:
    return [one for one in _find_open(session, study) if who in (None, one.step.who)]


def _find_open(session: Session, study: Study) -> Iterator[Open]:
    """Yield the kinds of questions of which something is open, as far as they are planned."""
    store, settings = session.store, session.settings
    systems, judges = system_models(settings), judge_models(settings)
    step = CompletionStep()
    n_replies = step.find(store, study, systems).n_open
    yield from _open("replies", step, systems, n_replies)
    form = settings.judging.form
    if not is_rated(study):
        n = Counter[str]()
        for count in store.count_assigned(study):
            n[count.rater_id] += count.n - count.n_judged
        n.subtract(a.rater_id for a in store.find(Assignment, [*given_up_judgments(store, study)]))
        yield from _open("judgments", PairStep(form=form), judges, n)
    elif not n_replies and _has_stress_set(store, study, session):
        # A plan of ratings is not stored: what is asked twice hangs on every reply being there.
        targets = plan_ratings(store, study, settings.judging.plan).targets
        rating = RatingStep(targets=ratings_to_ask(store, study, targets), form=form)
        yield from _open("ratings", rating, judges, rating.find(store, study, judges).n_open)
    for name in TAXONOMIES:
        taxonomy = load_taxonomy(name)
        if name == "rationales":
            taxonomy = replace(taxonomy, n_comparisons=settings.n_reasons)
        models = {id_: model for id_, (_, model) in labeler_models(settings, taxonomy).items()}
        # Whoever begins to label by a taxonomy stores its labelers, once it was agreed to.
        begun = {rater.id for rater in store.find(Rater, [*models])}
        labels = LabelStep(taxonomy=taxonomy)
        if begun:
            n_texts = labels.find(store, study, begun).n_open
            yield from _open(f"labels ({name})", labels, models, n_texts, taxonomy)


def _open(
    name: str,
    step: Step[Any],
    models: Mapping[str, ModelSettings],
    n_open: Mapping[str, int],
    taxonomy: Taxonomy | None = None,
) -> Iterator[Open]:
    asked = {id_: m for id_, m in models.items() if n_open.get(id_, 0) > 0 and m.batch is None}
    if asked:
        n_open = {id_: n_open[id_] for id_ in asked}
        yield Open(name=name, step=step, models=asked, n_open=n_open, taxonomy=taxonomy)


def _has_stress_set(store: Store, study: Study, session: Session) -> bool:
    bearers = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    texts = store.iter(Completion, study)
    return not session.settings.judging.plan.stress_items or any(
        text.system_id in bearers for text in texts
    )


def _agree(
    session: Session, study: Study, found: Sequence[Open], most: int | None, *, is_waiting: bool
) -> None:
    """Have it agreed to what is open, or to what may come."""
    settings, when = session.settings, session.now()
    items = list(session.store.iter(Item, study))
    done = what_is_done(session.store, study)
    spending: dict[str, Estimate] = {}
    for one in found:
        n_open = {id_: n if most is None else min(n, most) for id_, n in one.n_open.items()}
        if one.taxonomy is not None:
            labelers = labeler_models(settings, one.taxonomy)
            spending |= estimate_labels(session, study, one.taxonomy, labelers, n_open)
        elif one.step.who == "judge":
            spending |= estimate_judgments(settings, items, n_open, when=when, used=done.used)
        else:
            answered = {
                id_: done.completions.get(id_, frozenset())
                if id_ in one.models
                else frozenset(i.id for i in items)
                for id_ in system_models(settings)
            }
            asked = replace(done, completions=answered)
            spending |= estimate_spending(settings, items, asked, when=when, of="systems")
    agree_to(session, spending, LATER if is_waiting else "")
    prices = (price_per_million(tariff_of(model), when=when) for _, model in paid_models(settings))
    costs = any(one is None or one.input_usd or one.output_usd for one in prices)
    if is_waiting and costs and not in_all(spending).usd_high:
        session.tell.confirm(LATER, study=str(settings.file))


def _ask(session: Session, study: Study, found: Sequence[Open], worked: Worked) -> str | None:
    if not found:
        free_what_is_left(session.store)
        return None

    async def ask(asking: Asking) -> str | None:
        await warn_of_unheld_schemas(asking, session.tell, who="model")
        parts = [
            Part(one.name, one.step, {id_: asking.models[id_] for id_ in one.models})
            for one in found
        ]
        with session.tell.progress("answers", cost=lambda: asking.ledger.spent_usd) as progress:
            return await work_off(
                asking.writer, study, parts, worked, now=session.now, progress=progress
            )

    return ask_models(session, ask, *((one.models, one.step.schema) for one in found))


def _stamp(store: Store) -> Hashable:
    return store.stamp(Study, Rater, Completion, Assignment)


def _has_more_come(session: Session, stamp: Hashable, seconds: float) -> bool:
    """Wait for so long until there may be new questions."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if _stamp(session.store) != stamp:
            return True
        time.sleep(min(POLL_SECONDS, left))
    return False


def _counts(name: str, worked: Worked) -> dict[str, Any]:
    missing = Counter[str]()
    for (part, _, reason), n in worked.missing.items():
        missing[reason] += n if part == name else 0
    n_added = sum(n for (part, _), n in worked.n_added.items() if part == name)
    return {"n_added": n_added, "n_missing": missing.total(), "missing": dict(+missing)}


def _failures(session: Session, seen: Mapping[str, Open], worked: Worked) -> tuple[Failure, ...]:
    """Return those who gave this worker less than the study allows."""
    found = []
    for part, one in seen.items():
        kind: type[System | Rater] = System if one.step.who == "system" else Rater
        for member in session.store.find(kind, [*one.models]):
            causes = [
                Cause(reason=reason, words=None, n=n, outlook=outlook_of(reason))
                for (*of, reason), n in worked.missing.items()
                if of == [part, member.id]
            ]
            n_asked = worked.n_added[part, member.id] + sum(cause.n for cause in causes)
            allowed = session.settings.fail_on_missing
            if causes and (
                failure := find_failure(
                    one.step.who, member.name, n_asked, causes, fail_on_missing=allowed
                )
            ):
                found.append(failure)
    return log_failures(session, tuple(found))
