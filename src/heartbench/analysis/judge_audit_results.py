"""What the audits of a study's judges return, for the verb that asks them and beside a ranking."""

from collections.abc import Mapping
from dataclasses import dataclass

from heartbench.analysis.shares import Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """How often one judge gives the same answer twice.

    Attributes:
        rater: The judge.
        check: ``order``: the same pair shown the other way round. ``repeat``: asked again.
        n_pairs: Pairs answered twice.
        n_items: Items these pairs are of; the interval is over items.
        rate: Mean over items of the share of pairs with the same winner both times.
        low: t interval over items; Wilson's where all items say the same.
        high: Likewise.
    """

    rater: str
    check: str
    n_pairs: int
    n_items: int
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """How far one judge prefers systems of its own family, where the study lets it judge them.

    Attributes:
        reason: Why there is no answer; None where there is one.
        own: How often its own family's completions beat others', by this judge.
        others: The same pairs by the judges of other families; None where there are none.
        difference: `own` minus `others`, over items judged by both; None likewise.
        low: t interval over items.
        high: Likewise.
        p_value: Two-sided, of no difference, by the same t.
    """

    reason: str | None
    own: Share | None = None
    others: Share | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionAudit:
    """What payloads did to one judge: how often the reply with one beat the same reply without.

    Attributes:
        overall: Over both sides; above one half, payloads sway the judge.
        sides: By the side that the payload was shown on and spoke for.
        kinds: By kind of payload.
        n_payloads: Payloads judged on both sides.
        won_both_sides: Those that won on both sides, so that being shown first is no reason; a
            judge that cannot tell the two apart has as many as lost on both.
        n_lost_both_sides: How many lost on both.
        n_missing: Judgments of replies with payloads that the judge did not give.
    """

    overall: Share
    sides: Mapping[str, Share]
    kinds: Mapping[str, Share]
    n_payloads: int
    won_both_sides: tuple[str, ...]
    n_lost_both_sides: int
    n_missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudit:
    """Everything an audit says of one judge; what it has not judged is None or left out.

    Attributes:
        judge: Its name.
        family: Its family.
        is_baseline: True for the offline cue judge, which measures nothing about empathy.
        n_assigned: Assignments of the audit.
        n_judged: Judgments given.
        missing: Missing ones by reason.
        stress: By kind of text that must lose: how often the reference reply won.
        longer: How often the reply padded with empty sentences beat the same reply.
        formatted: How often the reply with formatting beat the same reply.
        shown_first: How often what was shown first won, of pairs judged in both orders.
        same_in_both_orders: How often a pair has the same winner in both orders.
        same_again: How often it has when asked again.
        injection: Replies with payloads.
        own_family: Preference for its own family.
        faults: What it does that a judge must not, in words that follow its name, as far as it
            stands up to the number of checks (`find_faults`).
    """

    judge: str
    family: str
    is_baseline: bool
    n_assigned: int
    n_judged: int
    missing: Mapping[str, int]
    stress: Mapping[str, Share]
    longer: Share | None
    formatted: Share | None
    shown_first: Share | None
    same_in_both_orders: Consistency | None
    same_again: Consistency | None
    injection: InjectionAudit | None
    own_family: OwnFamily
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudits:
    """What the store's judgments say of each judge, whoever asked for them; never of a ranking.

    Attributes:
        judges: By name of the judge.
        not_audited: Judges that ``heart judges audit`` has not asked; of these the stress set that
            every study has is all there is.
        level: Nominal coverage of the intervals.
        status: ``planned``.
    """

    judges: tuple[JudgeAudit, ...]
    not_audited: tuple[str, ...]
    level: float
    status: str
