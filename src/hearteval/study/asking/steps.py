"""Ask the models of a study: its systems for completions, its judges for judgments."""

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
)
from hearteval.domain.reasons import WRONG_ADDRESS
from hearteval.judgments.plan.run import (
    PlanCounts,
    plan_judgments,
    plan_ratings,
    ratings_to_ask,
    store_stress_set,
)
from hearteval.models.asking import NOTHING_ASKED, AskedCounts
from hearteval.models.http import find_dropped
from hearteval.report.coverage.missing import missing_lines
from hearteval.steps import Step, causes_by_owner
from hearteval.steps.completions import CompletionStep, complete_items
from hearteval.steps.judgments import PairStep, RatingStep, judge_assignments
from hearteval.study.asking.running import take_step, warn_of_missing
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
    asked = take_step(
        session,
        system_models(session.settings),
        ("replies", study, CompletionStep()),
        is_spread=True,
    )
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
    step = PairStep(form=session.settings.judging.form)
    judgments = _ask_judges(session, study, step, offline)
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
    step = RatingStep(targets=targets, form=session.settings.judging.form)
    return {
        "n_completions": plan.n_completions,
        "n_stress": plan.n_stress,
        "n_own_family": plan.n_own_family,
        "n_repeats": plan.n_repeats,
        **_ask_judges(session, study, step, NOTHING_ASKED),
    }


def _ask_judges(
    session: Session, study: Study, step: Step[Any], offline: AskedCounts
) -> dict[str, Any]:
    """Have the models judge, or rate; return the counts, with those of the offline judge."""
    judges, word = judge_models(session.settings), f"{step.answer}s"
    asked = take_step(session, judges, (word, study, step), is_spread=True)
    total = offline + asked
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
        names = {id_: raters[id_] for id_ in sorted(judges, key=raters.__getitem__)}
        causes = causes_by_owner(step.find(session.store, study, names))
        warn_of_missing(session, step, names, causes)
    if asked.n_added:
        raters = {rater.id: rater.name for rater in session.store.iter(Rater, study)}
        _warn_of_dropped(session, study, raters, judges)
    return counts


def _count_words(counts: Mapping[str, Any]) -> str:
    """Say how many of how many there are, how many of them are new and how many missing."""
    given = counts["n_before"] + counts["n_added"]
    missing = f", {counts['n_missing']:,} missing" if counts["n_missing"] else ""
    return f"{given:,} of {counts['n_wanted']:,}, {counts['n_added']:,} new{missing}"


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
