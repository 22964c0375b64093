"""What becomes of a planned rewrite: an item, or rejected and kept with the reason."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hearteval.domain import Item, Screening, Turn, record_id
from hearteval.items.escalation.checks import Finding
from hearteval.items.escalation.plan import Planned
from hearteval.items.files import CANARY, CANARY_KEY
from hearteval.items.selection import FunnelStep
from hearteval.protocol import load_protocol

GIVEN_UP = "given-up"
"""Of what was tried as often as it may be, and rejected each time."""
TO_READ = "to-be-read"
"""Of a rewrite whose words pass and that nobody has read yet."""
UNREAD = "unread"
"""Of one whose reader gave no reply that can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """One rewrite that was not taken, as it came."""

    planned: Planned
    number: int
    """Of the try, from 1."""
    reasons: tuple[Finding, ...]
    """What failed; at least one."""
    context: tuple[Turn, ...] | None = None
    """None where the reply was no rewrite."""
    raw: str = ""
    """That reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one planned rewrite."""

    planned: Planned
    item: Item | None = None
    """The rewritten item, where one was taken."""
    findings: tuple[Finding, ...] = ()
    """For that item, what each rule saw."""
    rejected: tuple[Rejected, ...] = ()
    missing: str = ""
    """Why there is no item, in a fixed word; empty where there is one."""
    to_read: tuple[Turn, ...] | None = None
    """What a person has still to read."""

    @property
    def is_open(self) -> bool:
        """Whether a call gave no reply, or was not made: it is asked for when run again."""
        is_settled = self.missing in ("", GIVEN_UP, TO_READ) or self.missing.startswith(UNREAD)
        return not is_settled


def rewrite_id(planned: Planned, context: Sequence[Turn]) -> str:
    """Name one rewrite: what was planned, and the words that came."""
    return record_id("rewritten", {"of": planned.id, "context": list(context)})


def rewritten_item(planned: Planned, context: tuple[Turn, ...], *, by: str) -> Item:
    """Make the item of a rewrite that passed: no reference, the planned intensities."""
    basis = (
        f"{planned.source.consent_basis.rstrip()} The seeker's turns were rewritten by the language"
        f" model {by}: nobody said them."
    )
    return replace(
        planned.source,
        context=context,
        subset="adversarial",
        profile=planned.profile,
        resistance=planned.resistance,
        intensities=planned.intensities,
        consent_basis=basis,
        reference=None,
        cue=None,
        # What was found stays in the situation; that nothing was there says nothing of new words.
        edge=planned.source.edge or None,
        id="",
    )


def list_evidence(outcomes: Iterable[Outcome]) -> tuple[Screening, ...]:
    """Return what each rule saw in the items that were taken, and why each other rewrite is out.

    A reply that was no rewrite is no candidate, and a rewrite that came twice is one.
    """
    found: dict[str, tuple[Screening, ...]] = {}
    for outcome in outcomes:
        for one in outcome.rejected:
            if one.context is not None:
                item_id = rewritten_item(one.planned, one.context, by="").id
                found[item_id] = (_screening(item_id, one.reasons[0]),)
        if outcome.item is not None:
            item_id = outcome.item.id
            found[item_id] = tuple(_screening(item_id, each) for each in outcome.findings)
    return tuple(screening for each in found.values() for screening in each)


def _screening(item_id: str, finding: Finding) -> Screening:
    return Screening(
        item_id=item_id,
        rule=finding.rule,
        verdict="pass" if finding.is_pass else "fail",
        evidence=finding.evidence,
        version=f"escalation-{load_protocol('escalation')['version']}",
    )


def format_rejected(outcomes: Iterable[Outcome]) -> str:
    """Write the rejected rewrites as JSON Lines, a canary first; empty where there are none."""
    lines = [
        {
            "rewrite": None if one.context is None else rewrite_id(one.planned, one.context),
            "item_id": one.planned.source.id,
            "dialogue_id": one.planned.source.dialogue_id,
            "turn_index": one.planned.source.turn_index,
            "profile": one.planned.profile,
            "resistance": one.planned.resistance,
            "intensities": list(one.planned.intensities),
            "try": one.number,
            "reasons": [{"rule": r.rule, "evidence": r.evidence} for r in one.reasons],
            "context": one.context
            and [{"role": turn.role, "text": turn.text} for turn in one.context],
            "raw": one.raw or None,
        }
        for outcome in outcomes
        for one in outcome.rejected
    ]
    if not lines:
        return ""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [_CANARY, *lines])


_CANARY = {CANARY_KEY: CANARY}


def count_rejections(outcomes: Iterable[Outcome]) -> Mapping[str, int]:
    """Count rejected rewrites by the first reason, the most frequent first."""
    counts = Counter(one.reasons[0].rule for outcome in outcomes for one in outcome.rejected)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def count_missing(outcomes: Iterable[Outcome]) -> Mapping[str, int]:
    """Count what has no item, by reason."""
    return dict(sorted(Counter(one.missing for one in outcomes if one.missing).items()))


def whole_funnel(funnel: Sequence[FunnelStep], outcomes: Sequence[Outcome]) -> list[FunnelStep]:
    """Add the last step to the funnel of the sources: what became an item."""
    n_taken = sum(outcome.item is not None for outcome in outcomes)
    return [*funnel, FunnelStep(rule="rewritten", n_in=len(outcomes), n_out=n_taken)]
