"""Ask the models of a study: its systems for completions, its judges for judgments."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from hearteval.analysis.coverage.study import SystemCoverage, cover_systems, naming_words
from hearteval.analysis.data import StudyData
from hearteval.config import ModelSettings
from hearteval.domain import (
    Attempt,
    Completion,
    Item,
    Rater,
    Study,
    System,
    record_id,
)
from hearteval.domain.reasons import WRONG_ADDRESS
from hearteval.errors import ModelCallError
from hearteval.judgments.plan.run import (
    PlanCounts,
    plan_judgments,
    plan_ratings,
    ratings_to_ask,
    store_stress_set,
)
from hearteval.models.asking import NOTHING_ASKED, AskedCounts, probe_model
from hearteval.models.base import AskedModel
from hearteval.models.http import find_dropped
from hearteval.report.coverage.missing import missing_lines
from hearteval.steps.completions import ask_systems, complete_items, systems_to_ask
from hearteval.steps.judgments import (
    JudgingTask,
    PairTask,
    RatingTask,
    ask_judges,
    judge_assignments,
    missing_by_judge,
    open_by_judge,
)
from hearteval.study import Tell
from hearteval.study.asking.models import Asking
from hearteval.study.asking.running import ask_models
from hearteval.study.grow import imported_systems, judge_models, system_models
from hearteval.study.records.imports import (
    count_study_imports,
    judge_import_command,
    missing_imports,
    unjudged_imports,
)
from hearteval.study.session import Session

NO_JUDGMENTS = {
    "plan": dict.fromkeys((field.name for field in fields(PlanCounts)), 0),
    "judgments": {**asdict(NOTHING_ASKED), "n_missing": 0},
}
"""What the judges of a study that rates have compared."""


def complete_without_models(session: Session, study: Study) -> AskedCounts:
    """Have the systems answer that ask no model: that is free, and what to judge rests on it."""
    with session.tell.progress("replies") as progress:
        return complete_items(session.store, study, now=session.now, progress=progress)


def complete_step(session: Session, study: Study, counts: AskedCounts) -> dict[str, Any]:
    """Have the models answer; return the counts, those of `complete_without_models` included."""
    tell = session.tell
    asked = ask_for_completions(session, study)
    imported = count_study_imports(session.store, study, session.settings)
    missing = Counter(counts.missing) + Counter(asked.missing)
    missing = sum(map(Counter, imported.missing.values()), missing)
    total = {
        "n_wanted": counts.n_wanted + asked.n_wanted + imported.n_wanted,
        "n_before": counts.n_before + asked.n_before + imported.n_before,
        "n_added": counts.n_added + asked.n_added,
        "n_missing": missing.total(),
        "stopped": asked.stopped,
    }
    tell.note(f"replies: {_count_words(total)}")
    brought_in = imported_systems(session.settings).values()
    for row in cover_completions(session, study):
        if row.system not in brought_in and row.kind != "human":
            for words in missing_lines(f"system {row.system}", "reply", row.causes):
                tell.warn(words)
        naming = naming_words(row)
        if naming:
            tell.warn(naming)
    for words in missing_imports(session.settings, imported):
        tell.warn(words)
    if asked.n_added:
        names = {system.id: system.name for system in session.store.iter(System, study)}
        _warn_of_dropped(session, study, names, system_models(session.settings))
    return {**total, "missing": dict(missing)}


def cover_completions(session: Session, study: Study) -> tuple[SystemCoverage, ...]:
    """Count what each system has answered, and why not more, from what is stored."""
    store = session.store
    return cover_systems(
        StudyData(
            items=list(store.iter(Item, study)),
            systems=list(store.iter(System, study)),
            completions=list(store.iter(Completion, study)),
            attempts=list(store.iter(Attempt, study)),
        )
    )


def judge_step(session: Session, study: Study, plan: PlanCounts | None) -> dict[str, Any]:
    """Have the judges judge, or rate, planned first where no `plan` is given; return the counts."""
    if session.settings.judging.protocol == "rating":
        return {**NO_JUDGMENTS, "ratings": _rate(session, study)}
    tell, policy = session.tell, session.settings.judging.plan
    if plan is None:
        plan = plan_judgments(session.store, study, policy, now=session.now)
    tell.detail(
        f"plan: {plan.n_pairs} pairs, {plan.n_stress_pairs} of the stress set, "
        f"{plan.n_repeats} asked again, "
        f"{plan.n_assignments} assignments ({plan.n_new} new); "
        f"left out for identical texts: {plan.n_identical}"
    )
    if policy.comparisons is not None and 0 < plan.n_pairs < policy.comparisons:
        tell.warn(f"{plan.n_pairs} pairs instead of {policy.comparisons}: there are no more so far")
    if plan.n_uncompared and policy.comparisons is not None:
        tell.warn(
            f"{plan.n_uncompared} pairs of systems are not compared at all: judging.comparisons = "
            f"{policy.comparisons} is too few; raise it"
        )
    with tell.progress("judgments") as progress:
        offline = judge_assignments(session.store, study, now=session.now, progress=progress)
    task = PairTask(form=session.settings.judging.form)
    judgments = _ask_judges(session, study, task, offline)
    return {"plan": asdict(plan), "judgments": judgments, "ratings": None}


def _rate(session: Session, study: Study) -> dict[str, Any]:
    policy = session.settings.judging.plan
    store_stress_set(session.store, study, policy, now=session.now)
    plan = plan_ratings(session.store, study, policy)
    targets = ratings_to_ask(session.store, study, plan.targets)
    session.tell.detail(
        f"plan: {plan.n_completions} completions, {plan.n_stress} texts of the stress set, "
        f"{len(plan.targets)} ratings ({plan.n_repeats} of them a second time); left out for a "
        f"judge's own family: {plan.n_own_family}"
    )
    task = RatingTask(targets=targets, form=session.settings.judging.form)
    return {
        "n_completions": plan.n_completions,
        "n_stress": plan.n_stress,
        "n_own_family": plan.n_own_family,
        "n_repeats": plan.n_repeats,
        **_ask_judges(session, study, task, NOTHING_ASKED),
    }


def _ask_judges(
    session: Session, study: Study, task: JudgingTask, offline: AskedCounts
) -> dict[str, Any]:
    """Have the models judge, or rate; return the counts, with those of the offline judge."""
    asked = ask_for_judgments(session, study, task)
    total, word = offline + asked, _word(task)
    for name in unjudged_imports(session.store, study, session.settings):
        how = judge_import_command(session.settings)
        session.tell.warn(f"no {word} of {name} are imported yet: {how}")
    n_missing = sum(total.missing.values())
    counts = {**asdict(total), "n_missing": n_missing}
    session.tell.note(f"{word}: {_count_words(counts)}; with the stress set and repeats")
    if study.pool and WRONG_ADDRESS & {reason for reason, n in asked.missing.items() if n}:
        session.tell.warn(
            "a judge of the released board does not answer, so new systems cannot be put on its"
            " scale; where it is gone for good, people who compare some pairs can anchor the board:"
            " docs/how-to/join-a-board.md"
        )
    if n_missing:
        raters = {rater.id: rater.name for rater in session.store.iter(Rater, study)}
        causes = missing_by_judge(session.store, study, task, judge_models(session.settings))
        for rater_id in sorted(causes, key=raters.__getitem__):
            name = raters[rater_id]
            for words in missing_lines(f"judge {name}", word.removesuffix("s"), causes[rater_id]):
                session.tell.warn(words)
    if asked.n_added:
        raters = {rater.id: rater.name for rater in session.store.iter(Rater, study)}
        _warn_of_dropped(session, study, raters, judge_models(session.settings))
    return counts


def _count_words(counts: Mapping[str, Any]) -> str:
    """Say how many of how many there are, how many of them are new and how many missing."""
    given = counts["n_before"] + counts["n_added"]
    missing = f", {counts['n_missing']:,} missing" if counts["n_missing"] else ""
    return f"{given:,} of {counts['n_wanted']:,}, {counts['n_added']:,} new{missing}"


def _word(task: JudgingTask) -> str:
    return "ratings" if task.form.protocol == "rating" else "judgments"


def ask_for_completions(session: Session, study: Study, most: int | None = None) -> AskedCounts:
    """Have the study's models answer the items they have not answered, or the first of these.

    Where there is a bound on how many, models with batch jobs are left out.
    """
    systems = _to_ask(system_models(session.settings), most)
    if not systems:
        return NOTHING_ASKED
    to_ask = systems_to_ask(session.store, study, systems)

    async def ask(asking: Asking) -> AskedCounts:
        asked = {system_id: asking.systems.get(system_id) for system_id in systems}
        with session.tell.progress("replies", cost=lambda: asking.ledger.spent_usd) as progress:
            return await ask_systems(
                asking.writer, study, asked, now=session.now, progress=progress, most=most
            )

    return ask_models(
        session, ask, systems={s: model for s, model in systems.items() if s in to_ask}
    )


def ask_for_judgments(session: Session, study: Study, task: JudgingTask) -> AskedCounts:
    """Have the study's LLM judges judge, or rate, what they have not; as `ask_for_completions`."""
    judges = _to_ask(judge_models(session.settings), task.most)
    if not judges:
        return NOTHING_ASKED
    to_ask, as_it_is = open_by_judge(session.store, study, task, judges)
    if not to_ask:
        return as_it_is

    async def ask(asking: Asking) -> AskedCounts:
        asked = {rater_id: asking.judges.get(rater_id) for rater_id in judges}
        await warn_of_unheld_schemas(asking, session.tell)
        with session.tell.progress(_word(task), cost=lambda: asking.ledger.spent_usd) as progress:
            return await ask_judges(
                asking.writer, study, asked, task, now=session.now, progress=progress
            )

    return ask_models(session, ask, judges={r: model for r, model in judges.items() if r in to_ask})


def _to_ask(models: Mapping[str, ModelSettings], most: int | None) -> Mapping[str, ModelSettings]:
    return {id_: one for id_, one in models.items() if most is None or one.batch is None}


async def warn_of_unheld_schemas(asking: Asking, tell: Tell, *, who: str = "judge") -> None:
    """Ask each judge, or labeler, one question that shows whether its endpoint enforces the schema.

    The reply is kept like any other, so that a study pays for it once.
    """
    asking.writer.panel.look()
    # The answers of batch jobs would come when all of their judgments do.
    direct = [one for one in asking.judges if one not in asking.batched]
    probes = {one: record_id("probe", {"of": one}) for one in direct}
    # What another process has claimed it asks.
    mine = await asking.writer.panel.claim(list(probes.values())) if probes else ()
    judges = [asking.judges[one] for one in direct if probes[one] in mine]
    for words in await asyncio.gather(*map(_find_schema_fault, judges)):
        if words:
            tell.warn(f"{who} {words}")


async def _find_schema_fault(judge: AskedModel) -> str:
    """Ask the question; return what to warn of, empty if nothing."""
    name = judge.model.name
    try:
        found = await probe_model(judge)
    except ModelCallError as error:  # what it is asked next will say more, and that is kept
        return f"{name}: whether it keeps to the JSON schema is not known ({error.reason})"
    if found.follows_schema is not False:
        return ""
    return (
        f"{name}: its endpoint does not hold replies to the JSON schema; replies that are not"
        " exactly what is asked for will be missing"
    )


def _warn_of_dropped(
    session: Session, study: Study, names: Mapping[str, str], models: Mapping[str, ModelSettings]
) -> None:
    """Warn once of each setting that a model did not keep, as its stored replies show, by id."""
    said: set[tuple[str, str]] = set()
    for calls in session.store.call_sums(study):
        id_, requested = calls["owner_id"], calls["requested"]
        if id_ not in models or calls["step"] == "failed tries":
            continue
        dropped = find_dropped(requested, calls["effective"], refuses=models[id_].refuses)
        for setting, used in dropped.items():
            if (id_, setting) not in said:
                said.add((id_, setting))
                session.tell.warn(f"{names[id_]} {_describe(setting, requested[setting], used)}")


def _describe(setting: str, asked: Any, used: Any) -> str:
    if used is not None:
        return f"used {setting} {used:g}, not {asked:g}, as its replies say"
    if setting == "max_tokens":
        return f"did not keep max_tokens {asked}: its replies count more tokens"
    return f"was not sent {setting} {asked}: its back end left it out"
