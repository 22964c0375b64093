"""The audit of a study's judges: what it may cost, asking them, and what they did."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from heartbench.analysis.judge_audit import AuditRecords, audit_judges
from heartbench.analysis.judge_audit_results import JudgeAudit
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.study import StoredAudit
from heartbench.cli.asking import run_to_end, warn_of_unheld_schemas
from heartbench.cli.console import note, progress_bar, utc_now, warn
from heartbench.cli.models import open_models
from heartbench.cli.money import confirm_spending, estimate_judgments
from heartbench.cli.session import Session, judge_models
from heartbench.config import StudySettings
from heartbench.domain import Assignment, Attempt, Item, Pair, Rater, Study, System
from heartbench.errors import SettingsError
from heartbench.judgments.audit import audit_study_id
from heartbench.judgments.reply_schema import PairProtocol
from heartbench.judgments.run import JudgeCounts, judge_assignments
from heartbench.judgments.run_audit import AuditPlan, plan_audit
from heartbench.judgments.run_models import ask_judges
from heartbench.models.questions import AskedCounts
from heartbench.store.base import JUDGMENT_COLUMNS
from heartbench.store.grouped import GroupedWriter

LEVEL = 0.95


def audit_step(
    session: Session, study: Study, *, n_items: int, yes: bool
) -> tuple[dict[str, Any], tuple[JudgeAudit, ...]]:
    """Audit the judges of a study; return the counts and what was found."""
    plan = plan_audit(session.store, study, n_items=n_items, now=utc_now())
    if plan.n_items < n_items:
        warn(f"{plan.n_items} items instead of {n_items}: no more have a reference reply")
    n_assigned, n_open = sum(plan.n_assigned.values()), sum(plan.n_open.values())
    note(f"audit: {plan.n_items} items, {n_assigned} judgments, {n_open} of them new")
    items = list(session.store.iter(Item, study))
    estimate = estimate_judgments(session.settings, items, plan.n_open)
    confirm_spending(session.settings, estimate, yes=yes)
    session.store.add(plan.records)
    added, missing = _judge(session, study, plan)
    for reason, n in missing.items():
        warn(f"{n} judgments are missing: {reason}")
    counts = {
        "n_items": plan.n_items,
        "judgments": {
            "n_wanted": n_assigned,
            "n_before": n_assigned - n_open,
            "n_added": added,
            "missing": dict(missing),
        },
    }
    return counts, audit_judges(_records(session, study, plan), level=LEVEL)


def pair_protocol(settings: StudySettings) -> PairProtocol:
    """Return the protocol of judges that compare.

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
    return settings.judging.protocol


def audit_objects(audits: Sequence[JudgeAudit]) -> list[dict[str, Any]]:
    """Return what an audit says of each judge as JSON says it."""
    return [asdict(audit) for audit in audits]


def _judge(session: Session, study: Study, plan: AuditPlan) -> tuple[int, Counter[str]]:
    """Have every judge answer what is open: of the study's own stress set, then of the audit."""
    with progress_bar("cue judge") as progress:
        given: list[JudgeCounts | AskedCounts] = [
            judge_assignments(session.store, study, now=utc_now, progress=progress, of=plan.shared),
            judge_assignments(session.store, plan.study, now=utc_now, progress=progress),
        ]
    judges = judge_models(session.settings)
    if any(plan.n_open.get(rater_id) for rater_id in judges):
        given += run_to_end(_ask(session, study, plan))
    missing: Counter[str] = Counter()
    for counts in given:
        if isinstance(counts, AskedCounts):
            missing.update(counts.missing)
    return sum(counts.n_added for counts in given), missing


async def _ask(session: Session, study: Study, plan: AuditPlan) -> list[AskedCounts]:
    judges = judge_models(session.settings)
    given = []
    async with (
        GroupedWriter(session.store) as writer,
        open_models(session.settings, writer, systems={}, judges=judges) as asking,
    ):
        await warn_of_unheld_schemas(asking)
        for label, part, of in (("stress set", study, plan.shared), ("audit", plan.study, None)):
            with progress_bar(label, cost=lambda: asking.ledger.spent_usd) as progress:
                given.append(
                    await ask_judges(
                        writer,
                        part,
                        asking.judges,
                        protocol=pair_protocol(session.settings),
                        now=utc_now,
                        progress=progress,
                        of=of,
                    )
                )
    return given


def _records(session: Session, study: Study, plan: AuditPlan) -> AuditRecords:
    store = session.store
    ranked = [system for system in store.iter(System, study) if system.kind != "stress"]
    planned = [record for record in plan.records if isinstance(record, Assignment)]
    return AuditRecords(
        systems=[*ranked, *store.iter(System, plan.study)],
        raters=[rater for rater in store.iter(Rater, study) if rater.kind == "llm"],
        columns=read_columns(session, study, plan.study),
        assignments=planned,
        attempts=[*store.iter(Attempt, study), *store.iter(Attempt, plan.study)],
        exclude_own_family=session.settings.judging.plan.exclude_own_family,
    )


def stored_audit(session: Session, study: Study) -> StoredAudit | None:
    """Read what the audit of a study's judges has stored; None where there was none."""
    store = session.store
    audit = store.latest_study(audit_study_id(study))
    if audit is None:
        return None
    return StoredAudit(
        systems=list(store.iter(System, audit)),
        pairs=list(store.iter(Pair, audit)),
        assignments=list(store.iter(Assignment, audit)),
        attempts=list(store.iter(Attempt, audit)),
        columns=read_columns(session, audit),
    )


def read_columns(session: Session, *studies: Study) -> JudgmentColumns:
    """Read the judgments of some studies."""
    columns: dict[str, list[Any]] = {name: [] for name in JUDGMENT_COLUMNS}
    for study in studies:
        for batch in session.store.judgment_table(study):
            for name, values in batch.items():
                columns[name].extend(values)
    return JudgmentColumns(**{name: tuple(values) for name, values in columns.items()})
