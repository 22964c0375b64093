"""A study from its items to its report, its audit and its times: what a verb asks in one call.

What costs money is estimated and agreed to before the first call is made.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from hearteval.analysis.coverage.latency import SystemLatency, latency_by_system
from hearteval.analysis.coverage.missing import Failure, find_causes, last_attempts
from hearteval.analysis.coverage.study import count_by_source, cover_data, find_failures
from hearteval.analysis.data import StudyData
from hearteval.analysis.study import StudyResults
from hearteval.completions.latency import ProbePlan, ProbePolicy, plan_probes
from hearteval.config import StudySettings
from hearteval.config.first_models import STILL_EXAMPLES, WRITE_PROMPTS, are_examples
from hearteval.domain import Assignment, Attempt, Item, LatencyProbe, Rater, Study, System
from hearteval.errors import SettingsError
from hearteval.judgments.form import PAPER, JudgeForm
from hearteval.judgments.plan.run import AuditPlan, plan_audit, plan_judgments, plan_ratings
from hearteval.models.asking import AskedCounts
from hearteval.report.answers.headline import results_notices
from hearteval.report.files.plan import outlook_words
from hearteval.report.leaderboard import anchored_rows, leaderboard_rows
from hearteval.report.scores import rating_rows
from hearteval.report.text import NO_BREAK_SPACE, listed, plural
from hearteval.sections.judges.audit import JudgeAudit, audit_judges
from hearteval.steps.completions import CompletionStep, probe_systems
from hearteval.steps.judgments import PairStep, RatingStep, judge_assignments
from hearteval.store.base import Store
from hearteval.store.engines import is_readable_as_is
from hearteval.study import Tell, quoted
from hearteval.study.asking.cost import (
    NOTHING_DONE,
    PROBE_CALLS,
    Done,
    confirm_spending,
    estimate_judgments,
    estimate_probes,
    estimate_spending,
    first_questions,
    n_judgments,
    people_words,
    plan_unwritten,
    plan_what_is_done,
    require_keys,
)
from hearteval.study.asking.expecting import read_used
from hearteval.study.asking.models import Asking, paid_models
from hearteval.study.asking.others import look_around, tell_what_was_found
from hearteval.study.asking.people import plan_people, work_lines
from hearteval.study.asking.planner import outlook
from hearteval.study.asking.running import ask_models, take_step, warn_of_missing
from hearteval.study.asking.steps import (
    complete_step,
    complete_without_models,
    judge_step,
)
from hearteval.study.asking.verbs import agree_to, find_failed, find_stop, log_failures
from hearteval.study.asking.words import Spending, estimate_words, in_all, spending_lines
from hearteval.study.grow import (
    frozen_systems,
    gather,
    imported_systems,
    judge_models,
    study_systems,
    system_models,
)
from hearteval.study.items.files import english_words
from hearteval.study.one_model import declared_same
from hearteval.study.people import Desk
from hearteval.study.people.joining import forget_old_details
from hearteval.study.report.write import write_report, write_results
from hearteval.study.results import (
    analyze,
    read_data,
    read_judgments,
)
from hearteval.study.session import Session, open_session, utc_now

logger = logging.getLogger(__name__)
LEVEL = 0.95
"""Of the intervals of an audit."""
NOT_MEASURED = "writes without a model"
IMPORTED = "its replies are imported"
WARM_UP = "The first call of each model in a run warms it up and is left out."


def failed_judges(session: Session, study: Study) -> tuple[Failure, ...]:
    """Return the judges of a study that failed, as its results do."""
    coverage = cover_data(read_data(session, study))
    judges = () if coverage.is_all_identical else coverage.judges
    allowed = session.settings.fail_on_missing
    return log_failures(session, find_failures((), judges, fail_on_missing=allowed))


def run_study(session: Session, study: Study) -> tuple[dict[str, Any], StudyResults]:
    """Take every step that is not done yet; return what was done as JSON says it, and the results.

    Beside that, ``stored`` is the fingerprint of what the results rest on, None where other runs
    are here, or have left something.

    Raises:
        SettingsError: A key or a price is missing, or nobody agreed to what it costs.
    """
    settings = session.settings
    if settings.people is not None:
        forget_old_details(Desk(session=session, study=study), now=session.now())
    is_any_found = tell_what_was_found(session)
    items = list(session.store.iter(Item, study))
    free = complete_without_models(session, study)
    done = plan_what_is_done(session, study)
    spending = estimate_spending(settings, items, done, when=session.now())
    session.tell.note(title_words(settings, items, spending))
    tell = session.tell.note if in_all(spending).n_calls else session.tell.detail
    tell(plan_words(settings, items, spending, done))
    warn_of_choices(settings, items, session.tell)
    require_keys(settings, session.store, study, done)
    of_people = people_words(settings, items, when=session.now(), used=done.used)
    confirm_spending(session, in_all(spending), of_people)
    completions = complete_step(session, study, free)
    judgments = judge_step(session, study, done.plan)
    stored = session.store.fingerprint(study)  # first, so that what comes meanwhile is a change
    with session.tell.progress("analysis"):
        results = analyze(session, study)
        log_failures(session, results.failures)
    with session.tell.progress("report"):
        paths = {"results": write_results(session, results)}
        paths |= write_report(session, study, results)
    body = {
        "study": study.name,
        "study_id": study.id,
        "version": study.version,
        "dry_run": False,
        "ceiling": ceiling(settings, items, spending),
        **money_of(session.store),
        "n_items": len(study.item_ids),
        "completions": completions,
        **judgments,
        "judge_notice": results.judge_notice,
        "warnings": list(results_notices(results)),
        "consent_bases": list(results.provenance.consent_bases),
        "anchored": anchored_rows(results),
        "leaderboard": leaderboard_rows(results),
        "rated": rating_rows(results.ratings),
        "failures": [asdict(failure) for failure in results.failures],
        "stopped": find_stop(completions, *judgments.values()),
        **paths,
        "stored": None if is_any_found else stored,
    }
    return body, results


def show_plan(settings: StudySettings, tell: Tell) -> tuple[dict[str, Any], str]:
    """Return what a study still needs and the money that is spent, as JSON says it and in words.

    Nothing is asked, made or stored.
    """
    spent: dict[str, Any] = {"spent_usd": 0.0, "in_flight": None}
    if is_readable_as_is(settings.store):
        with open_session(settings, tell, is_only_read=True) as session:
            tell_what_was_found(session)
            gathered = gather(settings, tell, session.store)
            done, spent = plan_unwritten(session, gathered), money_of(session.store)
    else:
        gathered, done = gather(settings, tell), NOTHING_DONE
    items = gathered.items
    warn_of_choices(settings, items, tell)
    spending = estimate_spending(settings, items, done, when=utc_now())
    is_over = bool(done.completions) and not in_all(spending).n_calls
    could = None if is_over else outlook(settings, items)
    body = {
        **spent,
        "ceiling": ceiling(settings, items, spending),
        "outlook": None if could is None else asdict(could.planned),
    }
    words = plan_words(settings, items, spending, done)
    if could is not None:
        words += f"\n{outlook_words(could)}"
        words += f" `heart plan {quoted(settings.file)}` lists designs that tell more."
    return body, words


def probe_cost(session: Session, study: Study) -> tuple[dict[str, Any], str]:
    """Ask each model its first questions, once it was agreed to; return the plan that follows.

    The answers are ordinary ones. Where completions are still to come, judges are asked about a few
    pairs of those that are there, drawn as a balanced plan draws them and in one order: two of one
    pair tell no more of the price. Models with batch jobs are left out, as an answer of theirs may
    take a day.

    Raises:
        SettingsError: A key or a price is missing, or nobody agreed to what it costs.
    """
    settings, store = session.settings, session.store
    tell_what_was_found(session)
    items = list(store.iter(Item, study))
    complete_without_models(session, study)
    done = plan_what_is_done(session, study)
    first = first_questions(settings, done, items)
    spending = estimate_spending(settings, items, first, when=session.now())
    session.tell.note(f"first questions:\n{spending_lines(settings, spending)}")
    warn_of_choices(settings, items, session.tell)
    require_keys(settings, store, study, done)
    confirm_spending(session, in_all(spending))
    step = CompletionStep()
    systems = system_models(settings)
    completions = take_step(session, systems, ("replies", study, step), most=PROBE_CALLS)
    if done.open_judgments is None and settings.judging.protocol != "rating":
        few = replace(
            settings.judging.plan,
            design="balanced",
            comparisons=PROBE_CALLS,
            both_orders=False,
            stress_items=0,
            repeat_pairs=0,
        )
        plan_judgments(store, study, few, now=session.now)
    form = settings.judging.form
    judging: PairStep | RatingStep = PairStep(form=form)
    if form.protocol == "rating":
        targets = plan_ratings(store, study, settings.judging.plan).targets
        judging = RatingStep(targets=targets, form=form)
    part = (f"{judging.answer}s", study, judging)
    judgments = take_step(session, judge_models(settings), part, most=PROBE_CALLS)
    done = plan_what_is_done(session, study)
    spending = estimate_spending(settings, items, done, when=session.now())
    asked = {"completions": asdict(completions), "judgments": asdict(judgments)}
    body = {"probe": asked, **money_of(store), "ceiling": ceiling(settings, items, spending)}
    return body, plan_words(settings, items, spending, done)


def money_of(store: Store) -> dict[str, Any]:
    """Return what all runs on a store have cost, and what killed ones had in flight, as JSON."""
    in_flight = look_around(store).in_flight
    return {
        "spent_usd": store.spent_usd(),
        "in_flight": None if in_flight is None else asdict(in_flight),
    }


def warn_of_choices(settings: StudySettings, items: Sequence[Item], tell: Tell) -> None:
    """Warn of what the study file itself makes a comparison that says little.

    Judges that are a system or another judge, example prompts, English replies to other languages.
    """
    for found in declared_same(settings):
        tell.warn(f"{found.words}; {found.remedy}")
    if are_examples(system.brief for system in settings.systems):
        tell.warn(f"{STILL_EXAMPLES}; {WRITE_PROMPTS}")
    if words := english_words([system.preset for system in settings.systems], items):
        tell.warn(f"{words}; take them out of the study file")


def ceiling(settings: StudySettings, items: Sequence[Item], spending: Spending) -> dict[str, Any]:
    """Return what a first run does at most, and what is still to be paid for."""
    estimate, work = in_all(spending), plan_people(settings, items)
    frozen = frozen_systems(settings)
    n_systems = len(settings.systems)
    n_frozen = sum(one.id in frozen and one.kind != "human" for one in study_systems(settings))
    return {
        "n_items": len(items),
        "n_items_by_source": count_by_source(items),
        "n_systems": n_systems,
        "n_frozen": n_frozen,
        "n_judges": len(settings.judging.judges),
        "max_completions": len(items) * max(0, n_systems - n_frozen),
        "max_judgments": sum(n_judgments(settings, len(items)).values()),
        "max_usd": estimate.usd_high,
        "limit_usd": settings.max_usd,
        "people": None if work is None else asdict(work),
        "estimate": asdict(estimate),
        "by_model": [{"who": who, **asdict(one)} for who, one in spending.items()],
    }


def title_words(settings: StudySettings, items: Sequence[Item], spending: Spending) -> str:
    """Name a study and what it is made of, in a line."""
    judges = listed([judge.name for judge in settings.judging.judges])
    named = settings.judging.form.rubric
    rubric = (
        " by the paper's rubric" if named == PAPER else " by a rubric of its own" if named else ""
    )
    free = "" if in_all(spending).n_calls else "; no model is asked, it is free"
    return (
        f"{settings.name}: {plural(len(items), 'item')}, {plural(len(settings.systems), 'system')},"
        f" judged by {judges}{rubric}{free}"
    ).replace(NO_BREAK_SPACE, " ")


def plan_words(
    settings: StudySettings, items: Sequence[Item], spending: Spending, done: Done
) -> str:
    """Say what a first run does at most, and what is still to be paid for, by model."""
    most = ceiling(settings, items, spending)
    counts = most["n_items_by_source"]
    said = ", ".join(f"{n:,} {source}" for source, n in counts.items())
    by_source = f" ({said})" if len(counts) > 1 else ""
    plan = f"plan: {plural(most['n_items'], 'item')}{by_source}"
    plan += f", {plural(most['n_systems'], 'system')}"
    if most["n_frozen"]:
        plan += f" ({most['n_frozen']} of them frozen)"
    if done.completions and paid_models(settings) and not most["estimate"]["n_calls"]:
        plan += ": nothing is left to ask of any model, and nothing to pay"
        return plan.replace(NO_BREAK_SPACE, " ")
    what = "rating" if settings.judging.protocol == "rating" else "judgment"
    plan += f", at most {plural(most['max_completions'], 'reply')}"
    if most["n_judges"]:
        judges = plural(most["n_judges"], "judge")
        plan += f" and {plural(most['max_judgments'], what)} by {judges}"
        if not most["n_frozen"]:  # whose judges have faced both
            plan += ", the stress set and repeats included"
    more = [people_words(settings, items, when=utc_now(), used=done.used)]
    work = plan_people(settings, items)
    more += [] if work is None else work_lines(settings, work)
    lines = [f"  {line}" for line in more if line]
    said = "\n".join([plan, *lines, spending_lines(settings, spending)])
    return said.replace(NO_BREAK_SPACE, " ")


def audit_study(
    session: Session, study: Study, *, n_items: int
) -> tuple[dict[str, Any], tuple[JudgeAudit, ...], tuple[Failure, ...]]:
    """Audit the judges of a study; return the counts, what was found, and who failed."""
    tell = session.tell
    if study.is_simulated:
        raise SettingsError(
            f"{session.settings.file}: the study is simulated: its judges were drawn, so nobody can"
            " ask them about other texts and nothing can be audited. What was planted in them"
            " stands in truth.json, and `heart analyze` says what of it shows",
            ids=("study.simulated",),
        )
    plan = plan_audit(session.store, study, n_items=n_items, now=session.now())
    n_found = len(plan.study.item_ids)
    if not n_found:
        raise SettingsError(
            f"{session.settings.file}: no item has a reference reply, from which the audit makes"
            " its texts; add some, or audit these judges in a study of the starter items",
            ids=("items.source",),
        )
    if n_found < n_items:
        tell.warn(f"{n_found} items instead of {n_items}: no more have a reference reply")
    n_assigned, n_open = sum(plan.n_assigned.values()), sum(plan.n_open.values())
    tell.note(f"audit: {n_found} items, {n_assigned} judgments, {n_open} of them new")
    items = list(session.store.iter(Item, study))
    when = session.now()
    used = read_used(session.store, plan.n_open)
    spending = estimate_judgments(session.settings, items, plan.n_open, when=when, used=used)
    agree_to(session, spending)
    session.store.add(plan.records)
    given = _judge(session, study, plan)
    data = _audit_data(session, study, plan)
    failures = _audit_failures(session, data)
    counts = {
        "n_items": n_found,
        "judgments": {
            "n_wanted": n_assigned,
            "n_before": n_assigned - n_open,
            "n_added": given.n_added,
            "missing": dict(given.missing),
            "stopped": given.stopped,
        },
    }
    return counts, audit_judges(data, level=LEVEL), failures


def _audit_failures(session: Session, data: StudyData) -> tuple[Failure, ...]:
    """Warn of what is missing of each judge's audit; return the judges that failed in it."""
    judgments = data.judgments.among({system.id for system in data.stress})
    last = last_attempts(data.attempts, lambda attempt: attempt.assignment_id)
    names = {judge.id: judge.name for judge in data.judges}
    absent = {id_: [one.id for one in data.unjudged if one.rater_id == id_] for id_ in names}
    causes = {id_: find_causes(ids, last) for id_, ids in absent.items()}
    warn_of_missing(session, PairStep(), names, causes)
    n_wanted = {id_: len(judgments.by({id_})) + len(ids) for id_, ids in absent.items()}
    return find_failed(session, PairStep(), names, causes, n_wanted)


def pair_form(settings: StudySettings) -> JudgeForm:
    """Return what judges that compare are asked.

    Raises:
        SettingsError: They rate, and the audit is for judges that compare.
    """
    if settings.judging.protocol == "rating":
        raise SettingsError(
            f"{settings.file}: judging.protocol: the audit shows judges two texts, and these rate "
            'one; their stress set is in `heart report`. Set protocol = "forced-strength" to audit '
            "them as judges of pairs",
            ids=("judging.protocol",),
        )
    return settings.judging.form


def _judge(session: Session, study: Study, plan: AuditPlan) -> AskedCounts:
    """Have every judge answer what is open: of the study's own stress set, then of the audit."""
    store, now = session.store, session.now
    with session.tell.progress("cue judge") as progress:
        offline = judge_assignments(store, study, now=now, progress=progress, only=plan.shared)
        offline += judge_assignments(store, plan.study, now=now, progress=progress)
    form = pair_form(session.settings)
    return offline + take_step(
        session,
        judge_models(session.settings),
        ("stress set", study, PairStep(form=form, only=plan.shared)),
        ("audit", plan.study, PairStep(form=form)),
    )


def _audit_data(session: Session, study: Study, plan: AuditPlan) -> StudyData:
    store = session.store
    ranked = [system for system in store.iter(System, study) if system.kind != "stress"]
    bearers = list(store.iter(System, plan.study))
    asked = {one.id: one for one in plan.records if isinstance(one, Assignment)}
    judgments = read_judgments(session, study, plan.study)
    is_asked = judgments.is_of(asked)
    judged = {*judgments.select(is_asked).assignment}
    of_stress = judgments.is_among({system.id for system in bearers})
    return StudyData(
        systems=[*ranked, *bearers],
        raters=list(store.iter(Rater, study)),
        judgments=judgments.select(is_asked | ~of_stress),
        unjudged=[one for id_, one in asked.items() if id_ not in judged],
        attempts=[*store.iter(Attempt, study), *store.iter(Attempt, plan.study)],
        exclude_own_family=session.settings.judging.plan.exclude_own_family,
    )


def measure_latency(
    session: Session, study: Study, *, n_items: int, n_repeats: int, concurrency: int
) -> tuple[dict[str, Any], tuple[SystemLatency, ...]]:
    """Make the calls that are missing; return what was done as JSON says it, and the times."""
    tell = session.tell
    policy = ProbePolicy(n_items=n_items, n_repeats=n_repeats, concurrency=concurrency)
    store = session.store
    models = sorted(system_models(session.settings))
    before = list(store.iter(LatencyProbe, study))
    plan = plan_probes(study, store.iter(Item, study), models, policy, before)
    if len(plan.items) < policy.n_items:
        tell.warn(f"{len(plan.items)} items instead of {policy.n_items}: the study has no more")
    asked: dict[str, list[Item]] = {}
    for item, system_id in (*plan.warm_ups, *(one[1:] for one in plan.open_ones)):
        asked.setdefault(system_id, []).append(item)
    estimate = estimate_probes(session.settings, asked, when=session.now())
    tell.note(f"latency: {estimate_words(estimate)}")
    confirm_spending(session, estimate)
    counts = _probe(session, plan)
    for reason, n in counts.missing.items():
        tell.warn(f"{n} calls failed: {reason}; the next run makes them again")
    systems = [system for system in store.iter(System, study) if system.kind != "stress"]
    probes = list(store.iter(LatencyProbe, study))
    imported = imported_systems(session.settings)
    rows = latency_by_system(probes, systems, concurrency=policy.concurrency)
    body = {
        "study": study.name,
        "version": study.version,
        "concurrency": policy.concurrency,
        "n_items": len(plan.items),
        "n_repeats": policy.n_repeats,
        "probes": {
            "n_wanted": counts.n_wanted,
            "n_before": counts.n_before,
            "n_added": counts.n_added,
            "n_warm_up": len(plan.warm_ups),
            "failed": counts.missing,
        },
        "warm_up": WARM_UP,
        "systems": [asdict(row) for row in rows],
        "not_measured": [
            {"system": system.name, "reason": IMPORTED if system.id in imported else NOT_MEASURED}
            for system in sorted(systems, key=lambda system: system.name)
            if system.kind != "model" or system.id in imported
        ],
    }
    return body, rows


def _probe(session: Session, plan: ProbePlan) -> AskedCounts:
    if not plan.open_ones:
        n = plan.n_wanted
        return AskedCounts(n_wanted=n, n_before=n, n_added=0, missing={})
    models = system_models(session.settings)

    async def probe(asking: Asking) -> AskedCounts:
        with session.tell.progress("calls", cost=lambda: asking.ledger.spent_usd) as progress:
            return await probe_systems(
                asking.writer, plan, asking.models, now=session.now, progress=progress
            )

    open_systems = {system_id: models[system_id] for _, system_id in plan.warm_ups}
    return ask_models(session, probe, (open_systems, CompletionStep().schema), is_timed=True)
