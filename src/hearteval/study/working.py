"""`heart work`: answer what is open of a study that others plan; any number do so together.

Nothing is gathered, planned or analysed. Models with batch jobs, audits of judges and rewrites are
left to the verbs that begin them.
"""

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hearteval.analysis.coverage.missing import Cause, Failure, find_failure
from hearteval.config import ModelSettings, StudySettings, load_study
from hearteval.domain import Assignment, Completion, Item, Rater, Study, System
from hearteval.domain.reasons import outlook_of
from hearteval.judgments.plan.run import plan_ratings, ratings_to_ask
from hearteval.labels.taxonomy import TAXONOMIES, Taxonomy, load_taxonomy
from hearteval.models.prices import Estimate, price_per_million
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


def work(
    session: Session,
    study: Study,
    *,
    most: int | None = None,
    wait_seconds: float = 0.0,
    who: str | None = None,
    n_sharing: int = 1,
) -> tuple[dict[str, Any], tuple[Failure, ...]]:
    """Claim what is open of a study, ask, store, until nothing is; return counts and failures.

    Args:
        session: Of the study file.
        study: Its stored version.
        most: Questions to ask; None for all.
        wait_seconds: For so long it waits for new questions once nothing is open.
        who: Whose answers, as `Step.who`; None for everybody's.
        n_sharing: Workers of one run, which share the calls that a model takes at once.

    Raises:
        SettingsError: A key or a price is missing, nobody agreed to what it costs, or another
            version of the study was stored meanwhile.
        StoppedError: A signal came; what came until then is kept.
    """
    worked = Worked(most=most)
    stamp, found = _stamp(session.store), _find_open(session, study, who)
    _agree(session, study, found, most, is_waiting=wait_seconds > 0)
    seen = {one.name: one for one in found}
    while True:
        stopped = _ask(session, study, found, worked, n_sharing)
        if stopped or worked.is_full or not _has_more_come(session, stamp, wait_seconds):
            break
        study = stored_study(session)
        stamp, found = _stamp(session.store), _find_open(session, study, who)
        seen |= {one.name: one for one in found}
    counts = {name: _counts(name, worked) for name in seen}
    return {**counts, "stopped": stopped}, _failures(session, seen, worked)


class _Agreed(Quiet):
    """Says nothing, and agrees to what was agreed to before."""

    def confirm(self, words: str, *, study: str) -> None:
        """Agree."""


def work_beside(study_file: Path, who: str, *, n_sharing: int) -> None:
    """Answer what is open of these, as a worker of a run that has had its cost agreed to."""
    settings = load_study(study_file)
    with open_to_work(settings, _Agreed()) as (session, study):
        work(session, study, who=who, n_sharing=n_sharing)


def _find_open(session: Session, study: Study, who: str | None) -> list[Part]:
    """Return the kinds of questions of which something is open that a worker may ask.

    Only those asked of `who` (system, judge or labeler); None for all.
    """
    models = _models(session.settings)
    found = []
    for part in _find_planned(session, study):
        n_open = {id_: n for id_, n in part.n_open.items() if n > 0 and id_ in models}
        found += [part._replace(n_open=n_open)] if n_open and who in (None, part.step.who) else []
    return found


def _find_planned(session: Session, study: Study) -> Iterator[Part]:
    """Yield what is open of each kind of question, as far as it is planned."""
    store, settings = session.store, session.settings
    systems, judges = system_models(settings), judge_models(settings)
    step = CompletionStep()
    n_replies = step.find(store, study, systems).n_open
    yield Part("replies", step, n_replies)
    form = settings.judging.form
    if not is_rated(study):
        n = Counter[str]()
        for count in store.count_assigned(study):
            n[count.rater_id] += count.n - count.n_judged
        n.subtract(a.rater_id for a in store.find(Assignment, [*given_up_judgments(store, study)]))
        yield Part("judgments", PairStep(form=form), n)
    elif not n_replies and _has_stress_set(store, study, session):
        # A plan of ratings is not stored: what is asked twice hangs on every reply being there.
        targets = plan_ratings(store, study, settings.judging.plan).targets
        rating = RatingStep(targets=ratings_to_ask(store, study, targets), form=form)
        yield Part("ratings", rating, rating.find(store, study, judges).n_open)
    for taxonomy in _taxonomies(settings):
        # Whoever begins to label by a taxonomy stores its labelers, once it was agreed to.
        begun = {r.id for r in store.find(Rater, [*labeler_models(settings, taxonomy)])}
        labels = LabelStep(taxonomy=taxonomy)
        if begun:
            n = labels.find(store, study, begun).n_open
            yield Part(f"labels ({taxonomy.name})", labels, n)


def _taxonomies(settings: StudySettings) -> Iterator[Taxonomy]:
    for taxonomy in map(load_taxonomy, TAXONOMIES):
        is_sampled = taxonomy.name == "rationales"
        yield replace(taxonomy, n_comparisons=settings.n_reasons) if is_sampled else taxonomy


def _models(settings: StudySettings) -> dict[str, ModelSettings]:
    """Return every model that a worker may ask, by the id of the system or rater."""
    labelers = (labeler_models(settings, taxonomy) for taxonomy in _taxonomies(settings))
    models = {id_: model for each in labelers for id_, (_, model) in each.items()}
    models |= system_models(settings) | judge_models(settings)
    return {id_: model for id_, model in models.items() if model.batch is None}


def _shared(model: ModelSettings, n_sharing: int) -> ModelSettings:
    """Give one of so many its calls at once; weights that it serves itself are nobody else's."""
    n_at_once = model.concurrency if model.path else max(1, model.concurrency // n_sharing)
    return replace(model, concurrency=n_at_once)


def _has_stress_set(store: Store, study: Study, session: Session) -> bool:
    bearers = {system.id for system in store.iter(System, study) if system.kind == "stress"}
    texts = store.iter(Completion, study)
    return not session.settings.judging.plan.stress_items or any(
        text.system_id in bearers for text in texts
    )


def _agree(
    session: Session, study: Study, found: Sequence[Part], most: int | None, *, is_waiting: bool
) -> None:
    """Have it agreed to what is open, or to what may come."""
    settings, when = session.settings, session.now()
    items = list(session.store.iter(Item, study))
    done = what_is_done(session.store, study)
    spending: dict[str, Estimate] = {}
    for part in found:
        n_open = {id_: n if most is None else min(n, most) for id_, n in part.n_open.items()}
        if isinstance(part.step, LabelStep):
            taxonomy = part.step.taxonomy
            labelers = labeler_models(settings, taxonomy)
            spending |= estimate_labels(session, study, taxonomy, labelers, n_open)
        elif part.step.who == "judge":
            spending |= estimate_judgments(settings, items, n_open, when=when, used=done.used)
        else:
            others = system_models(settings).keys() - n_open
            whole = dict.fromkeys(others, frozenset(study.item_ids))
            of_these = replace(done, completions={**done.completions, **whole})
            spending |= estimate_spending(settings, items, of_these, when=when, of="systems")
    agree_to(session, spending, LATER if is_waiting else "")
    prices = (price_per_million(tariff_of(model), when=when) for _, model in paid_models(settings))
    costs = any(one is None or one.input_usd or one.output_usd for one in prices)
    if is_waiting and costs and not in_all(spending).usd_high:
        session.tell.confirm(LATER, study=str(settings.file))


def _ask(
    session: Session, study: Study, found: Sequence[Part], worked: Worked, n_sharing: int
) -> str | None:
    if not found:
        free_what_is_left(session.store)
        return None

    async def ask(asking: Asking) -> str | None:
        await warn_of_unheld_schemas(asking, session.tell, who="model")
        with session.tell.progress("answers", cost=lambda: asking.ledger.spent_usd) as progress:
            return await work_off(
                asking.writer,
                study,
                found,
                asking.models,
                worked,
                now=session.now,
                progress=progress,
            )

    models = {id_: _shared(one, n_sharing) for id_, one in _models(session.settings).items()}
    groups = (({id_: models[id_] for id_ in part.n_open}, part.step.schema) for part in found)
    return ask_models(session, ask, *groups)


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


def _failures(session: Session, seen: Mapping[str, Part], worked: Worked) -> tuple[Failure, ...]:
    """Return those who gave this worker less than the study allows."""
    found = []
    owners = sorted({(part, owner) for part, owner, _ in worked.missing})
    ids = [owner for _, owner in owners]
    names = {one.id: one.name for one in session.store.find(System, ids)}
    names |= {one.id: one.name for one in session.store.find(Rater, ids)}
    for name, owner in owners:
        causes = [
            Cause(reason=reason, words=None, n=n, outlook=outlook_of(reason))
            for (*of, reason), n in worked.missing.items()
            if of == [name, owner]
        ]
        n_asked = worked.n_added[name, owner] + sum(cause.n for cause in causes)
        allowed = session.settings.fail_on_missing
        who = seen[name].step.who
        found.append(find_failure(who, names[owner], n_asked, causes, fail_on_missing=allowed))
    return log_failures(session, tuple(one for one in found if one is not None))
