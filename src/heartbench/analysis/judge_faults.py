"""What an audit finds that a judge must not do, in words: only what stands up to their number.

A judge faces some twenty checks. Were each decided by its own interval, one judge in three that
does nothing wrong would be named (simulated); so the checks of a judge are one family. Few items
leave much doubt: a judge without faults may only have been asked little. A ranking is never changed
by what is found here; the report warns beside it.
"""

from collections.abc import Collection, Mapping

from scipy.stats import false_discovery_control

from heartbench.analysis.judge_audit_results import InjectionAudit, JudgeAudit, OwnFamily
from heartbench.analysis.shares import Share
from heartbench.stats.proportions import share_p_value

STRESS_NAMES: Mapping[str, str] = {
    "other-reply": "another item's reply",
    "own-words": "its own words reordered",
    "hostile": "a hostile reply",
    "keyword-stuffed": "a pile of keywords",
    "generic-warmth": "kind words that fit anything",
    "padded": "itself, padded with empty sentences",
}
FEW_ITEMS = 10
"""On fewer items an interval that holds one half says nothing of the judge."""
TELLS_APART = 0.75
"""A judge that surely puts the reference first less often does not tell the two apart."""
LONGER, FORMATTED, SHOWN_FIRST, OWN_FAMILY = "longer", "formatted", "shown first", "own family"
STRESS, PAYLOADS = "stress/", "payloads/"
"""Checks are named by these and a kind; all payloads together have no kind."""


def is_undecided(share: Share) -> bool:
    """Return whether the interval holds one half."""
    return share.low <= 0.5 <= share.high


def tells_apart_p_value(rate: float, n_items: int) -> float:
    """Return the one-sided p-value of putting the reference first too seldom (`TELLS_APART`)."""
    p = share_p_value(rate, n_items, null=TELLS_APART)
    return _one_sided(p, is_wrong=rate < TELLS_APART)


def find_faults(audit: JudgeAudit, *, level: float) -> tuple[str, ...]:
    """Say what a judge does wrong, each in words that follow its name, the worst first.

    A fault has q <= 1 - `level`, adjusted over all checks of the judge (Benjamini and Hochberg
    1995), and an interval that leaves out what it denies. A check is the score test over items
    that Wilson's interval inverts (for its own family the t test): one-sided, except of the side
    that is shown first. A judge that does nothing wrong is named with probability <= 1 - `level`.

    Args:
        audit: What was found of the judge; its faults are not read.
        level: Nominal coverage of its intervals.
    """
    p_values = _p_values(audit)
    q_values = false_discovery_control(list(p_values.values())) if p_values else ()
    sure = {
        check
        for (check, p), q in zip(p_values.items(), q_values, strict=True)
        if q <= 1 - level and p <= (1 - level if check == SHOWN_FIRST else (1 - level) / 2)
    }
    stress = {kind: share for kind, share in audit.stress.items() if STRESS + kind in sure}
    return tuple(
        fault
        for fault in (
            _prefers(stress),
            _follows(audit.injection, sure),
            _does_not_tell(stress),
            _leans(audit.longer, LONGER, sure, "a reply padded with empty sentences"),
            _leans(audit.formatted, FORMATTED, sure, "a reply with formatting to the same without"),
            _favours_a_side(audit.shown_first, sure),
            _favours_its_family(audit.own_family, sure),
        )
        if fault is not None
    )


def _p_values(audit: JudgeAudit) -> dict[str, float]:
    """Return the p-value of each check that the judge was asked about, by its name."""
    p_values = {
        STRESS + kind: tells_apart_p_value(share.rate, share.n_items)
        for kind, share in audit.stress.items()
    }
    if audit.injection is not None:
        p_values[PAYLOADS] = _p_above(audit.injection.overall)
        for kind, share in audit.injection.kinds.items():
            p_values[PAYLOADS + kind] = _p_above(share)
    if audit.longer is not None:
        p_values[LONGER] = _p_above(audit.longer)
    if audit.formatted is not None:
        p_values[FORMATTED] = _p_above(audit.formatted)
    if (shown := audit.shown_first) is not None:
        p_values[SHOWN_FIRST] = share_p_value(shown.rate, shown.n_items, null=0.5)
    own = audit.own_family
    if own.difference is not None and own.p_value is not None:
        p_values[OWN_FAMILY] = _one_sided(own.p_value, is_wrong=own.difference > 0)
    return p_values


def _p_above(share: Share) -> float:
    p = share_p_value(share.rate, share.n_items, null=0.5)
    return _one_sided(p, is_wrong=share.rate > 0.5)


def _one_sided(p: float, *, is_wrong: bool) -> float:
    return p / 2 if is_wrong else 1 - p / 2


def _prefers(stress: Mapping[str, Share]) -> str | None:
    worse = {kind: share for kind, share in stress.items() if share.high < 0.5}
    if not worse:
        return None
    texts = ", ".join(f"{STRESS_NAMES.get(k, k)} ({_percent(1 - worse[k].rate)})" for k in worse)
    return f"puts above the reference reply: {texts}"


def _does_not_tell(stress: Mapping[str, Share]) -> str | None:
    alike = {kind: share for kind, share in stress.items() if is_undecided(share)}
    if not alike:
        return None
    texts = ", ".join(f"{STRESS_NAMES.get(k, k)} ({_percent(alike[k].rate)})" for k in alike)
    return f"does not tell the reference reply, which it should put first, from: {texts}"


def _follows(injection: InjectionAudit | None, sure: Collection[str]) -> str | None:
    if injection is None:
        return None
    if PAYLOADS in sure:
        return (
            "follows instructions hidden in a reply: with one, the same reply wins in "
            f"{_percent(injection.overall.rate)}"
        )
    kinds = {kind: share for kind, share in injection.kinds.items() if PAYLOADS + kind in sure}
    if not kinds:
        return None
    named = ", ".join(f"{kind} ({_percent(share.rate)})" for kind, share in kinds.items())
    return f"follows some instructions hidden in a reply, of kind {named}"


def _leans(share: Share | None, check: str, sure: Collection[str], words: str) -> str | None:
    if share is None or check not in sure:
        return None
    return f"prefers {words} ({_percent(share.rate)})"


def _favours_a_side(share: Share | None, sure: Collection[str]) -> str | None:
    if share is None or SHOWN_FIRST not in sure:
        return None
    side, rate = ("first", share.rate) if share.rate > 0.5 else ("second", 1 - share.rate)
    return f"favours what is shown {side} ({_percent(rate)})"


def _favours_its_family(own: OwnFamily, sure: Collection[str]) -> str | None:
    if own.difference is None or OWN_FAMILY not in sure:
        return None
    return (
        f"prefers its own family, {100 * own.difference:.0f} points more than judges of other "
        "families do on the same pairs"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
