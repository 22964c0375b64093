"""Invented audits and majorities of judges for the report's tests: nothing here was measured."""

from collections.abc import Mapping
from itertools import combinations

from hearteval.analysis.judges import Consistency, Share
from hearteval.analysis.judges.faults import ALL, FORMATTED, LONGER, find_faults
from hearteval.analysis.judges.majorities import (
    JudgeAgreement,
    JudgeMajorities,
    JudgeVotes,
    MajorityCounts,
    SystemPairJudges,
)
from hearteval.analysis.judges.own_family import EXCLUDED, OwnFamily
from hearteval.sections.judges.audit import InjectionAudit, JudgeAudit, JudgeAudits

STRESS = {
    "generic-warmth": (0.3, 0.181, 0.454),
    "hostile": (1.0, 0.912, 1.0),
    "keyword-stuffed": (0.55, 0.398, 0.693),
}


def share(rate: float, low: float, high: float, *, n_items: int = 40) -> Share:
    """Return a share over items, two judgments each."""
    return Share(n_items=n_items, n_judgments=2 * n_items, rate=rate, low=low, high=high)


def same(check: str, rate: float) -> Consistency:
    """Return how often a judge answers the same."""
    return Consistency(
        rater="j", check=check, n_pairs=280, n_items=40, rate=rate, low=rate - 0.1, high=rate
    )


def injection(rate: float, low: float, high: float) -> InjectionAudit:
    """Return what payloads did."""
    return InjectionAudit(
        overall=share(rate, low, high),
        sides={"first": share(rate, low, high), "second": share(rate, low, high)},
        kinds={"order": share(rate, low, high)},
        n_payloads=74,
        won_both_sides=("order-winner",),
        n_lost_both_sides=31,
        n_missing=0,
    )


def judge_audit(
    judge: str,
    *,
    is_baseline: bool = False,
    payloads: InjectionAudit | None = None,
    stress: Mapping[str, Share] | None = None,
    longer: Share | None = None,
    twice: float = 0.9,
) -> JudgeAudit:
    """Return an audit; without payloads, what the stress set alone says."""
    stress = {kind: share(*ends) for kind, ends in STRESS.items()} if stress is None else stress
    longer = share(0.42, 0.28, 0.57) if longer is None else longer
    formatted = share(0.81, 0.66, 0.9) if payloads else None
    leans = {LONGER: longer, FORMATTED: formatted}
    shown_first, own_family = share(0.5, 0.4, 0.6), OwnFamily(reason=EXCLUDED)
    faults = find_faults(
        stress,
        {ALL: payloads.overall, **payloads.kinds} if payloads else {},
        {check: lean for check, lean in leans.items() if lean},
        shown_first,
        own_family,
        level=0.95,
    )
    return JudgeAudit(
        judge=judge,
        family="cue" if is_baseline else judge,
        is_baseline=is_baseline,
        n_assigned=448,
        n_judged=446,
        missing={"not-json": 2},
        stress=stress,
        longer=longer,
        formatted=formatted,
        shown_first=shown_first,
        same_in_both_orders=same("order", twice),
        same_again=same("repeat", 0.95) if payloads else None,
        injection=payloads,
        own_family=own_family,
        faults=faults.words,
        fault_checks=faults.checks,
    )


def invented_audits(*judges: JudgeAudit) -> JudgeAudits:
    """Return the audits of some judges."""
    return JudgeAudits(
        judges=judges,
        not_audited=tuple(audit.judge for audit in judges if audit.injection is None),
        level=0.95,
        status="planned",
    )


def invented_majorities(systems: list[str], judges: list[str]) -> JudgeMajorities:
    """Return majorities of judges, the first of whom judges no pair with the first system."""
    n_pairs = 40 * len(systems) * (len(systems) - 1) // 2
    n_fewer = 40 * (len(systems) - 1) if len(judges) > 1 else 0
    n_flips = n_pairs // 10
    behind = ((len(judges) - 1, n_fewer), (len(judges), n_pairs - n_fewer))
    return JudgeMajorities(
        counts=MajorityCounts(
            n_pairs=n_pairs,
            n_no_majority=n_flips,
            n_ties=7,
            n_flips=n_flips,
            n_pairs_by_raters=behind if n_fewer else ((len(judges), n_pairs),),
            n_pairs_by_votes=((0, n_flips), (len(judges), n_pairs - n_flips)),
        ),
        judges=tuple(
            JudgeVotes(
                judge=judge,
                n_pairs=n_pairs - n_fewer,
                n_both_orders=n_pairs - n_fewer,
                n_flips=n_flips,
                n_ties=3,
            )
            for judge in judges
        ),
        system_pairs=tuple(
            SystemPairJudges(
                left=left,
                right=right,
                judges=tuple(judges[1:] if left == systems[0] and n_fewer else judges),
                n_pairs=40,
                n_no_majority=4,
            )
            for left, right in combinations(systems, 2)
        ),
        agreement=tuple(
            JudgeAgreement(judges=two, n_pairs=500, n_same=430, rate=0.86)
            for two in combinations(judges, 2)
        ),
        status="planned",
    )
